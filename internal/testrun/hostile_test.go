package testrun_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/testrun"
)

// Whatever a test passes to the methods of t, it ends at once and with its own error: no panic, no text or list that
// exhausts memory.
func TestHostileArguments(t *testing.T) {
	for body, want := range map[string]string{
		`t.eq(wide(), 1)`:       "got list (too large to show), want 1",
		`t.eq(1, deep())`:       "got 1, want list (too large to show)",
		`t.ne(wide(), 1)`:       "",
		`t.contains(wide(), 5)`: "5 is not in list (too large to show)",
		`t.false(deep())`:       "got list (too large to show), want a value that is false",
		`t.snapshot(wide())`:    "the text of the value has more than",
		`t.snapshot(deep())`:    "nested more than",
		`t.each({"x": wide()}, lambda t, r: t.eq(r, 1))`: "got list (too large to show), want 1",
		`t.eq("x\n" * (1 << 20), "y\n" * (1 << 20))`:     "want \"y\\ny\\n",
		`t.reply("a", wide())`:                           "the answer: the value has more than",
		`t.fail("a", "server", times = 1 << 45)`:         "times: want 1 to 10000, got 35184372088832",
		`t.fail("a", "server", times = 9000)`:            "9000 of the answers that the test prepares were not used",
		`t.call("x", **{"": 1})`:                         "",
		`t.failed([])`:                                   "t.failed takes what attempt(...) returned",
		`t.failed(Odd(error = "x"))`:                     "t.failed takes what attempt(...) returned",
		`t.request("a", -(1 << 62))`:                     "a was never called",
	} {
		fsys := fstest.MapFS{"x_test.star": {Data: []byte(`
Odd = schema("Odd.", error = str)
a = agent(prompt = "p")
def wide():
    l = [1]
    for i in range(60):
        l = [l, l]
    return l
def deep():
    l = [1]
    for i in range(200000):
        l = [l]
    return l
def test_x(t):
    ` + body + "\n")}}
		f := testrun.Load(t.Context(), fsys, "x_test.star", testrun.Options{})
		if f.Broken {
			t.Errorf("%s: %v", body, f.Found)
			continue
		}
		r := f.Run(t.Context(), f.Tests[0], nil)
		err := r.Err
		if len(r.Subs) > 0 {
			err = r.Subs[0].Err
		}
		switch {
		case err == nil && want != "", err != nil && (want == "" || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", body, err, want)
		case err != nil && engine.AsError(err).Kind == engine.KindPanic:
			t.Errorf("%s panics: %v", body, err)
		case err != nil && len(engine.AsError(err).Notes) > 20:
			t.Errorf("%s has %d notes", body, len(engine.AsError(err).Notes))
		}
	}
}

// A snapshot that --update stores is found again, for any content and name.
func TestHostileSnapshots(t *testing.T) {
	dir := t.TempDir()
	script := `
names = ["../../x\n-- evil --\n", " a  b ", "a --", "-- a --", "\r", "\t", "ü\u2028\u202e\x1b[31m", "x/y"]
texts = ["-- a --\n-- b --\r\n\\-- c --\r\n\\\\-- d --", "a\r\nb\x00\n\n", "", "\n"]
def test_names(t):
    for n in names:
        t.snapshot(n, name = n)
def test_texts(t):
    for s in texts:
        t.snapshot(s)
`
	if err := os.WriteFile(filepath.Join(dir, "x_test.star"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, update := range []bool{true, false} {
		f := testrun.Load(t.Context(), os.DirFS(dir), "x_test.star", testrun.Options{Dir: dir, Update: update})
		var results []*testrun.Result
		for _, test := range f.Tests {
			r := f.Run(t.Context(), test, nil)
			if results = append(results, r); r.Err != nil {
				t.Errorf("update %t: %v", update, r.Err)
			}
		}
		if unused, err := f.Snapshots(results); err != nil || unused != nil {
			t.Errorf("update %t: %v, %v", update, unused, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A tool of the host that ignores the end of its test is abandoned: the inner test that called it fails, and the outer
// one with it, and what the tool does later changes no result.
func TestToolHangs(t *testing.T) {
	release := make(chan struct{})
	left := make(chan struct{})
	hang := agent.HostTool{Tool: agent.Tool{Name: "hang", Doc: "Hangs.", Returns: generable.StrT, Params: &generable.Type{Kind: generable.RecordType, Name: "hang"}}}
	hangs := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		<-release
		return engine.Outcome{Value: generable.StrOf("x"), Attempt: 1}
	})
	fsys := fstest.MapFS{"x_test.star": {Data: []byte(`
a = agent(prompt = "p", tools = [hang])
def test_x(t):
    t.reply("a", t.call("hang"))
    t.test("inside", lambda t: a("x"))
`)}}
	f := testrun.Load(t.Context(), fsys, "x_test.star", testrun.Options{Timeout: time.Millisecond, Engine: []agentscript.Option{agentscript.WithTool(hang)},
		Live:  engine.Handlers{engine.EffectTool: hangs},
		Kinds: engine.EventRun, OnEvent: func(_ string, e engine.Event) {
			if e.Data.(*event.Run).Phase == engine.PhaseEnd {
				close(left)
			}
		}})
	if f.Broken {
		t.Fatal(f.Found)
	}
	r := f.Run(t.Context(), f.Tests[0], nil)
	close(release)
	if inside := r.Subs[0]; inside.Status != testrun.Failed || inside.Err == nil || engine.AsError(inside.Err).Code != diag.Timeout {
		t.Errorf("%s: %s, %v", inside.Name, inside.Status, inside.Err)
	}
	if r.Status != testrun.Failed || r.Err != nil { // the failure is that of the inner test
		t.Errorf("%s: %s, %v", r.Name, r.Status, r.Err)
	}
	<-left
	if r.Subs[0].Status != testrun.Failed {
		t.Errorf("it is %s now", r.Subs[0].Status)
	}
}
