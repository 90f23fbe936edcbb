package conformance

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// severalFiles returns a script of several files in several directories, whose result is "AB!".
func severalFiles() fstest.MapFS {
	return fstest.MapFS{
		"flows/main.star":          {Data: []byte("load(\"lib/steps.star\", \"mark\", up = \"upper\")\nmain = up() >> mark\n")},
		"flows/lib/steps.star":     {Data: []byte("load(\"deep/text.star\", \"END\")\n\ndef upper():\n    return fn(lambda s: s.upper(), input = str, output = str)\n\nmark = fn(lambda s: s + END, input = str, output = str)\n")},
		"flows/lib/deep/text.star": {Data: []byte("END = file(\"end.txt\").strip()\n")},
		"flows/lib/deep/end.txt":   {Data: []byte("!\n")},
		"flows/unused.star":        {Data: []byte("this is = = no script")},
		"outside.star":             {Data: []byte("x = 1\n")},
	}
}

// Promise 9.1 (embedding): a module is loaded from any `fs.FS`, with all its files.
func TestPromise_9_1_LoadFS(t *testing.T) {
	files := severalFiles()
	dir := t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	if err := z.AddFS(files); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	zipped, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	sub := func(fsys fs.FS) fs.FS {
		s, err := fs.Sub(fsys, "flows")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	read := &opened{FS: sub(files), names: map[string]bool{}}
	hashes := map[string]bool{}
	for name, fsys := range map[string]fs.FS{"a map": sub(files), "a directory": os.DirFS(filepath.Join(dir, "flows")), "a zip": sub(zipped), "one of the host's": read} {
		mod, err := agentscript.New().Load(t.Context(), fsys, "main.star")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		hashes[mod.Hash()] = true
		if res, err := mod.Start(t.Context(), input("ab")).Wait(); err != nil || res.Text() != "AB!" {
			t.Errorf("%s: %s, %v", name, res.Text(), err)
		}
	}
	mod, err := agentscript.New().LoadFile(t.Context(), filepath.Join(dir, "flows", "main.star"))
	if err != nil {
		t.Fatal(err)
	}
	if hashes[mod.Hash()] = true; len(hashes) != 1 || mod.Hash() == "" {
		t.Errorf("the same files have the hashes %v", hashes)
	}
	if got := read.list(); got != "lib/deep/end.txt lib/deep/text.star lib/steps.star main.star" {
		t.Errorf("read are %s", got)
	}

	t.Run("every file counts for the hash", func(t *testing.T) {
		for _, name := range []string{"main.star", "lib/steps.star", "lib/deep/text.star", "lib/deep/end.txt", "unused.star"} {
			changed := severalFiles()
			changed["flows/"+name].Data = append([]byte("\n"), changed["flows/"+name].Data...)
			other, err := agentscript.New().Load(t.Context(), sub(changed), "main.star")
			if err != nil {
				t.Fatal(err)
			}
			if same := other.Hash() == mod.Hash(); same != (name == "unused.star") {
				t.Errorf("with %s changed the hash is the same: %v", name, same)
			}
		}
	})
	t.Run("what cannot be loaded", func(t *testing.T) {
		for _, c := range []struct{ name, main, code, at, says string }{
			{"a missing file", "load(\"lib/nosuch.star\", \"x\")", "AS211", "main.star:1:6", "lib/nosuch.star"},
			{"a file above", "load(\"../outside.star\", \"x\")", "AS601", "main.star:1:6", "outside"},
			{"a text above", "x = file(\"../outside.star\")", "AS601", "main.star:1:10", "outside"},
			{"an absolute path", "x = file(\"/etc/hosts\")", "AS601", "main.star:1:10", "/etc/hosts"},
			{"a file that loads it", "load(\"main.star\", \"x\")", "AS212", "main.star:1:6", "main.star"},
			{"a name that it has not", "load(\"lib/steps.star\", \"uper\")", "AS211", "main.star:1:25", `did you mean "upper"`},
		} {
			files := severalFiles()
			files["flows/main.star"].Data = []byte(c.main + "\n")
			_, err := agentscript.New().Load(t.Context(), sub(files), "main.star")
			var found *agentscript.LoadError
			if !errors.As(err, &found) {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			var shown strings.Builder
			if err := diag.Render(&shown, found.List, found.Sources, diag.Options{}); err != nil {
				t.Error(err)
			}
			if d := found.List[0]; string(d.Code) != c.code || d.Span.Pos.String() != c.at || !strings.Contains(shown.String(), c.says) {
				t.Errorf("%s: want %s at %s\n%s", c.name, c.code, c.at, shown.String())
			}
		}
		if _, err := agentscript.New().Load(t.Context(), sub(severalFiles()), "nosuch.star"); err == nil || !strings.Contains(err.Error(), "nosuch.star") {
			t.Errorf("%v", err)
		}
		if _, err := agentscript.New().Load(t.Context(), failingFS{}, "main.star"); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a cancelled load", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := agentscript.New().Load(ctx, script("x = [i for i in range(1000000)]\nmain = fn(lambda s: s)"), "flow.star"); err == nil {
			t.Error("it loads")
		}
	})
}

// opened records which files were opened.
type opened struct {
	fs.FS
	mu    sync.Mutex
	names map[string]bool
}

func (o *opened) Open(name string) (fs.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names[name] = true
	return o.FS.Open(name)
}

func (o *opened) list() string {
	var names []string
	for name := range o.names {
		if strings.Contains(name, ".") { // not a directory
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

type failingFS struct{}

func (failingFS) Open(string) (fs.File, error) { return nil, errors.New("the disk is gone") }

// Promise 9.2 (embedding): `Check` returns every diagnostic and runs nothing.
func TestPromise_9_2_Check(t *testing.T) {
	const src = `
print("loading")
a = agent(promt = "A.")
b = agent(input = int, prompt = "B.")
c = agent(prompt = "C.", temperature = "hot")
main = b >> agent(output = int, prompt = "D.") >> agent(prompt = "E.")

def never():
    fail("this does not run")
`
	var printed []string
	eng := agentscript.New(agentscript.WithModels(unrecorded), agentscript.WithPrint(func(at diag.Pos, text string) { printed = append(printed, at.String()+" "+text) }))
	found, sources := eng.Check(t.Context(), script(src), "flow.star")
	if got := codes(found); got != "AS202 AS204 AS301" {
		t.Errorf("found %s", got)
	}
	for _, d := range found {
		text, ok := sources.Source(d.Span.File)
		if !ok || text != src || d.Span.Line < 3 {
			t.Errorf("%s at %s has no source", d.Code, d.Span.Pos)
		}
	}
	if strings.Join(printed, "|") != "flow.star:2:6 loading" {
		t.Errorf("printed %q", printed)
	}
	// Load finds the same, as an error that contains everything.
	mod, err := eng.Load(t.Context(), script(src), "flow.star")
	var refused *agentscript.LoadError
	if mod != nil || !errors.As(err, &refused) || codes(refused.List) != codes(found) {
		t.Errorf("Load gives %v, %v", mod, err)
	}
	for _, word := range []string{"promt", "temperature"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not name %s", err, word)
		}
	}
	t.Run("warnings and notes stop nothing", func(t *testing.T) {
		const loose = "main = fn(lambda x: x) >> agent(input = int, output = int, run = lambda n: n)\n"
		strict := agentscript.New(agentscript.WithStrict())
		found, _ := strict.Check(t.Context(), script(loose), "flow.star")
		mod, err := strict.Load(t.Context(), script(loose), "flow.star")
		if err != nil || len(found) == 0 || found.HasErrors() || codes(mod.Diagnostics()) != codes(found) {
			t.Errorf("found %v, %v", found, err)
		}
		if found, _ := agentscript.New().Check(t.Context(), script(loose), "flow.star"); len(found) != 0 {
			t.Errorf("found without strictness: %v", found)
		}
	})
	t.Run("a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "flow.star")
		if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
			t.Fatal(err)
		}
		found, sources := agentscript.New().CheckFile(t.Context(), path)
		if codes(found) != "AS202 AS204 AS301" {
			t.Errorf("found %s", codes(found))
		}
		if text, ok := sources.Source(found[0].Span.File); !ok || text != src || !strings.HasSuffix(found[0].Span.File, "flow.star") {
			t.Errorf("the source of %s: %v", found[0].Span.File, ok)
		}
	})
	t.Run("a sound script has no findings, and no run either", func(t *testing.T) {
		eng := agentscript.New(agentscript.WithModels(answering(func(context.Context, string, *model.Request) engine.Outcome {
			t.Error("Check asks a model")
			return said("")
		})))
		if found, _ := eng.Check(t.Context(), script("main = agent(prompt = \"A.\")\ndef f():\n    fail(\"no\")\n"), "flow.star"); len(found) != 0 {
			t.Errorf("found %v", found)
		}
	})
}
