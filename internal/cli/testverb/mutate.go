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
)

// mutations are the flags of --mutate.
type mutations struct {
	on    bool
	least float64 // percent, of the threshold; 0 for none
	seed  uint64
}

func (m *mutations) flags(f *pflag.FlagSet) {
	f.BoolVar(&m.on, "mutate", false, "if all tests pass, run each again with each answer of a model changed in many ways, and report how that ends")
	f.Uint64Var(&m.seed, "mutate-seed", 0, "with --mutate, change answers at the places that this `SEED` chooses")
}

func (m *mutations) check(o *options) error {
	switch {
	case !m.on && m.seed != 0:
		return term.Usagef("add --mutate", "--mutate-seed belongs to --mutate")
	case m.on && o.update:
		return term.Usagef("store them first", "--mutate does not go with --update: snapshots are of answers as they are")
	}
	return nil
}

// run changes the answers of all chosen tests, unless some failed as they are.
func (m *mutations) run(ctx context.Context, s *testrun.Selection, files []*testrun.File, failed bool) []chaos.Case {
	if !m.on || failed {
		return nil
	}
	var all []chaos.Case
	for i, tests := range s.Chosen(files) {
		for _, t := range tests {
			cases, err := files[i].Mutate(ctx, t, m.seed)
			if err != nil && ctx.Err() == nil { // it passed a moment ago
				cases = append(cases, chaos.Case{Verdict: chaos.OtherError, Detail: err.Error()})
			}
			for _, c := range cases {
				c.Test = t.Name
				all = append(all, c)
			}
		}
	}
	return all
}

// below is the failure of a threshold that is missed, else nil.
func (m *mutations) below(cases []chaos.Case) *term.Failure {
	if !m.on || chaos.Percent(cases) >= m.least {
		return nil
	}
	return &term.Failure{Code: term.ExitTests, Found: diag.List{{Message: fmt.Sprintf("mutations: %.1f%% is below %v%%", chaos.Percent(cases), m.least)}}}
}

// jsonMutations are the changed answers in the JSON report.
type jsonMutations struct {
	Percent float64      `json:"percent"`
	Cases   []chaos.Case `json:"cases"`
}

func (m *mutations) report(cases []chaos.Case) *jsonMutations {
	if !m.on {
		return nil
	}
	if cases == nil {
		cases = []chaos.Case{}
	}
	return &jsonMutations{chaos.Percent(cases), cases}
}

func (m *mutations) print(c *term.Console, cases []chaos.Case) error {
	if !m.on || len(cases) == 0 {
		return nil
	}
	var table strings.Builder
	if err := chaos.Write(&table, cases); err != nil {
		return err
	}
	if err := c.Write(table.String()); err != nil {
		return c.Unwritten(err)
	}
	return c.Print(fmt.Sprintf("%.1f%% of %d changed answers are survived, or end in an error that says what is wrong", chaos.Percent(cases), len(cases)))
}
