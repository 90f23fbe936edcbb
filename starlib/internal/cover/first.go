package cover

import (
	"go.starlark.net/syntax"
)

// position returns the position of the first instruction of a statement or an expression, or the zero position if the
// compiler stores none. The first instruction of a function has the function's position if it has none itself.
func (w *inserter) position(n syntax.Node) syntax.Position {
	at, own := w.first(n)
	if !own {
		at = w.start
	}
	w.start = syntax.Position{}
	return at
}

// first returns the position that the compiler sets for the first instruction of a statement or an expression, or false
// if it sets none. The names of guards have the zero position.
func (w *inserter) first(n syntax.Node) (at syntax.Position, own bool) {
	switch n := n.(type) {
	case *syntax.ExprStmt:
		return w.first(n.X)
	case *syntax.AssignStmt:
		if n.Op == syntax.EQ {
			return w.first(n.RHS)
		}
		return w.first(n.LHS)
	case *syntax.DefStmt:
		return w.firstDefault(n.Params, n.Def)
	case *syntax.ForStmt:
		return w.first(n.X)
	case *syntax.WhileStmt:
		return w.first(n.Cond)
	case *syntax.IfStmt:
		return w.first(n.Cond)
	case *syntax.ReturnStmt:
		if n.Result != nil {
			return w.first(n.Result)
		}

	case *syntax.Ident:
		if !w.universal(n.Name) {
			return n.NamePos, true
		}
	case *syntax.ParenExpr:
		return w.first(n.X)
	case *syntax.ListExpr:
		if len(n.List) > 0 {
			return w.first(n.List[0])
		}
	case *syntax.TupleExpr:
		if len(n.List) > 0 {
			return w.first(n.List[0])
		}
	case *syntax.IndexExpr:
		return w.first(n.X)
	case *syntax.SliceExpr:
		if at, own := w.first(n.X); own {
			return at, true
		}
		return n.Lbrack, true
	case *syntax.UnaryExpr:
		return w.first(n.X)
	case *syntax.BinaryExpr:
		return w.first(n.X)
	case *syntax.CondExpr:
		return w.first(n.Cond)
	case *syntax.DotExpr:
		return w.first(n.X)
	case *syntax.CallExpr:
		return w.first(n.Fn)
	case *syntax.LambdaExpr:
		return w.firstDefault(n.Params, n.Lambda)
	}
	return syntax.Position{}, false
}

// firstDefault returns the position of the first instruction that makes a function: that of its first default, or the
// function's.
func (w *inserter) firstDefault(params []syntax.Expr, made syntax.Position) (syntax.Position, bool) {
	for _, p := range params {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			if at, own := w.first(b.Y); own {
				return at, true
			}
			break
		}
	}
	return made, true
}
