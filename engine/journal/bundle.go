package journal

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Bundle returns the script of a run as it was when the run began.
func Bundle(ctx context.Context, s engine.Store, run engine.RunInfo) (engine.Bundle, error) {
	b, err := s.Bundle(ctx, run.Bundle)
	if errors.Is(err, &engine.Error{Code: diag.RunNotFound}) {
		err = engine.Errorf(engine.KindInput, diag.RunNotFound, "the store no longer has the script of run %s, which was %s", run.ID, run.Script).
			WithHelp("with the current script a fork takes what still fits: agentscript runs fork %s --script %s", run.ID, run.Script)
	}
	return b, err
}

// Done is the failure to continue a run that has ended successfully.
func Done(run string) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.RunExists, "run %s has ended well, and has nothing left to do", run).
		WithHelp("agentscript runs show %s prints its result; agentscript runs fork %s --from main runs it again", run, run)
}
