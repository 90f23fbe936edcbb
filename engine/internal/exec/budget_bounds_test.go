package exec_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// worker answers as a test says, for each turn of each agent, and counts.
type worker struct {
	mu     sync.Mutex
	calls  map[string]int
	last   map[string]*model.Request
	answer func(agent string, turn int, req *model.Request) model.Response
	usage  model.Usage
}

func works(answer func(agent string, turn int, req *model.Request) model.Response) *worker {
	return &worker{calls: map[string]int{}, last: map[string]*model.Request{}, answer: answer, usage: model.Usage{In: 15, Out: 5}}
}

func (w *worker) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	w.mu.Lock()
	turn := w.calls[e.Agent]
	w.calls[e.Agent]++
	w.last[e.Agent] = req
	w.mu.Unlock()
	r := w.answer(e.Agent, turn, req)
	return engine.Outcome{Response: &r, Usage: w.usage, Attempt: 1}
}

// endless calls a tool with different arguments in each turn, unless tools are forbidden.
func endless(_ string, turn int, req *model.Request) model.Response {
	if req.Choice.Mode == model.ChoiceNone {
		return enginetest.Says("the last answer")
	}
	r := enginetest.Calls("look", fmt.Sprintf(`{"at": "%d"}`, turn))
	r.Parts = append([]model.Part{{Kind: model.PartText, Text: fmt.Sprint("I look at ", turn)}}, r.Parts...)
	return r
}

// looker returns an agent with a tool.
func looker(c *enginetest.Composer, t *testing.T, name string, l engine.Limits) *flow.Node {
	look := &agent.Tool{Name: "look", Class: engine.ClassRead, Returns: generable.StrT, Params: enginetest.Schema(t, "look", generable.Field{Name: "at", Type: generable.StrT}),
		Run: engine.GoFunc("look", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.StrOf("nothing"), nil
		})}
	return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "Look.", Tools: []*agent.Tool{look}, Budget: l})
}

// news collects the budget events, and the errors of refusals.
type news struct {
	mu  sync.Mutex
	all []string
}

func (n *news) listener() engine.Listener {
	return engine.Listener{Kinds: engine.EventBudget, Emit: func(e engine.Event) {
		n.mu.Lock()
		defer n.mu.Unlock()
		change := e.Data.(*event.Budget).Change
		if change == nil {
			n.all = append(n.all, "refused")
			return
		}
		n.all = append(n.all, fmt.Sprintf("%s %s %g/%g %g", strings.TrimPrefix(string(change.What), "budget."), change.Resource, change.Used, change.Limit, change.At))
	}}
}

func spend(n *flow.Node, w engine.Handler, l engine.Limits) *run.Spec {
	return &run.Spec{Node: n, Input: generable.StrOf("x"), Handler: w, Model: "test/model", Limits: l}
}

