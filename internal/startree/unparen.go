package startree

import "go.starlark.net/syntax"

// Unparen returns an expression without the parentheses around it.
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

// Fresh reports whether an expression creates a value that nothing else refers to.
func Fresh(e syntax.Expr) bool {
	switch x := Unparen(e).(type) {
	case *syntax.Ident, *syntax.CondExpr, *syntax.DotExpr, *syntax.IndexExpr:
		return false
	case *syntax.BinaryExpr:
		return x.Op != syntax.AND && x.Op != syntax.OR
	}
	return true
}

// NameOrField reports whether an expression can be tested in place.
func NameOrField(e syntax.Expr) bool {
	switch x := Unparen(e).(type) {
	case *syntax.Ident:
		return x.Name != "None"
	case *syntax.DotExpr:
		return NameOrField(x.X)
	}
	return false
}
