package starfmt

import (
	"bytes"
	"strings"

	"go.starlark.net/syntax"
)

// spot is a line and a column in runes, both from 1.
type spot struct{ line, col int32 }

// hideWhile writes every while statement as a for statement over its condition. Lines and
// everything else stay as they are.
func hideWhile(src []byte, tree *syntax.File, marker string) []byte {
	at := map[spot]bool{}
	syntax.Walk(tree, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.WhileStmt); ok {
			at[spot{w.While.Line, w.While.Col}] = true
		}
		return true
	})
	return edit(src, at, func(rest string) string { return "for " + marker + " in" + rest[len("while"):] })
}

// showWhile is the inverse of hideWhile. Lines of a condition that goes on are aligned to its
// beginning, and so move with it. It reports whether there was any.
func showWhile(out []byte, tree *syntax.File, marker string) (shown []byte, some bool) {
	head := "for " + marker + " in "
	shift := len(head) - len("while ")
	at := map[spot]bool{}
	move := map[int32]int{} // how far lines are indented at least to move
	syntax.Walk(tree, func(n syntax.Node) bool {
		f, ok := n.(*syntax.ForStmt)
		if !ok {
			return true
		}
		if id, ok := f.Vars.(*syntax.Ident); ok && id.Name == marker {
			at[spot{f.For.Line, f.For.Col}] = true
			start, end := f.X.Span()
			for line := start.Line + 1; line <= end.Line; line++ {
				move[line] = int(f.For.Col) - 1 + len(head)
			}
		}
		return true
	})
	if len(at) == 0 {
		return out, false
	}
	out = edit(out, at, func(rest string) string { return "while " + rest[len(head):] })
	if len(move) == 0 {
		return out, true
	}
	var moved bytes.Buffer
	for i, line := range strings.SplitAfter(string(out), "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if least, ok := move[int32(i+1)]; ok && indent >= least {
			line = line[shift:]
		}
		moved.WriteString(line)
	}
	return moved.Bytes(), true
}

// edit rewrites lines from the given places on. A line begins at most one such statement.
func edit(src []byte, at map[spot]bool, rewrite func(rest string) string) []byte {
	if len(at) == 0 {
		return src
	}
	var out bytes.Buffer
	for i, line := range strings.SplitAfter(string(src), "\n") {
		col := int32(1)
		for j := range line {
			if at[spot{int32(i + 1), col}] {
				line = line[:j] + rewrite(line[j:])
				break
			}
			col++
		}
		out.WriteString(line)
	}
	return out.Bytes()
}

// freshName is a name that the script does not use, nor as part of another.
func freshName(src []byte, name string) string {
	for bytes.Contains(src, []byte(name)) {
		name += "_"
	}
	return name
}
