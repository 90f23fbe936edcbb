package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// A package holds one idea, and so has at most MaxFiles files of MaxLines lines together, without
// tests and generated files.
const (
	MaxFiles = 16
	MaxLines = 4500
)

// Room is a package of this module and what it may know of the others.
type Room struct {
	Path    string   // below the module; "." is the root
	Imports []string // the packages of this module that its non-test files import
	Large   string   // why it may exceed MaxFiles or MaxLines; "" when it does not
}

// CheckHouse holds the packages of the graph to the table, whose rows go from the bottom to the top: a
// package may import the rows above its own in the table, those it lists, and lists no other. So a
// circle, or an arrow back up, cannot be written down.
func CheckHouse(g Graph, sources []*Source, house []Room) []Finding {
	var found []Finding
	floor := map[string]int{}
	for i, r := range house {
		if _, twice := floor[r.Path]; twice {
			found = append(found, Finding{r.Path, "has two rows"})
			continue
		}
		floor[r.Path] = i
	}
	built := map[string]bool{}
	for _, path := range g.matching(module + "/...") {
		rel := inModule(path)
		built[rel] = true
		i, known := floor[rel]
		if !known {
			found = append(found, Finding{rel, fmt.Sprintf("has no row: {Path: %q, Imports: %#v}", rel, g.own(path))})
			continue
		}
		found = append(found, house[i].check(g.own(path), floor)...)
	}
	for _, r := range house {
		if !built[r.Path] {
			found = append(found, Finding{r.Path, "has a row and no package"})
		}
	}
	return append(found, sizes(sources, house)...)
}

// check compares a row with what the package imports.
func (r Room) check(imports []string, floor map[string]int) []Finding {
	var found []Finding
	for _, imp := range imports {
		switch {
		case !slices.Contains(r.Imports, imp):
			found = append(found, Finding{r.Path, "imports " + imp + ", which its row does not list"})
		case floor[imp] >= floor[r.Path]:
			found = append(found, Finding{r.Path, "imports " + imp + ", which is above it"})
		}
	}
	for _, imp := range r.Imports {
		if !slices.Contains(imports, imp) {
			found = append(found, Finding{r.Path, "lists " + imp + " and does not import it"})
		}
	}
	return found
}

// sizes returns the packages that are too large and give no reason, and those that give one and are not.
func sizes(sources []*Source, house []Room) []Finding {
	type size struct{ files, lines int }
	of := map[string]size{}
	for _, s := range sources {
		if !s.Test() && !ast.IsGenerated(s.File) {
			n := of[s.Dir()]
			of[s.Dir()] = size{n.files + 1, n.lines + bytes.Count(s.Text, []byte("\n"))}
		}
	}
	var found []Finding
	for _, r := range house {
		n := of[r.Path]
		switch large := n.files > MaxFiles || n.lines > MaxLines; {
		case large && r.Large == "":
			found = append(found, Finding{r.Path, fmt.Sprintf("%d files of %d lines, more than %d of %d: it holds more than one idea, or its row says why not",
				n.files, n.lines, MaxFiles, MaxLines)})
		case !large && r.Large != "":
			found = append(found, Finding{r.Path, "gives a reason for a size that it does not have"})
		}
	}
	return found
}

// own returns what a package imports of this module, sorted.
func (g Graph) own(path string) []string {
	var own []string
	for _, imp := range g[path].Imports {
		if match(module+"/...", imp) {
			own = append(own, inModule(imp))
		}
	}
	slices.Sort(own)
	return own
}

// inModule returns an import path without the module's.
func inModule(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}
