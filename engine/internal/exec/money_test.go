package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// reckoned returns the engine's estimate for a request without tools.
func reckoned(req *model.Request) int64 {
	return int64(len(req.System)+3)/4 + exec.TokensOf(req.Messages)
}

// limitsOf records the limits that calls are sent with, in the order in which they begin. Each call takes as long as
// its agent's name says, and is answered with a word.
type limitsOf struct {
	mu   sync.Mutex
	sent []int32
	last map[string]int32
	took func(agent string) time.Duration
}

func (l *limitsOf) Do(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	l.mu.Lock()
	l.sent = append(l.sent, e.MaxOut)
	if l.last == nil {
		l.last = map[string]int32{}
	}
	l.last[e.Agent] = e.MaxOut
	l.mu.Unlock()
	d := time.Second
	if l.took != nil {
		d = l.took(e.Agent)
	}
	_ = clock.Sleep(ctx, d)
	r := enginetest.Says("ok")
	return engine.Outcome{Response: &r, Usage: model.Usage{In: int(reckoned(e.Req.(*model.Request))), Out: 10}, Attempt: 1}
}

// Promise 26.71 (sound): calls in flight share what is left of a budget, one share for each concurrent call; alone a
// call may use all of it, and a call waits for a share that fits a usual answer rather than start with less. Nothing
// waits forever, and the same run has the same limits each time.
func TestPromise_26_71_OpenCallsShare(t *testing.T) {
	const in = 8 // the estimate for each of these prompts
	most := 300
	for name, row := range map[string]struct {
		width, limit int
		params       model.Params
		own, around  engine.Limits
		want         []int32
	}{
		"alone, all of it":              {1, 0, model.Params{}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(5000)}, []int32{5000 - in}},
		"alone, all of the money":       {1, 0, model.Params{}, engine.Limits{}, engine.Limits{USD: engine.Dollars(5)}, []int32{5000 - in - 1}}, // money is rounded up,
		"alone, the least budget":       {1, 0, model.Params{}, engine.Limits{Tokens: engine.AtMost(900)}, engine.Limits{Tokens: engine.AtMost(5000)}, []int32{900 - in}},
		"no more than max_tokens":       {1, 0, model.Params{MaxTokens: &most}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(5000)}, []int32{300}},
		"less than max_tokens":          {1, 0, model.Params{MaxTokens: &most}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(200)}, []int32{200 - in}},
		"four share":                    {4, 0, model.Params{}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(12_000)}, []int32{2992, 2992, 2992, 2992}},
		"four share money":              {4, 0, model.Params{}, engine.Limits{}, engine.Limits{USD: engine.Dollars(12.001)}, []int32{2992, 2992, 2992, 2992}},
		"two at once of four":           {4, 2, model.Params{}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(6000)}, []int32{2992, 2992, 2974, 2974}},
		"a usual answer before a share": {4, 0, model.Params{}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(5000)}, []int32{2048, 2048, 2048, 5000 - 2*18 - 2048 - in - in}},
		"one after the other":           {3, 0, model.Params{}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(2000)}, []int32{2000 - in, 2000 - 18 - in, 2000 - 36 - in}},
		"each with max_tokens":          {3, 0, model.Params{MaxTokens: &most}, engine.Limits{}, engine.Limits{Tokens: engine.AtMost(400)}, []int32{300, 300, 300}},
		"each its own":                  {3, 0, model.Params{}, engine.Limits{Tokens: engine.AtMost(700)}, engine.Limits{}, []int32{692, 692, 692}},
	} {
		t.Run(name, func(t *testing.T) {
			c := enginetest.Compose()
			var nodes []*flow.Node
			for i := range row.width {
				nodes = append(nodes, c.Agent(c.Site("agent", fmt.Sprint("a", i)), &agent.Spec{Name: fmt.Sprint("a", i), Prompt: "Be brief.", Params: row.params, Budget: row.own}))
			}
			main := nodes[0]
			if row.width > 1 {
				main = c.Par(c.Site("par", ""), flow.ParOptions{Limit: row.limit}, nodes...)
			}
			main = c.Bounded(c.Site("bounded", ""), main, row.around)
			c.Sound(t)
			for seed := range uint64(20) {
				l := &limitsOf{}
				spec := spend(main, l, engine.Limits{})
				spec.Pricer = perToken{}
				if _, err := run.Exec(sched.NewCoopSched(seed), spec); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(l.sent, row.want) {
					t.Fatalf("seed %d: sent with %v, want %v", seed, l.sent, row.want)
				}
			}
			enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
				l := &limitsOf{took: func(string) time.Duration { return time.Microsecond }}
				spec := spend(main, l, engine.Limits{})
				spec.Pricer = perToken{}
				if _, err := run.Exec(s, spec); err != nil || len(l.sent) != row.width {
					t.Errorf("%v, sent with %v", err, l.sent)
				}
			})
		})
	}
}

