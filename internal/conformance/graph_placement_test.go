package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// places are the ways in which a node x: str -> str can be placed, and the name of the structure that contains it then.
// o() is another node.
var places = []struct{ src, kind string }{
	{"x >> o()", "pipeline"}, {"o() >> x", "pipeline"}, {"o() >> o() >> x", "pipeline"}, {"then(o(), x, o())", "pipeline"}, {"x.then(o())", "pipeline"},
	{"x / o()", "parallel"}, {"o() / o() / x", "parallel"}, {"par([o(), x])", "parallel"},
	{"x * o()", "forum"}, {"o() * x", "forum"}, {"forum(o(), x, o())", "forum"},
	{"x.loop(lambda s: None)", "loop"}, {"loop(o(), until = lambda s: True, repair = x)", "loop"}, {"o().loop(x)", "loop"},
	{"x.branch({str: o()})", "branch"}, {"o().branch({str: x})", "branch"}, {"o().branch([when(lambda s: True, x)], otherwise = o())", "branch"}, {"branch(o(), {}, otherwise = x)", "branch"},
	{"each(x)", "each"}, {"x.each()", "each"},
}

const placeable = `
def o():
    return agent(name = "o", run = lambda s: s)
`

// placed are the nodes that are placed twice, one of each kind.
var placed = []struct{ kind, src string }{
	{"agent", "agent(run = lambda s: s)"},
	{"pipeline", "o() >> o()"},
	{"forum", "o() * o()"},
	{"loop", "o().loop(lambda s: None)"},
	{"branch", "o().branch({str: o()})"},
	{"fn", "fn(lambda s: s, input = str, output = str)"},
	{"template", "template(\"{{input}}!\", input = str)"},
}

// Promise 3.8 (typed graph): a node has one place; placing it a second time is an error that names the node, both
// structures and both positions, and says how to make another instance.
func TestPromise_3_8_SinglePlacement(t *testing.T) {
	pairs := 0
	for n, node := range placed {
		for i, first := range places {
			for j, second := range places {
				pairs++
				if testing.Short() && (n+i+j)%4 > 0 {
					continue
				}
				src := placeable + "x = " + node.src + "\nfirst = " + first.src + "\nsecond = " + second.src + "\n"
				found, shown := checked(src)
				found = slices.DeleteFunc(found, func(d *diag.Diagnostic) bool { return d.Code == diag.OpenedOperand }) // a note
				want := fmt.Sprintf("error[AS401]: the %s x is part of a %s, and cannot be part of this %s as well\n", node.kind, first.kind, second.kind)
				if first.kind == "each" {
					want = strings.Replace(want, "a each", "an each", 1)
				}
				if first.kind == second.kind {
					want = fmt.Sprintf("error[AS401]: the %s x is part of another %s already\n", node.kind, first.kind)
				}
				if codes(found) != "AS401" || !strings.Contains(shown, want) {
					t.Fatalf("%s and %s: want %s, got\n%s", first.src, second.src, want, shown)
				}
				d := found[0]
				line := strings.Split(src, "\n")[d.Span.Line-1]
				if at := []rune(line)[d.Span.Col-1:]; string(at[:max(d.Span.Len, 1)]) != "x" && !strings.HasPrefix(string(at), "x.") {
					t.Errorf("%s: the caret is at %q", second.src, string(at))
				}
				for _, note := range []string{"x was placed in " + first.kind + " first at flow.star:5:", "x is defined at flow.star:4:", "call new_x() for each place"} {
					if !strings.Contains(shown, note) {
						t.Fatalf("%s and %s: this does not say %q:\n%s", first.src, second.src, note, shown)
					}
				}
			}
		}
	}
	if pairs != len(placed)*len(places)*len(places) {
		t.Errorf("only %d pairs were checked", pairs)
	}
	for _, c := range []struct{ src, kind string }{
		{"x >> x", "pipeline"}, {"x / x", "parallel"}, {"x * x", "forum"}, {"x / o() / x", "parallel"}, {"then(x, o(), x)", "pipeline"},
		{"x.branch({str: x})", "branch"}, {"o().branch([when(lambda s: True, x)], otherwise = x)", "branch"}, {"loop(x, until = lambda s: True, repair = x)", "loop"},
	} {
		found, shown := checked(placeable + "x = agent(run = lambda s: s)\nboth = " + c.src + "\n")
		if want := "the agent x appears twice in this " + c.kind; codes(found) != "AS401" || !strings.Contains(shown, want) {
			t.Errorf("%s: want %s, got\n%s", c.src, want, shown)
		}
	}
	t.Run("two at once", func(t *testing.T) {
		found, shown := checked(placeable + "x = agent(run = lambda s: s)\ny = agent(run = lambda s: s)\none = x >> y\nmain = (x >> o()) / (o() >> y)\n")
		if codes(found) != "AS401 AS401" {
			t.Errorf("two nodes are placed twice, and check says\n%s", shown)
		}
	})

	// A factory is the remedy; a call is not a place; a node of another file is placed by the file that loads it, once.
	gives(t, "x!!", "def new_x():\n    return agent(name = \"x\", run = lambda s: s + \"!\")\nmain = new_x() >> new_x()\n", input("x"))
	gives(t, "x!!!", "x = agent(run = lambda s: s + \"!\")\nused = x >> agent(run = lambda s: s)\ndef main():\n    return x(x(x(\"x\")))\n")
	const lib, uses = "x = agent(run = lambda s: s + \"!\")\n", "load(\"lib.star\", \"x\")\nmain = x >> agent(run = lambda s: s)\n"
	res, err := loaded(t, agentscript.New(), uses, "lib.star", lib).Start(t.Context(), input("x")).Wait()
	if err != nil || res.Text() != "x!" {
		t.Errorf("a loaded node gives %s, %v", res.Text(), err)
	}
	found, shown := checked("load(\"other.star\", \"y\")\n"+uses, "lib.star", lib, "other.star", "load(\"lib.star\", \"x\")\ny = x / agent(run = lambda s: s)\n")
	if codes(found) != "AS401" || !strings.Contains(shown, "x was placed in parallel y at other.star:2:7") || !strings.Contains(shown, "x is defined at lib.star:1:5") {
		t.Errorf("two files place one node, and check says\n%s", shown)
	}

	// A run calls nodes, and composes nothing.
	for _, src := range []string{"x = agent(run = lambda s: s)\ny = agent(run = lambda s: s)\ndef main():\n    return (x >> y)(\"s\")\n", "x = agent(run = lambda s: s)\ndef main():\n    return par(x)(\"s\")\n"} {
		found, shown := checked(src) // if loading detects it
		if codes(found) != "AS403" || !strings.Contains(shown, "composes while the flow runs") || !strings.Contains(shown, "top level") {
			t.Errorf("%s\ngets\n%s", src, shown)
		}
	}
	fails(t, diag.ComposedWhileRunning, "x = agent(run = lambda s: s)\ny = agent(run = lambda s: s)\ndef main():\n    nodes = [x, y]\n    return (nodes[0] >> nodes[1])(\"s\")\n", nil, "composes while the flow runs", "top level")
	fails(t, diag.ComposedWhileRunning, "x = agent(run = lambda s: s)\ndef main():\n    together = [par]\n    return together[0](x)(\"s\")\n", nil, "par")
	gives(t, "s!", "def main():\n    return agent(run = lambda s: s + \"!\")(\"s\")\n")
}

