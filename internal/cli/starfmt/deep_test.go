package starfmt

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/startree"
)

// Shapes of n links that hang on each other.
var shapes = map[string]func(n int) string{
	"operators":    func(n int) string { return "x = " + strings.Repeat("a+", n) + "a" },
	"to the right": func(n int) string { return "x = " + strings.Repeat("a if b else ", n) + "a" },
	"calls":        func(n int) string { return "x = f" + strings.Repeat("( )", n) },
	"methods":      func(n int) string { return "x = f" + strings.Repeat(".g( 1 )", n/2) },
	"signs":        func(n int) string { return "x = " + strings.Repeat("- ", n) + "a" },
	"lambdas":      func(n int) string { return "x = " + strings.Repeat("lambda : ", n) + "a" },
	"indexes":      func(n int) string { return "x = a" + strings.Repeat("[ 0 ]", n/2) + strings.Repeat("[ 1 : ]", n/2) },
	"lines": func(n int) string {
		return "main = (\n  a >>  # first\n" + strings.Repeat("  'é'  >>\n", n) + "   b\n)"
	},
	"nested": func(n int) string {
		return "x = f( k=" + strings.Repeat("a+", n) + "g(" + strings.Repeat("b*", n) + "c))"
	},
	"side by side": func(n int) string {
		return "x = [" + strings.Repeat("a+", n) + "a,{1:" + strings.Repeat("b/", n) + "b}] # why"
	},
	"tuple":     func(n int) string { return "x = " + strings.Repeat("a+", n) + "( b ,)" },
	"condition": func(n int) string { return "while " + strings.Repeat("not ", n) + "a:\n  x=1" },
	"target":    func(n int) string { return "x" + strings.Repeat(".a", n) + "+=1" },
}

// No long chain reaches the formatter underneath, whose time grows with the square of it; what
// surrounds one is laid out, and the chain means what it meant.
func TestLongChains(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			src := []byte("# of " + name + "\ny=1\n" + shape(2*longest) + "\nz=2  # end\n")
			tree, err := parse(src)
			if err != nil {
				t.Fatal(err)
			}
			hidden, texts := hideChains(src, chains(tree), "chain_")
			if len(texts) == 0 {
				t.Fatal("no chain was found")
			}
			short, err := parse(hidden)
			if err != nil {
				t.Fatal(err)
			}
			if left := chains(short); len(left) > 0 || len(hidden) > 200 {
				t.Errorf("chains are left at %v in %s", left, hidden)
			}
			if got := showChains(hidden, texts, "chain_"); string(got) != string(src) {
				t.Errorf("shown again it is\n%s\nwant\n%s", got, src)
			}
			out, err := Format(src)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(out), "# of "+name+"\ny = 1\n") || !strings.HasSuffix(string(out), "\nz = 2  # end\n") {
				t.Errorf("what surrounds the chain is not formatted:\n%s", out)
			}
			if again, err := Format(out); err != nil || string(again) != string(out) {
				t.Errorf("formatting again (%v) gives\n%s\nafter\n%s", err, again, out)
			}
		})
	}
}

// A chain of a length that people write is laid out as any other.
func TestShortChains(t *testing.T) {
	for name, shape := range shapes {
		src := []byte(shape(longest/2-2) + "\n")
		tree, err := parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if long := chains(tree); len(long) > 0 {
			t.Errorf("%s: chains at %v", name, long)
		}
	}
}

// What the engine refuses for its depth is refused, at the place where it gets too deep.
func TestTooDeep(t *testing.T) {
	for _, name := range []string{"operators", "calls", "methods", "lines"} {
		_, err := Format([]byte("y = 1\n" + shapes[name](3*startree.Deepest) + "\n"))
		var at *Error
		if !errors.As(err, &at) || at.Line < 2 || !strings.Contains(at.Msg, "too deeply") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Format([]byte(shapes["operators"](startree.Deepest-10) + "\n")); err != nil {
		t.Error(err)
	}
}
