package source

import (
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
)

// parse parses text in which every ‸ marks the place just after it. It returns the file and the marked places.
func parse(t *testing.T, marked string) (*File, []syntax.Position) {
	t.Helper()
	var at []syntax.Position
	name, text := "t.star", ""
	for i, part := range strings.Split(marked, "‸") {
		if i > 0 {
			lines := strings.Split(text, "\n")
			at = append(at, syntax.MakePosition(&name, int32(len(lines)), int32(len([]rune(lines[len(lines)-1]))+1)))
		}
		text += part
	}
	f, found := Parse(name, []byte(text), nil)
	if f == nil {
		t.Fatalf("%s\n%v", text, found)
	}
	return f, at
}

// shown returns the source at a span.
func (f *File) shown(s diag.Span) string {
	if s.Line == 0 {
		return "-"
	}
	line := []rune(f.lines[s.Line-1])
	return string(line[s.Col-1 : s.Col-1+s.Len])
}

func TestNameAt(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a = agent‸(1)", "a"},
		{"a = ((agent‸(1)))", "a"},
		{"(a) = agent‸(1)", "a"},
		{"a = agent(1)‸(2)", "a"},
		{"a = agent‸(1)(2)", ""},
		{"a = agent(fn‸(1))", ""},
		{"a = agent‸(1).x", ""},
		{"a = agent(1).loop‸(2)", "a"},
		{"a = agent‸(1).loop(2)", ""},
		{"a, b = agent‸(1), 2", ""},
		{"a.b = agent‸(1)", ""},
		{"a[0] = agent‸(1)", ""},
		{"a = agent‸(1) if b else c", ""},
		{"a = [agent‸(1)]", ""},
		{"agent‸(1)", ""},
		{"def f():\n    a = agent‸(1)\n    return a", "a"},
		{"def f():\n    return agent‸(1)", ""},
		{"if b:\n    a = agent‸(1)", "a"},
		{"a = b ‸>> c", "a"},
		{"a = (b ‸>> c)", "a"},
		{"a = b ‸>> c >> d", ""},
		{"a = b >> c ‸>> d", "a"},
		{"a = b >> c ‸/ d", ""},
		{"a = f(b ‸>> c)", ""},
		{"a = f‸(b >> c)", "a"},
		{"def f():\n    a = b\n    a ‸>>= c", "a"},
		{"a = ‸b", ""},
		{"é = \"héé\" ‸>> agent()", "é"},
	} {
		f, at := parse(t, test.text)
		if got := f.NameAt(at[0]); got != test.want {
			t.Errorf("%s: name %q, want %q", test.text, got, test.want)
		}
	}
}

func TestFuncAt(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a = agent‸(1)", ""},
		{"def f(): return agent‸(1)", "f"},
		{"def f(x = agent‸(1)): return x", ""},
		{"def f():\n    def g():\n        return agent‸(1)\n    return g", "g"},
		{"def f():\n    def g():\n        return 1\n    return agent‸(1)", "f"},
		{"def f():\n    return 1\n\na = agent‸(1)", ""},
		{"def f():\n    return lambda: agent‸(1)", "f"},
		{"def f():\n    if 1:\n        return [2]\n    else:\n        return x[agent‸(1)]", "f"},
	} {
		f, at := parse(t, test.text)
		if got := f.FuncAt(at[0]); got != test.want {
			t.Errorf("%s: function %q, want %q", test.text, got, test.want)
		}
	}
}

func TestCallAt(t *testing.T) {
	f, at := parse(t, "x = par‸(a, [b], *c, limit = list[str], **d)  # why\ny = then‸([a >> b, (c)], on = 1)\nz = then‸(\"\"\"é\n\"\"\",   # text\n  (a, b[1]))\nnone‸()\n")
	for i, want := range []string{
		"x = - | par | a, [b], *c*, limit=list[str], **d** |",
		"y = - | then | [a >> b, (c)], on=1 | a >> b; (c)",
		"z = - | then | \"\"\"é, (a, b[1]) |",
		" = - | none |  |",
	} {
		c, ok := f.CallAt(at[i])
		if !ok {
			t.Fatalf("no call at %v", at[i])
		}
		var args, elems []string
		for _, a := range c.Args {
			s := f.shown(a.Span)
			if a.Name != "" {
				if n := f.shown(a.NameSpan); n != a.Name {
					t.Errorf("name at %q, want %q", n, a.Name)
				}
				s = a.Name + "=" + s
			}
			if a.Spread != 0 {
				s += a.Spread.String()
			}
			args = append(args, s)
		}
		for _, e := range f.PartsAt(at[i], 1, "").Items {
			elems = append(elems, f.shown(e))
		}
		got := f.NameAt(at[i]) + " = - | " + f.shown(c.Fn) + " | " + strings.Join(args, ", ") + " | " + strings.Join(elems, "; ")
		if strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("call %d:\n got %s\nwant %s", i, got, want)
		}
	}
	if _, ok := f.CallAt(syntax.MakePosition(nil, 1, 1)); ok {
		t.Error("a call where there is none")
	}
}

func TestOperatorAt(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"x = a ‸>> b", ">> a b 0"},
		{"x = a / b ‸* c", "* a / b c /"},
		{"x = (a / b) ‸* c", "* (a / b) c (/"},
		{"x = a ‸| (b & c)", "| a (b & c) 0"},
		{"x = list[str] ‸| None", "| list[str] None 0"},
		{"x = f(a, # one\n  b) ‸>> c", ">> f(a, c 0"},
		{"x = a not ‸in b", "in a b 0"},
		{"def f(a):\n  a ‸>>= b / c", ">>= a b / c 0"},
		{"f(a ‸= b)", "none"},
		{"x = (\n  a\n  ‸>> b.c(\n  )\n)", ">> a b.c( 0"},
	} {
		f, at := parse(t, test.text)
		o, ok := f.OperatorAt(at[0])
		got := "none"
		if ok {
			left := "0"
			if o.LeftOp != 0 {
				left = o.LeftOp.String()
			}
			if o.LeftParen {
				left = "(" + left
			}
			got = strings.Join([]string{f.shown(o.Span), f.shown(o.Left), f.shown(o.Right), left}, " ")
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestPartsAt(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		name string
		want string
	}{
		{"a.branch‸({A: f, list[B]: {c: d}})", 1, "", "A = f, list[B] = {c: d}"},
		{"branch‸(a, x = 1, routes = ({A.b: f}), more = {c: d})", 0, "routes", "A.b = f"},
		{"branch‸(a, x = 1, routes = {A.b: f})", 2, "", ""},
		{"branch‸(a)", 1, "", ""},
		{"branch‸(a)", 1, "routes", ""},
		{"branch‸(a, {k: v for k, v in x})", 2, "", ""},
		{"agent‸(-1, *b, [c, (d)], tools = [e])", 3, "", ""},
		{"agent‸(-1, [c, (d)], *b, tools = [e])", 2, "", "c, (d)"},
		{"agent‸(*b, tools = [e, f.g])", 0, "tools", "e, f.g"},
	} {
		f, at := parse(t, test.text)
		parts := f.PartsAt(at[0], test.n, test.name)
		var shown []string
		for i, s := range parts.Items {
			text := f.shown(s)
			if parts.Keys != nil {
				text = f.shown(parts.Keys[i]) + " = " + text
			}
			shown = append(shown, text)
		}
		if got := strings.Join(shown, ", "); got != test.want {
			t.Errorf("%s: parts %q, want %q", test.text, got, test.want)
		}
	}
}
