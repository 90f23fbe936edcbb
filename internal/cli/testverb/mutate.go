package testverb

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/chaos"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/internal/text"
)

// mutations are the flags of --mutate.
type mutations struct {
	on    bool
	least float64 // the threshold in percent; 0 for none
	seed  uint64
}

func (m *mutations) flags(f *pflag.FlagSet) {
	f.BoolVar(&m.on, "mutate", false, "run each passing test again with each model answer changed in many ways, and report the outcomes")
	f.Uint64Var(&m.seed, "mutate-seed", 0, "with --mutate, change answers at the places that this `SEED` selects")
}

func (m *mutations) check(o *options) error {
	switch {
	case !m.on && m.seed != 0:
		return term.Usagef("add --mutate", "--mutate-seed belongs to --mutate")
	case m.on && o.update:
		return term.Usagef("store them first", "--mutate cannot be combined with --update: snapshots are of unchanged answers")
	}
	return nil
}

// run changes the answers of the tests that passed.
func (m *mutations) run(ctx context.Context, s *testrun.Selection, reports []*testrun.Report) *testrun.Mutations {
	if !m.on {
		return nil
	}
	all := &testrun.Mutations{}
	for _, r := range reports {
		for _, res := range r.Results {
			all.Add(ctx, r.File, res, s.Accepts, m.seed)
		}
	}
	return all
}

// below returns the failure for a missed threshold, or nil. An empty set meets no threshold.
func (m *mutations) below(all *testrun.Mutations) *term.Failure {
	if all == nil || m.least == 0 {
		return nil
	}
	share, of := chaos.Percent(all.Cases)
	missed := fmt.Sprintf("mutations: %.1f%% is below %v%%", share, m.least)
	switch {
	case of == 0:
		missed = fmt.Sprintf("mutations: no changed answer counts, and %v%% must end well", m.least)
	case share >= m.least:
		return nil
	}
	return &term.Failure{Code: term.ExitTests, Found: diag.List{{Message: missed}}}
}

// jsonMutations are the changed answers in the JSON report.
type jsonMutations struct {
	Percent *float64            `json:"percent"` // nil if there are no cases
	Of      int                 `json:"of"`      // the number of cases that count
	Cases   []chaos.Case        `json:"cases"`
	Left    []testrun.Unmutated `json:"not_mutated"`
}

func (m *mutations) report(all *testrun.Mutations) *jsonMutations {
	if all == nil {
		return nil
	}
	r := &jsonMutations{Cases: append([]chaos.Case{}, all.Cases...), Left: append([]testrun.Unmutated{}, all.Left...)}
	share, of := chaos.Percent(all.Cases)
	if r.Of = of; of > 0 {
		r.Percent = &share
	}
	return r
}

// print writes the table, shortened unless verbose is set.
func (m *mutations) print(c *term.Console, all *testrun.Mutations, verbose bool) error {
	if all == nil {
		return nil
	}
	var out strings.Builder
	more := "-v lists them"
	if verbose {
		more = ""
	}
	if len(all.Cases) > 0 {
		if err := chaos.Write(&out, all.Cases, more); err != nil {
			return err
		}
	}
	for _, left := range all.Left {
		if left.Fails || verbose {
			fmt.Fprintf(&out, "not mutated: %s %s: %s\n", text.Terminal(left.File), text.Terminal(left.Test), text.Terminal(left.Why))
		}
	}
	if share, of := chaos.Percent(all.Cases); of > 0 {
		fmt.Fprintf(&out, "%.1f%% of %d changed answers are survived, or end in an error that says what is wrong\n", share, of)
	}
	if err := c.Write(out.String()); err != nil {
		return c.Unwritten(err)
	}
	return nil
}
