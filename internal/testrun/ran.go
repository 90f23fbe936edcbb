package testrun

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/starlib"
)

// Ways returns what of the flows that the file loads its tests have gone through by now, and how often, failed tests
// included. What test files compose themselves is left out. It is nil unless [Options] ask for it.
func (f *File) Ways() []cover.Item {
	if f.ways == nil {
		return nil
	}
	return ofScripts(f.ways.Items())
}

func ofScripts(items []cover.Item) []cover.Item {
	return slices.DeleteFunc(items, func(it cover.Item) bool { return IsTest(it.Pos.File) })
}

// Ran is what one test ran, without those inside of it. What it did not is left out.
type Ran struct {
	Test   string // with those around it; "" for loading
	Places []starlib.Place
	Ways   []cover.Item
}

// Ran returns what loading and each test ran that has ended by now, in the order in which tests are written, with
// Options.Apart. Counting begins again after each: what [File.Ways] and the module count is the rest.
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

// took notes what a test ran since this was called last.
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
