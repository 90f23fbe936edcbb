package diag_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func at(file string, line, col, n int) diag.Span {
	return diag.Span{Pos: diag.Pos{File: file, Line: line, Col: col}, Len: n}
}

const review = `"""Reviews."""

coder = agent(output = Draft)
reviews = a / b
main = coder >> reviews >> verdict
`

// join is the example of the design.
func join() *diag.Diagnostic {
	return &diag.Diagnostic{
		Code: diag.CannotJoin, Message: "`>>` cannot join these",
		Span: at("review.star", 5, 14, 2), Label: "coder gives Draft, reviews wants str",
		Notes: []diag.Note{
			{Message: "coder is defined", Pos: diag.Pos{File: "review.star", Line: 3, Col: 1}},
			{Message: "reviews is defined at review.star:4:1", Pos: diag.Pos{File: "review.star", Line: 4, Col: 1}},
			{Message: "int is not widened to float here"},
		},
		Help: []string{`put pick("code") between them`},
	}
}

func TestRender(t *testing.T) {
	src := diag.SourceMap{
		"review.star":  review,
		"tabs.star":    "def f():\n\tif x:\n\t\treturn\tfoo(1)\n",
		"wide.star":    "名前 = \"héé 🎉\" + nmae  # e\u0301\nx = 1\n",
		"crlf.star":    "a = 1\r\nb = c\r\n",
		"mac.star":     "a = 1\rb = c\r",
		"long.star":    "x = [" + strings.Repeat("1, ", 100) + "nmae, " + strings.Repeat("2, ", 100) + "]\n",
		"ctrl.star":    "x = \"\x1b[31m\x07\u202e\x7f\xff\" + y\n",
		"hundred.star": strings.Repeat("x = 1\n", 119) + "y = z\n",
	}
	one := func(d *diag.Diagnostic) diag.List { return diag.List{d} }
	nameAt := func(file string, line, col, n int) *diag.Diagnostic {
		return &diag.Diagnostic{Code: diag.UndefinedName, Message: "undefined name", Span: at(file, line, col, n), Label: "not defined"}
	}
	tests := []struct {
		name string
		list diag.List
		src  diag.Sources
		opts diag.Options
	}{
		{"join", one(join()), src, diag.Options{}},
		{"join_color", one(join()), src, diag.Options{Color: true}},
		{"several", diag.List{
			join(),
			{Code: diag.UncheckedAny, Severity: diag.Warning, Message: "checked only at run time", Span: at("review.star", 4, 11, 5)},
			{Severity: diag.Info, Message: "42 names were considered", Help: []string{"nothing to do"}},
			{Code: diag.NoMain, Message: "nothing to run", Span: diag.Span{Pos: diag.Pos{File: "review.star"}}, Help: []string{"assign a node to main"}},
		}, src, diag.Options{}},
		{"no_source", one(join()), nil, diag.Options{}},
		{"no_position", one(&diag.Diagnostic{Code: diag.Cancelled, Message: "cancelled", Label: "by the caller"}), src, diag.Options{NoSummary: true}},
		{"tabs", one(nameAt("tabs.star", 3, 10, 3)), src, diag.Options{}},
		{"wide", one(nameAt("wide.star", 1, 16, 4)), src, diag.Options{}},
		{"crlf", one(nameAt("crlf.star", 2, 5, 1)), src, diag.Options{}},
		{"mac", one(nameAt("mac.star", 2, 5, 1)), src, diag.Options{}},
		{"hundred", one(nameAt("hundred.star", 120, 5, 1)), src, diag.Options{}},
		{"long_start", one(nameAt("long.star", 1, 1, 1)), src, diag.Options{Width: 80}},
		{"long_middle", one(nameAt("long.star", 1, 306, 4)), src, diag.Options{Width: 80}},
		{"long_end", one(nameAt("long.star", 1, 612, 1)), src, diag.Options{Width: 80}},
		{"long_span", one(nameAt("long.star", 1, 5, 9999)), src, diag.Options{}},
		{"control", one(&diag.Diagnostic{Message: "got \x1b]0;title\x07", Span: at("ctrl.star", 1, 17, 1), Help: []string{"a\rb\tc"}}), src, diag.Options{}},
		{"beyond_line", one(nameAt("crlf.star", 1, 99, 5)), src, diag.Options{}},
		{"beyond_file", one(nameAt("crlf.star", 99, 1, 1)), src, diag.Options{}},
		{"end_of_file", one(nameAt("crlf.star", 3, 1, 1)), src, diag.Options{}},
		{"multi_line", one(&diag.Diagnostic{
			Code: diag.TryExcept, Message: "no try here\nreally", Span: at("crlf.star", 2, 5, 1), Label: "first\nsecond",
			Notes: []diag.Note{{Message: "one\ntwo"}}, Help: []string{"write\n    x = attempt(f, y)\n\n    if x.ok:\n"},
		}), src, diag.Options{}},
		{"fix_without_help", one(&diag.Diagnostic{
			Message: "unknown name", Span: at("crlf.star", 2, 5, 1),
			Fixes: []diag.Fix{{Message: "write a", Span: at("crlf.star", 2, 5, 1), Replacement: "a"}},
		}), src, diag.Options{}},
		{"trace", one(&diag.Diagnostic{
			Code: diag.ScriptError, Message: "index out of range", Span: at("tabs.star", 3, 10, 3),
			Trace: []diag.Frame{
				{Name: "main", Pos: diag.Pos{File: "review.star", Line: 5, Col: 8}},
				{Name: "f", Pos: diag.Pos{File: "tabs.star", Line: 3, Col: 10}},
				{Name: "len"},
			},
		}), src, diag.Options{}},
		{"trace_deep", one(&diag.Diagnostic{
			Code: diag.ScriptError, Message: "too deep",
			Trace: slicesRepeat(diag.Frame{Name: "f", Pos: diag.Pos{File: "mac.star", Line: 2, Col: 5}}, 40),
		}), src, diag.Options{}},
		{"empty", nil, src, diag.Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := diag.Render(&b, tt.list, tt.src, tt.opts); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name+".golden", b.Bytes())
		})
	}
}

