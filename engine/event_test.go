package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// streaming is a handler that keeps its sink and uses it from a goroutine of its own.
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
		return echo(ctx, e, sink)
	})
}

func TestTokens(t *testing.T) {
	c := compose()
	main := c.prompted("a", strT, strT)
	c.sound(t)
	var sink engine.Sink
	var seen []engine.Event
	_, err := engine.Exec(engine.NewGoSched(t.Context()), &engine.RunSpec{Node: main, Input: generable.StrOf("x"), Handler: streaming(&sink), Model: "m/m",
		Listener: engine.Listener{Kinds: engine.EventToken | engine.EventRun, Emit: func(e engine.Event) { seen = append(seen, e) }}})
	if err != nil || len(seen) != 4 {
		t.Fatalf("%v, events %+v", err, seen)
	}
	for i, want := range []engine.Event{{Text: "a"}, {Text: "hm", Reasoning: true}} {
		if e := seen[i+1]; e.Text != want.Text || e.Reasoning != want.Reasoning || e.Path != "main/agent:a#0/llm0" || e.ID == "" || e.Attempt != 1 {
			t.Errorf("token %d: %+v", i, e)
		}
	}
	sink(engine.Token{Text: "late"}) // after the end of the run
	if len(seen) != 4 {
		t.Errorf("an event came after the end of the run: %+v", seen[4])
	}
	// Nobody listens to tokens: no sink.
	if _, err := run(t, main, engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if sink != nil || e.Stream {
			t.Error("a sink without a listener")
		}
		return echo(ctx, e, sink)
	}), "x"); err != nil {
		t.Error(err)
	}
}

// A listener that panics, on whatever goroutine, fails its own run and is not called again.
func TestListenersThatPanic(t *testing.T) {
	c := compose()
	main := c.prompted("a", strT, strT)
	c.sound(t)
	for _, kind := range []engine.EventKind{engine.EventRun, engine.EventNode, engine.EventEffect, engine.EventToken} {
		called := 0
		var sink engine.Sink
		_, err := engine.Exec(engine.NewGoSched(t.Context()), &engine.RunSpec{Node: main, Input: generable.StrOf("x"), Handler: streaming(&sink), Model: "m/m",
			Listener: engine.Listener{Kinds: kind | engine.EventToken, Emit: func(e engine.Event) {
				if e.Kind == kind {
					called++
					panic(errHost)
				}
			}}})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindPanic || !errors.Is(err, errHost) || e.Path == "" || called != 1 {
			t.Errorf("%s: called %d times, %v", kind, called, err)
		}
	}
}

// TestRetryEvents: a listener to retries alone gets them, and no tokens.
func TestRetryEvents(t *testing.T) {
	c := compose()
	main := c.prompted("a", strT, strT)
	c.sound(t)
	why := engine.Errorf(engine.KindOverloaded, "", "busy")
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		sink(engine.Token{Attempt: 1, Text: "half"})
		sink(engine.Token{Attempt: 1, Retry: &engine.Retry{Err: why, Wait: time.Second, From: "m/m", To: "m/n"}})
		return echo(ctx, e, sink)
	})
	for kinds, want := range map[engine.EventKind]int{engine.EventRetry: 1, engine.EventToken: 1, engine.EventRetry | engine.EventToken: 2} {
		var seen []engine.Event
		_, err := engine.Exec(engine.NewGoSched(t.Context()), &engine.RunSpec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "m/m",
			Listener: engine.Listener{Kinds: kinds, Emit: func(e engine.Event) {
				if e.Kind == engine.EventRetry || e.Kind == engine.EventToken {
					seen = append(seen, e)
				}
			}}})
		if err != nil || len(seen) != want {
			t.Fatalf("%v, events %+v", err, seen)
		}
		e := seen[want-1]
		if kinds&engine.EventRetry != 0 && (e.Kind != engine.EventRetry || e.Err != why || e.Wait != time.Second || e.From != "m/m" || e.Name != "m/n" || e.Attempt != 1 || e.ID == "" || e.Path != "main/agent:a#0/llm0") {
			t.Errorf("%+v", e)
		}
	}
}