// Promise 20.2 (budgets): each bound of a budget stops an agent that never ends by itself, either with an error that
// keeps the agent's work so far, or with a last answer without tools, for which the budget reserved room. A bound of 0
// allows nothing.
func TestPromise_20_2_EveryBound(t *testing.T) {
	same := func(_ string, _ int, req *model.Request) model.Response {
		if req.Choice.Mode == model.ChoiceNone {
			return enginetest.Says("the last answer")
		}
		return enginetest.Calls("look", `{"at":"x"}`, "look", `{ "at": "x" }`)
	}
	for _, tt := range []struct {
		name      string
		own, run  engine.Limits
		answer    func(string, int, *model.Request) model.Response
		calls     int // of the model
		says      string
		asked     int // calls if it may give a last answer; 0: it may not
		lastTurns string
	}{
		{name: "turns", own: engine.Limits{Turns: engine.AtMost(3)}, calls: 3, says: "within 3 turns", asked: 3},
		{name: "turns by default", calls: 8, says: "within 8 turns", asked: 8},
		{name: "one turn", own: engine.Limits{Turns: engine.AtMost(1)}, calls: 1, says: "within one turn", asked: 1},
		{name: "tool calls", own: engine.Limits{ToolCalls: engine.AtMost(2)}, calls: 3, says: "limit of 2 tool calls", asked: 4},
		{name: "no tool calls", own: engine.Limits{ToolCalls: engine.AtMost(0)}, calls: 1, says: "limit of 0 tool calls", asked: 2},
		{name: "model calls", own: engine.Limits{ModelCalls: engine.AtMost(4)}, calls: 4, says: "limit of 4 model calls", asked: 4},
		{name: "no model calls", own: engine.Limits{ModelCalls: engine.AtMost(0)}, calls: 0, says: "limit of 0 model calls"},
		{name: "no tokens", own: engine.Limits{Tokens: engine.AtMost(0)}, calls: 0, says: "limit of 0 tokens"},
		{name: "no money", own: engine.Limits{USD: engine.Dollars(0)}, calls: 0, says: "limit of $0.00"},
		{name: "the run's model calls", run: engine.Limits{ModelCalls: engine.AtMost(4)}, calls: 4, says: "of the run is used up: the limit of 4 model calls", asked: 4},
		{name: "the run's tool calls", run: engine.Limits{ToolCalls: engine.AtMost(2)}, calls: 3, says: "limit of 2 tool calls", asked: 4},
		{name: "the run's turns", run: engine.Limits{Turns: engine.AtMost(2)}, calls: 2, says: "limit of 2 turns", asked: 2},
		{name: "a shared budget's turns", own: engine.Limits{Name: "p", Turns: engine.AtMost(10)}, calls: 10, says: `the budget "p" is used up: the limit of 10 turns`, asked: 10},
		{name: "the same call", own: engine.Limits{SameCall: engine.AtMost(3)}, answer: same, calls: 4, says: `asked 4 times in a row for the same call of tool "look"`, asked: 5},
		{name: "the same call by default", own: engine.Limits{Turns: engine.AtMost(50)}, answer: same, calls: 9, says: "asked 9 times in a row", asked: 10},
		{name: "tokens", own: engine.Limits{Tokens: engine.AtMost(60)}, calls: 2, says: "60 tokens"},
		{name: "a billion turns of nothing", own: engine.Limits{Turns: engine.Unlimited(), ToolCalls: engine.Unlimited(), ModelCalls: engine.AtMost(40)}, calls: 40, says: "limit of 40 model calls", asked: 40},
		{name: "a negative bound", own: engine.Limits{ModelCalls: engine.AtMost(-7)}, calls: 0, says: "is used up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := tt.answer
			if answer == nil {
				answer = endless
			}
			c := enginetest.Compose()
			fails := looker(c, t, "a", tt.own)
			own := tt.own
			own.OnLimit = engine.OnLimitAnswer
			answers := looker(c, t, "b", own)
			c.Sound(t)
			enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
				w := works(answer)
				spec := spend(fails, w, tt.run)
				spec.Pricer = perToken{}
				_, err := run.Exec(s, spec)
				var e *engine.Error
				if !errors.As(err, &e) || e.Kind != engine.KindBudget || e.Code != diag.BudgetExceeded || !strings.Contains(e.Message, tt.says) || e.Help == "" {
					t.Fatalf("got %v, want a budget error that says %q", err, tt.says)
				}
				if w.calls["a"] != tt.calls {
					t.Errorf("%d model calls, want %d", w.calls["a"], tt.calls)
				}
				if tt.calls > 0 && (e.Usage.In != 15*tt.calls || tt.answer == nil && !strings.HasPrefix(e.Raw, "I look")) {
					t.Errorf("what it had come to is lost: %+v, %q", e.Usage, e.Raw)
				}
			})
			enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
				w := works(answer)
				spec := spend(answers, w, tt.run)
				spec.Pricer = perToken{}
				out, err := run.Exec(s, spec)
				if tt.asked == 0 {
					if !errors.Is(err, engine.ErrBudget) && enginetest.Str(out) != "the last answer" {
						t.Errorf("got %s, %v", enginetest.Str(out), err)
					}
					return
				}
				if err != nil || enginetest.Str(out) != "the last answer" || w.calls["b"] != tt.asked {
					t.Errorf("got %q, %v after %d calls, want the last answer after %d", enginetest.Str(out), err, w.calls["b"], tt.asked)
				}
				if last := w.last["b"]; last.Choice.Mode != model.ChoiceNone || len(last.Tools) == 0 {
					t.Errorf("the last answer was asked for with %+v", last.Choice)
				}
			})
		})
	}
}

// perToken prices every token at a thousandth of a dollar.
type perToken struct{}

func (perToken) PriceCall(req *model.Request, u model.Usage) (float64, string) {
	if strings.HasPrefix(req.Model, "secret/") {
		return 0, req.Model
	}
	return float64(u.In+u.Out) / 1000, ""
}

