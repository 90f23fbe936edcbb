package keep

import (
	"context"
	"io"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// failing is a run in a store that accepts nothing more.
type failing struct {
	engine.OpenRun
	held              bool // it cannot be removed either
	discarded, closed int
}

func (f *failing) Put(context.Context, engine.Step, bool) error { return failure() }

func (f *failing) Discard(context.Context) error {
	if f.held {
		return failure()
	}
	f.discarded++
	return nil
}

func (f *failing) Close() error { f.closed++; return nil }

func failure() error { return engine.Errorf(engine.KindStore, diag.StoreFailed, "no room") }

// TestUnkept: if the run was removed from the store, effects that the store cannot record are carried out. If the run
// stays in the store, nothing is begun that must not happen twice, and the run can be resumed.
func TestUnkept(t *testing.T) {
	ctx := context.Background()
	for _, held := range []bool{false, true} {
		s := New(&term.Console{Process: &term.Process{Stdout: io.Discard, Stderr: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}})
		s.lenient = true
		in := &failing{OpenRun: journal.Nowhere(engine.RunHead{ID: "r"}), held: held}
		run := s.began("r", in, false)
		if err := run.Put(ctx, engine.Step{State: engine.StepDone}, true); err != nil {
			t.Fatalf("held %v: a step that is done: %v", held, err)
		}
		if err := run.Put(ctx, engine.Step{State: engine.StepIntent}, true); (err != nil) != held {
			t.Errorf("held %v: an intent: %v", held, err)
		}
		if s.Began("r") != held {
			t.Errorf("held %v: it can be resumed: %v", held, s.Began("r"))
		}
		if err := run.End(ctx, engine.RunEnd{Status: engine.RunDone}); err != nil {
			t.Errorf("held %v: the end: %v", held, err)
		}
		if in.discarded == 1 == held || in.closed == 1 != held {
			t.Errorf("held %v: removed %d times, closed %d times", held, in.discarded, in.closed)
		}
	}
	s := New(&term.Console{Process: &term.Process{Stdout: io.Discard, Stderr: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}})
	s.lenient = true
	in := &failing{OpenRun: journal.Nowhere(engine.RunHead{ID: "r"})}
	if err := s.began("r", in, true).Put(ctx, engine.Step{State: engine.StepDone}, true); err == nil || in.discarded > 0 {
		t.Errorf("a run that was taken goes on unkept: %v, removed %d times", err, in.discarded)
	}
}
