package source

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/internal/text"
)

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"x = (1", "unexpected end"},
		{"x = 1\ny = f\"{x}\"\n", "bad.star:2:5: error[AS102]"},
		{"x = " + strings.Repeat("1 + ", startree.Deepest) + "1", "bad.star:1:5: error[AS101]: this is nested too deeply"},
		{"x = " + strings.Repeat("(", 1001), "bad.star:1:"},
		{"if a:\n  b\n" + strings.Repeat("elif a:\n  b\n", startree.Deepest), "error[AS101]: this is nested too deeply"},
		{"x = f" + strings.Repeat("()", startree.Deepest), "error[AS101]: this is nested too deeply"},
	} {
		f, found := Parse("bad.star", []byte(test.text), nil)
		if f != nil || !found.HasErrors() {
			t.Errorf("%.40q: parsed", test.text)
		}
		if !strings.Contains(found.Error(), test.want) {
			t.Errorf("%.40q: %v\nwant %s", test.text, found, test.want)
		}
	}
	if f, found := Parse("ok.star", nil, nil); f == nil || len(found) > 0 {
		t.Errorf("the empty file: %v", found)
	}
	f, found := Parse("habit.star", []byte("x = \"%.1f\" % 2\n"), nil)
	if f == nil || !found.HasErrors() {
		t.Errorf("a habit that parses: %v, %v", f, found)
	}
}

// Long chains must not take quadratic time.
func TestLongChains(t *testing.T) {
	var src strings.Builder
	for i := range 5 {
		fmt.Fprintf(&src, "# %d\nx%d = [%s1, %strue, %sT, %snone]\n", i, i,
			strings.Repeat("1 + ", startree.Deepest-100), strings.Repeat("a or ", startree.Deepest-100), strings.Repeat("T | ", startree.Deepest-100), strings.Repeat("str >> ", startree.Deepest-100))
	}
	f, found := Parse("long.star", []byte(src.String()), nil)
	if f == nil {
		t.Fatal(found)
	}
	found = f.Lint(names, nil)
	if len(found) > 0 {
		t.Errorf("%d findings, such as %v", len(found), found[0])
	}
}

// TestLineEnds checks that everything that the scanner treats as a line end counts the same.
func TestLineEnds(t *testing.T) {
	text := "x = \"\"\"a\nb\"\"\"  # c\ny = str or None\nlist = f(\n  1)\n"
	var first string
	for _, end := range []string{"\n", "\r\n", "\r"} {
		f, found := Parse("t.star", []byte(strings.ReplaceAll(text, "\n", end)), nil)
		if f == nil {
			t.Fatal(found)
		}
		got := fmt.Sprintf("%v %q", f.Lint(names, nil).Error(), f.lines)
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("with %q:\n%s\nwant\n%s", end, got, first)
		}
	}
	if !strings.Contains(first, "t.star:3:5: ") || !strings.Contains(first, "t.star:4:1: ") {
		t.Error(first)
	}
}

func TestValidScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/valid/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, found := Parse(path, src, nil)
		if f != nil {
			found.Add(f.Lint(names, nil)...)
		}
		if len(found) > 0 {
			t.Errorf("findings where there are none:\n%v", found)
		}
	}
}

// TestExplained checks that the wrong examples of `explain` get the code they are for, and the right ones none.
func TestExplained(t *testing.T) {
	ours := map[diag.Code]bool{diag.HidesBuiltin: true, diag.TruthValue: true, diag.CapturedLoopVariable: true, diag.TypeComparison: true}
	for _, entry := range diag.Entries() {
		for _, text := range []string{entry.Wrong, entry.Right} {
			f, _ := Parse("e.star", []byte(text), nil)
			if f == nil {
				continue
			}
			found := f.Lint(names, nil)
			if text == entry.Wrong && ours[entry.Code] {
				if len(found) != 1 || found[0].Code != entry.Code {
					t.Errorf("%s: the wrong example gives %v", entry.Code, found)
				}
			} else if len(found) > 0 {
				t.Errorf("%s: %v in\n%s", entry.Code, found, text)
			}
		}
	}
}

// upstream returns the chunks of the interpreter's own test scripts.
func upstream(tb testing.TB) map[string]string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-json", "go.starlark.net").Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil || module.Dir == "" {
		tb.Skip("the sources of go.starlark.net are not at hand")
	}
	chunks := map[string]string{}
	for _, pattern := range []string{"starlark/testdata/*.star", "resolve/testdata/*.star", "syntax/testdata/*.star"} {
		files, err := filepath.Glob(filepath.Join(module.Dir, pattern))
		if err != nil || len(files) == 0 {
			tb.Fatal("no scripts", pattern, err)
		}
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			for i, chunk := range strings.Split(string(src), "\n---\n") {
				chunks[fmt.Sprintf("%s#%d", filepath.Base(path), i)] = chunk
			}
		}
	}
	return chunks
}

