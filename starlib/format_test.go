package starlib_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/starlib"
)

func TestFmt(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{`fmt(113.0972, ".1f")`, "113.1"},
		{`fmt(3, ".2f")`, "3.00"},
		{`fmt(1234567, ",d")`, "1,234,567"},
		{`fmt(1234567.891, ",.2f")`, "1,234,567.89"},
		{`fmt(1234567, "_")`, "1_234_567"},
		{`fmt(-1234, ",")`, "-1,234"},
		{`fmt(0, "d")`, "0"},
		{`fmt(0.256, ".0%")`, "26%"},
		{`fmt(0.256, ".1%")`, "25.6%"},
		{`fmt(5, "+d")`, "+5"},
		{`fmt(-5, " d")`, "-5"},
		{`fmt(5, " d")`, " 5"},
		{`fmt(42, "06d")`, "000042"},
		{`fmt(-42, "06d")`, "-00042"},
		{`fmt(3.5, "08.2f")`, "00003.50"},
		{`fmt(255, "x")`, "ff"},
		{`fmt(255, "#X")`, "0XFF"},
		{`fmt(5, "b")`, "101"},
		{`fmt(65, "c")`, "A"},
		{`fmt("hall", ">8")`, "    hall"},
		{`fmt("hall", "<8") + "|"`, "hall    |"},
		{`fmt("hall", "*^9")`, "**hall***"},
		{`fmt("hällö", "é>7")`, "ééhällö"},
		{`fmt("hall", ".2")`, "ha"},
		{`fmt(12345.678, ".3e")`, "1.235e+04"},
		{`fmt(0.0001, "g")`, "0.0001"},
		{`fmt(1234.5678, ".3")`, "1.23e+03"},
		{`fmt(0.00001234, ".2G")`, "1.2E-05"},
		{`fmt(1234.5, ",n")`, "1,234.5"},
		{`fmt(2.0)`, "2.0"},
		{`fmt(7)`, "7"},
		{`fmt("x")`, "x"},
		{`fmt(None)`, "None"},
		{`fmt(True, ">6")`, "  True"},
		{`fmt([1], ">6")`, "   [1]"},
		{`fmt(10000000000000000000000000, ",d")`, "10,000,000,000,000,000,000,000,000"},
		{`fmt(1.5, "{:.1f}")`, "1.5"},
		{`fmt(-0.0, "06.1f")`, "-000.0"},
	} {
		if got := printed(t, starlib.Options{}, "print("+c.expr+")"); got != c.want {
			t.Errorf("%s gives %q, want %q", c.expr, got, c.want)
		}
	}
	for _, c := range []struct{ expr, code, want string }{
		{`fmt(1.5, "d")`, "AS204", "write int(x), or the type .0f"},
		{`fmt("x", ".1f")`, "AS204", "is for numbers"},
		{`fmt(5, ".2d")`, "AS204", "a precision is for numbers with a fraction"},
		{`fmt(5, "y")`, "AS108", "is not understood"},
		{`fmt(3.14, ".1f}")`, "AS108", "\"}\" is not understood"},
		{`fmt(3.14, "{:.1f")`, "AS108", "is not understood"},
		{`fmt(3.14, ".1f ")`, "AS108", "is not understood"},
		{`fmt(5, ".f")`, "AS108", "no number after the point"},
		{`fmt(5, "99999999d")`, "AS108", "width"},
		{`fmt(5.0, ".9999f")`, "AS108", "precision"},
		{`fmt("x", "+")`, "AS204", "are for numbers"},
		{`fmt(-1, "c")`, "AS204", "not a character"},
	} {
		m, found := load("x = " + c.expr + "\n")
		if codes(found) != c.code || !strings.Contains(render(m, found), c.want) {
			t.Errorf("%s gives %s\n%s", c.expr, codes(found), render(m, found))
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{`dedent("\n    a\n      b\n\n    c\n  ")`, "a\n  b\n\nc"},
		{`dedent("a\n    b\n    c")`, "a\nb\nc"},
		{`dedent("  one  ")`, "one"},
		{`dedent("\n      deep\n    less\n")`, "  deep\nless"},
		{`split_lines(" a \n\n b\n")`, `["a", "b"]`},
		{`join_lines(["a", 1, None], bullet = "- ")`, "- a\n- 1\n- None"},
		{`strip_fences("Sure:\n` + "```" + `json\n{}\n` + "```" + `\nok")`, "{}"},
		{`strip_fences("~~~~\na\n~~~\n~~~~")`, "a\n~~~"},
		{`strip_fences("` + "```" + `\nopen")`, "open"},
		{`strip_fences("  none ")`, "none"},
		{`indent_lines("a\n\nb", "> ")`, "> a\n\n> b"},
		{`truncate("häuser", 4)`, "häu…"},
		{`truncate("abc", 3)`, "abc"},
		{`truncate("abcdef", 1, end = "...")`, "a"},
		{`json.encode({"b": 1, "a": [None, True, "x\n"]})`, `{"b":1,"a":[null,true,"x\n"]}`},
		{`json.decode('{"b": [1, 2.5]}')["b"]`, "[1, 2.5]"},
		{`json.decode("{", default = 3)`, "3"},
		{`json.decode("{", default = None)`, "None"},
		{`json.indent('{"a":1}')`, "{\n  \"a\": 1\n}"},
	} {
		if got := printed(t, starlib.Options{}, "print("+c.expr+")"); got != c.want {
			t.Errorf("%s gives %q, want %q", c.expr, got, c.want)
		}
	}
	for _, src := range []string{`json.decode("{")`, `json.encode(json)`, `json.encode({1: 2})`, `json.indent("{")`, `json.encod(1)`} {
		if _, found := load(src); !found.HasErrors() {
			t.Errorf("%s has no error", src)
		}
	}
}

// FuzzFmt searches for formats that panic.
func FuzzFmt(f *testing.F) {
	for _, s := range []string{".1f", ",d", "*^9", "+08.2e", "#x", "%", "é<3"} {
		f.Add(s, 1.5, int64(7), "text")
	}
	f.Fuzz(func(t *testing.T, spec string, x float64, n int64, s string) {
		src := fmt.Sprintf("a = fmt(%d, %s)\nb = fmt(%s, %s)\nc = fmt(%s, %s)\n", n, quote(spec), quote(s), quote(spec), "float("+quote(fmt.Sprint(x))+")", quote(spec))
		_, found := load(src)
		if strings.Contains(codes(found), "AS715") {
			t.Errorf("%s panicked: %v", src, found)
		}
	})
}

// quote returns a Starlark string literal.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "?") {
		if r == '"' || r == '\\' || r < ' ' {
			fmt.Fprintf(&b, "\\x%02x", r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