// Promise 20.3 (budgets): for each threshold of each bound, one event reports that use has reached it.
func TestPromise_20_3_Thresholds(t *testing.T) {
	c := enginetest.Compose()
	nodes := c.TextAgents(5)
	main := c.Then(c.Site("then", ""), nodes...)
	c.Sound(t)
	w := works(func(string, int, *model.Request) model.Response { return enginetest.Says("ok") })
	var n news
	spec := spend(main, w, engine.Limits{ModelCalls: engine.AtMost(5), Tokens: engine.AtMost(100), WarnAt: []float64{0.5}})
	spec.Listener = n.listener()
	if _, err := run.Exec(sched.NewCoopSched(1), spec); err != nil {
		t.Fatal(err)
	}
	want := "[threshold model_calls 3/5 0.5 threshold tokens 60/100 0.5]"
	if got := fmt.Sprint(n.all); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	n.all = nil
	own := enginetest.Compose()
	agent := looker(own, t, "a", engine.Limits{Turns: engine.AtMost(4), WarnAt: []float64{0.5, 1}})
	own.Sound(t)
	spec = spend(agent, works(endless), engine.Limits{})
	spec.Listener = n.listener()
	_, _ = run.Exec(sched.NewCoopSched(1), spec)
	if got := fmt.Sprint(n.all); got != "[threshold turns 2/4 0.5 threshold turns 4/4 1]" {
		t.Errorf("turns: got %s", got)
	}
}

// A host with more thresholds than can be counted gets as many events as possible, and the run ends.
func TestManyThresholds(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	var n news
	spec := spend(main, works(func(string, int, *model.Request) model.Response { return enginetest.Says("ok") }),
		engine.Limits{ModelCalls: engine.AtMost(1), WarnAt: slices.Repeat([]float64{0.5}, 1000)})
	spec.Listener = n.listener()
	if _, err := run.Exec(sched.NewCoopSched(1), spec); err != nil || len(n.all) != 255 {
		t.Errorf("%v, %d events", err, len(n.all))
	}
}

// Promise 20.4 (budgets): a host may raise a bound that is reached, to a value above the current one. Its answer is
// recorded, so that a replay asks nobody.
func TestPromise_20_4_Extended(t *testing.T) {
	for _, tt := range []struct {
		name  string
		own   engine.Limits
		run   engine.Limits
		to    func(l engine.BudgetLimit) engine.Cap
		calls int
	}{
		{"turns by five", engine.Limits{Turns: engine.AtMost(2)}, engine.Limits{}, upTo(7), 7},
		{"turns to what they are", engine.Limits{Turns: engine.AtMost(5)}, engine.Limits{}, upTo(5), 5},
		{"turns to less", engine.Limits{Turns: engine.AtMost(5)}, engine.Limits{}, upTo(2), 5},
		{"no answer", engine.Limits{Turns: engine.AtMost(3)}, engine.Limits{}, func(engine.BudgetLimit) engine.Cap { return engine.Cap{} }, 3},
		{"tool calls", engine.Limits{ToolCalls: engine.AtMost(2)}, engine.Limits{}, upTo(4), 5},
		{"the agent's model calls", engine.Limits{ModelCalls: engine.AtMost(2)}, engine.Limits{}, upTo(6), 6},
		{"the run's model calls", engine.Limits{}, engine.Limits{ModelCalls: engine.AtMost(2)}, upTo(6), 6},
		{"twice", engine.Limits{}, engine.Limits{ModelCalls: engine.AtMost(2)}, func(l engine.BudgetLimit) engine.Cap {
			n, _ := l.Limit.Value()
			return engine.AtMost(min(n+1, 4))
		}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enginetest.Compose()
			main := looker(c, t, "a", tt.own)
			c.Sound(t)
			enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
				w, j := works(endless), &store.Memory{}
				asked := 0
				spec := spend(main, w, tt.run)
				spec.Journal = j
				spec.OnBudget = func(_ context.Context, l engine.BudgetLimit) engine.Cap { asked++; return tt.to(l) }
				_, err := run.Exec(s, spec)
				if !errors.Is(err, engine.ErrBudget) || w.calls["a"] != tt.calls || asked == 0 {
					t.Fatalf("%v after %d calls, want %d; asked %d times", err, w.calls["a"], tt.calls, asked)
				}
				again := *spec
				before := asked
				again.Handler = enginetest.Refuse
				if _, second := run.Exec(sched.NewGoSched(t.Context()), &again); fmt.Sprint(second) != fmt.Sprint(err) || asked != before {
					t.Errorf("a replay gives %v, and asked %d times more", second, asked-before)
				}
			})
		})
	}
}

