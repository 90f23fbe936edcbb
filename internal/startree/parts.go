package startree

import "go.starlark.net/syntax"

// Arg is an argument of a call, or a parameter of a function.
type Arg struct {
	Name   *syntax.Ident // name of a keyword argument or of a parameter with a default, otherwise nil
	Value  syntax.Expr   // nil for a bare star
	Spread syntax.Token  // syntax.STAR or syntax.STARSTAR for *args and **kwargs, otherwise 0
}

// ArgOf splits an argument or a parameter into its parts.
//
//go:noinline
func ArgOf(e syntax.Expr) Arg {
	switch x := e.(type) {
	case *syntax.BinaryExpr:
		if x.Op == syntax.EQ {
			id, _ := x.X.(*syntax.Ident)
			return Arg{Name: id, Value: x.Y}
		}
	case *syntax.UnaryExpr:
		if x.Op == syntax.STAR || x.Op == syntax.STARSTAR {
			return Arg{Value: x.X, Spread: x.Op}
		}
	}
	return Arg{Value: e}
}

// Positional reports whether it is a single positional argument.
func (a Arg) Positional() bool { return a.Name == nil && a.Spread == 0 }

// ParamName returns the name of a parameter, or nil for a bare star.
func ParamName(p syntax.Expr) *syntax.Ident {
	a := ArgOf(p)
	if a.Name != nil {
		return a.Name
	}
	id, _ := a.Value.(*syntax.Ident)
	return id
}

// Elements returns the parts of a list or tuple literal, or nil for anything else.
func Elements(e syntax.Expr) []syntax.Expr {
	switch x := Unparen(e).(type) {
	case *syntax.ListExpr:
		return x.List
	case *syntax.TupleExpr:
		return x.List
	}
	return nil
}

// Targets calls f with each part of an assignment target that is not a list or tuple itself.
func Targets(e syntax.Expr, f func(syntax.Expr)) {
	e = Unparen(e)
	switch e.(type) {
	case *syntax.ListExpr, *syntax.TupleExpr:
		for _, part := range Elements(e) {
			Targets(part, f)
		}
	default:
		f(e)
	}
}

// Blocks calls f with each block of a statement, except the body of a function.
func Blocks(stmt syntax.Stmt, f func([]syntax.Stmt)) {
	switch x := stmt.(type) {
	case *syntax.IfStmt:
		f(x.True)
		f(x.False)
	case *syntax.ForStmt:
		f(x.Body)
	case *syntax.WhileStmt:
		f(x.Body)
	}
}

// Returns calls f with the return statements of a block, except those of functions in it.
func Returns(block []syntax.Stmt, f func(*syntax.ReturnStmt)) {
	for _, stmt := range block {
		if r, ok := stmt.(*syntax.ReturnStmt); ok {
			f(r)
		}
		Blocks(stmt, func(inner []syntax.Stmt) { Returns(inner, f) })
	}
}
