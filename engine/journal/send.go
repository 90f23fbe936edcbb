package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// Send sends an answer to a run: to a step that waits, by its id or its position, or to a wait by its name, which
// the run need not have come to yet. The first answer stays: an equal one changes nothing, and another one is an error
// that says who sent what and when. Answers to a name that nothing waits for yet are taken one after the other;
// those that share a dedup are the same. by and at say who sent it and when.
func Send(ctx context.Context, s engine.Store, run, to, dedup, by string, at time.Time, a engine.Answer) error {
	value, err := json.Marshal(a)
	if err != nil {
		return engine.Errorf(engine.KindInput, diag.BadSignal, "the answer has no JSON form: %w", err)
	}
	sent := engine.Signal{Name: to, Dedup: dedup, Value: value, By: by, At: at.UTC()}
	signals, err := s.Signals(ctx, run)
	if err != nil {
		return err
	}
	step, err := answers(ctx, s, run, to, signals)
	if err != nil {
		return err
	}
	if step != nil {
		var before *engine.Signal
		for i, is := range signals {
			if is.Step == step.ID && (step.State != engine.StepWaiting || is.Seq > step.Taken) {
				before = &signals[i]
			}
		}
		switch {
		case before != nil:
			return same(*before, sent)
		case step.State == engine.StepDone && (step.Kind == engine.EffectApproval || step.Kind == engine.EffectWait):
			return engine.Errorf(engine.KindInput, diag.BadSignal, "%s was answered before, in the process of the run, on %s: %s", step.ID, step.Ended.UTC().Format(time.DateTime), text.Clip(string(step.Outcome), 200)).
				WithHelp("the first answer counts")
		case step.State != engine.StepWaiting:
			return engine.Errorf(engine.KindInput, diag.BadSignal, "%s does not wait for an answer: it is %s", step.ID, step.State).WithHelp("agentscript runs show %s lists what waits", run)
		}
		sent.Step, sent.Name = step.ID, ""
		sent.Dedup = cmp.Or(dedup, step.ID+"#"+text.Count(int(step.Taken), "answer"))
	} else if strings.Contains(to, "@") || strings.Contains(to, "/") {
		return engine.Errorf(engine.KindInput, diag.BadSignal, "run %s has no step %s", run, text.Clip(to, 200)).WithHelp("agentscript runs show %s lists what waits", run)
	}
	is, err := s.Signal(ctx, run, sent)
	if err != nil {
		return err
	}
	return same(is, sent)
}

// answers finds the step that an answer is for: by id or position, or the first wait of a name that nobody answered, else
// the last that waits. It is nil where there is none.
func answers(ctx context.Context, s engine.Store, run, to string, signals []engine.Signal) (found *engine.Step, err error) {
	answered := map[string]int64{}
	for _, is := range signals {
		answered[is.Step] = is.Seq
	}
	open := false // found waits, and nobody answered it
	err = s.Steps(ctx, run, 0, func(step engine.Step) error {
		switch {
		case step.ID == to || Position(step.ID) == to:
			found, open = &step, true
		case !open && step.Kind == engine.EffectWait && step.Name == to && step.State == engine.StepWaiting:
			found, open = &step, answered[step.ID] <= step.Taken
		}
		return nil
	})
	return found, err
}

// same reports that another answer was there before as an error.
func same(is, sent engine.Signal) error {
	if bytes.Equal(is.Value, sent.Value) {
		return nil
	}
	return engine.Errorf(engine.KindInput, diag.BadSignal, "%s was answered by %s at %s: %s", cmp.Or(is.Step, is.Name), cmp.Or(is.By, "somebody"), is.At.Format(time.RFC3339), is.Value).
		WithHelp("the first answer stays")
}
