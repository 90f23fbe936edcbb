package testverb

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/internal/cli/coverreport"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/starlib"
)

// coverage are the flags of --cover.
type coverage struct {
	on             bool
	threshold, out string

	least []coverreport.Threshold
}

// families are the groups of what runs of flows go through, by name.
var families = []struct {
	name string
	of   cover.Family
}{{"edges", cover.Edge}, {"variants", cover.Variant}, {"tools", cover.Tool}, {"agents", cover.Agent}}

func (v *coverage) flags(f *pflag.FlagSet) {
	f.BoolVar(&v.on, "cover", false, "report which lines, parts of lines, edges, variants, tools and agents of the flows the tests ran")
	f.StringVar(&v.threshold, "threshold", "", "fail if less was run than `NAME=PERCENT,...` says, or fewer mutations ended well: lines=80,edges=100,mutations=90")
	f.StringVar(&v.out, "cover-out", "", "with --cover, also write the report to this `FILE`: .info and .lcov for lcov; .json and .html, which also say what each test ran")
}

// check reads the thresholds. Those of a report ask for it.
func (v *coverage) check(m *mutations) error {
	if v.threshold != "" {
		names := []string{coverreport.Lines, coverreport.Parts, mutationGroup}
		for _, f := range families {
			names = append(names, f.name)
		}
		var err error
		if v.least, err = coverreport.ParseThresholds(v.threshold, names); err != nil {
			return term.Usagef("write names and percentages: --threshold lines=80,edges=100", "--threshold: %s", err)
		}
	}
	if i := slices.IndexFunc(v.least, func(t coverreport.Threshold) bool { return t.Name == mutationGroup }); i >= 0 {
		m.on, m.least = true, v.least[i].Min
		v.least = slices.Delete(v.least, i, i+1)
	}
	v.on = v.on || len(v.least) > 0 || v.out != ""
	if ext := filepath.Ext(v.out); v.out != "" && !slices.Contains([]string{".info", ".lcov", ".json", ".html"}, ext) {
		return term.Usagef("end it with .info or .lcov for lcov, or with .json or .html", "--cover-out: %q says no format", v.out)
	}
	return nil
}

// report adds up what the tests of files ran; nil without --cover. Test files themselves are left out.
func (v *coverage) report(files []*testrun.File) *coverreport.Report {
	if !v.on {
		return nil
	}
	r := coverreport.New()
	var ways [][]cover.Item
	tests := map[cover.Item][]string{}
	for _, f := range files {
		if f.Module == nil {
			continue
		}
		r.Add("", slices.DeleteFunc(f.Module.Coverage(), func(p starlib.Place) bool { return testrun.IsTest(p.File) }))
		ways = append(ways, f.Ways())
		for _, ran := range f.Ran() {
			name := ran.Test
			if name != "" {
				name = f.Shown() + ": " + name
			}
			r.Add(name, ran.Places)
			ways = append(ways, ran.Ways)
			for _, it := range ran.Ways {
				it.Count = 0
				tests[it] = append(tests[it], name)
			}
		}
	}
	all := cover.Merge(ways...)
	for _, family := range families {
		var items []coverreport.Item
		for _, it := range all {
			if it.Family == family.of {
				name := strings.TrimPrefix(it.String(), it.Pos.String()+": ")
				count := int64(it.Count)
				it.Count = 0
				items = append(items, coverreport.Item{Name: name, Pos: it.Pos, Count: count, Tests: tests[it]})
			}
		}
		if family.of == cover.Edge {
			items = append(items, r.Ways()...)
		}
		r.AddGroup(family.name, items)
	}
	return r
}

// apart reports whether it is asked for what each test ran.
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

// below is the failure of thresholds that are missed, else nil.
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
