package starfmt

import (
	"bytes"
	"strings"

	"go.starlark.net/syntax"
)

// hideWhile writes every while statement as a for statement over its condition. Lines and everything else are
// unchanged.
func hideWhile(src []byte, tree *syntax.File, marker string) []byte {
	heads := map[int32]bool{} // the lines that begin with a while
	syntax.Walk(tree, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.WhileStmt); ok {
			heads[w.While.Line] = true
		}
		return true
	})
	return editLines(src, func(n int32, line string) string {
		if heads[n] {
			return strings.Replace(line, "while", "for "+marker+" in", 1)
		}
		return line
	})
}

// showWhile is the inverse of hideWhile. Continuation lines of a condition are aligned with its start, and move with
// it.
func showWhile(out []byte, tree *syntax.File, marker string) []byte {
	head := "for " + marker + " in "
	shift := len(head) - len("while ")
	heads := map[int32]bool{}
	move := map[int32]int{} // the least indentation of lines that move
	syntax.Walk(tree, func(n syntax.Node) bool {
		f, ok := n.(*syntax.ForStmt)
		if !ok {
			return true
		}
		if id, ok := f.Vars.(*syntax.Ident); ok && id.Name == marker {
			heads[f.For.Line] = true
			start, end := f.X.Span()
			for line := start.Line + 1; line <= end.Line; line++ {
				move[line] = int(f.For.Col) - 1 + len(head)
			}
		}
		return true
	})
	return editLines(out, func(n int32, line string) string {
		if heads[n] {
			return strings.Replace(line, head, "while ", 1)
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if least, ok := move[n]; ok && indent >= least {
			return line[shift:]
		}
		return line
	})
}

// editLines rewrites a text line by line; lines are numbered from 1.
func editLines(src []byte, edit func(n int32, line string) string) []byte {
	var out bytes.Buffer
	n := int32(0)
	for line := range strings.Lines(string(src)) {
		n++
		out.WriteString(edit(n, line))
	}
	return out.Bytes()
}

// freshName returns a name that the script does not use, not even as part of another.
func freshName(src []byte, name string) string {
	for bytes.Contains(src, []byte(name)) {
		name += "_"
	}
	return name
}
