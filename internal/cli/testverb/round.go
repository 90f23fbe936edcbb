package testverb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/coverreport"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/internal/text"
)

// round runs the chosen tests of files once, and reports them in the order of the files.
type round struct {
	*term.Console
	o         *options
	kept      *kept
	selection *testrun.Selection
	files     []*testrun.File
	broken    bool // one of the files is broken
	unchanged int  // files that --watch skips
	ended     func(*testrun.Report)

	n       counts
	reports []*testrun.Report
	results []jsonResult
	junit   junitSuites
	junitTo *output.File // nil without --junit
	took    time.Duration
}

// counts are the numbers of tests by outcome.
type counts struct{ passed, failed, flaky, skipped, unused int }

func (n *counts) add(r *testrun.Result) {
	if counted(r) {
		switch r.Status {
		case testrun.Passed:
			n.passed++
		case testrun.Failed:
			n.failed++
		case testrun.Flaky:
			n.flaky++
		case testrun.Skipped:
			n.skipped++
		}
	}
	for _, sub := range r.Subs {
		n.add(sub)
	}
}

// counted reports whether a test counts itself, and not only the tests inside it.
func counted(r *testrun.Result) bool { return len(r.Subs) == 0 || r.Err != nil }

func (r *round) run(ctx context.Context) error {
	var unwritten error
	begun := time.Now()
	for _, f := range r.files {
		r.kept.loaded(f)
	}
	r.selection.RunAll(ctx, r.files, func(report *testrun.Report) {
		if err := r.file(report); unwritten == nil {
			unwritten = err
		}
		r.ended(report)
	})
	r.took = time.Since(begun)
	r.kept.store(r.Console)
	if r.n == (counts{}) && ctx.Err() == nil {
		var missed []*testrun.Result
		for _, report := range r.reports {
			missed = append(missed, report.Missed...)
		}
		found, problem := rowless(r.o, missed, r.broken)
		if problem != nil {
			return problem
		}
		r.Report(found, nil)
	}
	covered := r.o.cover.report(r.files) // before answers are changed
	mutated := r.o.mutate.run(ctx, r.selection, r.reports)
	if unwritten == nil {
		unwritten = r.summary(mutated, covered)
	}
	if unwritten == nil {
		unwritten = r.writeJUnit()
	}
	if unwritten == nil {
		unwritten = r.o.cover.write(covered, r.files)
	}
	if unwritten != nil {
		return unwritten
	}
	below := r.o.cover.below(covered)
	if missed := r.o.mutate.below(mutated); below == nil {
		below = missed
	} else if missed != nil {
		below.Found = append(below.Found, missed.Found...)
	}
	switch {
	case ctx.Err() != nil:
		return &term.Failure{Code: term.ExitInterrupted}
	case r.n.failed+r.n.flaky+r.n.unused > 0:
		return &term.Failure{Code: term.ExitTests}
	case below != nil:
		return below
	case r.broken:
		return &term.Failure{Code: term.ExitCheck}
	case r.o.any && r.n == (counts{}) && (r.selection.Of == 0 || !r.selection.Any(r.files)):
		return &term.Failure{Code: term.ExitTests, Found: diag.List{{Code: diag.NoTests, Message: "no test ran", Help: []string{"look at what --list lists, and at --run"}}}}
	}
	return nil
}

