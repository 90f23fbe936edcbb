package conformance

import (
	"maps"
	"strconv"
	"strings"
)

// Families of valid scripts, and of scripts whose mistakes are found by checking. What the passes over the tree and
// over the graph do once for each of two things must be linear in both.
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
		"kinds|":       chained("def f(a):\n", " if a", " | a", 4500, ": pass"),
		"kinds(|":      chained("def f(a):\n", " if a", " | (a", 60, strings.Repeat(")", 60)+": pass"),
		"blanks;":      func(n int) string { return "if 1:\n" + strings.Repeat(" ", n/2) + strings.Repeat("1;", n/4) + "\n" },
		"order":        repeated("f(", "a = 1, 2, ", ")\n"),
		"sums":         chained("def main(a = str):\n", " y = [1]", " + [1]", 9000, ""),

		// declarations
		"refs":          repeated("", "S# = schema(a = ref('S#+'))\n", ""),
		"conditions":    repeated("p0 = eq('.', 'a')\n", "p#+ = p# & p#\n", "main = branch(agent(prompt = 'x'), [when(p30, agent(prompt = 'x'))], otherwise = agent(prompt = 'x'))\n"),
		"types/|":       repeated("S0 = schema(a = int)\nT0 = int | S0\n", "S#+ = schema(a = int)\nT#+ = T# | S#+\n", ""),
		"types/list":    repeated("T0 = int\nU0 = str\n", "T#+ = list[T#]\nU#+ = list[U#]\na# = agent(prompt = 'x', output = T#) >> agent(prompt = 'x', input = U#)\n", ""),
		"refs/self":     repeated("", "S# = schema(a = list[ref('S#')])\n", ""),
		"docs":          parts(repeated("def t(", "p# = str, ", "):\n '''Doc.\n\n Args:\n"), repeated("", "  p#: the guide\n", " '''\n return p0\na = agent(prompt = 'x', tools = [t])\n")),
		"docs/unknown":  parts(repeated("def main(", "p# = str, ", "):\n '''Doc.\n\n Args:\n"), repeated("", "  q#: the guide\n", " '''\n return p0\n")),
		"policy":        repeated("a = agent(prompt = 'x', policy = policy(deny = ['*'], allow = [", "'a#*', ", "]))\n"),
		"policy/tools":  parts(repeated("", "def t#(x = str):\n 'doc'\n return x\n", ""), repeated("a = agent(prompt = 'x', tools = [t0, t1], policy = policy(allow = [", "'t#', ", "]))\n")),
		"only after":    repeated("def t(x = str):\n 'doc'\n return x\na = agent(prompt = 'x', tools = [tool(t, only_after = [", "'t#', ", "])])\n"),
		"tools × same":  repeated("def t(x = str):\n 'doc'\n return x\na = agent(prompt = 'x', tools = [", "t, ", "])\n"),
		"policy × many": parts(repeated("P = policy(allow = [", "'t#', ", "])\n"), repeated("", "a# = agent(prompt = 'x', policy = P)\n", "")),
		"skills × many": parts(repeated("X = [", "skill('s#', 'does #'), ", "]\n"), repeated("", "a# = agent(prompt = 'x', skills = X, select = router(otherwise = 's0'))\n", "")),
		"tools × many": func(n int) string {
			return repeated("", "def t#(x = str):\n 'doc'\n return x\n", "")(n/2) + repeated("T = [", "t#, ", "]\n")(n/16) + repeated("", "a# = agent(prompt = 'x', tools = T)\n", "")(n/4)
		},
	})
}

// repeated returns a family: a unit repeated, in which # is its number and #+ the next one.
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

// chained returns a family of lines, each a chain of up to most units.
func chained(head, first, unit string, most int, last string) func(n int) string {
	return func(n int) string {
		line := first + strings.Repeat(unit, min(most, 1+n/len(unit))) + last + "\n"
		return head + strings.Repeat(line, 1+n/len(line))
	}
}

// parts returns a family that concatenates others.
func parts(families ...func(n int) string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		for _, family := range families {
			b.WriteString(family(n / len(families)))
		}
		return b.String()
	}
}
