package starlib_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// prompt is a workspace whose entries must be sound.
type prompt struct {
	*starlib.Workspace
	t *testing.T
	n int
}

func newPrompt(t *testing.T) *prompt {
	fsys := fstest.MapFS{"lib.star": {Data: []byte("def twice(x):\n    return 2 * x\n")}, "note.txt": {Data: []byte("a note")}}
	w := starlib.NewWorkspace(starlib.Options{FS: fsys, Entry: "session.star"})
	w.Unfit = func(*starlib.Module) diag.List { return nil } // so that blocks are checked as parts of a file
	return &prompt{w, t, 0}
}

func (p *prompt) add(src string) diag.List {
	p.n++
	return p.Add(context.Background(), "entry"+string(rune('0'+p.n)), []byte(src+"\n"))
}

func (p *prompt) ok(entries ...string) {
	p.t.Helper()
	for _, src := range entries {
		if found := p.add(src); found.HasErrors() {
			p.t.Fatalf("%s\n%s", src, render(p.Module(), found))
		}
	}
}

// fails adds an entry that must have exactly one error, with a code.
func (p *prompt) fails(src string, code diag.Code) {
	p.t.Helper()
	if found := p.add(src); len(found) != 1 || found[0].Code != code {
		p.t.Fatalf("%s: want %s\n%s", src, code, render(p.Module(), found))
	}
}

func (p *prompt) run(name string, in generable.Value) generable.Value {
	p.t.Helper()
	m := p.Module()
	e, bad := m.Entry(name)
	if bad != nil {
		p.t.Fatal(bad)
	}
	s := run.Spec{Node: e.Node, Input: in}
	if e.Node == nil {
		args, err := e.Bind(map[string]generable.Value{"x": in})
		if err != nil {
			p.t.Fatal(err)
		}
		s = run.Spec{Main: e.Func, Args: args}
	}
	v, _, err := everywhere(p.t, s)
	if err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	return v
}

// TestEntriesBuildOnEachOther checks that an entry sees what earlier ones defined, even after they ran, and that
// existing functions see a rebound name.
func TestEntriesBuildOnEachOther(t *testing.T) {
	p := newPrompt(t)
	p.ok(`load("lib.star", double = "twice")`, "n = double(4)", "def scale(x):\n    return x * n", "step = fn(scale, input = int, output = int)")
	if v := p.run("step", generable.IntOf(2)); v != generable.IntOf(16) {
		t.Errorf("got %v", v)
	}
	p.ok("def both(x = int):\n    return step(double(x))")
	if v := p.run("both", generable.IntOf(2)); v != generable.IntOf(32) {
		t.Errorf("got %v", v)
	}
	p.fails("def wrong(x):\n    return step(\"a text\")", diag.WrongTypeAtBoundary)
}

func TestRedefinition(t *testing.T) {
	p := newPrompt(t)
	p.ok("n = 8", "def scale(x = int):\n    return x * n", "step = fn(lambda x: scale(x), input = int, output = int)")
	if v := p.run("step", generable.IntOf(2)); v != generable.IntOf(16) {
		t.Errorf("got %v", v)
	}
	p.ok("n = 3")
	if v := p.run("step", generable.IntOf(2)); v != generable.IntOf(6) {
		t.Errorf("an older function sees the old name: %v", v)
	}
	p.ok("def scale(x = int):\n    return x + n", "pair = step >> fn(lambda x: x + 100, input = int, output = int)")
	if v := p.run("pair", generable.IntOf(2)); v != generable.IntOf(105) {
		t.Errorf("got %v", v)
	}
}

// TestAnEntryThatFailsDefinesNothing checks that none of its names, places and types stay.
func TestAnEntryThatFailsDefinesNothing(t *testing.T) {
	p := newPrompt(t)
	p.ok("a = fn(lambda x: x, input = int, output = int)", "b = fn(lambda x: x, input = int, output = int)")
	p.fails("ab = a >> b\nT = schema(\"t\", u = ref(\"Missing\"))", diag.UnresolvedRef)
	if names := strings.Join(p.Module().Names(), " "); names != "a b" {
		t.Errorf("it defines %s", names)
	}
	p.ok("ab = a >> b")
	p.fails("again = a >> fn(lambda x: x, input = int, output = int)", diag.AlreadyPlaced)
}

