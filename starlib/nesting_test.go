package starlib_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// deep defines x, a value nested as deeply as many steps can make it.
const deep = "def nest(n = 600000):\n    x = []\n    for i in range(n):\n        x = [x]\n    return x\n"

// TestDeepValuesAreRefused checks that nothing a script can nest endlessly is walked by unbounded recursion: an
// overflow of the Go stack ends the process.
func TestDeepValuesAreRefused(t *testing.T) {
	for name, src := range map[string]string{
		"json.decode, open":       `x = json.decode("[" * 3000000)`,
		"json.decode, closed":     `x = json.decode("[" * 1000000 + "]" * 1000000)`,
		"json.decode, objects":    `x = json.decode("{\"a\":" * 3000000)`,
		"json.indent":             `x = json.indent("[" * 3000000)`,
		"json.encode":             deep + `x = json.encode(nest())`,
		"str":                     deep + `x = str(nest())`,
		"str of a tuple":          "def f():\n    t = ()\n    for i in range(600000):\n        t = (t,)\n    return str(t)\nx = f()",
		"str of a dict":           "def f():\n    t = {}\n    for i in range(300000):\n        t = {\"a\": t}\n    return str(t)\nx = f()",
		"repr":                    deep + `x = repr(nest())`,
		"print":                   deep + `print(nest())`,
		"%":                       deep + `x = "%s" % nest()`,
		"% of a tuple":            deep + `x = "%d %r" % (1, nest())`,
		"% of what is shared":     "def f():\n    x = []\n    for i in range(60):\n        x = [x, x]\n    return \"%s\" % x\nx = f()",
		"%=":                      deep + "def f():\n    s = [\"%s\"]\n    s[0] %= nest()\nf()",
		"format":                  deep + `x = "{}".format(nest())`,
		"format by keyword":       deep + "t = \"{a}\"\n" + `x = t.format(a = nest())`,
		"format kept":             deep + "f = \"{}\".format\n" + `x = f(nest())`,
		"frozen shared tuples":    "def f():\n    x = (1,)\n    for i in range(60):\n        x = (x, x)\n    return x\nx = f()",
		"frozen shared functions": "def f(g):\n    for i in range(60):\n        g = pair(g, g)\n    return g\ndef pair(a, b):\n    return lambda: [a, b]\nx = f(len)",
		"format by getattr":       deep + `x = getattr("{}", "format")(nest())`,
		"fail":                    deep + `fail(nest())`,
		"fmt":                     deep + `x = fmt(nest(), ">10")`,
		"join_lines":              deep + `x = join_lines([nest()])`,
		"==":                      deep + `x = nest() == nest()`,
		"sorted":                  deep + `x = sorted([nest(), nest()])`,
		"a field":                 deep + "T = schema(\"t\", x = any)\n" + `x = T(x = nest())`,
		"decode of a type":        "T = schema(\"t\", c = list[ref(\"T\")])\nx = T.decode(\"{\\\"c\\\":[\" * 1000000).errors[0].message\nfail(x)",
		"instances":               "T = schema(\"t\", c = field(ref(\"T\") | None, default = None))\ndef f():\n    x = T()\n    for i in range(100000):\n        x = T(c = x)\n    return x\nx = f()",
		"instances of dicts":      "T = schema(\"t\", c = field(ref(\"T\") | None, default = None))\ndef f():\n    x = T()\n    for i in range(100000):\n        x = T({\"c\": x})\n    return x\nx = f()",
		"instances in lists":      "T = schema(\"t\", c = list[any])\ndef f():\n    x = T(c = [])\n    for i in range(100000):\n        x = T(c = [{\"a\": x}])\n    return x\nx = f()",
		"replaced":                "T = schema(\"t\", c = field(ref(\"T\") | None, default = None))\ndef f():\n    x = T()\n    for i in range(100000):\n        x = replace(x, c = x)\n    return x\nx = f()",
		"shared instances":        "T = schema(\"t\", a = any, b = any)\ndef f():\n    x = T(a = 1, b = 1)\n    for i in range(60):\n        x = T(a = x, b = x)\n    return x\nx = f()",
		"shared":                  "def f():\n    x = []\n    for i in range(60):\n        x = [x, x]\n    return str(x)\nx = f()",
		"shared tuples":           "def f():\n    x = ()\n    for i in range(60):\n        x = (x, x)\n    return str(x)\nx = f()",
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() { // less depth suffices to exceed a bound, if not a stack
				src = strings.NewReplacer("3000000", "30000", "1000000", "30000", "600000", "30000", "300000", "30000", "100000", "20000").Replace(src)
			}
			m, found := loadWith(starlib.Options{Steps: 1 << 40}, src)
			if len(found) != 1 {
				t.Fatalf("want one error, got %d:\n%s", len(found), render(m, found))
			}
		})
	}
	// Freezing, which ends loading, and code that only mentions a value.
	for name, src := range map[string]string{
		"freeze":              deep + `x = nest()`,
		"isinstance":          deep + "x = nest()\ny = [isinstance(x, list), type(x), len(x)]",
		"json.decode default": `x = json.decode("[" * 3000000, default = 7)`,
		"contains itself":     "def f():\n    x = []\n    x.append(x)\n    return str(x)\nx = f()",
		"a long list":         `x = len(str(list(range(100000))))`,
	} {
		t.Run(name, func(t *testing.T) { sound(t, src) })
	}
}

