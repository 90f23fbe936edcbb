package arch

import (
	"slices"
	"strings"
	"testing"
)

// graphOf makes a graph of packages of the module, from lines "package: import import".
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

// Promise 25.10 (packages): every import between packages of the module is in a table, whose rows go from
// the bottom to the top: there is no circle, and no arrow back up.
func TestPromise_25_10_ImportTable(t *testing.T) {
	fail(t, CheckHouse(repository(t), Rooms))
}