// TestPlacesAreGivenBack checks that what a name held is free once nothing else leads to it.
func TestPlacesAreGivenBack(t *testing.T) {
	const step = "fn(lambda x: x + 1, input = int, output = int)"
	made := []string{"a = " + step, "b = " + step, "c = " + step}
	for _, tt := range []struct {
		name    string
		entries []string
		free    bool
	}{
		{"a structure that is bound anew", []string{"ab = a >> b", "ab = None"}, true},
		{"one that another holds", []string{"ab = a >> b", "abc = ab >> c", "ab = None"}, false},
		{"and that one as well", []string{"ab = a >> b", "abc = ab >> c", "ab = None", "abc = None"}, true},
		{"an inner one without a name", []string{"abc = then(each(a), each(b))", "abc = None"}, true},
		{"a list holds it", []string{"ab = a >> b", "kept = [ab]", "ab = None"}, false},
		{"a function holds it", []string{"ab = a >> b\ndef run(x = int):\n    return ab(x)", "ab = None"}, false},
		{"a tool holds it", []string{"t = (a >> b).as_tool(\"t\", \"A tool.\")"}, false},
		{"a tool that is gone", []string{"t = (a >> b).as_tool(\"t\", \"A tool.\")", "t = None"}, true},
		{"a chain that an operator made longer", []string{"abc = a >> b >> c", "abc = None"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPrompt(t)
			p.ok(made...)
			p.ok(tt.entries...)
			found := p.add("new = a >> fn(lambda x: x, input = int, output = int)")
			switch {
			case tt.free && found.HasErrors():
				t.Errorf("a has no place:\n%s", render(p.Module(), found))
			case !tt.free && (len(found) != 1 || found[0].Code != diag.AlreadyPlaced):
				t.Errorf("a has a place still:\n%s", render(p.Module(), found))
			}
		})
	}
}

func TestRelease(t *testing.T) {
	p := newPrompt(t)
	p.ok("a = fn(lambda x: x, input = int, output = int)", "ab = a >> fn(lambda x: x, input = int, output = int)", "fallback = 3")
	p.Release("ab", "fallback")
	if p.Module().Node("ab") != nil {
		t.Error("ab is there")
	}
	p.ok("twice = a >> fn(lambda x: 2 * x, input = int, output = int)", "both = fallback(twice, fn(lambda x: x, input = int, output = int))")
	if v := p.run("both", generable.IntOf(4)); v != generable.IntOf(8) {
		t.Errorf("got %v", v)
	}
}

// TestModulesOfAWorkspaceStay checks that a module does not change when entries are added.
func TestModulesOfAWorkspaceStay(t *testing.T) {
	p := newPrompt(t)
	p.ok("text = file(\"note.txt\")")
	before := p.Module()
	p.ok("more = text + \"!\"")
	if v, ok := p.Module().Value("more"); !ok || !generable.Equal(v, generable.StrOf("a note!")) {
		t.Errorf("got %v", v)
	}
	if _, ok := before.Value("more"); ok || strings.Join(before.Names(), " ") != "text" {
		t.Errorf("it has %v", before.Names())
	}
}

// TestOpenedOperandsAtAPrompt checks that an operator opens what an earlier entry made, that it is free again when the
// whole is rebound, and that it can be called all the time.
func TestOpenedOperandsAtAPrompt(t *testing.T) {
	p := newPrompt(t)
	const step = "fn(lambda x: x + 1, input = int, output = int)"
	p.ok("q = "+step+" / "+step, "w = q / "+step)
	length := func(name string) int {
		l, _ := p.run(name, generable.IntOf(1)).AsList()
		return l.Len()
	}
	if q, w := length("q"), length("w"); q != 2 || w != 3 {
		t.Errorf("q runs %d nodes, w %d", q, w)
	}
	p.fails("v = q / "+step, diag.AlreadyPlaced)
	p.ok("w = None", "w = q / "+step+" / "+step)
	if q, w := length("q"), length("w"); q != 2 || w != 4 {
		t.Errorf("q runs %d nodes, w %d", q, w)
	}
	p.ok("q = None", "u = w / "+step)
	if u := length("u"); u != 5 {
		t.Errorf("u runs %d nodes", u)
	}
	p.ok("def two(): return "+step+" / "+step, "whole = two()", "v = par(whole / fn(lambda x: [x], input = int, output = list[int]), output = any)")
	if v, _ := p.run("v", generable.IntOf(1)).AsList(); v.Len() != 1 {
		t.Errorf("v is %v", v)
	}
}

// enter adds a text statement by statement, runs what must be run, and returns the text of the last value.
func (p *prompt) enter(src string) (string, diag.List) {
	p.t.Helper()
	p.n++
	ctx := context.Background()
	b, found := p.Read(ctx, fmt.Sprintf("entry%d", p.n), []byte(src+"\n"))
	for b != nil && !found.HasErrors() {
		var s *starlib.Statement
		if s, found = b.Next(ctx); s == nil {
			break
		}
		if s.Run != nil {
			v, err := run.New(sched.NewGoSched(ctx), &run.Spec{Main: s.Run.Func, Handler: answers(nil), Model: "test/model", ID: "r"}).Run()
			if err == nil {
				err = s.Take(v)
			}
			if err != nil {
				return "", diag.List{{Message: err.Error()}}
			}
		}
	}
	if v, ok := p.Module().Value(starlib.Last); ok {
		return generable.JSON(v, nil), found
	}
	_, text, _, _ := p.Module().Describe(starlib.Last)
	return text, found
}

