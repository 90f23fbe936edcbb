package conformance

import (
	"maps"
	"strconv"
	"strings"
)

// Families of valid scripts, and of those whose mistakes show when they are checked: what the passes over the tree
// and over the graph do once for each of two things has to be linear in both.
func init() {
	maps.Copy(families, map[string]func(n int) string{
		// calls
		"calls/def":    repeated("def f(a, b = 1):\n return a\ndef main(x = str):\n", " f(1, 2)\n", " return x\n"),
		"calls/long":   parts(repeated("def f(a = 1):\n x = 1\n", " x = x + 1\n", " return a\n"), repeated("def main(x = str):\n", " f(1)\n", " return x\n")),
		"calls/type":   parts(repeated("def f(", "p# = int, ", "):\n return 1\n"), repeated("", " x = 1\n", ""), repeated("def main(x = str):\n", " f(1)\n", " return x\n")),
		"callers/long": parts(repeated("def f(a):\n x = 1\n", " x = x + 1\n", " return a\n"), repeated("", "def k#(): return f(#)\n", "")),
		"calls/params": parts(repeated("def f(", "p# = 1, ", "): return 1\n"), repeated("def main(x = str):\n", " f(1)\n", " return x\n")),
		"missing":      parts(repeated("def f(", "p#, ", "): return 1\n"), repeated("def main(x = str):\n", " f(1)\n", " return x\n")),
		"keywords":     parts(repeated("def f(", "p#, ", "): return 1\n"), repeated("def main(x = str):\n f(", "p# = 1, ", ")\n return x\n")),
		"unknown":      parts(repeated("def f(", "p#, ", "): return 1\n"), repeated("def main(x = str):\n f(", "q# = 1, ", ")\n return x\n")),
		"captured":     parts(repeated("def main(x = list[int]):\n l = []\n for i in x:\n", "  v = i\n", ""), repeated("", "  l.append(lambda: v)\n", " return x\n")),
		"captures":     parts(repeated("def main(x = list[int]):\n l = []\n for i in x:\n", "  v# = i\n", ""), repeated("  l.append(lambda: [", "v#, ", "])\n return x\n")),
		"guards":       repeated("def main(x = int):\n", " y = 'a' + x\n", " return x\n"),
		"ifs":          repeated("def main(x = int):\n", " if x > #: y# = #\n", " return y0\n"),
		"results":      parts(repeated("def f(x):\n", " if x == #: return {'a#': 1}\n", " return x\n"), repeated("def main(x = int):\n", " f(x)['a#']\n", " return x\n")),
	})
}

// repeated returns a family: a unit again and again, in which # is its number and #+ the next one.
func repeated(head, unit, tail string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.NewReplacer("#+", strconv.Itoa(i+1), "#", strconv.Itoa(i)).Replace(unit))
		}
		return b.String() + tail
	}
}

// parts returns a family of others one after the other.
func parts(families ...func(n int) string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		for _, family := range families {
			b.WriteString(family(n / len(families)))
		}
		return b.String()
	}
}
