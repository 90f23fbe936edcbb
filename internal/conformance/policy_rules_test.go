package conformance

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/generable"
)

// Promise 21.1 (policy): the strictest rule of the host, the run and the script decides, so that a script can only
// narrow what it is given: deny takes precedence over ask and ask over allow, whatever their order.
func TestPromise_21_1_TheStrictestDecides(t *testing.T) {
	const call = `{"amount": 5, "to": "bob"}`
	side := func(verdict string) policy.Rules {
		switch verdict {
		case "deny":
			return policy.Rules{Deny: []string{"pay(to=b*)"}, Allow: []string{"*"}}
		case "ask":
			return policy.Rules{Ask: []string{"pay(amount>=5)"}, Allow: []string{"pay"}}
		}
		return policy.Rules{Allow: []string{"pay"}}
	}
	inScript := map[string]string{"deny": `, policy = policy(allow = ["*"], deny = ["pay(to=b*)"])`,
		"ask": `, policy = policy(ask = ["pay(amount>=5)"])`, "allow": ""}
	verdicts := []string{"allow", "ask", "deny"}
	for h, host := range verdicts {
		for r, run := range verdicts {
			for s, own := range verdicts {
				p := policyRun{src: `main = agent(prompt = "Pay.", tools = [pay]` + inScript[own] + ")\n",
					answers: []engine.Outcome{calling("pay", call), said("done")},
					options: []agentscript.Option{agentscript.WithPolicy(policyOf(t, "the host", side(host)))},
					run:     []agentscript.RunOption{agentscript.RunPolicy(policyOf(t, "the run", side(run)))},
					approve: yes}.do(t)
				most := verdicts[max(h, r, s)]
				if denied := most == "deny"; (len(p.called) == 0) != denied || (len(p.asked) == 1) != (most == "ask") || p.err != nil {
					t.Errorf("%s, %s, %s: called %q, asked %q; %v", host, run, own, p.called, p.asked, p.err)
				}
			}
		}
	}
}

// Promise 21.2 (policy): a denied call is not made, but counts as a call. The model is informed without a mention of
// the rule or of tools that it does not have; an event reports the rule to people.
func TestPromise_21_2_DeniedCalls(t *testing.T) {
	hidden := policyOf(t, "the host", policy.Rules{Deny: []string{"pay(to=*secret-rule*)", "hidden_*"}})
	p := policyRun{src: `main = agent(prompt = "Pay.", tools = [pay], budget = budget(tool_calls = 2))` + "\n",
		answers: []engine.Outcome{calling("pay", `{"amount": 1, "to": "a secret-rule"}`), calling("pay", `{"amount": 2, "to": "bob"}`), calling("pay", `{"amount": 3, "to": "bob"}`)},
		options: []agentscript.Option{agentscript.WithPolicy(hidden)}}.do(t)
	if len(p.called) != 1 || p.called[0] != `{"amount":2,"to":"bob"}` {
		t.Errorf("called with %q", p.called)
	}
	p.tells(t, `error: the call of "pay" with these arguments is not allowed`, "paid")
	for _, said := range p.told {
		if strings.Contains(said, "secret-rule") || strings.Contains(said, "hidden") {
			t.Errorf("the model is told %q", said)
		}
	}
	if e := p.failure(); e == nil || e.Kind != engine.KindBudget {
		t.Errorf("a denied call does not count: %v", p.err)
	}
	var why *engine.Error
	for _, e := range p.events {
		if e.Kind == engine.EventPolicy {
			why = e.Err()
		}
	}
	if why == nil || why.Code != diag.Denied || !strings.Contains(why.Help, "secret-rule") || !strings.Contains(why.Help, "the host") {
		t.Errorf("people are told %v", why)
	}
}

// Promise 21.3 (policy): the command refuses a rule for an unknown tool and names the nearest tool. A call that needs
// approval ends with exit code 5 unless --yes approves it.
func TestPromise_21_3_OnTheCommandLine(t *testing.T) {
	flow := file(t, "mail.star", "def send(to = str):\n    return \"sent to \" + to\n\nmain = agent(prompt = \"Write.\", tools = [send])\n")
	answers := file(t, "mail.jsonl", `{"agent": "main", "calls": [{"name": "send", "args": {"to": "bob@example.com"}}]}`+"\n"+`{"agent": "main", "text": "done"}`+"\n")
	run := func(more ...string) output {
		return offline(t, append([]string{"run", flow, "x", "--scripted", answers}, more...)...)
	}
	prints(t, run("--allow", "send(to=*@example.com)"), "done")
	prints(t, run("--ask", "send", "--yes"), "done")
	stops(t, run("--ask", "send"), 5, "AS746", "send", "bob@example.com", "--yes")
	stops(t, run("--deny", "sent"), 2, `did you mean "send"?`)
	stops(t, run("--deny", "send(too=*)"), 2, `did you mean "to"?`)
	stops(t, run("--deny", "send(to"), 2, "cannot be read")
	if got := run("--deny", "send(to=*@EXAMPLE.com)", "--ask", "send", "--yes"); got.code != 0 || !strings.Contains(got.stderr, "AS745") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// Promise 21.4 (policy): within one call of its agent, a tool is called at most as often as its declaration allows,
// only after the tools that it names have succeeded, and never if it is forbidden. The model is told which rule
// applied.
func TestPromise_21_4_RulesOfTools(t *testing.T) {
	const src = `
def login(): return "ok"
def look(): return "seen"
def drop(): return "dropped"
main = agent(prompt = "Look.", tools = [login, tool(look, max = 2, only_after = "login"), tool(drop, forbidden = "it is gone for good")])
`
	p := policyRun{src: src, answers: []engine.Outcome{calling("look", "{}", "login", "{}"), calling("look", "{}", "drop", "{}", "look", "{}", "look", "{}"), said("done")}}.do(t)
	p.tells(t, `only after "login"`, "ok", "seen", "gone for good", "seen", "may be called twice")
	if p.err != nil {
		t.Error(p.err)
	}
	// What a policy denies is not executed, and does not count as a call, in the same answer and in earlier ones.
	const ops = `
def restart(service = str): return "restarted " + service
main = agent(prompt = "Restart.", tools = [tool(restart, max = 2)], policy = policy(deny = ["restart(service=db*)"]))
`
	db, web := `{"service": "db1"}`, `{"service": "web1"}`
	p = policyRun{src: ops, answers: []engine.Outcome{calling("restart", db), calling("restart", db, "restart", web, "restart", db), calling("restart", web, "restart", web), said("done")}}.do(t)
	p.tells(t, "not allowed", "not allowed", "restarted web1", "not allowed", "restarted web1", "may be called twice")
	if p.err != nil {
		t.Error(p.err)
	}
	only := func(_ context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
		return engine.Decision{Approved: strings.Contains(generable.JSON(r.Data, nil), "web")}, nil
	}
	p = policyRun{src: strings.Replace(ops, "deny =", "ask =", 1), approve: only, answers: []engine.Outcome{calling("restart", db), calling("restart", db), calling("restart", web), calling("restart", `{"service": "web2"}`), said("done")}}.do(t)
	p.tells(t, "was not approved", "was not approved", "restarted web1", "restarted web2")
	if p.err != nil {
		t.Error(p.err)
	}
}
