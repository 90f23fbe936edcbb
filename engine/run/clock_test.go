package run_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// refusing is a journal that accepts no sleeps.
type refusing struct{ store.Memory }

func (r *refusing) Commit(ctx context.Context, id string, e *engine.Effect, out engine.Outcome) error {
	if e.Kind == engine.EffectSleep {
		return errors.New("disk full")
	}
	return r.Memory.Commit(ctx, id, e, out)
}

// sleeps returns a flow of one callback that sleeps, and the time that passed on the clock meanwhile.
func sleeps(d time.Duration) (spec run.Spec, took *time.Duration) {
	took = new(time.Duration)
	return run.Spec{Main: engine.GoFunc("wait", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		began, err := run.Now(b)
		if err != nil {
			return generable.Value{}, err
		}
		err = run.Sleep(b, d)
		ended, late := run.Now(b)
		*took = ended.Sub(began)
		return generable.Value{}, errors.Join(err, late)
	})}, took
}

// A sleep that cannot be recorded does not begin: it would begin again with every run that continues.
func TestSleepIsRecordedFirst(t *testing.T) {
	spec, took := sleeps(time.Hour)
	var events []string
	spec.Listener = engine.Listener{Kinds: engine.EventEffect, Emit: func(e engine.Event) { events = append(events, e.At.UTC().Format("15:04")+" "+e.Path) }}
	if _, err := run.Exec(sched.NewCoopSched(1), &spec); err != nil || *took != time.Hour {
		t.Errorf("%v after %s", err, *took)
	}
	// The event of the sleep's end comes when it ends, with the value that was recorded before.
	if len(events) != 6 || events[2] != "00:00 main/sleep0" || events[3] != "01:00 main/sleep0" {
		t.Errorf("%q", events)
	}
	spec.Journal = &refusing{}
	_, err := run.Exec(sched.NewCoopSched(1), &spec)
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != diag.JournalFailed || *took != 0 {
		t.Errorf("%v after %s", err, *took)
	}
}

// A recorded sleep that holds no time is an error, and so is a duration out of range.
func TestWrongSleeps(t *testing.T) {
	for _, d := range []time.Duration{-1, run.MaxSleep + 1} {
		spec, took := sleeps(d)
		if _, err := run.Exec(sched.NewCoopSched(1), &spec); !errors.Is(err, &engine.Error{Kind: engine.KindInput, Code: diag.WrongArgument}) || *took != 0 {
			t.Errorf("%s: %v after %s", d, err, *took)
		}
	}
	spec, took := sleeps(time.Minute)
	j := &store.Memory{}
	spec.Journal = j
	if _, err := run.Exec(sched.NewCoopSched(1), &spec); err != nil || len(j.IDs()) != 3 {
		t.Fatalf("%v, %q", err, j.IDs())
	}
	broken := &store.Memory{}
	for _, id := range j.IDs() {
		out, _ := j.Answer(id)
		if s, _ := out.Value.AsStr(); s == "1970-01-01T00:01:00Z" {
			out.Value = generable.StrOf("later")
		}
		if err := broken.Commit(t.Context(), id, nil, out); err != nil {
			t.Fatal(err)
		}
	}
	spec.Journal, *took = broken, 0
	if _, err := run.Exec(sched.NewCoopSched(1), &spec); !errors.Is(err, &engine.Error{Kind: engine.KindBadResponse, Code: diag.WrongTypeAtBoundary}) {
		t.Errorf("%v after %s", err, *took)
	}
}
