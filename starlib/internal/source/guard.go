package source

import (
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// Guard has the operands that the interpreter would print without a bound go through functions:
// in s % x the x through the one named printed, in s.format the s through the one named
// formatted. They are predeclared under names that no script can write. Positions stay as they
// are. It does so once, between Lint and resolving.
func (f *File) Guard(printed, formatted string) {
	if f.guarded {
		return
	}
	f.guarded = true
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryExpr:
			if n.Op == syntax.PERCENT {
				n.Y = guarded(printed, n.Y, n.OpPos)
			}
		case *syntax.AssignStmt:
			if n.Op == syntax.PERCENT_EQ {
				n.RHS = guarded(printed, n.RHS, n.OpPos)
			}
		case *syntax.DotExpr:
			if n.Name.Name == "format" {
				n.X = guarded(formatted, n.X, n.Dot)
			}
		}
		return true
	})
}

// guarded calls the function with e, and where e is, as the operation at pos. A number that is
// written out needs no guard.
func guarded(function string, e syntax.Expr, pos syntax.Position) syntax.Expr {
	if lit, ok := startree.Unparen(e).(*syntax.Literal); ok && lit.Token != syntax.STRING {
		return e
	}
	begin, end := e.Span()
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: begin, Name: function}, Lparen: pos, Args: []syntax.Expr{e},
		Rparen: syntax.MakePosition(nil, end.Line, end.Col-1)}
}
