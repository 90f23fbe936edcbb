package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// command is the command that repeats the figures.
const command = "make bench-flows"

// report writes all results: first the bars, then the figures.
func report(w io.Writer, all []*figures, markdown bool) {
	measure.Bars(w, bars(all), markdown, command)
	for _, f := range all {
		if t := f.table(); markdown {
			t.Markdown(w)
		} else {
			t.Text(w)
		}
	}
	fmt.Fprintf(w, "\nVersions: %s.\n", strings.Join(versions(), ", "))
}

// table returns a row for each program: time and allocations per unit at each size, and the time as a multiple of
// agentscript's.
func (f *figures) table() measure.Table {
	t := measure.Table{Title: f.shape.title + ": per " + f.shape.unit, Head: []string{"engine"}}
	for _, n := range f.shape.sizes {
		t.Head = append(t.Head, fmt.Sprintf("of %d", n))
	}
	for _, n := range f.shape.sizes {
		t.Head = append(t.Head, fmt.Sprintf("allocations of %d", n))
	}
	t.Head = append(t.Head, "times agentscript")
	for _, p := range f.shape.programs {
		row, allocs, factor := []string{p.engine}, []string{}, ""
		for _, n := range f.shape.sizes {
			ns, a, ok := f.per(p.engine, n)
			if !ok {
				row, allocs = append(row, ""), append(allocs, "")
				continue
			}
			row, allocs = append(row, short(ns)), append(allocs, measure.Figure(a))
			if ours, _, ok := f.per(own, n); ok && ours > 0 {
				factor = measure.Figure(ns / ours) // at the largest size at which the program runs
			}
		}
		t.Rows = append(t.Rows, append(append(row, allocs...), factor))
	}
	return t
}

// short formats a time that may be a few nanoseconds.
func short(ns float64) string {
	if ns < 1000 {
		return fmt.Sprintf("%.3g ns", ns)
	}
	return measure.Duration(ns)
}

// bars compares the measurements with the targets.
func bars(all []*figures) []measure.Bar {
	var out []measure.Bar
	for _, b := range []struct {
		shape, engine string
		size          int
		what          string
		units         float64 // the number of units that the figure is for
		ns, allocs    float64 // the limits; 0 allocations: no limit
	}{
		{"chain", own, 100, "a Go step that does nothing, in a chain of 100 texts", 1, 250, 3},
		{"chain", starlark, 100, "the same with a body in Starlark", 1, 600, 8},
		{"fan-out", own, 100, "a branch of a fan-out of 100 texts", 1, 800, 0},
		{"fan-out", own, 1000, "a branch of a fan-out of 1000 texts", 1, 800, 0},
		{"fan-out", own, 10_000, "a branch of a fan-out of 10,000 texts", 1, 800, 0},
		{"loop", own, 1000, "a turn of a loop of 1000 that counts", 1, 250, 3},
		{"loop", own, 100_000, "a turn of a loop of 100,000 that counts", 1, 250, 3},
		{"build", own, 100, "building, checking and running 100 nodes once, in Go", 100, 300_000, 0},
		{"build", script, 100, "building, checking and running 100 nodes once, from a script", 100, 300_000, 0},
		{"check", own, 1000, "checking a script of 1000 lines, all of them flows", 1000, 20e6, 0},
		{"agent", here, 2, "a turn of an agent with a schema and a tool, in a conversation of 2, in the goroutine of the caller", 1, 15_000, 0},
		{"agent", here, 20, "the same in one of 20", 1, 15_000, 0},
		{"agent", own, 2, "the same in one of 2, in a run of its own that is started and waited for", 1, 15_000, 0},
		{"agent", own, 20, "the same in one of 20", 1, 15_000, 0},
	} {
		i := slices.IndexFunc(all, func(f *figures) bool { return f.shape.name == b.shape })
		if i < 0 {
			continue
		}
		ns, allocs, ok := all[i].per(b.engine, b.size)
		if !ok {
			continue
		}
		ns *= b.units
		bar := measure.Bar{What: b.what, Want: short(b.ns), Got: short(ns), Met: ns <= b.ns}
		if b.allocs > 0 {
			bar.Want += fmt.Sprintf(", %s allocations", measure.Figure(b.allocs))
			bar.Got += fmt.Sprintf(", %s allocations", measure.Figure(allocs))
			bar.Met = bar.Met && allocs < b.allocs+0.5 // the run itself allocates a little
		}
		out = append(out, bar)
	}
	return out
}

// versions returns the versions of the peers that this program was built with.
func versions() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	out := []string{info.GoVersion}
	for _, m := range info.Deps {
		switch m.Path {
		case "github.com/cloudwego/eino", "github.com/bytedance/sonic", "github.com/firebase/genkit/go", "github.com/tmc/langchaingo", "go.starlark.net":
			out = append(out, m.Path+" "+m.Version)
		}
	}
	return out
}
