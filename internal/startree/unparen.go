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

// Written reports whether all parts of a value are literals.
func Written(e syntax.Expr) bool {
	switch x := Unparen(e).(type) {
	case *syntax.Literal:
		return true
	case *syntax.DictExpr:
		for _, item := range x.List {
			if pair, ok := item.(*syntax.DictEntry); !ok || !Written(pair.Key) || !Written(pair.Value) {
				return false
			}
		}
		return true
	case *syntax.ListExpr:
		for _, item := range x.List {
			if !Written(item) {
				return false
			}
		}
		return true
	}
	return false
}
