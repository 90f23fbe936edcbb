package startree

import "go.starlark.net/syntax"

// Unparen gives an expression without the parentheses around it.
func Unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}
