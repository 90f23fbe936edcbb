package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
)

// mendedBy is an agent with one tool whose calls an agent fixes, and a function that decides about all failures.
const mendedBy = `
def half(n = int):
    """Halves an even number."""
    if n % 2:
        fail("{} is odd".format(n))
    return n // 2

mender = agent(input = str, prompt = "Mend.", model = "test/small")
even = template("{{error}}: {{args}}") >> agent(name = "evener", prompt = "Give a result.")

def decide(f):
    return fix(even, retries = 2) if f.attempt < 3 else None

main = agent(
    name = "a",
    prompt = "Halve them all.",
    tools = [tool(half, on_error = recover(bad_args = fix(mender)))],
    on_tool_error = decide,
)
`

// Promise 18.9 (tools): recovery is the same on every scheduler, in every order of parallel calls and on a replay,
// effect by effect: fixers are nodes with their own positions below the call.
func TestPromise_18_9_MendingEverywhere(t *testing.T) {
	mod := loaded(t, agentscript.New(agentscript.WithDefaultModel("test/model")), mendedBy)
	handler := func() engine.Handler {
		var turns atomic.Int64
		return answering(func(_ context.Context, agent string, r *model.Request) engine.Outcome {
			last := r.Messages[len(r.Messages)-1].Parts[0].Text
			switch {
			case agent == "mender":
				return said(`{"n": 7}`)
			case agent == "evener":
				return said("mended " + last)
			case turns.Add(1) > 1:
				var all []string
				for _, p := range r.Messages[len(r.Messages)-1].Parts {
					all = append(all, p.Result.Text)
				}
				return said(strings.Join(all, "; "))
			}
			var all []string
			for i, args := range []string{`{"n": 4}`, `{"n": "x"}`, `{"n": 3}`, `{"n": null}`, `{"n": 5}`, `{"n": 5}`} {
				all = append(all, []string{"half", "halve"}[i/5], args)
			}
			return calling(all...)
		})
	}
	res, ids, err := everywhere(t, mod, handler, agentscript.InputText("go"))
	if err != nil {
		t.Fatal(err)
	}
	want := `2; mended 7 is odd: {"n": 7}; mended 3 is odd: {"n": 3}; mended 7 is odd: {"n": 7}; mended 5 is odd: {"n": 5}; error: there is no tool "halve"; the tools are: half`
	if res.Text() != want {
		t.Errorf("got  %s\nwant %s", res.Text(), want)
	}
	for _, path := range []string{"main/agent:a#0/tool:half#1/fix0/agent:mender#0/llm0@", "main/agent:a#0/tool:half#1/fix2/then:even#0/agent:evener#0/llm0@", "main/agent:a#0/tool:half#2/fix1/"} {
		if !strings.Contains(ids, path) {
			t.Errorf("no effect at %s among\n%s", path, ids)
		}
	}
}

// Promise 18.10 (tools): a fixer is visible like any node: it has one place, and appears in the drawing, in the output
// of describe, and in the bounds of what a run may ask.
func TestPromise_18_10_FixersAreNodes(t *testing.T) {
	mod := loaded(t, agentscript.New(), mendedBy)
	main := mod.Node("main")
	if kids := main.Children(); len(kids) != 1 || kids[0] != mod.Node("mender") || kids[0].Free() {
		t.Errorf("the agent holds %v", kids)
	}
	gives(t, "True", strings.Replace(mendedBy, "main = agent(", "worker = agent(", 1)+"\ndef main():\n    return str(\"agent mender: str -> str\" in describe(worker))\n")
	var calls int64
	for _, b := range flow.Bounds(main, 1) {
		if b.Agent == "mender" {
			calls = b.Calls
			if b.Model != "test/small" {
				t.Errorf("the mender asks %q", b.Model)
			}
		}
	}
	if want := int64(agent.DefaultToolCalls * agent.MaxRecoverySteps); calls < want {
		t.Errorf("the mender is asked %d times at most, want %d and more", calls, want)
	}
	once := loaded(t, agentscript.New(), "mender = agent(prompt = \"Mend.\")\ndef half(n = int):\n    \"Halves.\"\n    return n\n"+
		"main = agent(prompt = \"Halve.\", tools = [tool(half, on_error = recover(bad_args = fix(mender, retries = 2)))])\n")
	for _, b := range flow.Bounds(once.Node("main"), 1) {
		if b.Agent == "mender" && b.Calls != 2*2*agent.DefaultToolCalls { // it may be asked again for an answer that fits
			t.Errorf("with retries = 2 the mender is asked %d times at most", b.Calls)
		}
	}
	out := offline(t, "graph", file(t, "mended.star", mendedBy))
	if out.code != 0 || !strings.Contains(out.stdout, "mender") || !strings.Contains(out.stdout, `"fix"`) {
		t.Errorf("the picture is\n%s%s", out.stdout, out.stderr)
	}
	found, shown := checked(strings.Replace(mendedBy, "main = agent(", "main = mender >> agent(", 1))
	if codes(found) != "AS401" {
		t.Errorf("a fixer elsewhere:\n%s", shown)
	}
	shared := fmt.Sprintf("recipe = fix(mender)\n%s", "main = agent(prompt = \"A.\", tools = [tool(f, on_error = recipe), tool(g, on_error = recipe)], on_tool_error = recipe)\n")
	found, shown = checked("mender = agent(input = ToolFailure, prompt = \"M.\")\ndef f(x = str):\n    return x\ndef g(x = str):\n    return x\n" + shared)
	if len(found) > 0 {
		t.Errorf("a recipe that is shared:\n%s", shown)
	}
}
