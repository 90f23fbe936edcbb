package conformance

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/draw"
	"github.com/agentscript/agentscript/engine/event"
)

// Agents of the scripts below: say("a") adds its name to its input, hear("c") lists whom it heard.
const speakers = `
def say(name):
    return agent(name = name, run = lambda s, n = name: s + n)
def hear(name):
    return agent(name = name, run = lambda s, said, n = name: n + "(" + ",".join([u["name"] + "=" + u["output"] for u in said]) + ")")
a, b, c, d = say("a"), say("b"), say("c"), say("d")
h, i, j, k = hear("h"), hear("i"), hear("j"), hear("k")
`

// Promise 26.43 (sound): an operator opens a left operand made by the same operator, named or not; a node that a
// function returned or received, or that has a history, a limit or an output of its own, stays one node.
func TestPromise_26_43_OperatorsOpenWhatOperatorsMade(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"named", "q = a / b\nmain = q / c", `["xa","xb","xc"]`},
		{"named twice", "q = a / b\nw = q / c\nmain = w / d", `["xa","xb","xc","xd"]`},
		{"a chain on a name", "q = a / b\nmain = q / c / d", `["xa","xb","xc","xd"]`},
		{"the same name", "def all():\n    q = a / b\n    q = q / c\n    q /= d\n    return q\nmain = all()", `["xa","xb","xc","xd"]`},
		{"another name", "q = a / b\np = q\nmain = p / c", `["xa","xb","xc"]`},
		{"in a list", "q = [a / b]\nmain = q[0] / c", `["xa","xb","xc"]`},
		{"in a dict", "q = {\"one\": a / b}\nmain = q[\"one\"] / c", `["xa","xb","xc"]`},
		{"in a comprehension", "main = [q / c for q in [a / b]][0]", `["xa","xb","xc"]`},
		{"in a tuple", "q, p = a / b, c\nmain = q / p", `["xa","xb","xc"]`},
		{"in a loop", "w = []\nq = a / b\nfor x in [c]:\n    w.append(q / x)\nmain = w[0]", `["xa","xb","xc"]`},
		{"in a function", "def all(xs):\n    q = xs[0] / xs[1]\n    for x in xs[2:]:\n        q = q / x\n    return q\nmain = all([a, b, c, d])", `["xa","xb","xc","xd"]`},
		{"of the file in a function", "q = a / b\ndef whole():\n    return q / c\nmain = whole()", `["xa","xb","xc"]`},
		{"a conditional", "q = a / b if True else c / d\nmain = q / say(\"e\")", `["xa","xb","xe"]`},
		{"a right operand", "q = b / c\nmain = fn(lambda s: [s], output = list[str]) / q", `[["x"],["xb","xc"]]`},
		{"a forum", "f = h * i\nmain = f * j", `j(h=h(),i=i())`},
		{"a forum of a name of a name", "f = h * i\ng = f * j\nmain = g * k", `k(h=h(),i=i(),j=j())`},
		{"a forum, unnamed", "main = h * i * j", `j(h=h(),i=i())`},
		{"a pipeline", "p = a >> b\nmain = p >> c", `xabc`},

		{"a function of the script", "def two(): return a / b\nmain = par(two() / fn(lambda s: [s], output = list[str]), output = any)", `[[["xa","xb"],["x"]]]`},
		{"a function's value by its name", "def two(): return a / b\nq = two()\nmain = q / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"a lambda", "two = lambda: a / b\nmain = two() / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"what a function only handed through", "def same(x): return x\nq = same(a / b)\nmain = q / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"a parameter", "def more(x): return x / fn(lambda s: [s], output = list[str])\nmain = more(a / b)", `[["xa","xb"],["x"]]`},
		{"a parameter with a name outside", "def more(x): return x / fn(lambda s: [s], output = list[str])\nq = a / b\nmain = more(q)", `[["xa","xb"],["x"]]`},
		{"a parameter in a list", "def more(xs): return xs[0] / fn(lambda s: [s], output = list[str])\nmain = more([a / b])", `[["xa","xb"],["x"]]`},
		{"a function on its own value", "def more(x): return par(x / fn(lambda s: [s], output = any), output = any)\nmain = more(more(a / b))", `[[[[["xa","xb"],["x"]]],["x"]]]`},
		{"par", "main = par(a, b) / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"par of an operator", "main = par(par(a / b, output = any), c, output = any)", `[[["xa","xb"]],"xc"]`},
		{"an output of its own", "q = par(a, b, output = str)\nmain = q / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"a limit", "q = bounded(a / b, budget(turns = 9))\nmain = q / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"a history", "main = conversation(a / b) / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"a history, given to a name", "q = a / b\nconversation(q)\nmain = q / fn(lambda s: [s], output = list[str])", `[["xa","xb"],["x"]]`},
		{"a forum of a function", "def talk(): return h * i\nmain = talk() * j", `j(forum=i(h=h()))`},
		{"forum", "main = forum(h, i) * j", `j(forum=i(h=h()))`},
	} {
		t.Run(c.name, func(t *testing.T) {
			gives(t, c.want, speakers+c.src+"\n", input("x"))
		})
	}
	// The names of a loaded file mean what they would mean here.
	mod := loaded(t, agentscript.New(), "load(\"pair.star\", \"q\")\nc = agent(run = lambda s: s + \"c\")\nmain = q / c\n", "pair.star", speakers+"q = a / b\n")
	if res, err := mod.Start(t.Context(), input("x")).Wait(); err != nil || res.Text() != `["xa","xb","xc"]` {
		t.Errorf("a loaded name: %s, %v", res.Text(), err)
	}
}

// Promise 26.48 (sound): a structure opened by its name has its place in the whole, is drawn there, appears in the
// positions of its nodes, and can still be called.
func TestPromise_26_48_TheNameStays(t *testing.T) {
	mod := loaded(t, agentscript.New(), speakers+"q = a / b\nwhole = q / c\nf = h * i\ntalk = f * j\ndef main(x = str):\n    return [q(x), whole(x), f(x), talk(x)]\n")
	var paths []string
	res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"x": "x"}), agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
		if n, ok := e.Data.(*event.Node); ok && n.Phase == engine.PhaseStart {
			paths = append(paths, e.Path)
		}
	})).Wait()
	if want := `[["xa","xb"],["xa","xb","xc"],"i(h=h())","j(h=h(),i=i())"]`; err != nil || res.Text() != want {
		t.Errorf("got %s, %v, want %s", res.Text(), err, want)
	}
	for _, want := range []string{"main/par:q#0[0]/agent:a#0", "main/par:whole#0[0]/par:q#0", "main/par:whole#0[0]/par:q#0[1]/agent:b#0", "main/par:whole#0[1]/agent:c#0",
		"main/forum:f#0/agent:i#0", "main/forum:talk#0/round0[0]/forum:f#0/round0[1]/agent:i#0", "main/forum:talk#0/agent:j#0"} {
		if !strings.Contains(strings.Join(paths, "\n")+"\n", want+"\n") {
			t.Errorf("nothing begins at %s:\n%s", want, strings.Join(paths, "\n"))
		}
	}
	for name, frame := range map[string]string{"whole": "q: parallel", "talk": "f: forum"} {
		if drawn := draw.Mermaid(mod.Node(name)); !strings.Contains(drawn, frame) || strings.Count(drawn, "join") > 2 {
			t.Errorf("%s is not drawn in a frame:\n%s", frame, drawn)
		}
	}
	refuse(t, []refusal{
		{"in two wholes", speakers + "q = a / b\none = q / c\ntwo = q / d\n", "AS328 AS401", []string{"the parallel q is part of another parallel already", "q was placed in parallel one"}},
		{"a history too late", speakers + "q = [a / b]\nmain = q[0] / c\nconversation(q[0])\n", "AS204", []string{"an operator opened parallel already", "before the operator"}},
		{"beside itself", speakers + "q = a / b\none = q / q\n", "AS401", []string{"the parallel q appears twice in this parallel"}},
		{"beside what is in it", speakers + "q = a / b\none = q / c / b\n", "AS328 AS401", []string{"the agent b is part of another parallel already", "b was placed in parallel q"}},
		{"types that differ", speakers + "q = a / b\none = q / fn(lambda s: 1, input = str, output = int)\n", "AS303 AS328", []string{"a returns str"}},
	})
}