// TestUpstreamScripts uses the interpreter's own tests, which contain every construct of the language. Some of them
// hide names of ours, or call functions wrongly on purpose.
func TestUpstreamScripts(t *testing.T) {
	linted := 0
	for name, chunk := range upstream(t) {
		tree, err := Options().Parse(name, chunk, 0)
		if err != nil {
			continue
		}
		f := &File{tree: tree, lines: text.Lines(chunk)}
		if d, ok := f.index(nil); !ok {
			t.Error(d)
			continue
		}
		linted++
		for _, d := range f.Lint(names, nil) {
			line := f.lines[d.Span.Line-1]
			switch {
			case d.Code == diag.HidesBuiltin && strings.HasPrefix(line, f.shown(d.Span)+" = "):
			case d.Code == diag.ScriptError && strings.Contains(chunk, "duplicate key: "):
			case strings.HasPrefix(name, "function.star#") && strings.Contains(line, "mm = 100"):
			case strings.HasPrefix(name, "function.star#") && strings.Contains(line, "assert.fails(lambda: f("):
			default:
				t.Errorf("%v\n%s", d, line)
			}
		}
		f.checkSpans(t)
	}
	if linted < 100 {
		t.Errorf("only %d chunks", linted)
	}
}

// checkSpans parses the source of every expression again: the span must contain all of it.
func (f *File) checkSpans(t *testing.T) {
	t.Helper()
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.LoadStmt); ok {
			return false // its names are in strings
		}
		e, ok := n.(syntax.Expr)
		if !ok {
			return true
		}
		switch x := e.(type) {
		case *syntax.DictEntry, *syntax.UnaryExpr:
			return true // stars of parameters are not separate expressions
		case *syntax.TupleExpr:
			if len(x.List) == 1 {
				return true // its comma is not in the tree
			}
		case *syntax.BinaryExpr:
			if x.Op == syntax.EQ {
				return true
			}
		}
		text := f.cut(start(e), end(e))
		again, err := Options().ParseExpr("", "("+text+")", 0)
		if err != nil {
			t.Errorf("%s: %v is cut as %q: %v", f.tree.Path, start(e), text, err)
			return true
		}
		inner := startree.Unparen(again)
		if want := fmt.Sprintf("%T", startree.Unparen(e)); fmt.Sprintf("%T", inner) != want {
			t.Errorf("%s: %v is cut as %q: %T, not %s", f.tree.Path, start(e), text, inner, want)
		}
		return true
	})
}

func FuzzParseLint(f *testing.F) {
	for _, pattern := range []string{"testdata/lint/*.star", "testdata/valid/*.star"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
			for _, part := range strings.Split(string(src), "\n\n") {
				f.Add([]byte(part))
			}
		}
	}
	f.Add([]byte("x = (lambda é: [é\r\n for é in (str or None,) if type(é) != str])\r"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, found := Parse("f.star", src, nil)
		if file == nil {
			if !found.HasErrors() {
				t.Fatal("neither a file nor an error")
			}
			return
		}
		found.Add(file.Lint(names, nil)...)
		for _, d := range found {
			file.checkSpan(t, d.Span)
		}
		for _, call := range file.calls {
			pos := syntax.MakePosition(&file.tree.Path, call.at.line, call.at.col)
			c, _ := file.CallAt(pos)
			file.checkSpan(t, c.Fn)
			for _, a := range c.Args {
				file.checkSpan(t, a.Span)
				parts := file.PartsAt(pos, 0, a.Name)
				if a.Name == "" {
					parts = file.PartsAt(pos, 1, "")
				}
				for _, e := range slices.Concat(parts.Keys, parts.Items) {
					file.checkSpan(t, e)
				}
			}
			file.NameAt(pos)
			file.FuncAt(pos)
		}
		for _, op := range file.ops {
			o, _ := file.OperatorAt(syntax.MakePosition(&file.tree.Path, op.at.line, op.at.col))
			for _, s := range []diag.Span{o.Span, o.Left, o.Right} {
				file.checkSpan(t, s)
			}
		}
	})
}

// checkSpan requires that a span is a part of its line.
func (f *File) checkSpan(t *testing.T, s diag.Span) {
	t.Helper()
	if s.Line < 1 || s.Line > len(f.lines) || s.Col < 1 || s.Len < 1 || s.Col-1+s.Len > len([]rune(f.lines[s.Line-1])) {
		t.Fatalf("span %+v is not in the file %q", s, f.lines)
	}
}

// BenchmarkParseLint is for a script of 1000 lines.
func BenchmarkParseLint(b *testing.B) {
	var text string
	for _, name := range []string{"review.star", "program.star"} {
		src, err := os.ReadFile("testdata/valid/" + name)
		if err != nil {
			b.Fatal(err)
		}
		text += string(src)
	}
	n := strings.Count(text, "\n")
	src := []byte(strings.Repeat(text, (1000+n-1)/n))
	b.SetBytes(int64(len(src)))
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := Options().Parse("b.star", src, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			f, found := Parse("b.star", src, nil)
			if f == nil {
				b.Fatal(found)
			}
			f.Lint(names, nil)
		}
	})
	f, found := Parse("b.star", src, nil)
	if f == nil {
		b.Fatal(found)
	}
	b.Run("lint", func(b *testing.B) {
		for b.Loop() {
			f.Lint(names, nil)
		}
	})
}