func upTo(n int64) func(engine.BudgetLimit) engine.Cap {
	return func(engine.BudgetLimit) engine.Cap { return engine.AtMost(n) }
}

// Promise 20.5 (budgets): agents that call each other stop at the allowed depth, 16 by default, before a model is
// called.
func TestPromise_20_5_Depth(t *testing.T) {
	for _, tt := range []struct {
		name     string
		own, run engine.Limits
		calls    int
	}{
		{"by default", engine.Limits{}, engine.Limits{}, 16},
		{"the run's", engine.Limits{}, engine.Limits{Depth: engine.AtMost(3)}, 3},
		{"its own", engine.Limits{Depth: engine.AtMost(5)}, engine.Limits{}, 5},
		{"its own over the default", engine.Limits{Depth: engine.AtMost(20)}, engine.Limits{}, 20},
		{"its own under the run's", engine.Limits{Depth: engine.AtMost(20)}, engine.Limits{Depth: engine.AtMost(2)}, 2},
		{"none at all", engine.Limits{}, engine.Limits{Depth: engine.AtMost(0)}, 0},
	} {
		c := enginetest.Compose()
		var main *flow.Node
		again := &agent.Tool{Name: "again", Params: enginetest.Schema(t, "again"), Returns: generable.StrT, Class: engine.ClassRead,
			Run: engine.GoFunc("again", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
				return run.Call(b, main, generable.StrOf("x"))
			})}
		main = c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Again.", Tools: []*agent.Tool{again}, Budget: tt.own})
		c.Sound(t)
		w := works(func(string, int, *model.Request) model.Response { return enginetest.Calls("again", "{}") })
		_, err := run.Exec(sched.NewCoopSched(1), spend(main, w, tt.run))
		if !errors.Is(err, engine.ErrBudget) || w.calls["a"] != tt.calls || !strings.Contains(err.Error(), fmt.Sprintf("%d deep", tt.calls)) {
			t.Errorf("%s: %d calls, %v", tt.name, w.calls["a"], err)
		}
	}
}