// Promise 3.9 (typed graph): a composition that fails claims none of its parts.
func TestPromise_3_9_AtomicPlacement(t *testing.T) {
	const parts = `
Dog = schema("A dog", n = int)
Cat = schema("A cat", n = int)
Pet = union("A pet", Dog, Cat)
x = agent(run = lambda s: s)
y = agent(run = lambda s: s)
number = agent(input = int, output = int, run = lambda n: n)
taken = agent(run = lambda s: s)
place = taken.loop(lambda s: None)
`
	for _, c := range []struct{ wrong, code string }{
		{"x >> taken", "AS401"}, {"x >> y >> taken", "AS401"}, {"x / taken", "AS401"}, {"x * taken", "AS401"}, {"x * y * x", "AS401"},
		{"x >> number", "AS301"}, {"then(x, y, number)", "AS301"}, {"x >> y >> number", "AS301"},
		{"x / number", "AS302"}, {"par(x, y, fn(lambda s: 1, input = str, output = int))", "AS303"}, {"x / fn(lambda s: 1, input = str, output = int)", "AS303"},
		{"x * number", "AS304"}, {"forum(x, y, rounds = 0)", "AS307"}, {"forum(x)", "AS316"},
		{"x.loop(number)", "AS301"}, {"x.loop(lambda s: None, max = 0)", "AS307"}, {"x.loop()", "AS203"}, {"x.loop(lambda: None)", "AS216"},
		{"x.branch({int: y})", "AS306"}, {"x.branch({str: taken})", "AS401"}, {"x.branch({str: number})", "AS301"}, {"x.branch({})", "AS316"},
		{"agent(output = Pet, prompt = \"P.\").branch({Dog: x})", "AS305 AS301"}, {"agent(output = bool, prompt = \"P.\").branch({True: fn(lambda b: b)})", "AS305"},
		{"x.each(limit = 0)", "AS307"}, {"then(x, \"y\")", "AS310"}, {"x >> \"y\"", "AS310"}, {"x | y", "AS309"}, {"par(x, y, limt = 3)", "AS202"},
	} {
		found, shown := checked(parts + "wrong = " + c.wrong + "\n")
		if strings.ReplaceAll(codes(found), " ", "") != strings.ReplaceAll(c.code, " ", "") {
			t.Errorf("%s is %q, want %q\n%s", c.wrong, codes(found), c.code, shown)
			continue
		}
		// Its parts are still free: placing them afterwards adds nothing.
		again, shown := checked(parts + "wrong = " + c.wrong + "\nmain = x >> y\nrest = number.loop(lambda n: None)\n")
		if codes(again) != codes(found) {
			t.Errorf("%s fails and keeps its parts:\n%s", c.wrong, shown)
		}
	}
	// A failed operand is not taken apart by a longer chain, and is reported once.
	refuse(t, []refusal{{"a failed operand", parts + "main = x >> number >> y\nmore = main >> agent(input = int, output = int, run = lambda n: n)\n", "AS301", nil}})
}