// A call that runs after the others have ended gets all that is left. The calls of a race share as well.
func TestTheLastOfSeveralHasTheRest(t *testing.T) {
	c := enginetest.Compose()
	first, last := c.Prompted("first", generable.StrT, generable.StrT), c.Prompted("last", generable.StrT, generable.StrT)
	slow := c.Step("slow", generable.StrT, generable.StrT, enginetest.Identity)
	main := c.Par(c.Site("par", ""), flow.ParOptions{}, c.Then(c.Site("then", ""), first), c.Then(c.Site("then", ""), slow, c.Prompted("middle", generable.StrT, generable.StrT), last))
	c.Sound(t)
	l := &limitsOf{took: func(name string) time.Duration {
		if name == "first" {
			return time.Second
		}
		return time.Minute
	}}
	if _, err := run.Exec(sched.NewCoopSched(1), spend(main, l, engine.Limits{Tokens: engine.AtMost(20_000)})); err != nil {
		t.Fatal(err)
	}
	if l.last["first"] > 10_000 || l.last["last"] < 19_900 {
		t.Errorf("sent with %v", l.last)
	}
	race := enginetest.Compose()
	a, b := race.Prompted("a", generable.StrT, generable.StrT), race.Prompted("b", generable.StrT, generable.StrT)
	both := race.Race(race.Site("race", ""), flow.FirstOptions{}, a, b)
	race.Sound(t)
	l = &limitsOf{}
	if _, err := run.Exec(sched.NewCoopSched(1), spend(both, l, engine.Limits{Tokens: engine.AtMost(20_000)})); err != nil || l.last["a"] != l.last["b"] {
		t.Errorf("%v, sent with %v", err, l.last)
	}
}

// overrunsIn collects the causes in overrun events, by budget and resource.
type overrunsIn struct {
	mu    sync.Mutex
	all   map[string][]event.OverrunCause
	shown []event.BudgetChange
}

