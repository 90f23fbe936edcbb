// Package startree walks the syntax trees of scripts for all who read them: what loads, checks and
// formats a script bounds its depth alike.
package startree

import "go.starlark.net/syntax"

// Deepest bounds the depth of a tree. The parser bounds brackets and blocks by itself, but a chain
// of operators, calls or elifs is as deep as it is long, and a Go stack that overflows takes the
// whole process with it.
const Deepest = 10_000

// Walk visits the nodes of a file, an enclosing one first, down to a depth of Deepest. It gives the
// first one below that, or nil. visit may be nil.
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
