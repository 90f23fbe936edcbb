package source

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// start gives the position of the first rune of n. It does not recurse, since a
// chain of operators may be as deep as the file is long.
func start(n syntax.Node) syntax.Position {
	for {
		switch x := n.(type) {
		case *syntax.CondExpr:
			n = x.True
			continue
		case *syntax.TupleExpr:
			if x.Lparen.IsValid() || len(x.List) == 0 {
				return x.Lparen
			}
		case *syntax.BinaryExpr, *syntax.CallExpr, *syntax.DotExpr, *syntax.IndexExpr, *syntax.SliceExpr,
			*syntax.DictEntry, *syntax.AssignStmt, *syntax.ExprStmt:
		default:
			p, _ := n.Span()
			return p
		}
		n, _ = parts(n)
	}
}

// end gives the position just after the last rune of n. Span of the syntax
// package stops before the closing bracket of some nodes.
func end(n syntax.Node) syntax.Position {
	for {
		switch x := n.(type) {
		case *syntax.IndexExpr:
			return after(x.Rbrack, 1)
		case *syntax.SliceExpr:
			return after(x.Rbrack, 1)
		case *syntax.LoadStmt:
			return after(x.Rparen, 1)
		case *syntax.Literal:
			return afterText(x.TokenPos, x.Raw)
		case *syntax.TupleExpr:
			if x.Lparen.IsValid() {
				return after(x.Rparen, 1)
			}
		case *syntax.CallExpr, *syntax.ParenExpr, *syntax.ListExpr, *syntax.DictExpr, *syntax.Comprehension:
			_, p := n.Span()
			return p
		}
		_, last := parts(n)
		if last == nil {
			_, p := n.Span()
			return p
		}
		n = last
	}
}

// parts gives the first and the last of the nodes that n is made of.
func parts(n syntax.Node) (first, last syntax.Node) {
	syntax.Walk(n, func(part syntax.Node) bool {
		if part != nil && part != n {
			first, last = cmp.Or(first, part), part
		}
		return part == n
	})
	return first, last
}

func after(p syntax.Position, runes int) syntax.Position {
	p.Col += int32(runes)
	return p
}

// afterText is the position just after a text, which begins at p.
func afterText(p syntax.Position, raw string) syntax.Position {
	lines := text.Lines(raw)
	if last := len(lines) - 1; last > 0 {
		p.Line, p.Col, raw = p.Line+int32(last), 1, lines[last]
	}
	return after(p, utf8.RuneCountInString(raw))
}

func (f *File) pos(p syntax.Position) diag.Pos {
	return diag.Pos{File: f.tree.Path, Line: int(p.Line), Col: int(p.Col)}
}

// SpanOf is span for who knows the tree.
func (f *File) SpanOf(n syntax.Node) diag.Span { return f.span(n) }

// span gives the place of n: of its first line, where it has several.
func (f *File) span(n syntax.Node) diag.Span { return f.between(start(n), end(n)) }

// between gives the place from a up to b, as far as it is on the line of a. A
// comment and the blanks before it are left out.
func (f *File) between(a, b syntax.Position) diag.Span {
	s := diag.Span{Pos: f.pos(a)}
	if a.Line == b.Line {
		s.Len = int(b.Col - a.Col)
	} else if i := int(a.Line) - 1; i >= 0 && i < len(f.lines) {
		line := f.lines[i]
		line = line[runeOffset(line, int(a.Col)-1):]
		s.Len = utf8.RuneCountInString(strings.TrimRight(line[:commentIn(line)], " \t"))
	}
	s.Len = max(s.Len, 1)
	return s
}

// commentIn gives the offset of the comment in a line that begins with a token;
// its length when there is none.
func commentIn(line string) int {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '#':
			return i
		case '"', '\'':
			quote := line[i : i+1]
			if triple := strings.Repeat(quote, 3); strings.HasPrefix(line[i:], triple) {
				quote = triple
			}
			for i += len(quote); i < len(line) && !strings.HasPrefix(line[i:], quote); i++ {
				if line[i] == '\\' {
					i++
				}
			}
			i += len(quote) - 1
		}
	}
	return len(line)
}

// token gives the place of text at p, which has no line end.
func (f *File) token(p syntax.Position, text string) diag.Span {
	return diag.Span{Pos: f.pos(p), Len: utf8.RuneCountInString(text)}
}

// cut gives the source from a up to b; its lines are joined by \n.
func (f *File) cut(a, b syntax.Position) string {
	i, j := int(a.Line)-1, int(b.Line)-1
	if i < 0 || j < i || j >= len(f.lines) {
		return ""
	}
	from, to := runeOffset(f.lines[i], int(a.Col)-1), runeOffset(f.lines[j], int(b.Col)-1)
	if i == j {
		return f.lines[i][from:max(from, to)]
	}
	parts := append([]string{f.lines[i][from:]}, f.lines[i+1:j]...)
	return strings.Join(append(parts, f.lines[j][:to]), "\n")
}

// runeOffset gives the byte offset of rune n, or the length when there are fewer.
func runeOffset(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
