package testrun

import (
	"context"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/chaos"
	"github.com/agentscript/agentscript/starlib"
)

// Mutate runs a test that passes again and again, each time with one answer of a model changed, see [chaos.Try]. An
// assertion that then fails says that the result is another one. It returns nil for a test that is skipped, and the
// error of one that fails by itself.
func (f *File) Mutate(ctx context.Context, t starlib.Test, seed uint64) ([]chaos.Case, error) {
	first, skipped := true, false
	cases, err := chaos.Try(ctx, seed, func(ctx context.Context, p *chaos.Probe) (generable.Value, error) {
		r := f.run(ctx, t, nil, f.opts.Seed, p)
		err := r.failure()
		if first {
			first, skipped = false, r.Status == Skipped
			return generable.Value{}, err
		}
		if err == nil {
			return generable.Value{}, nil
		}
		switch e := engine.AsError(err); e.Code {
		case diag.UnusedAnswer: // calls for it may not be made any more
			return generable.Value{}, nil
		case diag.AssertionFailed, diag.SnapshotDiffers:
			return generable.StrOf(strings.Join(append([]string{e.Message}, e.Notes...), "\n")), nil
		}
		return generable.Value{}, err
	})
	if skipped {
		return nil, nil
	}
	return cases, err
}

// failure returns why a test failed, or the first of those inside of it; nil if none did.
func (r *Result) failure() error {
	if r.Err != nil {
		return r.Err
	}
	for _, sub := range r.Subs {
		if err := sub.failure(); err != nil {
			return err
		}
	}
	return nil
}
