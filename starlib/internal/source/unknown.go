package source

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// Predeclared finds where a resolved tree reads one of the given predeclared names, in the order
// of the source: each place at the top level, and the first one in each function and
// comprehension there.
func (f *File) Predeclared(names map[string]bool) []*syntax.Ident {
	var found []*syntax.Ident
	var told map[string]bool // of the function or comprehension around, nil at the top level
	depth, block := 0, 0
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
			if depth--; depth == block {
				told = nil
			}
			return true
		case *syntax.DefStmt, *syntax.LambdaExpr, *syntax.Comprehension:
			if told == nil {
				told, block = map[string]bool{}, depth
			}
		case *syntax.Ident:
			b, _ := n.Binding.(*resolve.Binding)
			if b != nil && b.Scope == resolve.Predeclared && names[n.Name] && !told[n.Name] {
				found = append(found, n)
				if told != nil {
					told[n.Name] = true
				}
			}
		}
		depth++
		return true
	})
	return found
}
