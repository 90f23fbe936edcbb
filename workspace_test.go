package agentscript_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
)

// TestWorkspace: a host adds texts to a script that grows, and each runs with the options of a run.
func TestWorkspace(t *testing.T) {
	fine := "fine"
	eng := agentscript.New(agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "*", Text: &fine, Repeat: true}})), agentscript.WithDefaultModel("test/model"))
	w, err := eng.Workspace(filepath.Join(t.TempDir(), "session.star"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	eval := func(text string) generable.Value {
		t.Helper()
		r, err := w.Eval(ctx, text)
		if err != nil {
			t.Fatal(err)
		}
		return r.Value
	}
	eval("critic = agent(prompt = \"Judge.\")\nxs = [1, 2]")
	if v := eval("critic(\"a\") + \"!\""); !generable.Equal(v, generable.StrOf("fine!")) {
		t.Errorf("got %v", v)
	}
	if v := eval("xs.append(3)\nlen(xs)"); v != generable.IntOf(3) {
		t.Errorf("got %v", v)
	}
	for text, want := range map[string]string{"critic.th": "then", "xs.append(4)\nxs.ap": "append", "y = agent(prom": "prompt"} {
		c := w.Complete(ctx, text, len(text))
		if len(c.Items) != 1 || c.Items[0].Name != want {
			t.Errorf("%s may be %v", text, c.Items)
		}
	}
	if v := eval("len(xs)"); v != generable.IntOf(3) {
		t.Errorf("completion executed something: %v", v)
	}
	var wrong *agentscript.LoadError
	if _, err := w.Eval(ctx, "critic >> 3"); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Eval(ctx, "(1"); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Eval(ctx, "critic(\"a\")[99]"); !errors.As(err, new(*agentscript.Error)) {
		t.Errorf("got %v", err)
	}
	if typ, text, help, at := w.Module().Describe("critic"); typ != "node" || text != "<agent critic: str -> str>" || help == "" || at.Line != 1 {
		t.Errorf("got %s, %s, %s, %s", typ, text, help, at)
	}
	if r, err := w.Module().StartNamed(ctx, "critic", agentscript.Input("x")).Wait(); err != nil || r.Text() != "fine" {
		t.Errorf("got %v, %v", r, err)
	}
	if b := w.Read(ctx, "cell", "len(xs)"); !b.Next(ctx) || !b.IsValue() || b.Runs() || b.Next(ctx) || b.Err() != nil {
		t.Error("a value is no statement of its own")
	}
	w.Release("xs")
	if _, ok := w.Module().Value("xs"); ok {
		t.Error("xs is there")
	}
}

// TestWorkspaceKeepsWhatPrecedesAnError: statements before the failing one stay executed, even if the error is in a
// function that the same text defines, or in a file that it loads.
func TestWorkspaceKeepsWhatPrecedesAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lib.star"), []byte("def g(a):\n    return a + 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"def f(a): return a + 1\ny = f(2)\nf(\"x\")\nz = 1\n",
		"def f(a): return a + 1\ndef h(a): return f(a)\ny = f(2)\nh(\"x\")\nz = 1\n",
		"load(\"lib.star\", f = \"g\")\ny = f(2)\nf(\"x\")\nz = 1\n",
	} {
		w, err := agentscript.New().Workspace(filepath.Join(dir, "session.star"))
		if err != nil {
			t.Fatal(err)
		}
		w.CheckAsFile(func(m *agentscript.Module) diag.List { return nil })
		if _, err := w.Eval(t.Context(), "x = 1\n"+text); !errors.As(err, new(*agentscript.LoadError)) {
			t.Errorf("%s\nends with %v", text, err)
		}
		y, _ := w.Module().Value("y")
		if _, z := w.Module().Value("z"); z || y != generable.IntOf(3) {
			t.Errorf("%s\nleaves y = %v", text, y)
		}
		if typ, _, _, _ := w.Module().Describe("f"); typ != "function" {
			t.Errorf("%s\nleaves no f", text)
		}
	}
}
