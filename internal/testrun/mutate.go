package testrun

import (
	"context"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/chaos"
	"github.com/agentscript/agentscript/starlib"
)

// Mutations are the results of running tests with changed answers.
type Mutations struct {
	Cases []chaos.Case
	Left  []Unmutated
}

// Unmutated is a test whose answers were not changed.
type Unmutated struct {
	File  string `json:"file"`
	Test  string `json:"test"`
	Why   string `json:"why"`
	Fails bool   `json:"-"` // it does not pass, so changed answers show nothing
}

// Add runs a passed test again and again, each time with one changed answer of a model, see [chaos.Try]. An assertion
// that then fails shows that the result differs. Of the tests inside it, only those run that only accepts.
func (m *Mutations) Add(ctx context.Context, f *File, r *Result, only func(name string) bool, seed uint64) {
	why, fails := "", true
	switch r.Status {
	case Failed:
		why = "it already fails"
	case Flaky:
		why = "it is already flaky"
	case Skipped:
		why, fails = "it is skipped", false
	default:
		cases, err := f.mutate(ctx, r.Name, only, seed)
		m.Cases = append(m.Cases, cases...)
		switch {
		case ctx.Err() != nil:
			why = "the command was interrupted"
		case err != nil: // it passed before
			why = "it fails when it runs again: " + err.Error()
		case len(cases) == 0:
			why, fails = "it asks no model", false
		}
	}
	if why != "" {
		m.Left = append(m.Left, Unmutated{File: f.shown, Test: r.Name, Why: why, Fails: fails})
	}
}

// mutate returns the runs of a test with changed answers, and the error of a test that fails without changes.
func (f *File) mutate(ctx context.Context, name string, only func(name string) bool, seed uint64) ([]chaos.Case, error) {
	i := slices.IndexFunc(f.Tests, func(t starlib.Test) bool { return t.Name == name })
	var first *Result
	cases, err := chaos.Try(ctx, seed, func(ctx context.Context, p *chaos.Probe) (generable.Value, error) {
		r := f.run(ctx, f.Tests[i], only, f.opts.Seed, p, nil)
		err := r.failure()
		if first == nil {
			first = r
			return generable.Value{}, err
		}
		if err == nil {
			return generable.Value{}, nil
		}
		switch e := engine.AsError(err); e.Code {
		case diag.UnusedAnswer: // calls for it may no longer be made
			return generable.Value{}, nil
		case diag.AssertionFailed, diag.SnapshotDiffers:
			return generable.StrOf(strings.Join(append([]string{e.Message}, e.Notes...), "\n")), nil
		}
		return generable.Value{}, err
	})
	for i := range cases {
		c := &cases[i]
		c.File, c.Test, c.At = f.shown, first.asked[c.Path], f.made[c.Agent]
	}
	return cases, err
}

// failure returns why a test failed, or the first failure inside it, or nil.
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