func (p *prompt) gives(src, want string) {
	p.t.Helper()
	got, found := p.enter(src)
	if found.HasErrors() || got != want {
		p.t.Errorf("%s\ngives %s, not %s\n%s", src, got, want, render(p.Module(), found))
	}
}

func (p *prompt) refuses(src string, code diag.Code, message string) {
	p.t.Helper()
	if _, found := p.enter(src); !found.HasErrors() || found[0].Code != code || !strings.Contains(found[0].Message, message) {
		p.t.Errorf("%s: want %s %s\n%s", src, code, message, render(p.Module(), found))
	}
}

// TestStatements checks that the statements of a block are separate programs, composed and then run.
func TestStatements(t *testing.T) {
	p := newPrompt(t)
	p.gives("1 + 2", "3")
	p.gives("_ * 2", "6")
	p.gives("xs = [1]\nxs.append(2); xs", "[1,2]")
	p.gives("xs.append(3)\nxs", "[1,2,3]")
	p.gives("def first(x):\n    return second(x) + 1\n\ndef second(x):\n    return x * 10\n\nfirst(2)", "21")
	p.gives("def second(x):\n    return x\n\nfirst(2)", "3")
	p.gives("a = agent(prompt = \"A\")\na(\"hello\")", `"a(hello)"`)
	p.gives("answer = a(\"hi\")\nanswer + \"!\"", `"a(hi)!"`)
	p.gives("b, n = a(\"x\"), 2\n[b, n]", `["a(x)",2]`)
	p.gives("said = []\nfor q in [\"u\", \"v\"]:\n    said.append(a(q))\nsaid", `["a(u)","a(v)"]`)
	p.gives("said.append(a(\"w\"))\nlen(said)", "3")
	p.gives("total = \"\"\nfor q in said:\n    total = total + a(q)\ntotal", `"a(a(u))a(a(v))a(a(w))"`)
	p.gives("def ask(x):\n    said.append(x)\n    return a(x)\n\nask(\"y\")\nlen(said)", "4")
	p.gives("a(\"hi\") if len(said) > 100 else 4", "4")
	p.gives("None", "4")
	p.gives("5\n[_, _2]", "[5,4]")
	p.gives("6\n[_, _2, _3]", "[6,[5,4],5]")
	p.gives("n = 1\nn = n + 1\nn += 3\nn", "5")
	p.gives("n = n + len(a(\"\"))\nn", "8")
	p.gives("if n > 3:\n    z = a(\"z\")\nelse:\n    late = 1\nz", `"a(z)"`)
	p.refuses("late", diag.UndefinedName, "late")
	p.refuses("early + 1\nearly = 2", diag.ScriptError, "early")
	p.refuses("say(1)", diag.UndefinedName, "say")
	p.refuses("x = (1,", diag.SyntaxError, "")
	p.refuses("while True:\n    pass", diag.StepLimit, "")
	p.refuses("def f(x):\n    said.append(x)\n    return x\n\nstep = fn(f, input = str, output = str)\nsaid.append(1)", diag.ScriptError, "frozen")
}

// TestAgentsAtAPrompt checks that what an expression places is free when it ends, and that an agent in a named node is
// not rebound without it.
func TestAgentsAtAPrompt(t *testing.T) {
	p := newPrompt(t)
	p.gives("a = agent(prompt = \"A\")\nb = agent(prompt = \"B\")\nc = agent(prompt = \"C\")", "")
	p.gives("a >> b", "<pipeline: str -> str>")
	p.gives("_(\"x\")", `"b(a(x))"`)
	p.gives("a >> c\n(a >> b)(\"y\")", `"b(a(y))"`)
	p.gives("ab = a >> b\nab(\"z\")", `"b(a(z))"`)
	p.refuses("a = agent(prompt = \"Other\")", diag.AlreadyPlaced, "ab")
	p.gives("a = agent(prompt = \"Other\")\nab = a >> b\nab(\"z\")", `"b(a(z))"`)
	p.gives("ab = None\na = agent(prompt = \"Third\")\nb = agent(prompt = \"B2\")\nb >> a\n1", "1")
	p.gives("D = schema(\"D\", x = int)\nd = agent(prompt = \"D\", output = D)", "1")
	p.gives("D = schema(\"D\", x = int)\nd = agent(prompt = \"D\", output = D)", "1")
	p.gives("m = memory(\"notes\")\ne = agent(prompt = \"E\", memory = m)", "1")
	p.gives("m = memory(\"notes\")\ne = agent(prompt = \"E\", memory = m)", "1")
}