// TestJSONNesting checks that brackets in strings do not count, and that the bound is 500.
func TestJSONNesting(t *testing.T) {
	sound(t, `
x = json.decode("[" * 500 + "]" * 500)
y = json.decode('["' + "[" * 1000 + '"]')
z = json.decode('["\\"' + "[{" * 1000 + '"]')
w = json.decode("[" + ",".join(["[]"] * 1000) + "]")
`)
	_, found := load(`x = json.decode("[" * 501 + "]" * 501)`)
	if codes(found) != string(diag.WrongArgument) {
		t.Errorf("got %v", found)
	}
}

func TestScriptsAreUTF8(t *testing.T) {
	for name, tt := range map[string]struct {
		src       string
		line, col int
	}{
		"in a string":   {"x = 1\ny = \"aä\xffb\"\n", 2, 8},
		"in a comment":  {"# caf\xe9\nx = 1\n", 1, 6},
		"old line ends": {"x = 1\ry = 2\r\nz = '\xff'\r\n", 3, 6},
		"cut short":     {"x = 'a\xc3", 1, 7},
		"loaded":        {"load(\"lib.star\", \"y\")\nx = y\n", 1, 5},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := load(tt.src, "lib.star", "y = '\xff'\n")
			if len(found) == 0 {
				t.Fatal("nothing was found")
			}
			d := found[0]
			at := d.Span
			if name == "loaded" {
				if at.File != "lib.star" || at.Col != 6 {
					t.Errorf("got %v", d)
				}
				return
			}
			if d.Code != diag.SyntaxError || at.Line != tt.line || at.Col != tt.col {
				t.Errorf("want %s at %d:%d, got %v", diag.SyntaxError, tt.line, tt.col, d)
			}
		})
	}
}

// TestByteOrderMark checks that a mark before the text has no meaning.
func TestByteOrderMark(t *testing.T) {
	m := sound(t, "\ufeffload(\"lib.star\", \"y\")\nx = y\n", "lib.star", "\ufeffy = 1\n")
	if text, _ := m.Sources().Source("main.star"); strings.HasPrefix(text, "\ufeff") {
		t.Error("the mark is part of the text that diagnostics quote")
	}
}

// TestTraceOfEndlessRecursion checks that the trace keeps its ends, which contain all information.
func TestTraceOfEndlessRecursion(t *testing.T) {
	for depth, want := range map[int]int{3: 5, 90: 92, 5000: 16} {
		src := fmt.Sprintf("def down(n):\n    if n == 0:\n        fail(\"bottom\")\n    return down(n - 1)\ndef main():\n    return down(%d)\n", depth)
		s := spec(t, sound(t, src), generable.Value{})
		s.Handler = refuse
		_, err := run.Exec(sched.NewCoopSched(1), &s)
		var e *engine.Error
		if !errors.As(err, &e) || len(e.Trace) != want {
			t.Fatalf("%d deep: %d calls in the trace, want %d: %v", depth, len(e.Trace), want, err)
		}
		first, last := e.Trace[0], e.Trace[len(e.Trace)-1]
		if first.Name != "main" || last.Name != "down" || last.Pos.Line != 3 {
			t.Errorf("%d deep: from %v to %v", depth, first, last)
		}
		if depth == 5000 && e.Trace[7].Name != "… 4987 more calls …" {
			t.Errorf("left out: %v", e.Trace[7])
		}
	}
}
