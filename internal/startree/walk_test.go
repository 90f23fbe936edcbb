package startree

import (
	"strings"
	"testing"

	"go.starlark.net/syntax"
)

func TestWalk(t *testing.T) {
	for _, c := range []struct {
		links int
		deep  bool
	}{{1, false}, {Deepest - 5, false}, {Deepest + 5, true}, {3 * Deepest, true}} {
		tree, err := (&syntax.FileOptions{}).Parse("x.star", "x = 1"+strings.Repeat(" + 1", c.links)+"\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		deep := Walk(tree, func(syntax.Node) { seen++ })
		if (deep != nil) != c.deep || deep != Walk(tree, nil) {
			t.Errorf("%d links: %v is too deep", c.links, deep)
		}
		if !c.deep && seen < 2*c.links {
			t.Errorf("%d links: %d nodes", c.links, seen)
		}
	}
}
