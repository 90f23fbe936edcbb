package starfmt

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// longest bounds the chains that are laid out. The formatter underneath looks at all of a chain
// for each of its links, so that its time grows with the square of the length; a longer chain
// stays as it was written.
const longest = 200

// stretch is where an expression stands.
type stretch struct{ begin, end syntax.Position }

// chains gives where expressions hang on each other for more than longest links, the outermost of
// them and in the order of the text.
func chains(tree *syntax.File) []stretch {
	type open struct {
		n     syntax.Node
		links int
	}
	var stack []open
	var all []stretch
	syntax.Walk(tree, func(n syntax.Node) bool {
		if n != nil {
			stack = append(stack, open{n, 1})
			return true
		}
		done := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if len(stack) > 0 {
			if up := &stack[len(stack)-1]; hangs(up.n, done.n) {
				up.links = max(up.links, done.links+1)
				return true
			}
		}
		if done.links > longest {
			begin, _ := done.n.Span()
			all = append(all, stretch{begin, behind(done.n)})
		}
		return true
	})
	slices.SortFunc(all, func(a, b stretch) int {
		return cmp.Or(compare(a.begin, b.begin), compare(b.end, a.end)) // who encloses comes first
	})
	var out []stretch
	for _, s := range all {
		if len(out) == 0 || compare(s.begin, out[len(out)-1].end) >= 0 {
			out = append(out, s)
		}
	}
	return out
}

// behind gives the position behind an expression. The spans of some end before their bracket.
func behind(n syntax.Node) syntax.Position {
	_, end := n.Span()
	for {
		switch e := n.(type) {
		case *syntax.BinaryExpr:
			n = e.Y
		case *syntax.UnaryExpr:
			if n = e.X; e.X == nil {
				return end
			}
		case *syntax.CondExpr:
			n = e.False
		case *syntax.LambdaExpr:
			n = e.Body
		case *syntax.IndexExpr, *syntax.SliceExpr:
			end.Col++
			return end
		case *syntax.TupleExpr:
			if e.Lparen.IsValid() {
				end.Col++
				return end
			}
			n = e.List[len(e.List)-1]
		default:
			return end
		}
	}
}

func compare(a, b syntax.Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// hangs reports whether an expression and one that is directly part of it are links of a chain:
// nothing encloses the part.
func hangs(whole, part syntax.Node) bool {
	switch whole := whole.(type) {
	case *syntax.BinaryExpr:
		return whole.Op != syntax.EQ // a keyword argument or a default
	case *syntax.CallExpr:
		return part == whole.Fn
	case *syntax.DotExpr:
		return part == whole.X
	case *syntax.IndexExpr:
		return part == whole.X
	case *syntax.SliceExpr:
		return part == whole.X
	case *syntax.LambdaExpr:
		return part == whole.Body
	case *syntax.UnaryExpr, *syntax.CondExpr:
		return true
	}
	return false
}

// hideChains puts a name in the place of each of the chains and gives their texts.
func hideChains(src []byte, chains []stretch, marker string) (out []byte, texts [][]byte) {
	at := &cursor{src: src, line: 1, col: 1}
	for i, s := range chains {
		out = append(out, src[at.offset:at.to(s.begin)]...)
		out = append(out, marker+strconv.Itoa(i)+"_"...)
		from := at.offset
		texts = append(texts, src[from:at.to(s.end)])
	}
	return append(out, src[at.offset:]...), texts
}

// showChains is the inverse of hideChains.
func showChains(src []byte, texts [][]byte, marker string) []byte {
	var out []byte
	for i, text := range texts {
		name := []byte(marker + strconv.Itoa(i) + "_")
		before, after, _ := bytes.Cut(src, name) // one that is missing shows when the trees are compared
		out = append(append(out, before...), text...)
		src = after
	}
	return append(out, src...)
}

// cursor walks over a text by lines and columns in runes, both from 1.
type cursor struct {
	src       []byte
	offset    int
	line, col int32
}

// to gives the offset of a position at or behind the cursor and moves there.
func (c *cursor) to(p syntax.Position) int {
	for c.offset < len(c.src) && (c.line < p.Line || c.line == p.Line && c.col < p.Col) {
		r, size := utf8.DecodeRune(c.src[c.offset:])
		c.offset += size
		if c.col++; r == '\n' {
			c.line, c.col = c.line+1, 1
		}
	}
	return c.offset
}
