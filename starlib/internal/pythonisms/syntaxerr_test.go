package pythonisms_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
)

// The parser's own errors become AS101 with the caret on the wrong token, even if the parser reports the position after
// it.
func TestSyntaxErrors(t *testing.T) {
	tests := []struct {
		src  string
		want string // line:col-length message | label | note | help; trailing empty parts omitted
	}{
		{"x = 'héé' 3\n", "1:11-1 unexpected `3` | the statement should have ended before this"},
		{"x = 1 +\n2\n", "1:8-1 unexpected end of the line | expected an expression"},
		{"x = 1 +  # comment\n2\n", "1:8-1 unexpected end of the line | expected an expression"},
		{"x = 1 +", "1:8-1 unexpected end of the file | expected an expression"},
		{"total = (1 + 2\nprint(total)\n", "2:1-5 unexpected `print` | expected `)` | `(` is never closed at 1:9"},
		{"f(1,\n  [2, 3\n", "2:8-1 unexpected end of the file | expected `]` | `[` is never closed at 2:3"},
		{"a = max(range(10)))\n", "1:19-1 `)` closes nothing"},
		{"a = [1)\n", "1:7-1 unexpected `)` | expected `]` | `[` is never closed at 1:5"},
		{"def f()\n    pass\n", "1:8-1 unexpected end of the line | expected `:` || put `:` at the end of the line"},
		{"def f():\npass\n", "2:1-4 unexpected `pass` | expected an indented block || indent the lines that belong to the `:` above, or write `pass`"},
		{"def f():\n    if x:\ny = 1\n", "3:1-1 unexpected end of the block | expected an indented block || indent the lines that belong to the `:` above, or write `pass`"},
		{"def f():\n", "1:9-1 unexpected end of the file | expected an indented block || indent the lines that belong to the `:` above, or write `pass`"},
		{"def f():\n    pass\n  pass\n", "3:3-4 this line is not indented like any block around it ||| begin it in the column of the statement that it follows"},
		{"x = 1\n\n  # here\n    y = 2\n", "4:5-1 this line is indented more than the one before it ||| begin it in the same column; only a line that ends with `:` opens a block"},
		{"if x = 1:\n    pass\n", "1:6-1 unexpected `=` | expected `:` || `=` assigns; to compare write `==`"},
		{"retrun x\n", "1:8-1 unexpected `x` | the statement should have ended before this || did you mean \"return\"?"},
		{"dfe f(x):\n    pass\n", "1:5-1 unexpected `f` | the statement should have ended before this || did you mean \"def\"?"},
		{"x = “a”\n", "1:5-1 unexpected character '“' ||| strings are written with straight quotes: \"…\""},
		{"x =\u00a01\n", "1:4-1 unexpected character '\\u00a0' ||| replace this invisible character by a space, or delete it"},
		{"```python\nx = 1\n```\n", "1:1-3 a Markdown code fence is not part of a script ||| remove the fence: the lines that begin with ```, and the text around them"},
		{"x = 1\n```\n", "2:1-3 a Markdown code fence is not part of a script ||| remove the fence: the lines that begin with ```, and the text around them"},
		{"x = `y`\n", "1:5-1 unexpected character '`' ||| strings are written with straight quotes: \"…\" or '…'"},
		{"x = $y\n", "1:5-1 unexpected character '$'"},
		{"x = 'abc\ny = 1\n", "1:5-4 the string is not closed on its line ||| close it with its quote; a string of several lines is written \"\"\"…\"\"\""},
		{"x = \"\"\"abc\ny = 1\n", "1:5-6 the string is never closed"},
		{"x = a if b\n", "1:7-2 a conditional expression needs an `else` ||| write `a if b else None`"},
		{"x = 1,\n", "1:6-1 a tuple with a trailing comma needs parentheses ||| drop the comma, or put ( ) around the tuple"},
		{"a >> lambda x: x\n", "1:6-6 unexpected `lambda` | expected an expression || make it a step: fn(lambda x: ..., input = T, output = U)"},
		{"f(a.b = 1)\n", "1:7-1 a keyword argument has the form name = value ||| to compare write `==`"},
		{"load(\"a.star\", name)\n", "1:16-4 load takes names as strings ||| write `\"name\"`"},
		{"load(a, \"b\")\n", "1:6-1 load takes the file as a string literal"},
		{"def for(): pass\n", "1:5-3 `for` is a reserved word and cannot be a name"},
		{"def (x): pass\n", "1:5-1 `(` is not a name"},
		{"x = 0755\n", "1:5-4 obsolete form of octal literal; use 0o755"},
		{"x = \"\\q\"\n", "1:5-4 invalid escape sequence \\q"},
		{"\ufeffx = 1\n", "1:1-1 unexpected character '\\ufeff' ||| replace this invisible character by a space, or delete it"},
		{"x = 1\r\ny = = 2\r\n", "2:5-1 unexpected `=` | expected an expression"},
		{"x = (\n  a b)\n", "2:5-1 unexpected `b` | expected `)`"},
		{"return = 1\n", "1:8-1 unexpected `=` | expected an expression"},
	}
	for _, tt := range tests {
		l := check("", tt.src)
		if len(l) != 1 || l[0].Code != diag.SyntaxError {
			t.Errorf("%q: got %v", tt.src, l)
			continue
		}
		if got := brief(l[0]); got != tt.want {
			t.Errorf("%q:\n got %s\nwant %s", tt.src, got, tt.want)
		}
	}
}

