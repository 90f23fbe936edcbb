package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/hang"
)

func yes(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
	return engine.Approve(), nil
}

const asksFirst = `main = agent(prompt = "Pay.", tools = [pay], policy = policy(ask = ["pay"]))` + "\n"

// Promise 21.5 (policy): when several calls wait for decisions at the same time, each gets its own decision, in
// whatever order the decisions are made, and exactly the approved calls are made, once.
func TestPromise_21_5_SeveralAtOnce(t *testing.T) {
	var mu sync.Mutex
	waiting := map[string]chan engine.Decision{}
	all := make(chan struct{})
	approve := func(ctx context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
		to, _ := memberOf(r.Data, "to")
		name, _ := to.AsStr()
		mine := make(chan engine.Decision, 1)
		mu.Lock()
		waiting[name] = mine
		if len(waiting) == 3 {
			close(all)
		}
		mu.Unlock()
		select {
		case d := <-mine:
			return d, nil
		case <-ctx.Done():
			return engine.Decision{}, ctx.Err()
		}
	}
	go func() {
		<-all
		for _, name := range []string{"carl", "bea", "ann"} { // in reverse
			d := engine.Approve()
			if name == "bea" {
				d = engine.Deny("not bea")
			}
			waiting[name] <- d
		}
	}()
	var calls []string
	for i, name := range []string{"ann", "bea", "carl"} {
		calls = append(calls, "pay", fmt.Sprintf(`{"amount": %d, "to": %q}`, i+1, name))
	}
	record := &store.Memory{}
	run := policyRun{src: asksFirst, answers: []engine.Outcome{calling(calls...), said("done")}, approve: approve, journal: record}
	p := run.do(t)
	p.tells(t, "paid", "not bea", "paid")
	slices.Sort(p.called)
	if got := strings.Join(p.called, " "); got != `{"amount":1,"to":"ann"} {"amount":3,"to":"carl"}` {
		t.Errorf("called with %s", got)
	}
	run.approve = func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
		t.Error("the replay asks")
		return engine.Decision{}, nil
	}
	again := run.do(t)
	if again.err != nil || again.res.Text() != "done" || len(again.asked)+len(again.called) > 0 || fmt.Sprint(again.told) != "[]" {
		t.Errorf("the replay gives %v, %v, asks %q and calls %q", again.res, again.err, again.asked, again.called)
	}
}

// Promise 21.6 (policy): a person may approve a call with other arguments, which are checked against the tool's
// parameters and against the deny rules.
func TestPromise_21_6_Edited(t *testing.T) {
	for name, row := range map[string]struct{ edit, called, told string }{
		"other arguments":    {`{"amount": 2, "to": "ann"}`, `{"amount":2,"to":"ann"}`, "paid"},
		"of the wrong type":  {`{"amount": "many", "to": "ann"}`, "", "error"},
		"that are denied":    {`{"amount": 2, "to": "eve"}`, "", "not allowed"},
		"that are asked too": {`{"amount": 1000, "to": "ann"}`, `{"amount":1000,"to":"ann"}`, "paid"},
	} {
		t.Run(name, func(t *testing.T) {
			record := &store.Memory{}
			run := policyRun{src: `main = agent(prompt = "Pay.", tools = [pay], policy = policy(ask = ["pay"], deny = ["pay(to=eve)"]))` + "\n",
				answers: []engine.Outcome{calling("pay", `{"amount": 5, "to": "bob"}`), said("done")}, journal: record,
				approve: func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
					return engine.ApproveWith(lenient.Decode(generable.AnyT, row.edit, generable.Options{}).Value), nil
				}}
			p := run.do(t)
			if got := strings.Join(p.called, " "); got != row.called {
				t.Errorf("called with %s", got)
			}
			p.tells(t, row.told)
			again := run.do(t)
			if len(again.asked)+len(again.called) > 0 || fmt.Sprint(again.err) != fmt.Sprint(p.err) {
				t.Errorf("the replay asks %q and calls %q: %v", again.asked, again.called, again.err)
			}
		})
	}
}

// Promise 21.7 (policy): if nobody can be asked, the call is not made and the run fails with a typed error that names
// the call. The failure is not recorded: a resumed run asks again.
func TestPromise_21_7_NobodyToAsk(t *testing.T) {
	record := &store.Memory{}
	run := policyRun{src: asksFirst, answers: []engine.Outcome{calling("pay", `{"amount": 5, "to": "bob"}`)}, journal: record}
	p := run.do(t)
	e := p.failure()
	if !errors.Is(p.err, engine.ErrApproval) || len(p.called) > 0 || !strings.Contains(e.Message, "pay") || !strings.Contains(e.Message, "bob") || !strings.Contains(e.Help, "--yes") {
		t.Errorf("%v (%+v), called %q", p.err, e, p.called)
	}
	run.approve, run.answers = yes, []engine.Outcome{said("done")}
	if p = run.do(t); p.err != nil || p.res.Text() != "done" || len(p.asked) != 1 || len(p.called) != 1 {
		t.Errorf("resumed: %v, %v; asked %q, called %q", p.res, p.err, p.asked, p.called)
	}
}