// Promise 20.6 (budgets): only consecutive calls of the same tool with the same arguments count as the same call.
func TestPromise_20_6_SameCall(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []model.Response
		fails   bool
	}{
		"a a a":         {[]model.Response{enginetest.Calls("look", `{"at":"a"}`), enginetest.Calls("look", `{"at": "a"}`), enginetest.Calls("look", `{"at":"a"}`)}, true},
		"a a b a a":     {[]model.Response{enginetest.Calls("look", `{"at":"a"}`), enginetest.Calls("look", `{"at":"a"}`), enginetest.Calls("look", `{"at":"b"}`), enginetest.Calls("look", `{"at":"a"}`), enginetest.Calls("look", `{"at":"a"}`)}, false},
		"in turn":       {[]model.Response{enginetest.Calls("look", `{"at":"a"}`), enginetest.Calls("look", `{"at":"b"}`), enginetest.Calls("look", `{"at":"a"}`), enginetest.Calls("look", `{"at":"b"}`)}, false},
		"at once":       {[]model.Response{enginetest.Calls("look", `{"at":"a"}`, "look", `{"at":"a"}`, "look", `{"at":"a"}`)}, false},
		"not a tool":    {[]model.Response{enginetest.Calls("lok", `{}`), enginetest.Calls("lok", `{}`), enginetest.Calls("lok", `{}`)}, true},
		"spaces differ": {[]model.Response{enginetest.Calls("look", `{"at":"a b"}`), enginetest.Calls("look", `{"at":"a  b"}`), enginetest.Calls("look", `{"at":"ab"}`)}, false},
	} {
		c := enginetest.Compose()
		main := looker(c, t, "a", engine.Limits{SameCall: engine.AtMost(2), Turns: engine.AtMost(20)})
		c.Sound(t)
		w := works(func(_ string, turn int, _ *model.Request) model.Response {
			if turn < len(tt.answers) {
				return tt.answers[turn]
			}
			return enginetest.Says("done")
		})
		if _, err := run.Exec(sched.NewCoopSched(1), spend(main, w, engine.Limits{})); errors.Is(err, engine.ErrBudget) != tt.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Promise 20.7 (budgets): arguments longer than the budget allows are not parsed, and the model is told so.
func TestPromise_20_7_LongArguments(t *testing.T) {
	c := enginetest.Compose()
	main := looker(c, t, "a", engine.Limits{ArgBytes: engine.AtMost(100)})
	c.Sound(t)
	w := works(func(_ string, turn int, req *model.Request) model.Response {
		if turn == 0 {
			return enginetest.Calls("look", `{"at":"`+strings.Repeat("x", 1<<20)+`"}`)
		}
		return enginetest.Says(req.Messages[len(req.Messages)-1].Parts[0].Result.Text)
	})
	out, err := run.Exec(sched.NewCoopSched(1), spend(main, w, engine.Limits{}))
	if err != nil || !strings.Contains(enginetest.Str(out), "1048585 bytes long, and at most 100") {
		t.Errorf("got %q, %v", enginetest.Str(out), err)
	}
}

// Promise 20.8 (budgets): a call whose price is unknown is not made under a money budget. Nothing about it is recorded,
// so that the run continues once the price is known.
func TestPromise_20_8_UnknownPrice(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	for _, tt := range []struct {
		model string
		p     engine.Pricer
		says  string
	}{{"secret/brain", perToken{}, `"secret/brain"`}, {"test/model", nil, "knows no prices"}} {
		w := works(func(string, int, *model.Request) model.Response { return enginetest.Says("ok") })
		j := &store.Memory{}
		spec := spend(main, w, engine.Limits{USD: engine.Dollars(10)})
		spec.Model, spec.Pricer, spec.Journal = tt.model, tt.p, j
		_, err := run.Exec(sched.NewCoopSched(1), spec)
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != diag.UnknownPrice || e.Kind != engine.KindBudget || !strings.Contains(e.Message, tt.says) || e.Help == "" || w.calls["a"] != 0 || len(j.IDs()) != 0 {
			t.Errorf("%s: %v after %d calls, %d recorded", tt.model, err, w.calls["a"], len(j.IDs()))
		}
	}
}

// Promise 20.9 (budgets): no turn of an agent begins after the agent's time, five minutes by default, and a turn that
// has begun finishes normally. The refusal of a turn is recorded, so that a replay does not depend on the clock.
func TestPromise_20_9_Time(t *testing.T) {
	for _, tt := range []struct {
		name  string
		own   engine.Limits
		calls int
		fails bool
	}{
		{"by default", engine.Limits{}, 3, true},
		{"none", engine.Limits{Wall: engine.NoWall}, 8, true},
		{"a last answer", engine.Limits{OnLimit: engine.OnLimitAnswer}, 4, false},
		{"a last answer within a time that is given", engine.Limits{Wall: 9 * time.Minute, OnLimit: engine.OnLimitAnswer}, 5, false},
	} {
		c := enginetest.Compose()
		s := clocked{sched.NewCoopSched(1), new(time.Duration)}
		slow := func(engine.Branch, []generable.Value) (generable.Value, error) {
			*s.late += 2 * time.Minute
			return generable.StrOf("ok"), nil
		}
		wait := &agent.Tool{Name: "look", Params: enginetest.Schema(t, "look", generable.Field{Name: "at", Type: generable.StrT}), Returns: generable.StrT, Class: engine.ClassRead, Run: engine.GoFunc("look", 1, slow)}
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Wait.", Tools: []*agent.Tool{wait}, Budget: tt.own})
		c.Sound(t)
		w, j := works(endless), &store.Memory{}
		spec := spend(main, w, engine.Limits{})
		spec.Journal = j
		_, err := run.Exec(s, spec)
		again := *spec
		again.Handler = enginetest.Refuse
		if _, second := run.Exec(sched.NewCoopSched(1), &again); fmt.Sprint(second) != fmt.Sprint(err) {
			t.Errorf("%s: a replay gives %v, the run %v", tt.name, second, err)
		}
		if errors.Is(err, engine.ErrBudget) != tt.fails || !tt.fails && err != nil || w.calls["a"] != tt.calls {
			t.Errorf("%s: %v after %d calls, want %d", tt.name, err, w.calls["a"], tt.calls)
		}
	}
}

// clocked is a scheduler whose clock a test advances.
type clocked struct {
	engine.Sched
	late *time.Duration
}

func (c clocked) Now() time.Time { return c.Sched.Now().Add(*c.late) }

func (c clocked) Par(n, limit int, body func(i int, s engine.Sched) error) error {
	return c.Sched.Par(n, limit, func(i int, s engine.Sched) error { return body(i, clocked{s, c.late}) })
}

func (c clocked) Within(d time.Duration, late error, body func(s engine.Sched) error) error {
	return c.Sched.Within(d, late, func(s engine.Sched) error { return body(clocked{s, c.late}) })
}