func (o *overrunsIn) listener() engine.Listener {
	o.all = map[string][]event.OverrunCause{}
	return engine.Listener{Kinds: engine.EventBudget, Emit: func(e engine.Event) {
		d := e.Data.(*event.Budget)
		if d.Change == nil || d.Change.What != event.BudgetOverrun {
			return
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		key := d.Change.Budget + " " + d.Change.Resource
		o.all[key] = append(o.all[key], d.Change.Cause)
		o.shown = append(o.shown, *d.Change)
	}}
}

// Promise 26.74 (sound): every overrun is reported with what the call might have taken, what was reserved, what it
// used, and its cause: an underestimated input, a server that exceeded its limit, a provider that charged more than its
// price, a tool that called a model itself, or a record that holds more than is allowed now.
func TestPromise_26_74_OverrunsByCause(t *testing.T) {
	most := 100
	for name, row := range map[string]struct {
		limits engine.Limits
		usage  func(e *engine.Effect) model.Usage
		want   map[string]event.OverrunCause // by resource
	}{
		"none": {engine.Limits{Tokens: engine.AtMost(200), USD: engine.Dollars(0.2)}, func(e *engine.Effect) model.Usage {
			return model.Usage{In: int(reckoned(e.Req.(*model.Request))), Out: int(e.MaxOut)}
		}, nil},
		"input": {engine.Limits{Tokens: engine.AtMost(200), USD: engine.Dollars(0.2)}, func(e *engine.Effect) model.Usage {
			return model.Usage{In: 150, Out: int(e.MaxOut)}
		}, map[string]event.OverrunCause{"tokens": event.OverrunInput, "usd": event.OverrunInput}},
		"limit": {engine.Limits{Tokens: engine.AtMost(60)}, func(e *engine.Effect) model.Usage {
			return model.Usage{In: 1, Out: int(e.MaxOut) + 50}
		}, map[string]event.OverrunCause{"tokens": event.OverrunLimit}},
		"both": {engine.Limits{Tokens: engine.AtMost(60)}, func(e *engine.Effect) model.Usage {
			return model.Usage{In: 100, Out: int(e.MaxOut) + 50}
		}, map[string]event.OverrunCause{"tokens": event.OverrunInputAndLimit}},
		"price": {engine.Limits{USD: engine.Dollars(0.2)}, func(*engine.Effect) model.Usage {
			return model.Usage{In: 1, Out: 1, CostUSD: 0.5}
		}, map[string]event.OverrunCause{"usd": event.OverrunPrice}},
	} {
		t.Run(name, func(t *testing.T) {
			c := enginetest.Compose()
			main := c.Bounded(c.Site("bounded", ""), c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Be brief.", Params: model.Params{MaxTokens: &most}}), row.limits)
			c.Sound(t)
			var o overrunsIn
			var sent int32
			h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				r := enginetest.Says("ok")
				sent = e.MaxOut
				return engine.Outcome{Response: &r, Usage: row.usage(e), Attempt: 1}
			})
			spec := spend(main, h, engine.Limits{})
			spec.Pricer, spec.Listener = perToken{}, o.listener()
			if _, err := run.Exec(sched.NewCoopSched(1), spec); err != nil {
				t.Fatal(err)
			}
			if len(o.shown) != len(row.want) {
				t.Fatalf("told %+v, want %v", o.shown, row.want)
			}
			for _, n := range o.shown {
				if n.Cause != row.want[n.Resource] || !strings.Contains(n.String(), "overrun") || !strings.Contains(n.String(), "(") {
					t.Errorf("%s: %+v, want %s: %s", n.Resource, n, row.want[n.Resource], &n)
				}
				if n.Resource == "tokens" && (n.Reserved != float64(sent)+8 || n.Requested != 108 || n.Spent != n.Used) {
					t.Errorf("requested %v, reserved %v for a limit of %d, spent %v of %v", n.Requested, n.Reserved, sent, n.Spent, n.Used)
				}
			}
		})
	}
	c := enginetest.Compose()
	look := &agent.Tool{Name: "look", Class: engine.ClassRead, Returns: generable.StrT, Params: enginetest.Schema(t, "look", generable.Field{Name: "at", Type: generable.StrT})}
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Look.", Tools: []*agent.Tool{look}, Params: model.Params{MaxTokens: &most}})
	c.Sound(t)
	var o overrunsIn
	spec := spend(main, engine.Handlers{engine.EffectModel: works(func(_ string, turn int, _ *model.Request) model.Response {
		if turn == 0 {
			return enginetest.Calls("look", `{"at":"x"}`)
		}
		return enginetest.Says("done")
	}), engine.EffectTool: engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Value: generable.StrOf("seen"), Usage: model.Usage{In: 500, Out: 500}, Attempt: 1} // from a server that asks a model
	})}, engine.Limits{Tokens: engine.AtMost(400)})
	spec.Listener = o.listener()
	if _, err := run.Exec(sched.NewCoopSched(1), spec); !errors.Is(err, engine.ErrBudget) || len(o.shown) != 1 || o.shown[0].Cause != event.OverrunInside {
		t.Errorf("a tool that asks a model: %v, told %+v", err, o.shown)
	}
}

