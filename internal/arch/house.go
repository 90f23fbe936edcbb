package arch

import (
	"fmt"
	"slices"
	"strings"
)

// Room is a package of this module and what it may know of the others.
type Room struct {
	Path    string   // below the module; "." is the root
	Imports []string // the packages of this module that its non-test files import
}

// CheckHouse holds the packages of the graph to the table, whose rows go from the bottom to the top: a
// package may import the rows above its own in the table, those it lists, and lists no other. So a
// circle, or an arrow back up, cannot be written down.
func CheckHouse(g Graph, house []Room) []Finding {
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
			found = append(found, Finding{rel, fmt.Sprintf("has no row: {Path: %q, Imports: %#v}", rel, g.inside(path))})
			continue
		}
		found = append(found, house[i].check(g.inside(path), floor)...)
	}
	for _, r := range house {
		if !built[r.Path] {
			found = append(found, Finding{r.Path, "has a row and no package"})
		}
	}
	return found
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

// inside returns what a package imports of this module, sorted.
func (g Graph) inside(path string) []string {
	var paths []string
	for _, imp := range g[path].Imports {
		if match(module+"/...", imp) {
			paths = append(paths, inModule(imp))
		}
	}
	slices.Sort(paths)
	return paths
}

// inModule returns an import path without the module's.
func inModule(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}
