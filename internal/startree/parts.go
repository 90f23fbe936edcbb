package startree

import "go.starlark.net/syntax"

// Arg is an argument of a call, or a parameter of a function.
type Arg struct {
	Name   *syntax.Ident // of a keyword argument or a parameter with a default, else nil
	Value  syntax.Expr   // nil of a bare star
	Spread syntax.Token  // syntax.STAR or syntax.STARSTAR of *args and **kwargs, else 0
}

// ArgOf takes an argument or a parameter apart.
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

// Positional reports whether the argument is given by position, and is one.
func (a Arg) Positional() bool { return a.Name == nil && a.Spread == 0 }

// ParamName is the name of a parameter, nil of a bare star.
func ParamName(p syntax.Expr) *syntax.Ident {
	a := ArgOf(p)
	if a.Name != nil {
		return a.Name
	}
	id, _ := a.Value.(*syntax.Ident)
	return id
}

// Elements returns the parts of a list or tuple that is written out, nil of anything else.
func Elements(e syntax.Expr) []syntax.Expr {
	switch x := Unparen(e).(type) {
	case *syntax.ListExpr:
		return x.List
	case *syntax.TupleExpr:
		return x.List
	}
	return nil
}

// Targets calls f with each part of what is assigned to that is no list or tuple of others.
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

// Blocks calls f with each block of a statement, but for the body of a function.
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

// Returns calls f with the return statements of a block, not those of functions in it.
func Returns(block []syntax.Stmt, f func(*syntax.ReturnStmt)) {
	for _, stmt := range block {
		if r, ok := stmt.(*syntax.ReturnStmt); ok {
			f(r)
		}
		Blocks(stmt, func(inner []syntax.Stmt) { Returns(inner, f) })
	}
}
