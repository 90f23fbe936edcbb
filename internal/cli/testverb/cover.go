package testverb

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/coverreport"
	"github.com/agentscript/agentscript/internal/testrun"
)

// coverage are the flags of --cover.
type coverage struct {
	on             bool
	threshold, out string

	least []coverreport.Threshold
}

func (v *coverage) flags(f *pflag.FlagSet) {
	f.BoolVar(&v.on, "cover", false, "report which lines, parts of lines, edges, variants, tools and agents of the flows the tests ran")
	f.StringVar(&v.threshold, "threshold", "", "fail if less than `NAME=PERCENT,...` was run, or if fewer mutations ended well: lines=80,edges=100,mutations=90")
	f.StringVar(&v.out, "cover-out", "", "with --cover, also write the report to this `FILE`: .info or .lcov for lcov, .json or .html to also list what each test ran")
}

// check reads the thresholds. Thresholds imply a report.
func (v *coverage) check(m *mutations) error {
	if v.threshold != "" {
		least, mutations, err := testrun.ParseThresholds(v.threshold)
		if err != nil {
			return term.Usagef("write names and percentages: --threshold lines=80,edges=100", "--threshold: %s", err)
		}
		if v.least = least; mutations > 0 {
			m.on, m.least = true, mutations
		}
	}
	v.on = v.on || len(v.least) > 0 || v.out != ""
	if ext := filepath.Ext(v.out); v.out != "" && !slices.Contains([]string{".info", ".lcov", ".json", ".html"}, ext) {
		return term.Usagef("end it with .info or .lcov for lcov, or with .json or .html", "--cover-out: %q says no format", v.out)
	}
	return nil
}

// report returns the coverage report of the tests of files, or nil without --cover.
func (v *coverage) report(files []*testrun.File) *coverreport.Report {
	if !v.on {
		return nil
	}
	return testrun.Covered(files)
}

// apart reports whether the coverage of each test was requested.
func (v *coverage) apart() bool {
	return slices.Contains([]string{".json", ".html"}, filepath.Ext(v.out))
}

// write writes the report to the file of --cover-out.
func (v *coverage) write(r *coverreport.Report, files []*testrun.File) error {
	if r == nil || v.out == "" {
		return nil
	}
	text := r.LCOV()
	switch filepath.Ext(v.out) {
	case ".json":
		doc, err := json.MarshalIndent(r.Document(), "", "  ")
		if err != nil {
			return err
		}
		text = string(doc) + "\n"
	case ".html":
		text = r.HTML(sources(files))
	}
	to, problem := output.Create("--cover-out", v.out)
	if problem != nil {
		return problem
	}
	return to.Write(text)
}

// sources finds the texts of scripts as they were loaded.
type sources []*testrun.File

func (s sources) Source(file string) (string, bool) {
	for _, f := range s {
		if text, ok := f.Sources.Source(file); ok {
			return text, true
		}
	}
	return "", false
}

// below returns the failure for missed thresholds, or nil.
func (v *coverage) below(r *coverreport.Report) *term.Failure {
	if r == nil {
		return nil
	}
	var found diag.List
	for _, missed := range r.Below(v.least) {
		found.Add(&diag.Diagnostic{Message: "coverage of " + missed})
	}
	if found == nil {
		return nil
	}
	return &term.Failure{Code: term.ExitTests, Found: found}
}
