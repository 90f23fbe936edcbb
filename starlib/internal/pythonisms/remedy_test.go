package pythonisms_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// shown returns the code that a help says to write.
func shown(help string) string {
	if code, ok := strings.CutPrefix(help, "write `"); ok {
		code, _, _ = strings.Cut(code, "`")
		return code
	}
	if code, ok := strings.CutPrefix(help, "write\n"); ok {
		return strings.ReplaceAll("\n"+code, "\n    ", "\n")[1:]
	}
	return ""
}

// The code in a remedy is valid Starlark, and free of habits.
func TestRemediesParse(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(text), "-- rendered --\n")
		for _, d := range check(filepath.Base(path), script) {
			for _, h := range d.Help {
				code := shown(h)
				if code == "" || strings.Contains(code, "…") && strings.Contains(code, "lambda") {
					continue
				}
				seen++
				switch {
				case strings.HasPrefix(code, "elif"):
					code = "if x:\n    pass\n" + code
				case code == "==" || code == "!=" || code == "and" || code == "or":
					code = "x " + code + " y"
				}
				if strings.HasSuffix(code, ":") {
					code += "\n    pass"
				}
				if strings.Contains(code, "return ") && !strings.Contains(code, "def ") {
					code = "def f():\n    " + strings.ReplaceAll(code, "\n", "\n    ")
				}
				if d.Code == diag.AdjacentStrings || strings.HasPrefix(code, "\"\"\"") {
					code = "(" + code + ")"
				}
				if code == "elif" || code == "if x:\n    pass\nelif" {
					continue
				}
				for _, e := range check("help.star", code+"\n") {
					t.Errorf("%v\nsays %q\nwhich gets %v", d, h, e)
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d remedies were looked at", seen)
	}
}

// apply applies all fixes of l.
func apply(src string, l diag.List) string {
	lines := strings.Split(src, "\n")
	var fixes []diag.Fix
	for _, d := range l {
		fixes = append(fixes, d.Fixes...)
	}
	slices.SortStableFunc(fixes, func(a, b diag.Fix) int {
		if a.Span.Line != b.Span.Line {
			return b.Span.Line - a.Span.Line
		}
		return b.Span.Col - a.Span.Col
	})
	for _, f := range fixes {
		r := []rune(lines[f.Span.Line-1])
		lines[f.Span.Line-1] = string(r[:f.Span.Col-1]) + f.Replacement + string(r[f.Span.Col-1+f.Span.Len:])
	}
	return strings.Join(lines, "\n")
}

func TestFixes(t *testing.T) {
	for _, tt := range [][2]string{
		{"x = a is None and b is not c\n", "x = a == None and b != c\n"},
		{"é = f\"é {é}\" + u\"ü\"\n", "é = \"é {}\".format(é) + \"ü\"\n"},
		{"x = (\"a\" \"b\"\n     \"c\")\n", "x = (\"a\" + \"b\" +\n     \"c\")\n"},
		{"x: int = 1\n", "x = 1\n"},
		{"x = a && !b || c <> true\n", "x = a and not b or c != True\n"},
		{"x = 1_000 + await f(1)\n", "x = 1000 + f(1)\n"},
		{"x = {1, 2}\n", "x = set([1, 2])\n"},
		{"let x = null\n", "x = None\n"},
		{"if a:\n    pass\nelse if b:\n    pass\nelsif c:\n    pass\n", "if a:\n    pass\nelif b:\n    pass\nelif c:\n    pass\n"},
		{"def f(): ...\n", "def f(): pass\n"},
		{"x = \"%d\" % 1\n", "x = \"%d\" % 1\n"},
	} {
		got := apply(tt[0], check("x.star", tt[0]))
		if got != tt[1] {
			t.Errorf("%q:\n got %q\nwant %q", tt[0], got, tt[1])
		}
		if l := check("x.star", got); len(l) > 0 {
			t.Errorf("%q still gets %v", got, l)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	text, err := os.ReadFile("testdata/python.txt")
	if err != nil {
		b.Fatal(err)
	}
	script, _, _ := strings.Cut(string(text), "-- rendered --\n")
	valid := "def f(x, y = 1):\n    return \"%s has {}\".format(x) if x <= y and not x in [1, 2, 3] else {\"a\": x.b(y)}\n\n"
	for name, src := range map[string]string{"habits": strings.Repeat(script, 14), "valid": strings.Repeat(valid, 334)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				check("x.star", src)
			}
		})
	}
}
