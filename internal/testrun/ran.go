package testrun

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/starlib"
)

// Ways returns what the file's tests, including failed ones, have passed through so far in the flows that the file
// loads, and how often. It leaves out what test files compose themselves. It returns nil unless [Options] request it.
func (f *File) Ways() []cover.Item {
	if f.ways == nil {
		return nil
	}
	return ofScripts(f.ways.Items())
}

func ofScripts(items []cover.Item) []cover.Item {
	return slices.DeleteFunc(items, func(it cover.Item) bool { return IsTest(it.Pos.File) })
}

// Ran is what one test ran, without those inside it. It omits what did not run.
type Ran struct {
	Test   string // with the names of enclosing tests; "" for loading
	Places []starlib.Place
	Ways   []cover.Item
}

// Ran returns what loading and each test that has ended so far ran, in the order of the tests in the file, with
// Options.Apart. Counting restarts after each test: what [File.Ways] and the module count is the rest.
func (f *File) Ran() []Ran {
	f.apart.Lock()
	defer f.apart.Unlock()
	ran, at := slices.Clone(f.ran), map[string]int{"": -1}
	for i, t := range f.Tests {
		at[t.Name] = i
	}
	turn := func(r Ran) int {
		test, _, _ := strings.Cut(r.Test, "/")
		return at[test]
	}
	sorting.By(ran, func(a, b Ran) int { return turn(a) - turn(b) })
	return ran
}

// took records what a test ran since the last call.
func (f *File) took(test string) {
	one := Ran{Test: test, Places: slices.DeleteFunc(f.Module.TakeCoverage(), func(p starlib.Place) bool { return p.Count == 0 || IsTest(p.File) })}
	if f.ways != nil {
		one.Ways = ofScripts(slices.DeleteFunc(f.ways.Take(), func(it cover.Item) bool { return it.Count == 0 }))
	}
	i := slices.IndexFunc(f.ran, func(r Ran) bool { return r.Test == test })
	if i < 0 {
		f.ran = append(f.ran, one)
		return
	}
	f.ran[i].Places, f.ran[i].Ways = append(f.ran[i].Places, one.Places...), cover.Merge(f.ran[i].Ways, one.Ways)
}