func slicesRepeat[T any](x T, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = x
	}
	return s
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestRenderReportsWriteError(t *testing.T) {
	if err := diag.Render(failingWriter{}, diag.List{join()}, nil, diag.Options{}); err != os.ErrClosed {
		t.Errorf("got %v, want %v", err, os.ErrClosed)
	}
	if err := diag.JSON(failingWriter{}, diag.List{join()}); err != os.ErrClosed {
		t.Errorf("got %v, want %v", err, os.ErrClosed)
	}
}

// For any source and position, the output is valid text without control characters, and no quoted line is wider than
// requested.
func FuzzRender(f *testing.F) {
	f.Add("x = 1\r\n\ty = 名前", "label", 2, 3, 4, 80)
	f.Add("", "", 0, 0, 0, 0)
	f.Add("\xff\x1b\u202e", "\x07\n\x1b", 1, -5, -9, 1)
	f.Add(strings.Repeat("é", 500), "x", 1, 499, 1<<30, -1)
	f.Fuzz(func(t *testing.T, text, label string, line, col, n, width int) {
		l := diag.List{{
			Code: diag.SyntaxError, Message: label, Span: at("f.star", line, col, n), Label: label,
			Notes: []diag.Note{{Message: label, Pos: diag.Pos{File: label, Line: col, Col: line}}}, Help: []string{label},
			Trace: []diag.Frame{{Name: label, Pos: diag.Pos{File: "f.star", Line: line, Col: col}}},
		}}
		var b bytes.Buffer
		if err := diag.Render(&b, l, diag.SourceMap{"f.star": text}, diag.Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b.Bytes()) {
			t.Errorf("invalid UTF-8: %q", b.String())
		}
		for _, r := range b.String() {
			if r < 0x20 && r != '\n' || r == 0x7f || r == '\u202e' {
				t.Fatalf("control character %q in %q", r, b.String())
			}
		}
		l.Sort()
		if err := diag.JSON(&b, l); err != nil {
			t.Fatal(err)
		}
	})
}

// A line end in the name of a file causes no line of output.
func TestRenderNameOfFile(t *testing.T) {
	var out strings.Builder
	at := diag.Span{Pos: diag.Pos{File: "a\nerror: b\x1b[31m", Line: 1, Col: 1}}
	if err := diag.Render(&out, diag.List{{Message: "x", Span: at}}, nil, diag.Options{NoSummary: true}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "error: x\n --> a␊error: b␛[31m:1:1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