// file reports the tests of one file.
func (r *round) file(report *testrun.Report) error {
	var unwritten error
	r.reports = append(r.reports, report)
	for _, res := range report.Results {
		r.n.add(res)
		r.kept.note(key(report.File, res.Name), res.Status.Bad())
		trace, problem := r.kept.trace(r.Console, report.File, res)
		if problem != nil {
			trace = ""
			r.Report(diag.List{{Severity: diag.Warning, Message: fmt.Sprintf("the trace of %s cannot be kept: %s", res.Name, term.FileProblem(problem))}}, nil)
		}
		r.results = append(r.results, resultsJSON(res, trace)...)
		r.junit.add(report, res, trace)
		if !r.o.json && unwritten == nil {
			unwritten = r.result(report, res, trace)
		}
	}
	r.n.unused += len(report.Unused)
	r.Report(report.Unused, nil)
	found := report.Unused
	if report.Err != nil {
		r.broken = true
		wrong := diag.List{{Message: fmt.Sprintf("the snapshots of %s cannot be stored: %s", report.Shown(), term.FileProblem(report.Err))}}
		r.Report(wrong, nil)
		found = append(found, wrong...)
	}
	if report.Broken {
		found = append(found, report.Found...)
	}
	r.junit.found(report, found)
	return unwritten
}

func (r *round) summary(mutated *testrun.Mutations, covered *coverreport.Report) error {
	if r.o.json {
		if r.results == nil {
			r.results = []jsonResult{}
		}
		report := jsonReport{Passed: r.n.passed, Failed: r.n.failed, Flaky: r.n.flaky, Skipped: r.n.skipped, Unused: r.n.unused, Broken: r.brokenFiles(),
			Seconds: r.took.Seconds(), Shuffle: r.selection.Shuffle, Repeat: r.o.repeat, Tests: r.results, Mutations: r.o.mutate.report(mutated)}
		if covered != nil {
			report.Coverage = covered.Document()
		}
		return r.PrintAs(true, report, nil)
	}
	if err := r.o.mutate.print(r.Console, mutated, r.o.verbose); err != nil {
		return err
	}
	if covered != nil {
		if err := r.Write(covered.Text()); err != nil {
			return r.Unwritten(err)
		}
	}
	if err := r.Write(r.seeds()); err != nil {
		return r.Unwritten(err)
	}
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{r.n.failed, "failed"}, {r.n.flaky, "flaky"}, {r.n.passed, "passed"}, {r.n.skipped, "skipped"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if r.n.unused > 0 {
		parts = append(parts, text.Count(r.n.unused, "unused snapshot"))
	}
	if n := len(r.brokenFiles()); n > 0 {
		parts = append(parts, text.Count(n, "broken file"))
	}
	if parts == nil {
		parts = []string{"no tests"}
		if r.o.failed {
			parts = []string{"no test failed last"}
		}
	}
	if r.unchanged > 0 {
		parts = append(parts, text.Count(r.unchanged, "file")+" unchanged")
	}
	line := strings.Join(parts, ", ")
	if r.selection.Shuffle != 0 {
		line += fmt.Sprintf(" (--shuffle=%d)", r.selection.Shuffle)
	}
	if r.StderrTerminal { // for people; output that is compared contains no times
		line += fmt.Sprintf(" in %s", r.took.Round(10*time.Millisecond))
	}
	return r.Print(line)
}

// seeds summarizes the results of --repeat, or returns "" without it.
func (r *round) seeds() string {
	if r.o.repeat <= 1 {
		return ""
	}
	var flaky strings.Builder
	runs, same, differ := 0, 0, 0
	for _, report := range r.reports {
		for _, res := range report.Results {
			runs += res.Runs
			switch {
			case res.Flake != nil:
				differ++
				fmt.Fprintf(&flaky, "  %s %s %s\n", text.Terminal(report.Shown()), text.Terminal(res.Name), res.Flake)
			case res.Runs > 1:
				same++
			}
		}
	}
	first := max(r.o.seed, 1)
	return fmt.Sprintf("%d seeds (%d to %d), %s: %s the same on all, %d not\n%s", r.o.repeat, first, first+uint64(r.o.repeat)-1, text.Count(runs, "run"), text.Count(same, "test")+" ended", differ, &flaky)
}

func (r *round) brokenFiles() []string {
	files := []string{}
	for _, f := range r.files {
		if f.Broken {
			files = append(files, f.Shown())
		}
	}
	return files
}
