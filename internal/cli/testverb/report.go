package testverb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/chaos"
	"github.com/agentscript/agentscript/internal/cli/coverreport"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/internal/text"
)

// counts are how many tests ended how.
type counts struct{ passed, failed, skipped, unused int }

func (n *counts) add(r *testrun.Result) {
	if len(r.Subs) == 0 || r.Err != nil {
		switch r.Status {
		case testrun.Passed:
			n.passed++
		case testrun.Failed:
			n.failed++
		case testrun.Skipped:
			n.skipped++
		}
	}
	for _, sub := range r.Subs {
		n.add(sub)
	}
}

// execute runs the tests and reports them.
func execute(ctx context.Context, c *term.Console, o *options, s *testrun.Selection, files []*testrun.File, broken bool) error {
	var n counts
	var all []jsonResult
	var unwritten error
	s.RunAll(ctx, files, func(r *testrun.Report) {
		for _, res := range r.Results {
			n.add(res)
			all = append(all, resultsJSON(res)...)
			if !o.json && unwritten == nil {
				unwritten = reportResult(c, o, r, res)
			}
		}
		n.unused += len(r.Unused)
		c.Report(r.Unused, nil)
		if r.Err != nil {
			broken = true
			c.Report(diag.List{{Message: fmt.Sprintf("the snapshots of %s cannot be stored: %s", r.Shown(), term.FileProblem(r.Err))}}, nil)
		}
	})
	if unwritten != nil {
		return unwritten
	}
	covered := o.cover.report(files) // before answers are changed
	mutated := o.mutate.run(ctx, s, files, n.failed > 0)
	if err := summary(c, o, n, all, mutated, covered); err != nil {
		return err
	}
	if err := o.cover.write(covered); err != nil {
		return err
	}
	below := o.cover.below(covered)
	if missed := o.mutate.below(mutated); below == nil {
		below = missed
	} else if missed != nil {
		below.Found = append(below.Found, missed.Found...)
	}
	switch {
	case ctx.Err() != nil:
		return &term.Failure{Code: term.ExitInterrupted}
	case n.failed > 0 || n.unused > 0:
		return &term.Failure{Code: term.ExitTests}
	case below != nil:
		return below
	case broken:
		return &term.Failure{Code: term.ExitCheck}
	case o.any && n == (counts{}):
		return &term.Failure{Code: term.ExitTests, Found: diag.List{{Code: diag.NoTests, Message: "no test ran", Help: []string{"look at what --list lists, and at --run"}}}}
	}
	return nil
}

func summary(c *term.Console, o *options, n counts, all []jsonResult, mutated []chaos.Case, covered *coverreport.Report) error {
	if o.json {
		if all == nil {
			all = []jsonResult{}
		}
		report := map[string]any{"passed": n.passed, "failed": n.failed, "skipped": n.skipped, "tests": all}
		o.mutate.report(report, mutated)
		if covered != nil {
			report["coverage"] = covered.Document()
		}
		return c.PrintAs(true, report, nil)
	}
	if err := o.mutate.print(c, mutated); err != nil {
		return err
	}
	if covered != nil {
		if err := c.Write(covered.Text()); err != nil {
			return c.Unwritten(err)
		}
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{n.failed, "failed"}, {n.passed, "passed"}, {n.skipped, "skipped"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if parts == nil {
		parts = []string{"no tests"}
	}
	return c.Print(strings.Join(parts, ", "))
}

// reportResult writes one test: a line, and below it why it failed.
func reportResult(c *term.Console, o *options, r *testrun.Report, res *testrun.Result) error {
	if o.verbose || res.Status != testrun.Passed {
		line := fmt.Sprintf("%-7s %s %s", res.Status, r.Shown(), text.Terminal(res.Name))
		if res.Reason != "" {
			line += ": " + text.Terminal(res.Reason)
		}
		if err := c.Print(line); err != nil {
			return err
		}
		if o.verbose || res.Status == testrun.Failed {
			for _, said := range res.Log {
				if err := c.Print("        " + text.Terminal(said)); err != nil {
					return err
				}
			}
		}
	}
	if res.Err != nil {
		d := term.Diagnose(res.Err)
		if len(res.Events) > 0 {
			d.Notes = append(d.Notes, diag.Note{Message: "the last events are\n" + strings.Join(res.Events, "\n")})
		}
		c.Report(diag.List{d}, r.Sources)
	}
	for _, sub := range res.Subs {
		if err := reportResult(c, o, r, sub); err != nil {
			return err
		}
	}
	return nil
}

// jsonResult is a test in the JSON report.
type jsonResult struct {
	File    string        `json:"file"`
	Line    int           `json:"line"`
	Name    string        `json:"name"`
	Status  string        `json:"status"`
	Reason  string        `json:"reason,omitempty"`
	Seconds float64       `json:"seconds"`
	Tokens  int           `json:"tokens,omitempty"`
	CostUSD float64       `json:"cost_usd,omitempty"`
	Error   *engine.Error `json:"error,omitempty"`
}

func resultsJSON(r *testrun.Result) []jsonResult {
	one := jsonResult{File: r.File, Line: r.Pos.Line, Name: r.Name, Status: string(r.Status), Reason: r.Reason, Seconds: r.Time.Seconds(), Tokens: r.Tokens, CostUSD: r.CostUSD}
	if r.Err != nil {
		one.Error, _ = errors.AsType[*engine.Error](r.Err)
	}
	all := []jsonResult{one}
	for _, sub := range r.Subs {
		all = append(all, resultsJSON(sub)...)
	}
	return all
}
