package exec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
)

// A bounded node counts everything inside it, each time it runs; nodes with the same budget name count together.
func TestBoundedNodes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit engine.Limits
		twice bool
		calls int // of both agents together
		fails bool
	}{
		{"nothing is bounded", engine.Limits{}, false, 4, false},
		{"turns of all agents", engine.Limits{Turns: engine.AtMost(3)}, false, 3, true},
		{"tool calls of all agents", engine.Limits{ToolCalls: engine.AtMost(1)}, false, 3, true},
		{"model calls, to the last", engine.Limits{ModelCalls: engine.AtMost(4)}, false, 4, false},
		{"tokens", engine.Limits{Tokens: engine.AtMost(0)}, false, 0, true},
		{"each time anew", engine.Limits{ModelCalls: engine.AtMost(4)}, true, 8, false},
		{"by a name once", engine.Limits{Name: "both", ModelCalls: engine.AtMost(6)}, true, 6, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enginetest.Compose()
			node := func() *flow.Node {
				return c.Bounded(c.Site("bounded", ""), c.Then(c.Site("then", ""), looker(c, t, "a", engine.Limits{}), looker(c, t, "b", engine.Limits{})), tt.limit)
			}
			main := node()
			if l := main.Bound(); l == nil || !l.Same(&tt.limit) || main.In().String() != "str" || main.Out().String() != "str" {
				t.Errorf("bound %+v, takes %v, gives %v", main.Bound(), main.In(), main.Out())
			}
			if tt.twice {
				main = c.Then(c.Site("then", ""), main, node())
			}
			c.Sound(t)
			enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
				w := works(func(_ string, turn int, _ *model.Request) model.Response {
					if turn%2 == 0 {
						return enginetest.Calls("look", fmt.Sprintf(`{"at":"%d"}`, turn))
					}
					return enginetest.Says("done")
				})
				_, err := run.Exec(s, spend(main, w, engine.Limits{}))
				if made := w.calls["a"] + w.calls["b"]; errors.Is(err, engine.ErrBudget) != tt.fails || !tt.fails && err != nil || made != tt.calls {
					t.Errorf("%v after %d calls, want %d", err, made, tt.calls)
				}
			})
		})
	}
}

// Recorded use is charged to the budget, so a run resumed with a lower budget reports the overrun and makes no further
// call. A complete record is replayed to its end, with the same report.
func TestResumedWithALowerBudget(t *testing.T) {
	for _, whole := range []bool{false, true} {
		c := enginetest.Compose()
		nodes := c.TextAgents(4)
		main := c.Then(c.Site("then", ""), nodes...)
		c.Sound(t)
		enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
			w, j := works(func(string, int, *model.Request) model.Response { return enginetest.Says("ok") }), &store.Memory{}
			first := spend(main, w, engine.Limits{Tokens: engine.AtMost(10_000), USD: engine.Dollars(100)})
			first.Journal, first.Pricer = forgetful{j, "a3", whole}, perToken{}
			if _, err := run.Exec(s, first); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				name string
				low  engine.Limits
				told string
			}{
				{"tokens", engine.Limits{Tokens: engine.AtMost(50)}, "overrun tokens 60/50"},
				{"money", engine.Limits{USD: engine.Dollars(0.05)}, "overrun usd 0.06/0.05"},
				{"model calls", engine.Limits{ModelCalls: engine.AtMost(2)}, "overrun model_calls 3/2"},
			} {
				again := *first
				resumed := works(w.answer)
				var n news
				again.Handler, again.Limits, again.Listener, again.Journal = resumed, tt.low, n.listener(), forgetful{j, "a3", false}
				_, err := run.Exec(sched.NewCoopSched(3), &again)
				if whole && err != nil || !whole && !errors.Is(err, engine.ErrBudget) || len(resumed.calls) != 0 {
					t.Errorf("%s, whole %v: %v after calls %v", tt.name, whole, err, resumed.calls)
				}
				if !strings.Contains(fmt.Sprint(n.all), tt.told) {
					t.Errorf("%s, whole %v: told %v, want %s", tt.name, whole, n.all, tt.told)
				}
			}
		})
	}
}

// forgetful is the journal of a run that was interrupted at an agent: nothing of the agent is kept.
type forgetful struct {
	*store.Memory
	agent string
	keeps bool
}

func (f forgetful) Commit(ctx context.Context, id string, e *engine.Effect, out engine.Outcome) error {
	if e.Agent == f.agent && !f.keeps {
		return nil
	}
	return f.Memory.Commit(ctx, id, e, out)
}
