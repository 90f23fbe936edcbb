package conformance

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
)

// Promise 27.51 (desk): coverage counts routes of branches, turns of loops, retries, fallbacks, remedies, variants
// and tools against the compiled graph, for each structure of the algebra.
func TestPromise_27_51_Edges(t *testing.T) {
	const types = `
A = schema("a", x = int)
B = schema("b", y = int)
AB = union("either", A, B)
Level = enum("low", "mid", "high")

def fails_at(n):
    def run(x):
        if x == n:
            fail("no %d" % n)
        return x
    return run
`
	kinds := map[flow.NodeKind]bool{} // covered by rows
	for _, tt := range []struct {
		name, src string
		inputs    []any  // each is a run
		answers   string // answers of models, as a file of rows
		fails     bool   // some runs fail
		want      string // counted by hand: each item and its count
	}{
		{name: "then, par, pick, fn and template have one way", src: `
a = agent(input = str, output = A, run = lambda s: A(x = len(s)))
main = a >> pick("x") >> par(fn(lambda n: n + 1, input = int, output = int), fn(lambda n: n, input = int, output = int)) >> template("{{input}}")
`, inputs: []any{"x"}, want: `
agent agent a: called 1`},

		{name: "wrap, verify, bounded and approval have one way", src: `
teach = agent(prompt = "Teach.")
pupil = agent(prompt = "Learn.")
echo = agent(input = str, output = str, run = lambda s: s)
judge = verify(task = "Judge.")
main = wrap(teach, pupil) >> bounded(echo, budget(turns = 5)) >> judge >> pick("feedback") >> approval("Ship?")
`, inputs: []any{"x", "y"}, answers: `
{"agent": "teach", "text": "Be kind.", "repeat": true}
{"agent": "pupil", "text": "done", "repeat": true}
{"agent": "judge", "json": {"success": true, "feedback": "good"}, "repeat": true}
`, want: `
agent agent teach: called 2
agent agent pupil: called 2
agent agent echo: called 2
agent agent judge: called 2`},

		{name: "branch by type", src: `
decide = agent(input = int, output = AB, run = lambda n: A(x = n) if n < 5 else B(y = n))
main = branch(decide, {A: fn(lambda a: "a", input = A, output = str), B: fn(lambda b: "b", input = B, output = str)})
`, inputs: []any{1, 2, 9}, want: `
agent agent decide: called 3
variant branch main: A 2
variant branch main: B 1
edge branch main: A 2
edge branch main: B 1`},

		{name: "branch by enum, with otherwise", src: `
level = agent(input = int, output = Level, run = lambda n: ["low", "mid", "high"][n])
main = branch(level, {"low": fn(lambda l: "low", input = Level, output = str)}, otherwise = fn(lambda l: "more", input = Level, output = str))
`, inputs: []any{0, 1, 1}, want: `
agent agent level: called 3
edge branch main: otherwise 2
variant branch main: "low" 1
variant branch main: "mid" 2
variant branch main: "high" 0
edge branch main: "low" 1`},

		{name: "branch by bool and None", src: `
yes = agent(input = int, output = bool | None, run = lambda n: None if n == 0 else n > 5)
main = branch(yes, {True: fn(lambda v: "t", output = str), False: fn(lambda v: "f", output = str), None: fn(lambda v: "n", output = str)})
`, inputs: []any{0, 9}, want: `
agent agent yes: called 2
variant branch main: True 1
variant branch main: False 0
variant branch main: None 1
edge branch main: True 1
edge branch main: False 0
edge branch main: None 1`},

		{name: "branch by conditions", src: `
same = fn(lambda n: n, input = int, output = int)
main = branch(same, [when(lt(3), fn(lambda n: n, input = int, output = int)), when(lambda n: n == 7, fn(lambda n: n, input = int, output = int))],
    otherwise = fn(lambda n: n, input = int, output = int))
`, inputs: []any{1, 7, 7}, want: `
edge branch main: otherwise 0
edge branch main: lt(3) 1
edge branch main: when(...) 2`},

		{name: "handoff", src: `
decide = agent(input = int, output = AB, run = lambda n: A(x = n) if n < 5 else B(y = n))
main = handoff(decide, {A: fn(lambda a: "a", input = A, output = str), B: fn(lambda b: "b", input = B, output = str)})
`, inputs: []any{1}, want: `
agent agent decide: called 1
variant handoff main: A 1
variant handoff main: B 0
edge handoff main: A 1
edge handoff main: B 0`},

		{name: "loop", src: `
inc = fn(lambda n: n + 1, input = int, output = int)
main = loop(inc, lambda n: None if n > 3 else n, max = 3)
`, inputs: []any{9, 2, 1, -9}, fails: true, want: `
edge loop main: ends after one turn 1
edge loop main: ends after more turns 2
edge loop main: reaches its limit 1`},

		{name: "a loop without a bound has no limit to reach", src: `
inc = fn(lambda n: n + 1, input = int, output = int)
main = loop(inc, lambda n: None if n > 3 else n)
`, inputs: []any{9}, want: `
edge loop main: ends after one turn 1
edge loop main: ends after more turns 0`},

		{name: "loop of check and repair", src: `
check = fn(lambda n: n, input = int, output = int)
main = loop(check, until = gt(3), repair = agent("mend", input = int, output = int, run = lambda n: n + 1), max = 2, on_limit = "last")
`, inputs: []any{4, 3, 0}, want: `
edge loop main: ends after one turn 1
edge loop main: ends after more turns 1
edge loop main: reaches its limit 1
agent agent mend: called 2`},

		{name: "each", src: `
one = fn(fails_at(7), input = int, output = int)
main = each(one, on_error = "drop")
`, inputs: []any{[]any{}, []any{1, 7, 7}}, want: `
edge each main: no items 1
edge each main: items 1
edge each main: an item fails 1`},

		{name: "par that goes on", src: `
main = par(fn(fails_at(7), input = int, output = int), fn(lambda n: n, input = int, output = int), on_error = "keep")
`, inputs: []any{1, 7}, want: `
edge parallel main: a branch fails 1`},

		{name: "fallback", src: `
first = agent(input = int, output = int, run = fails_at(7))
second = agent(input = int, output = int, run = lambda n: n)
main = fallback(first, second)
`, inputs: []any{1, 7}, want: `
agent agent first: called 2
agent agent second: called 1
edge fallback main: 1: first 2
edge fallback main: 2: second 1`},

		{name: "retry", src: `
main = retry(fn(fails_at(7), input = int, output = int), 3)
`, inputs: []any{1, 7}, fails: true, want: `
edge retry main: again 2`},

		{name: "race", src: `
first = agent(input = int, output = int, run = fails_at(7))
second = agent(input = int, output = int, run = lambda n: n)
main = race(first, second)
`, inputs: []any{7}, want: `
agent agent first: called 1
agent agent second: called 1
edge race main: first wins 0
edge race main: second wins 1`},

		{name: "attempt", src: `
main = attempt(fn(fails_at(7), input = int, output = int))
`, inputs: []any{1, 7, 7}, want: `
edge attempt main: ok 1
edge attempt main: failed 2`},

		{name: "vote", src: `
a = agent(input = int, output = int, run = lambda n: n)
b = agent(input = int, output = int, run = lambda n: n)
main = vote(par(a, b))
`, inputs: []any{1}, want: `
agent agent a: called 1
agent agent b: called 1`},

		{name: "forum", src: `
a = agent(input = int, output = int, run = lambda n: n)
b = agent(input = int, output = int, run = lambda n: 1)
c = agent(input = int, output = int, run = lambda n: 0)
main = forum(a, b, consensus = 2, otherwise = c)
`, inputs: []any{1, 2, 3}, want: `
agent agent a: called 3
agent agent b: called 3
agent agent c: called 2
edge forum main: consensus 1
edge forum main: no consensus 2`},

		{name: "graph", src: `
draft = agent(input = int, output = int, run = lambda n: n + 1)
critic = agent(input = int, output = AB, run = lambda n: A(x = n) if n > 3 else B(y = n))
main = graph(draft, edges = [
    edge(draft, critic),
    edge(critic, draft, when = B, map = pick("y")),
    edge(critic, FINISH, when = A, map = pick("x")),
])
`, inputs: []any{1, 9}, want: `
agent agent draft: called 4
agent agent critic: called 4
variant graph main: critic: A 2
variant graph main: critic: B 2
edge graph main: draft → critic 4
edge graph main: critic → draft when B 2
edge graph main: critic → FINISH when A 2`},

		{name: "graph with the rest", src: `
same = agent(input = int, output = int, run = lambda n: n)
stop = agent(input = int, output = int, run = lambda n: n)
main = graph(same, edges = [edge(same, stop, when = gt(3))], on_no_match = "finish")
`, inputs: []any{1, 9}, want: `
agent agent same: called 2
agent agent stop: called 1
edge graph main: on_no_match 1
edge graph main: same → stop when gt(3) 1`},

		{name: "agents with tools, remedies and on_bad_output", src: `
def find(x):
    """Finds."""
    if x == 7:
        fail("seven")
    return str(x)

def idle():
    """Is never called."""
    return ""

asker = agent(input = int, output = A, prompt = "ask", repairs = 0,
    tools = [tool(find, {"x": int}, on_error = [again(1), escalate("it fails")]), tool(idle, {})],
    on_tool_error = [again(1)],
    on_bad_output = lambda raw: A(x = 0))
main = asker
`, inputs: []any{1, 2}, answers: `
{"agent": "asker", "calls": [{"name": "find", "args": {"x": 1}}, {"name": "find", "args": {"x": 7}}]}
{"agent": "asker", "text": "nonsense"}
{"agent": "asker", "json": {"x": 3}}
`, want: `
agent agent asker: called 2
edge agent asker: on_bad_output 1
tool agent asker: find called 2
tool agent asker: find failed 1
edge agent asker: find, failure, 1: again 1
edge agent asker: find, bad_args, 1: escalate 0
edge agent asker: find, failure, 2: escalate 1
tool agent asker: idle called 0
tool agent asker: idle failed 0
edge agent asker: on_tool_error, failure, 1: again 0`},

		{name: "servers", src: `
asker = agent(prompt = "ask", tools = [mcp("files", name = "files"), mcp("idle", name = "idle")])
main = asker
`, inputs: []any{"x"}, answers: `
{"agent": "asker", "calls": [{"name": "read", "args": {"path": "a"}}, {"name": "read", "args": {"path": "none"}}]}
{"agent": "asker", "text": "done"}
`, want: `
agent agent asker: called 1
tool agent asker: mcp files called 2
tool agent asker: mcp files failed 1
tool agent asker: mcp idle called 0
tool agent asker: mcp idle failed 0`},

		{name: "skills", src: `
both = agent(input = int | str, output = str, skills = [
    skill("number", "Of numbers", input = int, output = str, run = lambda n: "n"),
    skill("words", "Of words", input = str, output = str, run = lambda s: "s"),
])
main = both
`, inputs: []any{"x", "y"}, want: `
agent agent both: called 2
edge agent both: skill number 0
edge agent both: skill words 2`},

		{name: "nodes that a function calls many times", src: `
same = agent(input = int, output = int, run = lambda n: n)
small = branch(same, [when(lt(3), fn(lambda n: n, input = int, output = int))], otherwise = fn(lambda n: 0, input = int, output = int))
def main(n = int):
    return [small(i) for i in range(n)]
`, inputs: []any{map[string]any{"n": 5}}, want: `
agent agent same: called 5
edge branch small: otherwise 2
edge branch small: lt(3) 3`},

		{name: "nodes of a loaded file, and several of one name and place", src: `
load("lib.star", "coder", "either")
main = coder("x") >> either(coder("y"))
`, inputs: []any{1, 9}, want: `
agent agent coder: called 2
agent agent coder#1: called 2
edge branch: otherwise 1
edge branch: lt(3) 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			models, err := scripted.Read(strings.NewReader(tt.answers), "answers.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			mod := loaded(t, agentscript.New(agentscript.WithUngranted(), agentscript.WithDefaultModel("scripted/one")), types+tt.src, "lib.star", `
def coder(word):
    return agent("coder", input = int, output = int, run = lambda n: n)

def either(node):
    return branch(node, [when(lt(3), fn(lambda n: n, input = int, output = int))], otherwise = fn(lambda n: 0, input = int, output = int))
`)
			for _, n := range mod.Nodes() {
				kinds[n.Kind()] = true
			}
			g := cover.New(mod.Nodes()...)
			failed := false
			var lists [][]cover.Item
			for _, in := range tt.inputs {
				one := cover.New(mod.Nodes()...)
				in := input(in)
				if args, ok := tt.inputs[0].(map[string]any); ok {
					in = agentscript.Args(args)
				}
				_, err := mod.Start(t.Context(), in, agentscript.VirtualTime(), agentscript.HandlerForAll(servedBeside(models)), agentscript.OnEvent(cover.Events, func(e engine.Event) {
					g.Event(e)
					one.Event(e)
				})).Wait()
				if failed = failed || err != nil; err != nil && !tt.fails {
					t.Fatal(err)
				}
				lists = append(lists, one.Items())
			}
			if failed != tt.fails {
				t.Errorf("failed: %v", failed)
			}
			for how, items := range map[string][]cover.Item{"counted": g.Items(), "merged": cover.Merge(lists...)} {
				var got []string
				for _, it := range items {
					_, what, _ := strings.Cut(it.String(), ": ")
					got = append(got, fmt.Sprintf("%s %s %d", it.Family, what, it.Count))
				}
				if got := strings.Join(got, "\n"); got != strings.TrimSpace(tt.want) {
					t.Errorf("%s:\n%s\nwant:%s", how, got, tt.want)
				}
				for _, total := range cover.Totals(items) {
					all := strings.Count(tt.want, "\n"+string(total.Family)+" ")
					missed := len(regexp.MustCompile(`(?m)^`+string(total.Family)+` .* 0$`).FindAllString(tt.want, -1))
					if total.All != all || all > 0 && total.Percent() != 100*float64(all-missed)/float64(all) {
						t.Errorf("%s: %+v, want %d without %d", how, total, all, missed)
					}
				}
			}
		})
	}
	for kind := flow.AgentNode; kind <= flow.ApprovalNode; kind++ {
		if !kinds[kind] && kind != flow.FixNode { // a place for remedies of agents
			t.Errorf("no row counts %s", kind)
		}
	}
}

// servedBeside answers people and models, and the MCP server files, whose tool read finds everything but "none".
func servedBeside(models engine.Handler) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		switch r := e.Req.(type) {
		case *engine.ApprovalRequest:
			return engine.Outcome{Value: engine.Decision{Approved: true}.Value(), Attempt: 1}
		case *remote.ListRequest:
			if r.Server.Name != "files" {
				return engine.Outcome{Value: remote.EncodeTools(nil), Attempt: 1}
			}
			return engine.Outcome{Value: remote.EncodeTools([]remote.Tool{{Name: "read", Description: "Reads", Input: `{"type": "object", "properties": {"path": {"type": "string"}}}`}}), Attempt: 1}
		case *engine.ToolRequest:
			if strings.Contains(generable.JSON(r.Args, nil), "none") {
				return engine.Failed(engine.Errorf(engine.KindTool, diag.ToolFailed, "no such file"))
			}
			return engine.Outcome{Value: generable.StrOf("text"), Attempt: 1}
		}
		return models.Do(ctx, e, sink)
	})
}
