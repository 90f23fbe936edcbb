package conformance

import (
	"fmt"
	"strings"
)

// families are scripts of one habit each, of about n bytes: brackets, chains of operators, names, texts, mistakes,
// blocks, loads and declarations. Reading scripts must be linear in each.
var families = map[string]func(n int) string{
	"!":         func(n int) string { return strings.Repeat("!", n) },
	"1 && ":     func(n int) string { return strings.Repeat("1 && ", n/5) + "1" },
	"{1:2,":     func(n int) string { return "x = {" + strings.Repeat("1:2,", n/4) + "}" },
	"{1:{1:":    func(n int) string { return strings.Repeat("{1:", n/3) },
	"f+":        func(n int) string { return strings.Repeat("f\"{a}\"+", n/7) + "1" },
	"{1,{1,":    func(n int) string { return strings.Repeat("{1,", n/3) },
	"(":         func(n int) string { return strings.Repeat("(", n/2) + strings.Repeat(")", n/2) },
	"[":         func(n int) string { return strings.Repeat("[", n) },
	"1+":        func(n int) string { return "x = " + strings.Repeat("1+", n/2) + "1" },
	"a+":        func(n int) string { return "a = 1\nx = " + strings.Repeat("a+", n/2) + "1" },
	"a,":        func(n int) string { return "a = 1\nx = [" + strings.Repeat("a,", n/2) + "1]" },
	"a":         func(n int) string { return strings.Repeat("a", n) + " = 1" },
	"str":       func(n int) string { return "x = '" + strings.Repeat("a", n) + "'" },
	"undefined": func(n int) string { return numberedLines(n, "x# = undefined#\n") },
	"defs":      func(n int) string { return numberedLines(n, "def f#(a): return a\n") },
	"assign":    func(n int) string { return numberedLines(n, "x# = #\n") },
	"deepdef": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(" ", i) + "def f():\n")
		}
		return b.String()
	},
	"lambda":    func(n int) string { return "x = " + strings.Repeat("lambda: ", n/8) + "1" },
	"not":       func(n int) string { return "x = " + strings.Repeat("not ", n/4) + "1" },
	"-":         func(n int) string { return "x = " + strings.Repeat("-", n) + "1" },
	"comment":   func(n int) string { return "#" + strings.Repeat("a", n) },
	"comments":  func(n int) string { return strings.Repeat("#\n", n/2) },
	"tabs":      func(n int) string { return strings.Repeat("\t", n) + "x = 1" },
	"newlines":  func(n int) string { return strings.Repeat("\n", n) },
	"unicode":   func(n int) string { return "x = '" + strings.Repeat("é", n/2) + "' 1" },
	"calls":     func(n int) string { return strings.Repeat("len('a')\n", n/9) },
	"f().f()":   func(n int) string { return "x = len" + strings.Repeat("()", n/2) },
	".a":        func(n int) string { return "x = len" + strings.Repeat(".a", n/2) },
	"[0]":       func(n int) string { return "x = len" + strings.Repeat("[0]", n/3) },
	"elif":      func(n int) string { return "if 1: pass\n" + strings.Repeat("elif 1: pass\n", n/13) },
	"if else":   func(n int) string { return "x = " + strings.Repeat("1 if 1 else ", n/12) + "1" },
	"for in":    func(n int) string { return "x = [1 " + strings.Repeat("for a in [] ", n/12) + "]" },
	"loads":     func(n int) string { return numberedLines(n, "load('a', 'b#')\n") },
	"schemas":   func(n int) string { return numberedLines(n, "S# = schema(a = int)\n") },
	"<":         func(n int) string { return "x = " + strings.Repeat("1 < ", n/4) + "1" },
	"kw":        func(n int) string { return "x = dict(" + numberedLines(n, "a# = 1, ") + ")" },
	"semicolon": func(n int) string { return strings.Repeat("1;", n/2) },
	"errors":    func(n int) string { return strings.Repeat("x y\n", n/4) },
	"class":     func(n int) string { return strings.Repeat("class A:\n  x: int\n", n/18) },
	"try":       func(n int) string { return strings.Repeat("try:\n  f(x)\nexcept E: pass\n", n/28) },
	"import":    func(n int) string { return strings.Repeat("import os\n", n/10) },
	"types":     func(n int) string { return "T = " + strings.Repeat("list[", n/6) + "int" + strings.Repeat("]", n/6) },
	"|":         func(n int) string { return "T = " + strings.Repeat("int|", n/4) + "str" },
	"agents":    func(n int) string { return numberedLines(n, "a# = agent(prompt = 'x')\n") },
	"flds":      func(n int) string { return "S = schema(" + numberedLines(n, "a# = int, ") + ")" },
	"params":    func(n int) string { return "def f(" + numberedLines(n, "a#, ") + "): pass" },
	"local":     func(n int) string { return "def f():\n" + numberedLines(n, " x# = #\n") },
	"%":         func(n int) string { return "x = '%5d' % 1" + strings.Repeat(" + '%5d' % 1", n/12) },
	"longline":  func(n int) string { return strings.Repeat("x = y;", n/6) },
	"cycle":     func(n int) string { return numberedLines(n, "def f#(): return g#()\n") },
	"near":      func(n int) string { return numberedLines(n, "def f#(): return prin#\n") },
	"closers":   func(n int) string { return strings.Repeat(")", n) },
	"`":         func(n int) string { return strings.Repeat("`", n) },
	"\\":        func(n int) string { return strings.Repeat("\\\n", n/2) },
	"0x":        func(n int) string { return "x = 0x" + strings.Repeat("f", n) },
	"9":         func(n int) string { return "x = " + strings.Repeat("9", n) },
	"nestedfn":  func(n int) string { return "def g():\n" + numberedLines(n, " def f#(): return f#\n") },
	"comps":     func(n int) string { return numberedLines(n, "x# = [a for a in [1]]\n") },
	"openstr":   func(n int) string { return strings.Repeat("'a\n", n/3) },
	"'''":       func(n int) string { return strings.Repeat("'''", n/3) },
	"chain+":    func(n int) string { return "a = 1\n" + chainLines(n, "a+", "a") },
	"chainand":  func(n int) string { return "a = 1\n" + chainLines(n, "a and ", "a") },
	"chain1":    func(n int) string { return "a = 1\n" + chainLines(n, "1+", "1") },
	"chain|":    func(n int) string { return chainLines(n, "int|", "str") },
	"chain.a":   func(n int) string { return "def f(x):\n" + chainLines(n, "a.", "a") },
	"chain()":   func(n int) string { return "def f(x):\n return 1\n" + chainLines2(n, "f", "()") },
	"chain[0]":  func(n int) string { return "def f(x):\n return 1\n" + chainLines2(n, "f", "[0]") },
	"chain>>": func(n int) string {
		return "a = fn(lambda x: x, input = int, output = int)\ndef f(x):\n return 1\n" + chainLines(n, "a>>", "a")
	},
	"chain'": func(n int) string { return chainLines(n, "'a'+", "'b'") },
	"chainelif": func(n int) string {
		return strings.Repeat("if 1: pass\n"+strings.Repeat("elif 1: pass\n", 9000), 1+n/117000)
	},
	"chain<": func(n int) string { return "a = 1\n" + chainLines(n, "a<1 or ", "a") },
	">>": func(n int) string {
		return "def g(): return fn(lambda x: x, input = int, output = int)\nx = g()" + strings.Repeat(" >> g()", n/7)
	},
}

func numberedLines(n int, line string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
	}
	return b.String()
}

func chainLines(n int, unit, last string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%sx%d = ", map[bool]string{true: " "}[strings.Contains(unit, ".")], i)
		b.WriteString(strings.Repeat(unit, 4500) + last + "\n")
	}
	return b.String()
}

func chainLines2(n int, first, unit string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "def f%d(): return ", i)
		b.WriteString(first + strings.Repeat(unit, 9500) + "\n")
	}
	return b.String()
}
