// Package mocking defines the flags of mocked runs, which answer model calls with values made from types.
package mocking

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/mock"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// Flags configure a mocked run.
type Flags struct {
	On   bool
	Seed uint64 // also of the script's random values
	acts bool
}

// AddTo defines the flags.
func (o *Flags) AddTo(f *pflag.FlagSet) {
	f.BoolVar(&o.On, "mock", false, "answer model calls with values generated from the output types, without any model; only read-only tools are called")
	f.Uint64Var(&o.Seed, "seed", 0, "the seed `N` of the script's random() and uuid(), and of the answers of --mock")
	f.BoolVar(&o.acts, "mock-acts", false, "with --mock, also call tools that do more than read")
}

// others lists the flags that also answer model calls, or that store answers.
var others = []struct{ flag, why string }{
	{"scripted", "both answer all model calls"}, {"replay", "both answer all model calls"}, {"cache", "no model is asked"},
	{"record", "what is made from types is made again with the same --seed, and is no record of a run"},
	{"model", "no model is asked"}, {"fallback", "no model is asked"}, {"session", "a session keeps what was said in earnest"},
}

// Valid rejects flags that exclude each other.
func (o *Flags) Valid(set *pflag.FlagSet) *term.Failure {
	switch {
	case set.Changed("mock-acts") && !o.On:
		return term.Usagef("add --mock, which answers without any model", "--mock-acts is of use with --mock alone")
	case set.Changed("seed") && set.Changed("replay"):
		return term.Usagef("leave one of them out", "--seed and --replay do not go together: the record has the seed of its run")
	}
	for _, other := range others {
		if o.On && set.Changed(other.flag) {
			return term.Usagef("leave one of them out", "--mock and --%s do not go together: %s", other.flag, other.why)
		}
	}
	return nil
}

// Model returns the mocked model, or nil if the run is not mocked.
func (o *Flags) Model() *mock.Model {
	if !o.On {
		return nil
	}
	return mock.New(mock.Options{Seed: o.Seed, Acts: o.acts})
}

// Pricer returns the pricer of a run: models, except that in a mocked run a model without a known price costs
// nothing.
func (o *Flags) Pricer(models *llm.Registry) engine.Pricer {
	if !o.On {
		return models
	}
	return mocked{models}
}

type mocked struct{ *llm.Registry }

func (m mocked) PriceCall(req *model.Request, u model.Usage) (usd float64, unpriced string) {
	if usd, unpriced = m.Registry.PriceCall(req, u); unpriced != "" {
		return 0, ""
	}
	return usd, ""
}

// Stood returns a note that lists what was not called, or nil if everything was.
func Stood(m *mock.Model) diag.List {
	if m == nil || len(m.Stood()) == 0 {
		return nil
	}
	return diag.List{{Severity: diag.Info, Message: "not called, replaced by a value: " + strings.Join(m.Stood(), ", "),
		Help: []string{"--mock-acts calls them"}}}
}

// Explained returns the error of a mocked run, with a hint if it may have failed because mocked answers are
// meaningless.
func Explained(m *mock.Model, err error) error {
	e, ok := errors.AsType[*engine.Error](err)
	if m == nil || !ok {
		return err
	}
	own := *e
	switch stood := m.Stood(); {
	case e.Code == diag.LoopLimit || e.Code == diag.BudgetExceeded && e.OfRun:
		own.Help = strings.TrimPrefix(own.Help+"; mocked answers mean nothing, so that they may never end a loop: another --seed, or rows that end it with --scripted FILE", "; ")
	case e.Pos.IsValid() && slices.ContainsFunc(stood, func(name string) bool { return name != "env.secret" }): // no script inspects it
		own.Help = "--mock made up what " + strings.Join(stood, ", ") + " answered, and the script may ask more of it: --mock-acts calls it"
	default:
		return err
	}
	return &own
}