// strayingServer keeps within its limit, and reports up to 30 % more or less input than estimated.
type strayingServer struct {
	mu     sync.Mutex
	r      *rand.Rand
	around map[string]map[string]bool
	open   map[*engine.Effect]int64 // by how many tokens the input of each call in flight exceeds the estimate
	used   map[string]model.Usage
	may    map[string]int64 // the most tokens by which a budget may be overrun, as of the last call inside
	calls  int
	cut    int
}

func (s *strayingServer) Do(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	s.mu.Lock()
	s.calls++
	in := reckoned(e.Req.(*model.Request))
	real := int64(float64(in) * (0.7 + 0.6*s.r.Float64()))
	s.open[e] = max(real-in, 0)
	u := model.Usage{In: int(real), Out: s.r.IntN(3000)}
	r := enginetest.Says("ok")
	if e.MaxOut > 0 && u.Out > int(e.MaxOut) {
		if u.Out = int(e.MaxOut); e.Short {
			r.Finish = model.FinishLength
			s.cut++
		}
	}
	u.Reasoning = s.r.IntN(u.Out + 1)
	for pot := range s.around[e.Agent] {
		s.may[pot] = 0
		for other, excess := range s.open {
			if s.around[other.Agent][pot] {
				s.may[pot] += excess
			}
		}
	}
	d := time.Duration(s.r.IntN(5000)) * time.Millisecond
	s.mu.Unlock()
	_ = clock.Sleep(ctx, d)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, e)
	for pot := range s.around[e.Agent] {
		s.used[pot] = s.used[pot].Add(u)
	}
	return engine.Outcome{Response: &r, Usage: u, Attempt: 1}
}

// dearOut prices a million input tokens at one dollar, output tokens at five and thoughts at seven.
type dearOut struct{}

func (dearOut) PriceCall(_ *model.Request, u model.Usage) (float64, string) {
	return (float64(u.In) + 5*float64(u.Out-u.Reasoning) + 7*float64(u.Reasoning)) / 1e6, ""
}

