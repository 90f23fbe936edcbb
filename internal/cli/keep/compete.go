package keep

import (
	"context"
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
)

// listens is how often a question at the terminal checks for an answer from elsewhere.
const listens = 250 * time.Millisecond

// Competes lets both the person at the terminal and runs answer decide about an approval: the first answer counts.
func (s *Store) Competes(next engine.Handler) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if e.Kind != engine.EffectApproval || !s.c.Prompts() || !s.Began(e.Run) {
			return next.Do(ctx, e, sink)
		}
		return s.compete(ctx, e, next, sink)
	})
}

func (s *Store) compete(ctx context.Context, e *engine.Effect, next engine.Handler, sink engine.Sink) engine.Outcome {
	if !s.asks(ctx, e) {
		return next.Do(ctx, e, sink)
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	elsewhere := make(chan engine.Outcome, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if out, by, ok := s.answered(asking, e); ok {
				elsewhere <- out
				stop()
				s.tell(&diag.Diagnostic{Severity: diag.Info, Message: "the question is answered by " + by})
				return
			}
			select {
			case <-asking.Done():
				return
			case <-time.After(listens):
			}
		}
	}()
	out := next.Do(asking, e, sink)
	stop()
	<-ended
	select {
	case first := <-elsewhere:
		return first
	default:
	}
	if first, _, ok := s.answered(context.WithoutCancel(ctx), e); ok { // sent while the person typed
		return first
	}
	return out
}

// asks makes the question visible to others, and reports whether they can see it.
func (s *Store) asks(ctx context.Context, e *engine.Effect) bool {
	s.mu.Lock()
	run := s.runs[e.Run]
	s.mu.Unlock()
	r, ok := e.Req.(*engine.ApprovalRequest)
	step, err := journal.StepOf(e.ID(), e)
	if run == nil || !ok || err != nil {
		return false
	}
	step.State, step.Begun = engine.StepWaiting, time.Now()
	step.Ended, step.Request = step.Begun, json.RawMessage(s.c.Hidden(string(step.Request)))
	if step.Outcome, err = (engine.Outcome{Err: r.Unhandled(e)}).MarshalJSON(); err != nil {
		return false
	}
	step.Outcome = json.RawMessage(s.c.Hidden(string(step.Outcome)))
	return run.Put(ctx, step, true) == nil
}

// answered returns the first answer from others that fits, and who sent it.
func (s *Store) answered(ctx context.Context, e *engine.Effect) (out engine.Outcome, by string, ok bool) {
	signals, err := s.Signals(ctx, e.Run)
	if err != nil {
		return out, "", false
	}
	for _, is := range signals {
		var a engine.Answer
		if is.Step != e.ID() || json.Unmarshal(is.Value, &a) != nil || a.Again {
			continue
		}
		if out, wrong := a.Outcome(e); wrong == nil {
			return out, is.By, true
		}
	}
	return out, "", false
}
