package exec_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// streaming is a handler that keeps its sink and uses it from another goroutine.
func streaming(kept *engine.Sink) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		*kept = sink
		done := make(chan struct{})
		go func() {
			defer close(done)
			sink(engine.Token{Attempt: 1, Text: "a"})
			sink(engine.Token{Attempt: 1, Text: "hm", Reasoning: true})
		}()
		<-done
		return enginetest.Echo(ctx, e, sink)
	})
}

func TestTokens(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	var sink engine.Sink
	var seen []engine.Event
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: streaming(&sink), Model: "m/m",
		Listener: engine.Listener{Kinds: engine.EventToken | engine.EventRun, Emit: func(e engine.Event) { seen = append(seen, e) }}})
	if err != nil || len(seen) != 4 {
		t.Fatalf("%v, events %+v", err, seen)
	}
	for i, want := range []event.Token{{Name: "m/m", Text: "a"}, {Name: "m/m", Text: "hm", Reasoning: true}} {
		if e := seen[i+1]; *e.Data.(*event.Token) != want || e.Path != "main/agent:a#0/llm0" || e.ID == "" || e.Attempt != 1 {
			t.Errorf("token %d: %+v", i, e)
		}
	}
	sink(engine.Token{Text: "late"}) // after the end of the run
	if len(seen) != 4 {
		t.Errorf("an event came after the end of the run: %+v", seen[4])
	}
	// Nobody listens to tokens: no sink.
	if _, err := enginetest.RunNode(t, main, engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if sink != nil || e.Stream {
			t.Error("a sink without a listener")
		}
		return enginetest.Echo(ctx, e, sink)
	}), "x"); err != nil {
		t.Error(err)
	}
}

// A listener that panics, on whatever goroutine, fails its own run and is not called again.
func TestListenersThatPanic(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	boom := errors.New("boom")
	for _, kind := range []engine.EventKind{engine.EventRun, engine.EventNode, engine.EventEffect, engine.EventToken} {
		called := 0
		var sink engine.Sink
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: streaming(&sink), Model: "m/m",
			Listener: engine.Listener{Kinds: kind | engine.EventToken, Emit: func(e engine.Event) {
				if e.Kind == kind {
					called++
					panic(boom)
				}
			}}})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindPanic || !errors.Is(err, boom) || e.Path == "" || called != 1 {
			t.Errorf("%s: called %d times, %v", kind, called, err)
		}
	}
}

// TestRetryEvents: a listener that only wants retries gets them, and no tokens.
func TestRetryEvents(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	why := engine.Errorf(engine.KindOverloaded, "", "busy")
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		sink(engine.Token{Attempt: 1, Text: "half"})
		sink(engine.Token{Attempt: 1, Retry: &engine.Retry{Err: why, Wait: time.Second, From: "m/m", To: "m/n"}})
		return enginetest.Echo(ctx, e, sink)
	})
	for kinds, want := range map[engine.EventKind]int{engine.EventRetry: 1, engine.EventToken: 1, engine.EventRetry | engine.EventToken: 2} {
		var seen []engine.Event
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "m/m",
			Listener: engine.Listener{Kinds: kinds, Emit: func(e engine.Event) {
				if e.Kind == engine.EventRetry || e.Kind == engine.EventToken {
					seen = append(seen, e)
				}
			}}})
		if err != nil || len(seen) != want {
			t.Fatalf("%v, events %+v", err, seen)
		}
		e := seen[want-1]
		if d, ok := e.Data.(*event.Retry); kinds&engine.EventRetry != 0 && (!ok || *d != event.Retry{From: "m/m", To: "m/n", Wait: time.Second, Err: why} || e.Attempt != 1 || e.ID == "" || e.Path != "main/agent:a#0/llm0") {
			t.Errorf("%+v", e)
		}
	}
}

// TestCatch distinguishes failures after which a script may continue from those after which it may not.
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
			c := enginetest.Compose()
			node := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "x", Budget: tt.own})
			c.Sound(t)
			handler := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
				return engine.Outcome{Err: engineErr(tt.err)}
			})
			main := engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
				_, err := run.Call(b, node, generable.StrOf("x"))
				if caught, _ := b.Catch(err); caught != nil {
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

// TestCatchWhenCancelled: a branch catches nothing after its caller has abandoned it.
func TestCatchWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	main := engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		failed := errors.New("no luck")
		if e, ends := b.Catch(failed); e == nil || ends != nil {
			t.Errorf("a failure is not caught: %v, %v", e, ends)
		}
		if e, ends := b.Catch(nil); e != nil || ends != nil {
			t.Errorf("no error is caught: %v, %v", e, ends)
		}
		cancel()
		if e, ends := b.Catch(failed); e != nil || ends != failed {
			t.Errorf("caught %v in a cancelled run, which ends with %v", e, ends)
		}
		return generable.Value{}, failed
	})
	if _, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Main: main}); !errors.Is(err, engine.ErrCancelled) {
		t.Errorf("got %v", err)
	}
}
