package conformance

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Promise 15.15 (algebra): in def main, nodes are called as functions, and `parallel`, `stream` and `phase`
// orchestrate with the same effects, budgets, events and paths as the operators; no item of a stream waits for the
// others between its stages.
func TestPromise_15_15_PlainCode(t *testing.T) {
	const src = `
draft = agent(prompt = "Draft.")
score = agent(prompt = "Score.")
def main(items = list[str]):
    phase("calls")
    one = draft(items[0])
    phase("at once")
    all = parallel(draft, items) + parallel([(score, one), (draft, "x")])
    phase("in stages")
    return [one] + all + stream(items, draft, score)
`
	mod := loaded(t, agentscript.New(agentscript.WithDefaultModel("test/m")), src)
	args := agentscript.Args(map[string]any{"items": []string{"a", "b"}})
	res, ids, err := everywhere(t, mod, func() engine.Handler { return replies(nil) }, args)
	if want := `["draft(a)","draft(a)","draft(b)","score(draft(a))","draft(x)","score(draft(a))","score(draft(b))"]`; err != nil || res.Text() != want {
		t.Errorf("got %s, %v; want %s", res.Text(), err, want)
	}
	for _, path := range []string{"main/agent:draft#0/llm0@", "main/parallel0[1]/agent:draft#0/llm0@", "main/parallel1[0]/agent:score#0/llm0@", "main/stream0[1]/agent:score#0/llm0@"} {
		if !strings.Contains(ids, path) {
			t.Errorf("there is no effect %s in\n%s", path, ids)
		}
	}
	var nodes, phases int
	_, err = mod.Start(t.Context(), args, agentscript.HandlerForAll(replies(nil)), agentscript.OnEvent(engine.EventNode|engine.EventPhase, func(e engine.Event) {
		switch {
		case e.Kind == engine.EventPhase:
			phases++
		case e.Phase() == engine.PhaseEnd:
			nodes++
		}
	})).Wait()
	if err != nil || nodes != 9 || phases != 3 {
		t.Errorf("%v; %d nodes, %d phases are told", err, nodes, phases)
	}
	_, err = mod.Start(t.Context(), args, agentscript.HandlerForAll(replies(nil)), agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(3)})).Wait()
	if e, ok := err.(*engine.Error); !ok || e.Kind != engine.KindBudget {
		t.Errorf("a budget of three calls: %v", err)
	}

	// The last draft waits until the first item is scored: a barrier would never end.
	scored := make(chan struct{})
	var once sync.Once
	res, err = loaded(t, agentscript.New(agentscript.WithDefaultModel("test/m")), `
draft = agent(prompt = "Draft.")
score = agent(prompt = "Score.")
def main(items = list[str]):
    return stream(items, draft, score)
`).Start(t.Context(), args, agentscript.HandlerForAll(answering(func(ctx context.Context, agent string, r *model.Request) engine.Outcome {
		switch {
		case agent == "score":
			once.Do(func() { close(scored) })
		case r.Messages[0].Parts[0].Text == "b":
			select {
			case <-scored:
			case <-ctx.Done():
			}
		}
		return said(agent)
	}))).Wait()
	if err != nil || res.Text() != `["score","score"]` {
		t.Errorf("a stream gives %s, %v", res.Text(), err)
	}
}

