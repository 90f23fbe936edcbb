package exec_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/diag"
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

// The wall time of an agent ends its calls, and the error names the position of the call. The clock is the scheduler's,
// and advances when no branch can continue.
func TestCallsUnderTheWallTimeOfAnAgent(t *testing.T) {
	c := enginetest.Compose()
	slow := c.Agent(c.Site("agent", "slow"), &agent.Spec{Name: "slow", Run: engine.GoFunc("slow", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		return a[0], b.Wait(func() bool { return false })
	})})
	boss := c.Agent(c.Site("agent", "boss"), &agent.Spec{Name: "boss", Budget: engine.Limits{Wall: 10 * time.Millisecond},
		Run: engine.GoFunc("boss", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) { return run.Call(b, slow, a[0]) })})
	c.Sound(t)
	for seed := range uint64(5) {
		_, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: boss, Input: generable.StrOf("x")})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindBudget || e.Path != "main/agent:boss#0/agent:slow#0" {
			t.Errorf("got %#v", err)
		}
	}
}

// A tool that ignores its context does not block an agent whose time is over: the flow continues.
func TestADeafToolIsLeftBehind(t *testing.T) {
	c := enginetest.Compose()
	tool := &agent.Tool{Name: "wait", Doc: "Waits."}
	deaf := c.Agent(c.Site("agent", "deaf"), &agent.Spec{Name: "deaf", Prompt: "Wait.", Tools: []*agent.Tool{tool}, Budget: engine.Limits{Wall: time.Millisecond}})
	main := c.Fallback(c.Site("fallback", ""), flow.FirstOptions{}, deaf, c.Prompted("other", generable.StrT, generable.StrT))
	c.Sound(t)
	synctest.Test(t, func(t *testing.T) {
		release, returned := make(chan struct{}), make(chan struct{}, 1)
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			switch {
			case e.Kind == engine.EffectTool:
				<-release
				returned <- struct{}{}
				return engine.Outcome{Value: generable.StrOf("too late")}
			case e.Agent == "deaf":
				r := enginetest.Calls("wait", "{}")
				return engine.Outcome{Response: &r, Attempt: 1}
			}
			return enginetest.Echo(ctx, e, k)
		})
		j := &store.Memory{}
		spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Journal: j}
		out, err := run.Exec(sched.NewGoSched(t.Context()), spec)
		if err != nil || enginetest.Str(out) != "other(x)" {
			t.Errorf("got %q, %v", enginetest.Str(out), err)
		}
		close(release)
		if strings.Contains(strings.Join(j.IDs(), " "), "wait0@") { // it was called
			<-returned
		}
	})
}

func TestWallTime(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("slow", generable.StrT, generable.StrT)
	c.Sound(t)
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		<-ctx.Done()
		return engine.Failed(engine.Errorf(engine.KindCancelled, diag.Cancelled, "stopped"))
	})
	synctest.Test(t, func(t *testing.T) {
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Limits: engine.Limits{Wall: 20 * time.Millisecond}})
		if !errors.Is(err, engine.ErrTimeout) {
			t.Errorf("got %v, want a timeout", err)
		}
	})
}

func TestCancelReachesTheHandler(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("slow", generable.StrT, generable.StrT)
	c.Sound(t)
	ctx, cancel := context.WithCancel(t.Context())
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		cancel()
		<-ctx.Done()
		return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "connection closed"))
	})
	_, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h})
	if !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
}

// The error of an agent out of time contains its usage.
func TestUsageOfAnAgentOutOfTime(t *testing.T) {
	c := enginetest.Compose()
	main := looker(c, t, "a", engine.Limits{Wall: time.Minute})
	c.Sound(t)
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		h := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			if asked++; asked > 1 {
				<-ctx.Done()
				return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
			}
			r := enginetest.Calls("look", `{"at": "x"}`)
			return engine.Outcome{Response: &r, Attempt: 1, Usage: model.Usage{In: 15, Out: 5}}
		})
		_, err := enginetest.RunNode(t, main, h, "x")
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindBudget || e.Usage != (model.Usage{In: 15, Out: 5}) {
			t.Errorf("%v, %+v", err, e.Usage)
		}
	})
}

// The time left is that of the nearest limit around.
func TestTimeThatIsLeft(t *testing.T) {
	for _, tt := range []struct{ run, own, want time.Duration }{
		{time.Minute, 30 * time.Second, 30 * time.Second},
		{time.Minute, 2 * time.Minute, time.Minute},
		{time.Minute, 0, time.Minute},
		{0, 30 * time.Second, 30 * time.Second},
		{0, 0, 0},
	} {
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Out: agent.RemainingType, Budget: engine.Limits{Wall: tt.own},
			Run: engine.GoFunc("a", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) { return run.Remaining(b) })})
		c.Sound(t)
		out, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("x"), Limits: engine.Limits{Wall: tt.run}})
		r, ok := out.AsRecord()
		if err != nil || !ok {
			t.Fatal(err)
		}
		left, _ := r.Get("wall_seconds")
		if seconds, bounded := left.AsFloat(); bounded != (tt.want > 0) || seconds != tt.want.Seconds() {
			t.Errorf("%s in a run of %s: %s are left, want %s", tt.own, tt.run, generable.JSON(left, nil), tt.want)
		}
	}
}