// Promise 26.46 (sound): a script whose meaning changed gets a note, once for each place, whose advice keeps the
// earlier meaning; a script whose meaning did not change gets none.
func TestPromise_26_46_ChangesAreNoted(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"q = a / b\nmain = q / c", "`/` opens q: this is one parallel of 3 nodes"},
		{"f = h * i\nmain = f * j", "`*` opens f: this is one forum of 3 nodes"},
		{"def all(xs):\n    q = a / b\n    for x in xs:\n        q = q / x\n    return q\nmain = all([c, d])", "`/` opens q: this is one parallel of 3 nodes"},
		{"two = lambda: h * i\nmain = two() * j", "`*` keeps what comes out of a function whole: this is a forum of 2 nodes"},
		{"main = conversation(h * i) * j", "`*` keeps what has a history whole: this is a forum of 2 nodes"},
		{"main = conversation(a >> b) >> c", "`>>` keeps what has a history whole: this is a pipeline of 2 nodes"},
		{"main = a / b / c", ""},
		{"main = (a / b) / c", ""},
		{"q = a >> b\nmain = q >> c", ""},
		{"two = lambda: a >> b\nmain = two() >> c", ""},
		{"q = b / c\nmain = fn(lambda s: [s], output = list[str]) / q", ""},
		{"q = a / b\nmain = par(q, c, output = any)", ""},
		{"q = conversation(h * i)\nmain = q * j", "`*` keeps what has a history whole: this is a forum of 2 nodes"},
		{"q = h * i\nconversation(q)\nmain = q * j", ""},
	} {
		found, shown := checked(speakers + c.src + "\n")
		var notes []string
		for _, d := range found {
			if d.Code == "AS328" {
				notes = append(notes, d.Message)
			}
		}
		if got := strings.Join(notes, "\n"); got != c.want {
			t.Errorf("%s\nis noted as %q, want %q\n%s", c.src, got, c.want, shown)
		}
	}
	_, shown := checked(speakers + "q = a / b\nmain = q / c\n")
	if !strings.Contains(shown, "write par(q, c, output = list[str] | str)") {
		t.Errorf("the note does not say how to keep the earlier meaning:\n%s", shown)
	}
	gives(t, `[["xa","xb"],"xc"]`, speakers+"q = a / b\nmain = par(q, c, output = list[str] | str)\n", input("x"))
}
