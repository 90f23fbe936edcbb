package arch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Room is a package of this module with the other packages that it may import.
type Room struct {
	Path    string   // path below the module; "." is the root
	Imports []string // the packages of this module that its non-test files import
}

// CheckHouse compares the packages of the graph with the table, whose rows go from the bottom to the top: a package
// must import exactly the packages it lists, and those must be in rows above its own in the table. A cycle, or an
// import in the wrong direction, therefore cannot be written down.
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

// check compares a row with the imports of its package.
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

// inside returns the packages of this module that a package imports, sorted.
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

// inModule returns an import path relative to the module.
func inModule(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// graphOf returns a graph of packages of the module, from lines "package: import import".
func graphOf(lines ...string) Graph {
	g := Graph{}
	for _, l := range lines {
		path, imports, _ := strings.Cut(l, ":")
		p := &Package{ImportPath: module + "/" + path, Imports: []string{"fmt"}}
		for _, imp := range strings.Fields(imports) {
			p.Imports = append(p.Imports, module+"/"+imp)
		}
		g[p.ImportPath] = p
	}
	return g
}

func TestCheckHouse(t *testing.T) {
	house := []Room{
		{Path: "types"},
		{Path: "engine", Imports: []string{"types"}},
		{Path: "language", Imports: []string{"engine", "types"}},
	}
	sound := []string{"types:", "engine: types", "language: types engine"}
	for name, tt := range map[string]struct {
		graph []string
		house []Room
		want  []string
	}{
		"sound":      {sound, house, nil},
		"no row":     {append(sound, "cellar: types"), house, []string{`cellar: has no row: {Path: "cellar", Imports: []string{"types"}}`}},
		"no package": {sound[:2], house, []string{"language: has a row and no package"}},
		"two rows":   {sound, append(slices.Clone(house), Room{Path: "types"}), []string{"types: has two rows"}},
		"unlisted":   {[]string{"types: engine", "engine: types", "language: types engine"}, house, []string{"types: imports engine, which its row does not list"}},
		"above":      {[]string{"types: engine", "engine: types", "language: types engine"}, []Room{{Path: "types", Imports: []string{"engine"}}, house[1], house[2]}, []string{"types: imports engine, which is above it"}},
		"stale":      {[]string{"types:", "engine:", "language: types engine"}, house, []string{"engine: lists types and does not import it"}},
	} {
		got := rendered(CheckHouse(graphOf(tt.graph...), tt.house))
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// Promise 25.10 (packages): every import between packages of the module is listed in a table whose rows are ordered
// from the bottom to the top: no import forms a cycle or points upwards.
func TestPromise_25_10_ImportTable(t *testing.T) {
	fail(t, CheckHouse(repository(t), Rooms))
}
