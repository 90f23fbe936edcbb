package exec_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// Another attempt is reserved in addition to the earlier ones, and the next call has what all of them left.
func TestAgain(t *testing.T) {
	for _, row := range []struct {
		cap, again int32
		ok         bool
	}{{1000, 1000 - 108 - 8, true}, {117, 1, true}, {116, 0, false}} {
		c := enginetest.Compose()
		nodes := c.TextAgents(2)
		main := c.Then(c.Site("then", ""), nodes...)
		c.Sound(t)
		var limits []int32
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			in := int(reckoned(e.Req.(*model.Request)))
			limits = append(limits, e.MaxOut)
			u := model.Usage{In: in, Out: 1}
			if len(limits) == 1 {
				first := model.Usage{In: in, Out: 100}
				maxOut, ok := e.Again(ctx, first)
				if want := row.again; ok != row.ok || ok && maxOut != want {
					t.Errorf("of %d tokens: another attempt %v with %d, want %v with %d", row.cap, ok, maxOut, row.ok, want)
				}
				if u = first; ok {
					u = u.Add(model.Usage{In: in, Out: 1})
				}
			}
			r := enginetest.Says("x")
			return engine.Outcome{Response: &r, Usage: u, Attempt: 1}
		})
		_, err := run.Exec(sched.NewCoopSched(1), spend(main, h, engine.Limits{Tokens: engine.AtMost(int64(row.cap))}))
		if row.cap == 1000 && (err != nil || limits[1] != 1000-108-9-8) {
			t.Errorf("%v, limits %v", err, limits)
		}
	}
	// Another process only knows what was reserved for the first attempt.
	e := &engine.Effect{MaxOut: 100}
	if n, ok := e.Again(t.Context(), model.Usage{In: 30, Out: 20}); n != 50 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	if _, ok := e.Again(t.Context(), model.Usage{In: 80, Out: 20}); ok {
		t.Error("nothing is left")
	}
}

// An agent with a last answer gives it when a turn was cut off, with the tokens that were kept. The cut answer is
// recorded as an error, so that a replay has the same result whatever its limits.
func TestACutTurnLeadsToTheLastAnswer(t *testing.T) {
	for _, answers := range []bool{true, false} {
		c := enginetest.Compose()
		l := engine.Limits{Tokens: engine.AtMost(2000)}
		if answers {
			l.OnLimit = engine.OnLimitAnswer
		}
		main := looker(c, t, "a", l)
		c.Sound(t)
		calls := 0
		h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			calls++
			r := enginetest.Says("half of")
			u := model.Usage{In: 20, Out: int(e.MaxOut)}
			if r.Finish = model.FinishLength; e.Req.(*model.Request).Choice.Mode == model.ChoiceNone {
				r, u.Out = enginetest.Says("the last answer"), 10
			}
			return engine.Outcome{Response: &r, Usage: u, Attempt: 1}
		})
		j := &store.Memory{}
		spec := spend(main, h, engine.Limits{})
		spec.Journal = j
		out, err := run.Exec(sched.NewCoopSched(1), spec)
		switch {
		case answers && (err != nil || enginetest.Str(out) != "the last answer" || calls != 2):
			t.Errorf("%q, %v after %d calls", enginetest.Str(out), err, calls)
		case !answers:
			e := engine.AsError(err)
			if e.Kind != engine.KindBudget || e.Raw != "half of" || e.Usage.Out < 1900 || calls != 1 {
				t.Errorf("%v, kept %q and %+v after %d calls", err, e.Raw, e.Usage, calls)
			}
		}
		again := *spec
		again.Handler = enginetest.Refuse
		second, secondErr := run.Exec(sched.NewCoopSched(2), &again)
		if fmt.Sprint(secondErr) != fmt.Sprint(err) || enginetest.Str(second) != enginetest.Str(out) {
			t.Errorf("a replay gives %q, %v; the run %q, %v", enginetest.Str(second), secondErr, enginetest.Str(out), err)
		}
	}
}

// Concurrent agents that reach a named budget one after the other share it, and the last one gets the rest.
func TestANamedBudgetIsShared(t *testing.T) {
	c := enginetest.Compose()
	var nodes []*flow.Node
	for i := range 3 {
		nodes = append(nodes, c.Agent(c.Site("agent", fmt.Sprint("a", i)), &agent.Spec{Name: fmt.Sprint("a", i), Prompt: "Be brief.", Budget: engine.Limits{Name: "pot", Tokens: engine.AtMost(30_000)}}))
	}
	last := c.Agent(c.Site("agent", "last"), &agent.Spec{Name: "last", Prompt: "Be brief.", Budget: engine.Limits{Name: "pot", Tokens: engine.AtMost(30_000)}})
	pair := c.Par(c.Site("par", ""), flow.ParOptions{}, nodes...)
	main := c.Then(c.Site("then", ""), pair, c.Step("text", pair.Out(), generable.StrT, func(generable.Value) generable.Value { return generable.StrOf("x") }), last)
	c.Sound(t)
	l := &limitsOf{}
	if _, err := run.Exec(sched.NewCoopSched(1), spend(main, l, engine.Limits{})); err != nil {
		t.Fatal(err)
	}
	if want := []int32{9992, 9994, 9997, 30_000 - 3*18 - 8}; !slices.Equal(l.sent, want) && l.sent[3] != want[3] {
		t.Errorf("sent with %v, want %v", l.sent, want)
	} else if slices.Max(l.sent[:3]) > 10_020 {
		t.Errorf("sent with %v", l.sent)
	}
}

// Waiting for what others hold does not count as an agent's default time.
func TestWaitingTakesNoTime(t *testing.T) {
	c := enginetest.Compose()
	var nodes []*flow.Node
	for i := range 6 {
		nodes = append(nodes, looker(c, t, fmt.Sprint("a", i), engine.Limits{}))
	}
	main := c.Par(c.Site("par", ""), flow.ParOptions{}, nodes...)
	c.Sound(t)
	w := works(func(_ string, turn int, _ *model.Request) model.Response {
		if turn == 0 {
			return enginetest.Calls("look", `{"at":"x"}`)
		}
		return enginetest.Says("done")
	})
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		_ = clock.Sleep(ctx, 2*time.Minute)
		return w.Do(ctx, e, k)
	})
	if _, err := run.Exec(sched.NewCoopSched(1), spend(main, h, engine.Limits{Tokens: engine.AtMost(2600)})); err != nil {
		t.Error(err)
	}
}
