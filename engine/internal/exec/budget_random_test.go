package exec_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// budgetTally counts the calls that reach models and tools, by the budgets around the agent.
type budgetTally struct {
	mu           sync.Mutex
	calls, tools map[string]int64
	tokens       map[string]int64
	around       map[string]map[string]bool // the budgets that count what an agent does
	seed         uint64
	excess       int64 // tokens of an answer beyond its max_tokens
	most         int   // turns of a conversation
	lastAnswers  int64
}

func (b *budgetTally) count(m map[string]int64, agent string, n int64) {
	m["run"] += n
	for pot := range b.around[agent] {
		m[pot] += n
	}
}

// used counts a tool call.
func (b *budgetTally) used(agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(b.tools, agent, 1)
}

// bounded puts separate or named budgets around a node, and returns the limits of the separate ones.
func (b *budgetTally) bounded(c *enginetest.Composer, r *rand.Rand, n *flow.Node, inside []string, limits func(int64) engine.Limits, shared map[string]engine.Limits) (*flow.Node, map[string]engine.Limits) {
	own := map[string]engine.Limits{}
	for i := range r.IntN(3) {
		who, l := fmt.Sprintf("the budget %d around %v", i, inside), limits(3)
		if r.IntN(3) == 0 {
			who = []string{"p", "r"}[r.IntN(2)]
			l = shared[who]
			l.Name = who
		} else {
			own[who] = l
		}
		for _, agent := range inside {
			b.around[agent][who] = true
		}
		n = c.Bounded(c.Site("bounded", ""), n, l)
	}
	return n, own
}

