package startree

import (
	"strings"
	"testing"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// FuzzMeasureSource compares the measurement with what the parser reads: the parser does not call a source without an
// excess too deep, the source has no more names and literals than counted tokens, and it is walked to its end.
func FuzzMeasureSource(f *testing.F) {
	for _, seed := range []string{
		"x = [1, (2, {3: 4})]\n", "def f(a, *b, c = 1, **d):\n    return a if b else -c\n", "s = '''a\n(''' + r\"\\\" + b'x'\n", "x = a not in b and not c\n",
		"if 1: pass\nelif 2: pass\nelse:\n\tpass\n", "x = 1; y = (\\\n2)\r\nz = 0x1f.real # (((\n", "x = lambda: lambda y: [z for z in y if z]\n", "'a\n'''b", "\\\r\n)\n]}",
		strings.Repeat("(", 80), strings.Repeat("-", 970) + "1", strings.Repeat("x or y\n", 10),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		m := MeasureSource(src, nil)
		if again := MeasureSource(src, func() bool { return false }); again.Tokens != m.Tokens || (again.Excess == nil) != (m.Excess == nil) {
			t.Errorf("%v, and then %v", m, again)
		}
		if e := m.Excess; e != nil {
			if e.Line < 1 || e.Col < 1 || e.Line > 1+strings.Count(src, "\n")+strings.Count(src, "\r") || e.Col > 1+utf8.RuneCountInString(src) {
				t.Errorf("%v lies outside of the source", *e)
			}
			return
		}
		tree, err := (&syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}).Parse("x.star", src, 0)
		if err != nil {
			if strings.Contains(err.Error(), "nest") || strings.Contains(err.Error(), "deep") {
				t.Errorf("the parser says %v", err)
			}
			return
		}
		leaves := 0
		if deep := Walk(tree, func(n syntax.Node) {
			switch n.(type) {
			case *syntax.Ident, *syntax.Literal:
				leaves++
			}
		}); deep != nil {
			t.Errorf("the tree is too deep at %T", deep)
		}
		if leaves > m.Tokens {
			t.Errorf("%d names and literals of %d tokens", leaves, m.Tokens)
		}
	})
}
