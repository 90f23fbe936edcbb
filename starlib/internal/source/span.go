package source

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// start returns the position of the first rune of n. It does not recurse, since a chain of operators may be as deep as
// the file is long.
func start(n syntax.Node) syntax.Position { return startIn(n, nil) }

// startIn is start, with known starts of some nodes.
func startIn(n syntax.Node, known map[syntax.Node]syntax.Position) syntax.Position {
	for {
		if len(known) > 0 {
			if p, ok := known[n]; ok {
				return p
			}
		}
		if first := leftmost(n); first != nil {
			n = first
			continue
		}
		switch x := n.(type) {
		case *syntax.CondExpr:
			n = x.True
			continue
		case *syntax.IfStmt: // Span would search for its end, through all of its elifs
			return x.If
		case *syntax.TupleExpr:
			if x.Lparen.IsValid() || len(x.List) == 0 {
				return x.Lparen
			}
		case *syntax.DictEntry, *syntax.AssignStmt, *syntax.ExprStmt:
		default:
			p, _ := n.Span()
			return p
		}
		n, _ = parts(n)
	}
}

// leftmost returns the operand at the start of an expression, or nil if the expression does not start with one.
func leftmost(n syntax.Node) syntax.Node {
	switch n := n.(type) {
	case *syntax.BinaryExpr:
		return n.X
	case *syntax.CallExpr:
		return n.Fn
	case *syntax.DotExpr:
		return n.X
	case *syntax.IndexExpr:
		return n.X
	case *syntax.SliceExpr:
		return n.X
	}
	return nil
}

// spine is a chain of operands that start at the same position, in the order of the walk: the longest first.
type spine struct {
	links []syntax.Node
	next  syntax.Node // the operand that continues the chain
}

// knownEvery is the number of links of a chain that may be followed to find its start.
const knownEvery = 64

// meet is called for every node of a walk. It records the starts of links of long chains, since the span of each may be
// needed.
func (s *spine) meet(n syntax.Node, starts *map[syntax.Node]syntax.Position) {
	if n != s.next {
		s.links = s.links[:0]
	}
	s.links, s.next = append(s.links, n), leftmost(n)
	if s.next != nil || len(s.links) <= knownEvery {
		return
	}
	at := start(n)
	for i := 0; i < len(s.links); i += knownEvery {
		if *starts == nil {
			*starts = map[syntax.Node]syntax.Position{}
		}
		(*starts)[s.links[i]] = at
	}
}

// end returns the position just after the last rune of n. The syntax package's Span stops before the closing bracket of
// some nodes.
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

// parts returns the first and the last of the nodes that n consists of.
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

// afterText returns the position just after a text that starts at p.
func afterText(p syntax.Position, raw string) syntax.Position {
	if strings.ContainsAny(raw, "\r\n") {
		lines := text.Lines(raw)
		last := len(lines) - 1
		p.Line, p.Col, raw = p.Line+int32(last), 1, lines[last]
	}
	return after(p, utf8.RuneCountInString(raw))
}

func (f *File) pos(p syntax.Position) diag.Pos {
	return diag.Pos{File: f.tree.Path, Line: int(p.Line), Col: int(p.Col)}
}

// SpanOf returns the span of a node of the tree, see [File.Syntax].
func (f *File) SpanOf(n syntax.Node) diag.Span { return f.span(n) }

// Brief returns the source of n for a message, or "…" if it is long.
func (f *File) Brief(n syntax.Node) string { return f.short(n) }

// span returns the span of n, or of its first line if it has several.
func (f *File) span(n syntax.Node) diag.Span { return f.between(startIn(n, f.starts), end(n)) }

// between returns the span from a to b, as far as it is on a's line. It excludes a comment and the blanks before it.
func (f *File) between(a, b syntax.Position) diag.Span {
	s := diag.Span{Pos: f.pos(a)}
	if a.Line == b.Line {
		s.Len = int(b.Col - a.Col)
	} else if i := int(a.Line) - 1; i >= 0 && i < len(f.lines) {
		line := f.lines[i]
		line = line[f.offset(i, int(a.Col)-1):]
		s.Len = utf8.RuneCountInString(strings.TrimRight(line[:commentIn(line)], " \t"))
	}
	s.Len = max(s.Len, 1)
	return s
}

// commentIn returns the offset of the comment in a line that begins with a token, or the line's length if there is
// none.
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

// token returns the span of text at p. The text has no line end.
func (f *File) token(p syntax.Position, text string) diag.Span {
	return diag.Span{Pos: f.pos(p), Len: utf8.RuneCountInString(text)}
}

// cut returns the source from a to b, with its lines joined by \n.
func (f *File) cut(a, b syntax.Position) string {
	i, j := int(a.Line)-1, int(b.Line)-1
	if i < 0 || j < i || j >= len(f.lines) {
		return ""
	}
	from, to := f.offset(i, int(a.Col)-1), f.offset(j, int(b.Col)-1)
	if i == j {
		return f.lines[i][from:max(from, to)]
	}
	parts := append([]string{f.lines[i][from:]}, f.lines[i+1:j]...)
	return strings.Join(append(parts, f.lines[j][:to]), "\n")
}

// markEvery is the number of runes between two marks of a long line.
const markEvery = 1024

// mark records the offsets of runes in lines in which counting them takes long: there may be many findings on one line.
// ASCII lines need no marks.
func (f *File) mark() {
	for n, line := range f.lines {
		if len(line) <= markEvery || isASCII(line) {
			continue
		}
		var marks []int32
		runes := 0
		for i := range line {
			if runes%markEvery == 0 {
				marks = append(marks, int32(i))
			}
			runes++
		}
		if f.marks == nil {
			f.marks = map[int][]int32{}
		}
		f.marks[n] = marks
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// offset returns the byte offset of rune n of a line, or the length if it has fewer.
func (f *File) offset(line, n int) int {
	s := f.lines[line]
	marks := f.marks[line]
	switch {
	case n <= 0:
		return 0
	case marks == nil && len(s) > markEvery: // ASCII
		return min(n, len(s))
	case marks != nil && n/markEvery >= len(marks):
		return len(s)
	}
	begin := 0
	if marks != nil {
		begin = int(marks[n/markEvery])
		n %= markEvery
	}
	for i := range s[begin:] {
		if n == 0 {
			return begin + i
		}
		n--
	}
	return len(s)
}
