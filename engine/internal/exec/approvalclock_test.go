package exec_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// Promise 20.10 (budgets): while a call waits for a person, the default time limit of the agents that the call is made
// for is paused, once for all decisions that are pending at the same time. A time limit that is set explicitly
// continues to run. A replay does not read the clock.
func TestPromise_20_10_Patience(t *testing.T) {
	const work, wait = 2 * time.Minute, 20 * time.Minute
	pays := func(first int) func(string, int, *model.Request) model.Response {
		return func(_ string, turn int, req *model.Request) model.Response {
			switch {
			case req.Choice.Mode == model.ChoiceNone:
				return enginetest.Says("the last answer")
			case turn < first:
				return enginetest.Calls("pay", fmt.Sprintf(`{"at":"%d"}`, turn), "pay", fmt.Sprintf(`{"at":"%d, too"}`, turn))
			}
			return enginetest.Calls("look", fmt.Sprintf(`{"at":"%d"}`, turn))
		}
	}
	for _, tt := range []struct {
		name  string
		first int // turns that wait, two decisions each
		own   engine.Limits
		outer bool // another agent calls the one that waits
		calls int
		fails bool
	}{
		{"nothing else takes time", 8, engine.Limits{}, false, 8, true},
		{"what else is done counts", 1, engine.Limits{}, false, 4, true},
		{"what else is done counts after several waits", 3, engine.Limits{}, false, 6, true},
		{"a time that is given is hard", 8, engine.Limits{Wall: 25 * time.Minute, OnLimit: engine.OnLimitAnswer}, false, 2, false},
		{"of the agent around it as well", 1, engine.Limits{}, true, 4, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enginetest.Compose()
			s := clocked{sched.NewCoopSched(1), new(time.Duration)}
			tool := func(name string, takes time.Duration) *agent.Tool {
				return &agent.Tool{Name: name, Params: enginetest.Schema(t, name, generable.Field{Name: "at", Type: generable.StrT}), Returns: generable.StrT, Class: engine.ClassRead,
					Run: engine.GoFunc(name, 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
						*s.late += takes
						return generable.StrOf("ok"), nil
					})}
			}
			spec := &agent.Spec{Name: "a", Prompt: "Pay.", Tools: []*agent.Tool{tool("pay", 0), tool("look", work)}, Budget: tt.own}
			answer := pays(tt.first)
			if tt.outer {
				inner := c.Agent(c.Site("agent", "inner"), &agent.Spec{Name: "inner", Prompt: "Pay.", Tools: []*agent.Tool{tool("pay", 0)}})
				spec.Tools = []*agent.Tool{toolCall(t, "ask", inner), spec.Tools[1]}
				answer = func(agent string, turn int, req *model.Request) model.Response {
					switch {
					case agent == "a" && turn == 0:
						return enginetest.Calls("ask", `{}`)
					case agent == "inner" && turn > 0:
						return enginetest.Says("paid")
					}
					return pays(1)(agent, turn, req)
				}
			}
			main := c.Agent(c.Site("agent", "a"), spec)
			c.Sound(t)
			w, j, decided := works(answer), &store.Memory{}, 0
			r := spend(main, engine.Handlers{engine.EffectModel: w, engine.EffectApproval: engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
				decided++
				*s.late += wait
				return engine.Approve(), nil
			})}, engine.Limits{})
			r.Journal, r.Policies = j, []*policy.Policy{enginetest.Policy(t, policy.Rules{Ask: []string{"pay"}})}
			out, err := run.Exec(s, r)
			if errors.Is(err, engine.ErrBudget) != tt.fails || !tt.fails && (err != nil || enginetest.Str(out) != "the last answer") || w.calls["a"] != tt.calls {
				t.Errorf("%s, %v after %d calls, want %d", enginetest.Str(out), err, w.calls["a"], tt.calls)
			}
			if decided < 2 {
				t.Errorf("%d decisions", decided)
			}
			again := *r
			again.Handler = enginetest.Refuse
			late := clocked{sched.NewCoopSched(7), new(time.Duration)}
			if second, why := run.Exec(late, &again); fmt.Sprint(why) != fmt.Sprint(err) || generable.JSON(second, nil) != generable.JSON(out, nil) {
				t.Errorf("a replay gives %v, the run %v", why, err)
			}
		})
	}
}