// Promise 15.16 (algebra): conditions are data: `eq ne gt ge lt le matches has` and their combinations with `& | ~`
// can be used wherever a function of the value can, and can be called, shown and drawn.
func TestPromise_15_16_Conditions(t *testing.T) {
	const parts = `
T = schema("A thing", n = int, name = str, tags = field(list[str], default = []), inner = field(dict[str, int], default = {}))
def ask(cond):
    return [cond(T(n = n, name = name, tags = ["x"] if n > 2 else [], inner = {"k": n})) for n, name in [(1, "one"), (2, "two"), (3, "three")]]
`
	for cond, want := range map[string]string{
		`eq("n", 2)`: "[false,true,false]", `ne("n", 2)`: "[true,false,true]", `gt("n", 2)`: "[false,false,true]", `ge("n", 2)`: "[false,true,true]",
		`lt("n", 2)`: "[true,false,false]", `le("n", 2)`: "[true,true,false]", `matches("name", "^t")`: "[false,true,true]", `has("tags", "x")`: "[false,false,true]",
		`ge("n", 2) & lt("n", 3)`: "[false,true,false]", `lt("n", 2) | gt("n", 2)`: "[true,false,true]", `~eq("n", 2)`: "[true,false,true]",
		`eq("name", "TWO", fold = True)`: "[false,true,false]", `gt("name", "P", fold = True)`: "[false,true,true]", `ne("n", 2.0, exact = True)`: "[true,true,true]", `always`: "[true,true,true]", `~never & le("n", 2)`: "[true,true,false]", `eq("inner.k", 3)`: "[false,false,true]",
	} {
		computes(t, want, parts+"def got():\n    return ask("+cond+")\n")
		computes(t, `"`+strings.ReplaceAll(cond, `"`, `\"`)+`"`, parts+"def got():\n    return str("+cond+")\n")
	}
	flows(t, numbered, []flowRow{
		{"in a branch", `main = branch(same(), [when(ge(80), word("ship ")), when(lt(80), word("mend "))])`, "int -> str", 79, "mend 79"},
		{"in a loop", `main = loop(same(), until = ge(10) & ne(16), repair = double())`, "int -> int", 1, "32"},
		{"in a retry", `main = retry(inc(), until = gt(1))`, "int -> int", 1, "2"},
		{"on an edge", "a = inc()\nmain = graph(a, [edge(a, a, when = ~ge(5)), edge(a, FINISH)])", "int -> int", 0, "5"},
	})
	drawn := offline(t, "graph", file(t, "f.star", numbered+"a = inc()\nmain = graph(a, [edge(a, a, when = ~ge(5)), edge(a, FINISH)])\n"), "--format", "json")
	if !strings.Contains(drawn.stdout, "~ge(5)") {
		t.Errorf("a drawing does not show the condition:\n%s%s", drawn.stdout, drawn.stderr)
	}
}

// Promise 15.17 (algebra): verify gives a Critique[T] with success, feedback and the verified value; edges and routes
// can test these fields.
func TestPromise_15_17_Verify(t *testing.T) {
	const src = `
Draft = schema("A draft", text = str)
write = agent(output = Draft, run = lambda s: Draft(text = s))
critic = verify(model = "scripted/critic", prompt = "Be strict.", task = "Say it twice.", input = Draft)
mend = agent(input = Critique[Draft], output = Draft, run = lambda c: Draft(text = c.input.text + " " + c.feedback))
main = graph(write, [
    edge(write, critic),
    edge(critic, FINISH, when = eq("success", True), map = pick("input")),
    edge(critic, mend),
    edge(mend, critic),
])
`
	res, calls := asked(t, src, "go", map[string][]string{"critic": {`{"success": false, "feedback": "again"}`, `{"success": true, "feedback": ""}`}})
	if res.Text() != `{"text":"go again"}` || len(calls) != 2 {
		t.Fatalf("it gives %s after %d calls", res.Text(), len(calls))
	}
	for _, want := range []string{"Be strict.", "Say it twice.", "success", "feedback"} {
		if !strings.Contains(calls[0].Request.System, want) {
			t.Errorf("the model is not told %q:\n%s", want, calls[0].Request.System)
		}
	}
	if calls[0].Request.Model != "scripted/critic" {
		t.Errorf("%s is asked", calls[0].Request.Model)
	}
	computes(t, `["bool","string","Draft"]`, `
Draft = schema("A draft", text = str)
critic = verify(task = "x", input = Draft)
C = Critique[Draft]
def got():
    c = C(success = True, feedback = "", input = Draft(text = "t"))
    return [type(c.success), type(c.feedback), type(c.input)]
`)
}

// Promise 15.18 (algebra): the algebra page has a row for every composition and shows each one in a flow that runs.
func TestPromise_15_18_Shown(t *testing.T) {
	text, err := os.ReadFile(repository("docs/algebra.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows, flows strings.Builder
	inside := false
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```python")
		case inside:
			flows.WriteString(line)
		case strings.HasPrefix(line, "|"):
			rows.WriteString(line)
		}
	}
	for _, w := range strings.Fields("then( par( forum( branch( loop( each( graph( fallback( race( retry( attempt( vote( wrap( handoff( verify( fn( pick( template(") {
		if !strings.Contains(rows.String(), w) {
			t.Errorf("the table of the page has no row of %s", w)
		}
		shown := strings.Contains(flows.String(), w)
		switch w { // the operators say the same
		case "then(":
			shown = strings.Contains(flows.String(), " >> ")
		case "forum(":
			shown = strings.Contains(flows.String(), " * captain")
		}
		if !shown {
			t.Errorf("no flow of the page uses %s", w)
		}
	}
	for _, w := range []string{" / ", "merge =", `on_error = "drop"`, "consensus =", "until =", "feedback =", "map =", "FINISH", "ge(", "has(", "judge ="} {
		if !strings.Contains(flows.String(), w) {
			t.Errorf("no flow of the page uses %s", w)
		}
	}
}
