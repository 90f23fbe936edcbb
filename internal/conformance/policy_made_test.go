package conformance

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
)

// TestObserversAreToldOfCallsThatCannotBeMade checks that on_error observes every failed call, including those of a
// missing tool and those that a tool's own rules forbid.
func TestObserversAreToldOfCallsThatCannotBeMade(t *testing.T) {
	p := policyRun{src: `def look(): return "x"
main = agent(prompt = "Pay.", tools = [tool(look, max = 1), tool(pay, forbidden = "not now")], hooks = hooks(on_error = lambda f: print(f.code)))
`, answers: []engine.Outcome{calling("nosuch", "{}"), calling("look", "{}"), calling("look", "{}"), calling("pay", "{}"), said("done")}}.do(t)
	var seen []string
	for _, e := range p.events {
		if e.Kind == engine.EventLog {
			seen = append(seen, e.Text())
		}
	}
	if got := strings.Join(seen, " "); p.err != nil || got != "AS722 AS749 AS749" {
		t.Errorf("%v; told of %q", p.err, got)
	}
}

// TestObserversSeeTheCallThatWasMade checks that on_tool_use and after_tool get the arguments with which the tool was
// executed, whoever changed them: an interceptor, a fixer or a person. An interceptor is called for each execution
// again, with the original arguments of the call.
func TestObserversSeeTheCallThatWasMade(t *testing.T) {
	edit := func(_ context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
		v, err := r.Fits(`{"amount": 7, "to": "ann"}`)
		return engine.ApproveWith(v), err
	}
	for name, row := range map[string]struct {
		src, args, called, seen string
		approve                 func(context.Context, *engine.ApprovalRequest) (engine.Decision, error)
	}{
		"mended arguments": {`main = agent(prompt = "Pay.", tools = [tool(pay, on_error = fix(lambda f: {"amount": 6, "to": "bob"}))], hooks = hooks(on_tool_use = note))`,
			`{"amount": "x"}`, `{"amount":6,"to":"bob"}`, "6 bob", nil},
		"edited by a person": {`main = agent(prompt = "Pay.", tools = [pay], policy = policy(ask = ["pay"]), hooks = hooks(on_tool_use = note, after_tool = note))`,
			`{"amount": 5, "to": "bob"}`, `{"amount":7,"to":"ann"}`, "7 ann; 7 ann", edit},
		"a function of the script, edited": {`def own(amount = int, to = str): return "ok"
main = agent(prompt = "Pay.", tools = [own], policy = policy(ask = ["own"]), hooks = hooks(on_tool_use = note))`,
			`{"amount": 5, "to": "bob"}`, ``, "7 ann", edit},
		"executed again": {`def twice(amount = int, to = str):
    if amount < 8: fail("too little")
    return "ok"
main = agent(prompt = "Pay.", tools = [tool(twice, on_error = again(2))], hooks = hooks(
    before_tool = lambda name, args: [print("asked", args.amount), proceed({"amount": args.amount + 1, "to": "ann"})][1], on_tool_use = note))`,
			`{"amount": 5, "to": "bob"}`, ``, "asked 5; asked 5; asked 5", nil},
	} {
		t.Run(name, func(t *testing.T) {
			tool := "pay"
			for _, own := range []string{"own", "twice"} {
				if strings.Contains(row.src, "def "+own) {
					tool = own
				}
			}
			run := policyRun{src: "def note(name, args, result = None):\n    print(args.amount, args.to)\n" + row.src + "\n",
				answers: []engine.Outcome{calling(tool, row.args), said("done")}, approve: row.approve, journal: &store.Memory{}}
			for _, again := range []bool{false, true} {
				p := run.do(t)
				var seen []string
				for _, e := range p.events {
					if e.Kind == engine.EventLog {
						seen = append(seen, e.Text())
					}
				}
				if got := strings.Join(seen, "; "); p.err != nil || got != row.seen {
					t.Errorf("again %v: %v; observed %q, want %q", again, p.err, got, row.seen)
				}
				if got := strings.Join(p.called, " "); !again && got != row.called {
					t.Errorf("called with %s, want %s", got, row.called)
				}
			}
		})
	}
}
