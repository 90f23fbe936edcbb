package starfmt_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/starfmt"
	"github.com/agentscript/agentscript/internal/startree"
)

func TestFormat(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"spaces", "x=1\ny  =  x+2\n", "x = 1\ny = x + 2\n"},
		{"keywords", "a=agent(input=str,prompt='hi')\n", "a = agent(input = str, prompt = \"hi\")\n"},
		{"broken call", "a = agent(\n  input=str,\n  prompt='hi')\n", "a = agent(\n    input = str,\n    prompt = \"hi\",\n)\n"},
		{"comments stay", "# top\nx = 1  # why\n\n\n\n# next\ny = 2\n", "# top\nx = 1  # why\n\n# next\ny = 2\n"},
		{"operators", "main=a>>(b/c)>>d\n", "main = a >> (b / c) >> d\n"},
		{"line ends", "x=1\r\ny=2\r\n", "x = 1\ny = 2\n"},
		{"no line end", "x=1", "x = 1\n"},
		{"while", "def f(n):\n  while n>0:\n    n-=1  # down\n  return n\n",
			"def f(n):\n    while n > 0:\n        n -= 1  # down\n    return n\n"},
		{"nested while", "while a:\n  while not b or c:\n    pass\nelse_ = 1\n", "while a:\n    while not b or c:\n        pass\nelse_ = 1\n"},
		{"while over lines", "while (a and\n   b):\n  pass\n", "while (a and\n       b):\n    pass\n"},
		{"while in else", "if a:\n  pass\nelse:\n  while b:\n    pass\n", "if a:\n    pass\nelse:\n    while b:\n        pass\n"},
		{"while in words", "# while x:\ns = 'for while_ in while y:'\nwhile_count = 1\nwhile x: pass\n",
			"# while x:\ns = \"for while_ in while y:\"\nwhile_count = 1\nwhile x:\n    pass\n"},
		{"while with a conditional", "while a if b else c:\n  pass\n", "while a if b else c:\n    pass\n"},
		{"wide characters", "x = 'héé→'; y = 1\n", "x = \"héé→\"\ny = 1\n"},
		{"literals", `x = ["\u00e9", '\x41', r'a\b', 'y', 0x1F, 1e5, .5, 1.5e-3, 'it\'s', 'say "x"']` + "\n",
			`x = ["\u00e9", '\x41', r'a\b', "y", 0x1F, 1e5, .5, 1.5e-3, 'it\'s', 'say "x"']` + "\n"},
		{"long strings", "def f():\n  '''Doc é.\n\n    more\n  '''\n  return 1\n", "def f():\n    \"\"\"Doc é.\n\n    more\n  \"\"\"\n    return 1\n"},
		{"load", "load('lib/é.star','a',b='c')\n", "load(\"lib/é.star\", \"a\", b = \"c\")\n"},
		{"top level", "for x in [1]:\n  if x: print(x)\n", "for x in [1]:\n    if x:\n        print(x)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := starfmt.Format([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.want)
			}
			again, err := starfmt.Format(got)
			if err != nil || string(again) != string(got) {
				t.Errorf("formatting again (%v) gives:\n%s", err, again)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name, in  string
		line, col int
		says      string
	}{
		{"syntax", "x = 1\ny = = 2\n", 2, 5, "want primary expression"},
		{"not UTF-8", "x = '\xff'\n", 0, 0, "not UTF-8"},
		{"class", "class A:\n  pass\n", 1, 1, "class"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := starfmt.Format([]byte(tt.in))
			var at *starfmt.Error
			if !errors.As(err, &at) || at.Line != tt.line || at.Col != tt.col || !strings.Contains(at.Msg, tt.says) {
				t.Errorf("got %v, want %d:%d and %q", err, tt.line, tt.col, tt.says)
			}
		})
	}
}

// Shapes of n chained links.
var shapes = map[string]func(n int) string{
	"operators": func(n int) string { return "x = " + strings.Repeat("a+", n) + "a" },
	"calls":     func(n int) string { return "x = f" + strings.Repeat("( )", n) },
	"methods":   func(n int) string { return "x = f" + strings.Repeat(".g( 1 )", n/2) },
	"indexes":   func(n int) string { return "x = a" + strings.Repeat("[ 0 ]", n/2) + strings.Repeat("[ 1 : ]", n/2) },
	"lines": func(n int) string {
		return "main = (\n  a >>  # first\n" + strings.Repeat("  'é'  >>\n", n) + "   b\n)"
	},
	"nested": func(n int) string {
		return "x = f( k=" + strings.Repeat("a+", n) + "g(" + strings.Repeat("b*", n) + "c))"
	},
	"target": func(n int) string { return "x" + strings.Repeat(".a", n) + "+=1" },
}

// A chain that is longer than people write is formatted like any other.
func TestLongChains(t *testing.T) {
	for name, shape := range shapes {
		out, err := starfmt.Format([]byte("y=1\n" + shape(600) + "\nz=2  # end\n"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.HasPrefix(string(out), "y = 1\n") || !strings.HasSuffix(string(out), "\nz = 2  # end\n") || strings.Contains(string(out), "a+") || strings.Contains(string(out), "( ") {
			t.Errorf("%s is not formatted:\n%s", name, out)
		}
		if again, err := starfmt.Format(out); err != nil || string(again) != string(out) {
			t.Errorf("%s formatted again (%v) gives\n%s\nafter\n%s", name, err, again, out)
		}
	}
}

// What the engine rejects for its depth is rejected, at the position where it becomes too deep.
func TestTooDeep(t *testing.T) {
	for _, name := range []string{"operators", "calls", "methods", "lines"} {
		_, err := starfmt.Format([]byte("y = 1\n" + shapes[name](3*startree.Deepest) + "\n"))
		var at *starfmt.Error
		if !errors.As(err, &at) || at.Line < 2 || !strings.Contains(at.Msg, "too deeply") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The examples are in the canonical format.
func TestExamples(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../../examples/*.star", "../../../examples/*/*.star"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no examples")
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := starfmt.Format(src)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if string(got) != string(src) {
			t.Errorf("%s is not formatted:\n%s", file, got)
		}
	}
}

func FuzzFormat(f *testing.F) {
	for _, seed := range []string{
		"x=1\n", "while a:\n  b()\n", "def f(a, *, b=1, **k):\n  return lambda x: x\n", "x = [i for i in y if i]\n",
		"a(\n# c\nb,\n)\n", "x = '''a\n  b'''\n", "load('a.star', b='c')\n", "if a:\n  pass\nelif b:\n  while c: pass\n", "x = (\n a >>\n b)\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		once, err := starfmt.Format(src)
		if err != nil {
			return
		}
		twice, err := starfmt.Format(once)
		if err != nil {
			t.Fatalf("the result cannot be formatted: %v\n%s", err, once)
		}
		if string(twice) != string(once) {
			t.Fatalf("not idempotent:\n%q\n%q\n%q", src, once, twice)
		}
	})
}
