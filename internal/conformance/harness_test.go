package conformance

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// script returns a directory with flow.star and, given as names and texts, files next to it.
func script(src string, files ...string) fstest.MapFS {
	fsys := fstest.MapFS{"flow.star": {Data: []byte(src)}}
	for i := 0; i+1 < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

// loaded loads a script that must be sound.
func loaded(t *testing.T, eng *agentscript.Engine, src string, files ...string) *agentscript.Module {
	t.Helper()
	mod, err := eng.Load(t.Context(), script(src, files...), "flow.star")
	if err != nil {
		_, shown := checked(src, files...)
		t.Fatalf("this script is sound, and is refused:\n%s\n%s", src, shown)
	}
	return mod
}

// checked returns the findings of check in a script, and their rendered form.
func checked(src string, files ...string) (diag.List, string) {
	return checkedBy(agentscript.New(), src, files...)
}

func checkedBy(eng *agentscript.Engine, src string, files ...string) (diag.List, string) {
	found, sources := eng.Check(context.Background(), script(src, files...), "flow.star")
	var b strings.Builder
	if err := diag.Render(&b, found, sources, diag.Options{}); err != nil {
		return found, err.Error()
	}
	return found, b.String()
}

// codes returns the codes of a list, in order.
func codes(l diag.List) string {
	out := make([]string, len(l))
	for i, d := range l {
		out[i] = string(d.Code)
	}
	return strings.Join(out, " ")
}

// gives runs a script's main and compares the result as text: a str verbatim, anything else as JSON.
func gives(t *testing.T, want, src string, opts ...agentscript.RunOption) {
	t.Helper()
	mod := loaded(t, agentscript.New(), src)
	res, err := mod.Start(t.Context(), opts...).Wait()
	if err != nil {
		t.Errorf("%v\n%s", err, src)
	} else if got := res.Text(); got != want {
		t.Errorf("got %s, want %s\n%s", got, want, src)
	}
}

// computes loads a script without main, whose def got() returns a value; the result is compared as JSON.
func computes(t *testing.T, want, src string, files ...string) {
	t.Helper()
	mod := loaded(t, agentscript.New(), src+"\n\ndef main():\n    return got()\n", files...)
	res, err := mod.Start(t.Context()).Wait()
	if err != nil {
		t.Errorf("%v\n%s", err, src)
	} else if got := res.JSON(); got != want {
		t.Errorf("got  %s\nwant %s\n%s", got, want, src)
	}
}

// fails runs a script's main, which must end in an error with the code whose text contains all of the words.
func fails(t *testing.T, code diag.Code, src string, opts []agentscript.RunOption, words ...string) {
	t.Helper()
	mod := loaded(t, agentscript.New(), src)
	res, err := mod.Start(t.Context(), opts...).Wait()
	e, ok := err.(*engine.Error)
	switch {
	case err == nil:
		t.Errorf("got %s, want the error %s\n%s", res.Text(), code, src)
	case !ok || e.Code != code:
		t.Errorf("got %v, want the error %s\n%s", err, code, src)
	default:
		for _, w := range words {
			if !strings.Contains(e.Error()+"\n"+e.Help, w) {
				t.Errorf("the error %q (help %q) lacks %q\n%s", e.Error(), e.Help, w, src)
			}
		}
	}
}

// input returns an input of main, as JSON or as a str.
func input(v any) agentscript.RunOption { return agentscript.Input(v) }

// asked runs a script on a scripted model and returns the calls that it made.
func asked(t *testing.T, src, in string, answers map[string][]string) (agentscript.Result, []scripted.Seen) {
	t.Helper()
	models := scripted.Answers(answers)
	mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("scripted/one")), src)
	res, err := mod.Start(t.Context(), agentscript.InputText(in)).Wait()
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if err := models.Err(); err != nil {
		t.Error(err)
	}
	return res, models.Requests()
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (run with -update to accept)\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}
