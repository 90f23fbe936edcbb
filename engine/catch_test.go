package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// TestCatch tells what a script may go on after from what it may not.
func TestCatch(t *testing.T) {
	of := func(k engine.ErrKind) *engine.Error { return engine.Errorf(k, diag.ProviderError, "no luck") }
	for _, tt := range []struct {
		name   string
		err    error
		limits engine.Limits // of the run
		own    engine.Limits // of the agent
		caught engine.ErrKind
	}{
		{name: "refused", err: of(engine.KindRefused), caught: engine.KindRefused},
		{name: "a call that was too slow", err: of(engine.KindTimeout), caught: engine.KindTimeout},
		{name: "host error", err: errors.New("no luck"), caught: engine.KindScript},
		{name: "the agent's calls", own: engine.Limits{ModelCalls: engine.AtMost(0)}, caught: engine.KindBudget},
		{name: "the run's calls", limits: engine.Limits{ModelCalls: engine.AtMost(0)}},
		{name: "panic", err: of(engine.KindPanic)},
		{name: "replay", err: of(engine.KindReplay)},
		{name: "journal", err: of(engine.KindStore)},
		{name: "cancelled", err: of(engine.KindCancelled)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compose()
			node := c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Prompt: "x", Budget: tt.own})
			c.sound(t)
			handler := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
				return engine.Outcome{Err: engineErr(tt.err)}
			})
			main := engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
				_, err := run.Call(b, node, generable.StrOf("x"))
				if caught := b.Catch(err); caught != nil {
					if caught.Path != "main/agent:a#0" {
						t.Errorf("path %q", caught.Path)
					}
					return generable.StrOf(string(caught.Kind)), nil
				}
				return generable.Value{}, err
			})
			for _, sched := range []engine.Sched{sched.NewGoSched(context.Background()), sched.NewCoopSched(1)} {
				out, err := run.Exec(sched, &run.Spec{Main: main, Handler: handler, Model: "test/model", Limits: tt.limits})
				if got, _ := out.AsStr(); engine.ErrKind(got) != tt.caught || (err == nil) != (tt.caught != "") {
					t.Errorf("caught %q, error %v, want %q", got, err, tt.caught)
				}
			}
		})
	}
}

func engineErr(err error) *engine.Error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e
	}
	return &engine.Error{Kind: engine.KindScript, Code: diag.CallbackFailed, Message: "host", Cause: err}
}

// TestCatchWhenCancelled: after its caller gave up a branch catches nothing any more.
func TestCatchWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	main := engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		failed := errors.New("no luck")
		if b.Catch(failed) == nil || b.Catch(nil) != nil {
			t.Error("a failure is not caught, or none is")
		}
		cancel()
		if e := b.Catch(failed); e != nil {
			t.Errorf("caught %v in a cancelled run", e)
		}
		return generable.Value{}, failed
	})
	if _, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Main: main}); !errors.Is(err, engine.ErrCancelled) {
		t.Errorf("got %v", err)
	}
}