// Promise 21.8 (policy): a run that waits for a decision ends when its time or its caller ends, and leaves no goroutine
// behind. While it waits it holds one goroutine, at most 5 KiB of heap and 16 KiB of stack.
func TestPromise_21_8_AnApprovalThatNeverComes(t *testing.T) {
	never := func(ctx context.Context, _ *engine.ApprovalRequest) (engine.Decision, error) {
		<-ctx.Done()
		return engine.Decision{}, ctx.Err()
	}
	calls := []engine.Outcome{calling("pay", `{"amount": 5, "to": "bob"}`, "pay", `{"amount": 6, "to": "bob"}`)}
	before := runtime.NumGoroutine()
	for range 5 {
		p := policyRun{src: asksFirst, answers: calls, approve: never, run: []agentscript.RunOption{agentscript.RunLimits(engine.Limits{Wall: 20 * time.Millisecond})}}.do(t)
		if !errors.Is(p.err, engine.ErrTimeout) || len(p.called) > 0 {
			t.Errorf("%v, called %q", p.err, p.called)
		}
	}
	hang.Until(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= before })
	unraced(t)
	mod := loaded(t, agentscript.New(agentscript.WithDefaultModel("m")), `
def pay(amount = int): return "paid"
main = agent(prompt = "Pay.", tools = [pay], policy = policy(ask = ["pay"]))
`)
	h := &holding{}
	handler := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
		if e.Kind == engine.EffectModel {
			return calling("pay", `{"amount": 5}`)
		}
		return h.Do(ctx, e, s)
	})
	f := park(t, 2000, func() *agentscript.Run {
		return mod.Start(context.Background(), agentscript.InputText("x"), agentscript.HandlerForAll(handler))
	}, h.waiting)
	t.Logf("%.0f bytes of heap, %.0f of stack, %.2f goroutines", f.heap, f.stack, f.goroutines)
	if f.heap > 5<<10 || f.stack > 16.5*1024 || f.goroutines > 1.005 || f.files > 0.01 {
		t.Errorf("a run holds %+v", f)
	}
}

// Promise 21.9 (policy): a script asks a person with approve, and a flow with an approval step. The answer is recorded
// and may contain other data; a denied step fails.
func TestPromise_21_9_ScriptsAsk(t *testing.T) {
	const asks = `
def main(x = str):
    a = approve("Ship it?", {"draft": x})
    return [a.approved, a.edited, a.reason, a.data]
`
	const step = `main = fn(lambda s: s + "!", input = str, output = str) >> approval("Ship it?", input = str) >> fn(lambda s: s.upper(), input = str, output = str)` + "\n"
	const record = `
Plan = schema(title = str, cost = int)
def main(x = str):
    a = approve("Ship it?", Plan(title = x, cost = 3))
    return a.data.cost + 1
`
	const untyped = "Plan = schema(title = str, cost = int)\n" +
		`main = fn(lambda s: Plan(title = s, cost = 3), input = str, output = Plan) >> approval("Ship it?") >> fn(lambda p: p.cost, output = int)` + "\n"
	edit, plan := generable.StrOf("other"), lenient.Decode(generable.AnyT, `{"title": "less", "cost": 1}`, generable.Options{}).Value
	for _, row := range []struct {
		src  string
		d    engine.Decision
		want string
		fail bool
	}{
		{record, engine.Approve(), "4", false},
		{record, engine.ApproveWith(plan), "2", false},
		{untyped, engine.Approve(), "3", false},
		{untyped, engine.ApproveWith(plan), "1", false},
		{asks, engine.Approve(), `[true,false,"",{"draft":"go"}]`, false},
		{asks, engine.Deny("too early"), `[false,false,"too early",null]`, false},
		{asks, engine.ApproveWith(edit), `[true,true,"","other"]`, false},
		{step, engine.Approve(), "GO!", false},
		{step, engine.ApproveWith(edit), "OTHER", false},
		{step, engine.Deny("too early"), "too early", true},
	} {
		run := policyRun{src: row.src, journal: &store.Memory{}, approve: func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) { return row.d, nil }}
		if strings.Contains(row.src, "def main") {
			run.run = []agentscript.RunOption{agentscript.Args(map[string]any{"x": "go"})}
		}
		p := run.do(t)
		switch {
		case len(p.asked) != 1 || !strings.HasPrefix(p.asked[0], "Ship it?"):
			t.Errorf("asked %q; %v", p.asked, p.err)
		case row.fail != (p.err != nil), row.fail && (!errors.Is(p.err, engine.ErrPolicy) || !strings.Contains(p.err.Error(), row.want)), !row.fail && p.res.Text() != row.want:
			t.Errorf("%v, %v; want %s", p.res.Text(), p.err, row.want)
		}
		if again := run.do(t); len(again.asked) > 0 || again.res.Text() != p.res.Text() || fmt.Sprint(again.err) != fmt.Sprint(p.err) {
			t.Errorf("the replay asks %q and gives %v, %v", again.asked, again.res, again.err)
		}
	}
}

// Promise 21.10 (policy): an approval request shows only the call: its arguments, its tool, its agent and the rule. It
// shows no prompt, no other message and no key.
func TestPromise_21_10_NothingElseIsShown(t *testing.T) {
	const canary = "hush-canary"
	var shown string
	p := policyRun{src: `main = agent(prompt = "The code is ` + canary + `.", tools = [pay], policy = policy(ask = ["pay"]))` + "\n",
		answers: []engine.Outcome{calling("pay", `{"amount": 5, "to": "bob"}`), said("done")},
		approve: func(_ context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
			text, err := r.MarshalJSON()
			shown = string(text)
			return engine.Deny(""), err
		}}.do(t)
	if want := `{"tool":"pay","agent":"main","skill":"main","data":{"amount":5,"to":"bob"},"why":"the rule ask pay of the script"}`; shown != want {
		t.Errorf("shown is %s, want %s", shown, want)
	}
	for _, e := range p.events {
		if text := fmt.Sprint(e.Name(), e.Text(), e.Err()); e.Kind == engine.EventPolicy && strings.Contains(text, canary) {
			t.Errorf("an event tells %s", text)
		}
	}
	if got := p.policies(); got != "start pay the rule ask pay of the script; end pay denied AS745" {
		t.Errorf("the events are %s", got)
	}
}