// Promise 26.75 (sound): over 10,000 random runs of nested and shared token and money budgets, with servers that keep
// their limits and inputs up to 30 % larger or smaller than estimated, no budget is overrun by more than the misjudged
// inputs of the calls in flight, every overrun is reported with the cause `input`, and each run ends.
func TestPromise_26_75_OverrunsAreBounded(t *testing.T) {
	seeds := uint64(10_000)
	if testing.Short() {
		seeds = 500
	}
	ran := map[string]int{}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 26))
		limits := func(size int64) (l engine.Limits) {
			if r.IntN(3) > 0 {
				l.Tokens = engine.AtMost(r.Int64N(2500 * size))
			}
			if r.IntN(2) > 0 {
				l.USD = engine.Dollars(float64(r.Int64N(2500*size)) * 4 / 1e6)
			}
			return l
		}
		s := &strayingServer{r: rand.New(rand.NewPCG(seed, 1)), around: map[string]map[string]bool{}, open: map[*engine.Effect]int64{}, used: map[string]model.Usage{}, may: map[string]int64{}}
		budgets := map[string]engine.Limits{"run": limits(12), "shared": limits(4)}
		c := enginetest.Compose()
		var build func(depth int) (*flow.Node, []string)
		build = func(depth int) (n *flow.Node, inside []string) {
			if depth == 0 || r.IntN(4) == 0 {
				name := fmt.Sprintf("a%d_", len(s.around))
				spec := &agent.Spec{Name: name, Prompt: strings.Repeat("word ", r.IntN(800))}
				s.around[name] = map[string]bool{"run": true}
				if spec.Prompt == "" {
					spec.Prompt = "p"
				}
				if r.IntN(3) == 0 {
					n := 1 + r.IntN(2500)
					spec.Params.MaxTokens = &n
				}
				switch r.IntN(4) {
				case 0:
					spec.Budget = limits(2)
					budgets[name], s.around[name][name] = spec.Budget, true
				case 1:
					spec.Budget = budgets["shared"]
					spec.Budget.Name = "shared"
					s.around[name]["shared"] = true
				}
				return c.Attempt(c.Site("attempt", ""), c.Agent(c.Site("agent", name), spec)), []string{name}
			}
			var kids []*flow.Node
			for range 2 + r.IntN(4) {
				kid, more := build(depth - 1)
				// The type of its output does not matter: each takes a text.
				kids, inside = append(kids, c.Then(c.Site("then", ""), kid, c.Step("text", kid.Out(), generable.StrT, func(generable.Value) generable.Value { return generable.StrOf("x") }))), append(inside, more...)
			}
			if r.IntN(3) == 0 {
				n = c.Then(c.Site("then", ""), kids...)
			} else {
				n = c.Par(c.Site("par", ""), flow.ParOptions{Limit: r.IntN(4)}, kids...)
				n = c.Then(c.Site("then", ""), n, c.Step("text", n.Out(), generable.StrT, func(generable.Value) generable.Value { return generable.StrOf("x") }))
			}
			if r.IntN(2) == 0 {
				who := fmt.Sprintf("around %v", inside)
				budgets[who] = limits(int64(2 * len(inside)))
				for _, name := range inside {
					s.around[name][who] = true
				}
				n = c.Attempt(c.Site("attempt", ""), c.Bounded(c.Site("bounded", ""), n, budgets[who]))
				n = c.Then(c.Site("then", ""), n, c.Step("text", n.Out(), generable.StrT, func(generable.Value) generable.Value { return generable.StrOf("x") }))
			}
			return n, inside
		}
		main, _ := build(2)
		c.Sound(t)
		var o overrunsIn
		spec := spend(main, s, budgets["run"])
		spec.Pricer, spec.Listener = dearOut{}, o.listener()
		if _, err := run.Exec(sched.NewCoopSched(seed), spec); err != nil && !errors.Is(err, engine.ErrBudget) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		overrun := 0
		for who, l := range budgets {
			u := s.used[who]
			if n, set := l.Tokens.Value(); set && int64(u.In+u.Out) > n {
				overrun++
				if over := int64(u.In+u.Out) - n; over > s.may[who] {
					t.Errorf("seed %d: %s is overrun by %d tokens, and calls in flight were misjudged by %d", seed, who, over, s.may[who])
				}
			}
			if n, set := l.USD.Value(); set {
				usd, _ := dearOut{}.PriceCall(nil, u)
				if over := usd*1e9 - float64(n); over > 1 {
					overrun++
					if over > float64(s.may[who])*1000+float64(s.calls) { // each call is rounded up
						t.Errorf("seed %d: %s is overrun by $%g, and calls in flight were misjudged by %d tokens", seed, who, over/1e9, s.may[who])
					}
				}
			}
		}
		if told := len(o.all) > 0; told != (overrun > 0) {
			t.Errorf("seed %d: %d overruns, told %v", seed, overrun, o.all)
		}
		for _, n := range o.shown {
			if n.Cause != event.OverrunInput {
				t.Errorf("seed %d: told %+v", seed, n)
			}
		}
		if t.Failed() && seed > 50 {
			return
		}
		if overrun > 0 {
			ran["overruns"]++
		}
		if s.cut > 0 {
			ran["cut answers"]++
		}
		ran["calls"] += s.calls
	}
	if ran["overruns"] < int(seeds)/50 || ran["cut answers"] < int(seeds)/10 || ran["calls"] < 2*int(seeds) {
		t.Errorf("of %d runs: %v", seeds, ran)
	}
}