func (b *budgetTally) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	r := rand.New(rand.NewPCG(b.seed, uint64(len(e.At.Path()))+uint64(len(req.Messages))*31))
	resp := enginetest.Says("done")
	if req.Choice.Mode != model.ChoiceNone && len(req.Messages) < 2*b.most && r.IntN(5) > 0 {
		resp = enginetest.Calls("look", fmt.Sprintf(`{"at":"%d"}`, len(req.Messages)))
		if r.IntN(3) == 0 {
			resp = enginetest.Calls("look", fmt.Sprintf(`{"at":"%d"}`, len(req.Messages)), "look", `{"at":"y"}`)
		}
	}
	limit := *req.Params.MaxTokens
	if e.MaxOut > 0 {
		limit = int(e.MaxOut)
	}
	u := model.Usage{In: 1, Out: r.IntN(limit + 1)}
	if b.excess > 0 {
		u.Out = limit + r.IntN(int(b.excess)+1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(b.calls, e.Agent, 1)
	b.count(b.tokens, e.Agent, int64(u.In+u.Out))
	if req.Choice.Mode == model.ChoiceNone {
		b.lastAnswers++
	}
	return engine.Outcome{Response: &resp, Usage: u, Attempt: 1}
}

// Promise 20.1 (budgets): whatever the order of concurrent operations, the number of model calls, turns and tool calls
// stays within every budget around them. Tokens and money exceed a budget at most by what the calls in flight use
// beyond their estimates, which an event reports. A replay has the same result.
func TestPromise_20_1_AnyOrder(t *testing.T) {
	seeds := uint64(400)
	if testing.Short() {
		seeds = 50
	}
	ran := map[string]int{}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		bound := func(most int64) engine.Cap {
			if r.IntN(3) == 0 {
				return engine.Cap{}
			}
			return engine.AtMost(r.Int64N(most))
		}
		limits := func(size int64) engine.Limits {
			l := engine.Limits{ModelCalls: bound(2 * size), ToolCalls: bound(3 * size), Tokens: bound(300 * size), Turns: bound(3 * size)}
			if r.IntN(3) == 0 {
				l.USD = engine.Dollars(float64(r.IntN(300*int(size))) / 1000)
			}
			return l
		}
		shared := map[string]engine.Limits{"p": limits(6), "q": limits(4), "r": limits(5)}
		ru := limits(12)
		b := &budgetTally{calls: map[string]int64{}, tools: map[string]int64{}, tokens: map[string]int64{}, around: map[string]map[string]bool{}, seed: seed, most: 6}
		if r.IntN(2) == 0 {
			b.excess = 50
		}
		c := enginetest.Compose()
		var nodes []*flow.Node
		most, workers := 60, 4+r.IntN(8)
		own, around := map[string]engine.Limits{}, map[string]engine.Limits{}
		var group []*flow.Node
		var inside []string
		for i := range workers {
			name := fmt.Sprintf("own%d_", i)
			l := limits(2)
			if l.Turns == engine.AtMost(0) {
				l.Turns = engine.AtMost(1)
			}
			switch r.IntN(3) {
			case 0:
				name, l = fmt.Sprintf("p_%d", i), shared["p"]
				l.Name = "p"
			case 1:
				name, l = fmt.Sprintf("q_%d", i), shared["q"]
				l.Name = "q"
			}
			if r.IntN(2) == 0 {
				l.OnLimit = engine.OnLimitAnswer
			}
			own[name] = l
			b.around[name] = map[string]bool{name: true}
			if l.Name != "" {
				b.around[name][l.Name] = true
			}
			look := &agent.Tool{Name: "look", Class: engine.ClassRead, Returns: generable.StrT, Params: enginetest.Schema(t, "look", generable.Field{Name: "at", Type: generable.StrT}),
				Run: engine.GoFunc("look", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
					b.used(name)
					return generable.StrOf("ok"), nil
				})}
			group, inside = append(group, c.Attempt(c.Site("attempt", ""), c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "P.",
				Tools: []*agent.Tool{look}, Budget: l, Params: model.Params{MaxTokens: &most}}))), append(inside, name)
			if i < workers-1 && r.IntN(2) == 0 {
				continue // one more runs together with these
			}
			node, limits := b.bounded(c, r, c.Par(c.Site("par", ""), flow.ParOptions{OnError: flow.OnErrorKeep}, group...), inside, limits, shared)
			maps.Copy(around, limits)
			nodes = append(nodes, node)
			group, inside = nil, nil
		}
		main := c.Par(c.Site("par", ""), flow.ParOptions{OnError: flow.OnErrorKeep}, nodes...)
		c.Sound(t)
		var n news
		j := &store.Memory{}
		spec := spend(main, b, ru)
		spec.Pricer, spec.Listener, spec.Journal = perToken{}, n.listener(), j
		out, err := run.Exec(sched.NewCoopSched(seed), spec)
		if err != nil && !errors.Is(err, engine.ErrBudget) {
			t.Fatalf("seed %d: %v", seed, err)
		}
		overrun := false
		check := func(who string, l engine.Limits, turns bool) {
			exact := func(what string, used int64, c engine.Cap) {
				if n, set := c.Value(); set && used > n {
					t.Errorf("seed %d: %s made %d %s, and may make %d", seed, who, used, what, n)
				} else if set && used == n {
					ran[what]++
				}
			}
			exact("model calls", b.calls[who], l.ModelCalls)
			exact("tool calls", b.tools[who], l.ToolCalls)
			if turns {
				exact("turns", b.calls[who], l.Turns)
			}
			about := func(what string, used int64, n int64, set bool) {
				if !set {
					return
				}
				if used > n {
					overrun = true
					ran["overrun"]++
				}
				if used > n+b.excess*int64(workers) {
					t.Errorf("seed %d: %s used %d %s of %d, and estimates err by %d at most", seed, who, used, what, n, b.excess*int64(workers))
				}
			}
			limit, set := l.Tokens.Value()
			about("tokens", b.tokens[who], limit, set)
			usd, set := l.USD.USD()
			about("thousandths of a dollar", b.tokens[who], int64(usd*1000+0.5), set)
		}
		check("run", ru, true)
		check("p", shared["p"], true)
		check("q", shared["q"], true)
		check("r", shared["r"], true)
		for who, l := range around {
			check(who, l, true)
			if n, set := l.ModelCalls.Value(); set && b.calls[who] == n {
				ran["bounded nodes"]++
			}
		}
		for name, l := range own {
			if l.Name == "" {
				l.Turns = engine.AtMost(func() int64 {
					n, set := l.Turns.Value()
					if !set {
						return 8
					}
					return n
				}())
				check(name, l, true)
			}
		}
		if told := strings.Contains(fmt.Sprint(n.all), "overrun"); told != overrun {
			t.Errorf("seed %d: overrun %v, told %v: %v", seed, overrun, told, n.all)
		}
		if b.lastAnswers > 0 {
			ran["last answers"]++
		}
		again := *spec
		again.Handler, again.Listener = enginetest.Refuse, engine.Listener{}
		second, secondErr := run.Exec(sched.NewCoopSched(seed+1000), &again)
		if fmt.Sprint(secondErr) != fmt.Sprint(err) && !errors.Is(err, engine.ErrBudget) || err == nil && generable.JSON(second, nil) != generable.JSON(out, nil) {
			t.Errorf("seed %d: a replay gives %v, %v\nthe run %v, %v", seed, generable.JSON(second, nil), secondErr, generable.JSON(out, nil), err)
		}
	}
	for _, what := range []string{"model calls", "tool calls", "turns", "overrun", "last answers", "bounded nodes"} {
		if ran[what] < int(seeds)/50 {
			t.Errorf("only %d of %d runs came to the limit of %s", ran[what], seeds, what)
		}
	}
}
