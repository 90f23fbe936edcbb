package testrun

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/internal/coverreport"
	"github.com/agentscript/agentscript/starlib"
)

// families are the groups of what runs of flows pass through, by name.
var families = []struct {
	name string
	of   cover.Family
}{{"edges", cover.Edge}, {"variants", cover.Variant}, {"tools", cover.Tool}, {"agents", cover.Agent}}

// mutationGroup is the name of the threshold for changed answers that are handled.
const mutationGroup = "mutations"

// ParseThresholds reads thresholds as coverreport.ParseThresholds does: for the shares of [Covered], and for changed
// answers that are handled, in percent; 0 for none.
func ParseThresholds(s string) (least []coverreport.Threshold, mutations float64, err error) {
	names := []string{coverreport.Lines, coverreport.Parts, mutationGroup}
	for _, f := range families {
		names = append(names, f.name)
	}
	all, err := coverreport.ParseThresholds(s, names)
	for _, t := range all {
		if t.Name == mutationGroup {
			mutations = t.Min
		} else {
			least = append(least, t)
		}
	}
	return least, mutations, err
}

// Covered adds up what the tests of files ran. The files must be loaded with agentscript.WithCoverage and have
// [File.Ways]. It leaves out test files themselves.
func Covered(files []*File) *coverreport.Report {
	r := coverreport.New()
	var ways [][]cover.Item
	tests := map[cover.Item][]string{}
	for _, f := range files {
		if f.Module == nil {
			continue
		}
		r.Add("", slices.DeleteFunc(f.Module.Coverage(), func(p starlib.Place) bool { return IsTest(p.File) }))
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
