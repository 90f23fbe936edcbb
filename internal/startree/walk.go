// Package startree walks the syntax trees of scripts, so that loading, checking and formatting a script bound its depth
// in the same way.
package startree

import "go.starlark.net/syntax"

// Deepest bounds the depth of a tree. The parser bounds brackets and blocks itself, but a chain of operators, calls or
// elifs is as deep as it is long, and an overflow of the Go stack ends the whole process.
const Deepest = 10_000

// Walk visits the nodes of a file, enclosing ones first, down to a depth of Deepest. It returns the first node below
// that, or nil. visit may be nil.
func Walk(tree *syntax.File, visit func(n syntax.Node)) (deep syntax.Node) {
	depth := 0
	syntax.Walk(tree, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		if depth >= Deepest {
			if deep == nil {
				deep = n
			}
			return false
		}
		depth++
		if visit != nil {
			visit(n)
		}
		return true
	})
	return deep
}
