package arch

import (
	"fmt"
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

// filesOf makes n files of a directory with so many lines each.
func filesOf(t *testing.T, dir string, n, lines int) []*Source {
	t.Helper()
	var all []*Source
	for i := range n {
		s, err := Parse(fmt.Sprintf("%s/f%d.go", dir, i), []byte("package p\n"+strings.Repeat("\n", lines-1)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func TestCheckHouse(t *testing.T) {
	house := []Room{
		{Path: "types"},
		{Path: "engine", Imports: []string{"types"}},
		{Path: "language", Imports: []string{"engine", "types"}, Large: "a table"},
	}
	sound := []string{"types:", "engine: types", "language: types engine"}
	large := filesOf(t, "language", MaxFiles+1, 1)
	for name, tt := range map[string]struct {
		graph   []string
		sources []*Source
		house   []Room
		want    []string
	}{
		"sound":             {sound, large, house, nil},
		"no row":            {append(sound, "cellar: types"), large, house, []string{`cellar: has no row: {Path: "cellar", Imports: []string{"types"}}`}},
		"no package":        {sound[:2], large, house, []string{"language: has a row and no package"}},
		"two rows":          {sound, large, append(slices.Clone(house), Room{Path: "types"}), []string{"types: has two rows"}},
		"unlisted":          {[]string{"types: engine", "engine: types", "language: types engine"}, large, house, []string{"types: imports engine, which its row does not list"}},
		"above":             {[]string{"types: engine", "engine: types", "language: types engine"}, large, []Room{{Path: "types", Imports: []string{"engine"}}, house[1], house[2]}, []string{"types: imports engine, which is above it"}},
		"stale":             {[]string{"types:", "engine:", "language: types engine"}, large, house, []string{"engine: lists types and does not import it"}},
		"too many files":    {sound, append(filesOf(t, "types", MaxFiles+1, 1), large...), house, []string{"types: 17 files of 17 lines"}},
		"too many lines":    {sound, append(filesOf(t, "types", 1, MaxLines+1), large...), house, []string{"types: 1 files of 4501 lines"}},
		"at the bound":      {sound, append(filesOf(t, "types", MaxFiles, MaxLines/MaxFiles), large...), house, nil},
		"a reason too many": {sound, nil, house, []string{"language: gives a reason for a size that it does not have"}},
	} {
		got := rendered(CheckHouse(graphOf(tt.graph...), tt.sources, tt.house))
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
