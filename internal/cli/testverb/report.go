package testverb

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/internal/text"
)

// result writes one test: a line, and below it why it failed; then those inside it, which are in its trace.
func (r *round) result(report *testrun.Report, res *testrun.Result, trace string) error {
	all := "--trace-dir DIR keeps all"
	if trace != "" {
		all = "the trace has all"
	}
	return r.within(report, res, trace, all)
}

// within writes a test or one inside another. all says where all events are.
func (r *round) within(report *testrun.Report, res *testrun.Result, trace, all string) error {
	if r.o.verbose || res.Status.Bad() || res.Status == testrun.Skipped && !r.o.quiet {
		line := fmt.Sprintf("%-7s %s %s", res.Status, text.Visible(report.Shown()), text.Visible(res.Name))
		if res.Reason != "" {
			line += ": " + text.Visible(res.Reason)
		}
		lines := []string{line}
		if trace != "" {
			lines = append(lines, "        trace: "+text.Visible(trace))
		}
		if r.o.verbose || res.Status.Bad() {
			for _, said := range res.Log {
				lines = append(lines, "        "+text.Terminal(said))
			}
		}
		if err := r.Print(strings.Join(lines, "\n")); err != nil {
			return err
		}
	}
	if res.Err != nil {
		d := term.Diagnose(res.Err)
		d.Notes = append(d.Notes, res.LastEvents(all)...)
		r.Report(diag.List{d}, report.Sources)
	}
	for _, sub := range res.Subs {
		if err := r.within(report, sub, "", all); err != nil {
			return err
		}
	}
	return nil
}

// jsonReport is the JSON report.
type jsonReport struct {
	Passed  int          `json:"passed"`
	Failed  int          `json:"failed"`
	Flaky   int          `json:"flaky"`
	Skipped int          `json:"skipped"`
	Unused  int          `json:"unused_snapshots"`
	Broken  []string     `json:"broken_files"`
	Seconds float64      `json:"seconds"`
	Shuffle uint64       `json:"shuffle,omitempty"` // the seed of the order
	Repeat  int          `json:"repeat,omitempty"`
	Tests   []jsonResult `json:"tests"`

	Mutations *jsonMutations `json:"mutations,omitempty"`
	Coverage  any            `json:"coverage,omitempty"`
}

// jsonResult is a test in the JSON report.
type jsonResult struct {
	File    string        `json:"file"`
	Line    int           `json:"line"`
	Name    string        `json:"name"`
	Status  string        `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	Seconds float64       `json:"seconds"`
	Tokens  int           `json:"tokens"`
	CostUSD float64       `json:"cost_usd"`
	Seed    uint64        `json:"seed,omitempty"`
	Runs    int           `json:"runs,omitempty"` // with --repeat
	Flake   *jsonFlake    `json:"flake,omitempty"`
	Trace   string        `json:"trace,omitempty"`
	Error   *engine.Error `json:"error,omitempty"`
}

// jsonFlake is how the runs of a flaky test on two seeds differ.
type jsonFlake struct {
	Seeds  [2]uint64         `json:"seeds"`
	Ends   [2]testrun.Status `json:"ends"`
	Path   string            `json:"path,omitempty"`
	Events [2]string         `json:"events"`
}

// resultsJSON lists a test and those inside it. The trace is that of the whole test.
func resultsJSON(r *testrun.Result, trace string) []jsonResult {
	one := jsonResult{File: r.File, Line: r.Pos.Line, Name: r.Name, Status: string(r.Status), Reason: r.Reason, Seconds: r.Time.Seconds(), Tokens: r.Tokens, CostUSD: r.CostUSD,
		Seed: r.Seed, Runs: r.Runs}
	if r.Status.Bad() {
		one.Trace = trace
	}
	if k := r.Flake; k != nil {
		one.Flake = &jsonFlake{k.Seeds, k.Ends, k.Path, k.Events}
	}
	if r.Err != nil {
		one.Error, _ = errors.AsType[*engine.Error](r.Err)
	}
	all := []jsonResult{one}
	for _, sub := range r.Subs {
		all = append(all, resultsJSON(sub, trace)...)
	}
	return all
}