func brief(d *diag.Diagnostic) string {
	var notes []string
	for _, n := range d.Notes {
		notes = append(notes, n.Message+" at "+n.Pos.String())
	}
	s := d.Span.Pos.String() + "-" + string(rune('0'+max(1, d.Span.Len))) + " " + d.Message +
		" | " + d.Label + " | " + strings.Join(notes, "; ") + " | " + strings.Join(d.Help, "; ")
	s = strings.ReplaceAll(s, " |  | ", " || ")
	s = strings.ReplaceAll(s, " ||  | ", " ||| ")
	return strings.TrimRight(s, " |")
}

// A habit that explains the parser's error replaces it; one elsewhere does not.
func TestOneErrorForOneHabit(t *testing.T) {
	tests := []struct {
		src  string
		want []diag.Code
	}{
		{"x = f\"{a}\"\n", []diag.Code{diag.FString}},
		{"x = f\"{a}\"\ny = = 1\n", []diag.Code{diag.FString}}, // the parser stopped at the first
		{"y = = 1\nx = f\"{a}\"\n", []diag.Code{diag.SyntaxError, diag.FString}},
		{"x = \"%.1f\" % y\nz = = 2\n", []diag.Code{diag.FormatSpec, diag.SyntaxError}}, // that one is accepted
		{"x = \"%.1f\" % = 2\n", []diag.Code{diag.FormatSpec, diag.SyntaxError}},
		{"x = true\nz = = 2\n", []diag.Code{diag.PythonOnly, diag.SyntaxError}},
		{"@dataclass\n@other(1)\nclass A:\n    x: int\n", []diag.Code{diag.ClassStatement}},
		{"total = (1 + 2\nclass A:\n    pass\n", []diag.Code{diag.SyntaxError, diag.ClassStatement}},
		{"x = [a\n     for b in c\n     if 1 < b\n     < 2]\n", []diag.Code{diag.ChainedComparison}},
		{"x = lambda a = 1 < b: c < d\n", nil},
		{"for a in b < c:\n    pass\n", nil},
		{"x = [a for a, b in c if a < b]\n", nil},
		{"for a in b < c < d: pass\n", []diag.Code{diag.ChainedComparison}},
		{"x = a < f(b < c < d) < e\n", []diag.Code{diag.ChainedComparison, diag.ChainedComparison}},
		{"with open(p) as f:\n    x = f.read()\ndel x\n", []diag.Code{diag.PythonOnly, diag.PythonOnly}},
	}
	for _, tt := range tests {
		var got []diag.Code
		for _, d := range check("x.star", tt.src) {
			got = append(got, d.Code)
		}
		if strings.Join(strs(got), " ") != strings.Join(strs(tt.want), " ") {
			t.Errorf("%q: got %v, want %v", tt.src, got, tt.want)
		}
	}
}

func strs(codes []diag.Code) []string {
	var out []string
	for _, c := range codes {
		out = append(out, string(c))
	}
	return out
}

func TestOtherErrors(t *testing.T) {
	cause := errors.New("disk on fire")
	l := pythonisms.Check("x.star", nil, cause, 0, nil)
	if len(l) != 1 || l[0].Code != diag.SyntaxError || !errors.Is(l, cause) || l[0].Span.File != "x.star" {
		t.Errorf("got %v", l)
	}
}

// Everything that the interpreter's parser rejects is reported, at a position in the file.
func TestEverythingRefusedIsReported(t *testing.T) {
	for name, src := range chunks(t) {
		_, err := options.Parse(name, src, 0)
		if err == nil {
			continue
		}
		l := pythonisms.Check(name, []byte(src), err, 0, nil)
		if !l.HasErrors() {
			t.Errorf("%s: nothing for %v", name, err)
		}
		lines := strings.Split(src, "\n")
		for _, d := range l {
			if d.Span.Line < 1 || d.Span.Line > len(lines) || d.Span.Col < 1 || d.Span.Col > len([]rune(lines[d.Span.Line-1]))+1 {
				t.Errorf("%s: %v is outside of the file", name, d)
			}
		}
	}
}

func TestHint(t *testing.T) {
	for line, want := range map[string]string{
		"Optional[int], x": "write `int | None`", `Literal["a", "b"]`: "write `enum(\"a\", \"b\")`", "Union[str, List[int]]": "write `str | list[int]`", "Optional": "write `T | None`",
		"null": "write `None`", "round(x)": "write `fmt(x, \".2f\")` for text, `int(x + 0.5)` for a number", "OSError": "write `fail(\"…\")`", "string": "write `str`",
		"re.sub(p, q, s)": "write `s.replace(p, q)`, which takes plain text", "math.floor(a / b)": "write `int(a / b // 1)`", "os.environ[\"X\"]": "write `env.get(\"X\")`",
		"os.getenv(\"X\", \"y\")": "write `env.get(\"X\", \"y\")`", "datetime.datetime.now()": "write `now()`",
	} {
		name, _, _ := strings.Cut(line, ".")
		name, _, _ = strings.Cut(name, "(")
		name, _, _ = strings.Cut(name, "[")
		d := &diag.Diagnostic{Span: diag.Span{Pos: diag.Pos{File: "x.star", Line: 1, Col: 1}, Len: len(name)}}
		if !pythonisms.Hint(d, name, func() string { return line }) || d.Help[0] != want {
			t.Errorf("Hint(%q) = %q", line, d.Help)
		}
	}
	if d := new(diag.Diagnostic); pythonisms.Hint(d, "agnet", nil) || pythonisms.Hint(d, "re", func() string { return "re(x)" }) {
		t.Errorf("got %v", d)
	}
}
