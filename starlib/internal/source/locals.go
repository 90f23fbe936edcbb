package source

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// Locals is what the text of an outermost function shows about its local names and those of the functions inside it, by
// the identifier that binds a name first. The tree must be resolved.
type Locals struct {
	Binds  map[*syntax.Ident]int  // number of places that bind them
	Shared map[*syntax.Ident]bool // a list or dict that they hold may have another name, or belong to a function
	Size   int                    // number of expressions

	copies func(fn *syntax.Ident) bool // reports whether a called global keeps nothing
}

// Local returns the identifier that first binds a local name, or nil for any other name.
func Local(id *syntax.Ident) (*syntax.Ident, *resolve.Binding) {
	b, ok := id.Binding.(*resolve.Binding)
	if !ok {
		return nil, nil
	}
	switch b.Scope {
	case resolve.Local, resolve.Cell, resolve.Free:
		return b.First, b
	}
	return nil, b
}

// NewLocals returns an empty Locals. copies reports whether a global, when it is called, keeps none of its arguments.
func NewLocals(copies func(*syntax.Ident) bool) *Locals {
	return &Locals{copies: copies}
}

// Of analyses a function, and discards the previous one.
func (n *Locals) Of(fn syntax.Node) *Locals {
	clear(n.Binds)
	clear(n.Shared)
	n.Size = 0
	switch fn := fn.(type) {
	case *syntax.DefStmt:
		n.params(fn.Params)
		n.block(fn.Body)
	case *syntax.LambdaExpr:
		n.params(fn.Params)
		n.expr(fn.Body, true)
	}
	return n
}

func (n *Locals) params(params []syntax.Expr) {
	for _, p := range params {
		a := startree.ArgOf(p)
		if a.Name != nil {
			n.expr(a.Value, false)
		}
		if id := startree.ParamName(p); id != nil {
			n.bind(id)
		}
	}
}

func (n *Locals) bind(id *syntax.Ident) {
	if first, _ := Local(id); first != nil {
		if n.Binds == nil {
			n.Binds = map[*syntax.Ident]int{}
		}
		n.Binds[first]++
	}
}

// target analyses the target of an assignment.
func (n *Locals) target(e syntax.Expr) {
	startree.Targets(e, func(e syntax.Expr) {
		switch e := e.(type) {
		case *syntax.Ident:
			n.bind(e)
		case *syntax.IndexExpr:
			n.expr(e.X, true)
			n.expr(e.Y, true)
		case *syntax.DotExpr:
			n.expr(e.X, true)
		}
	})
}

func (n *Locals) block(stmts []syntax.Stmt) {
	for _, stmt := range stmts {
		n.stmt(stmt)
	}
}

func (n *Locals) stmt(stmt syntax.Stmt) {
	switch x := stmt.(type) {
	case *syntax.ExprStmt:
		n.expr(x.X, true)
	case *syntax.AssignStmt:
		n.target(x.LHS)
		if id, ok := startree.Unparen(x.LHS).(*syntax.Ident); ok && x.Op != syntax.EQ {
			n.bind(id) // it was bound before
		}
		n.expr(x.RHS, x.Op != syntax.EQ)
	case *syntax.ReturnStmt:
		if x.Result != nil {
			n.expr(x.Result, true)
		}
	case *syntax.IfStmt:
		n.expr(x.Cond, true)
		n.block(x.True)
		n.block(x.False)
	case *syntax.WhileStmt:
		n.expr(x.Cond, true)
		n.block(x.Body)
	case *syntax.ForStmt:
		n.expr(x.X, true)
		n.target(x.Vars)
		n.block(x.Body)
	case *syntax.DefStmt:
		n.bind(x.Name)
		n.params(x.Params)
		n.block(x.Body)
	}
}

// expr analyses an expression. safe says that its context keeps no second reference to the value of a name.
func (n *Locals) expr(e syntax.Expr, safe bool) {
	n.Size++
	switch x := e.(type) {
	case *syntax.Ident:
		if first, b := Local(x); first != nil && (!safe || b.Scope != resolve.Local) {
			if n.Shared == nil {
				n.Shared = map[*syntax.Ident]bool{}
			}
			n.Shared[first] = true
		}
	case *syntax.ParenExpr:
		n.expr(x.X, safe)
	case *syntax.DotExpr: // a method of a list may change it
		n.expr(x.X, false)
	case *syntax.IndexExpr:
		n.expr(x.X, true)
		n.expr(x.Y, true)
	case *syntax.SliceExpr:
		for _, part := range []syntax.Expr{x.X, x.Lo, x.Hi, x.Step} {
			if part != nil {
				n.expr(part, true)
			}
		}
	case *syntax.UnaryExpr:
		if x.X != nil {
			n.expr(x.X, x.Op == syntax.NOT)
		}
	case *syntax.BinaryExpr:
		keeps := x.Op == syntax.AND || x.Op == syntax.OR // returns one of the operands itself
		for {
			n.expr(x.Y, !keeps)
			left, ok := x.X.(*syntax.BinaryExpr)
			if !ok {
				break
			}
			x = left
			keeps = x.Op == syntax.AND || x.Op == syntax.OR
		}
		n.expr(x.X, !keeps)
	case *syntax.CondExpr:
		n.expr(x.Cond, true)
		n.expr(x.True, false)
		n.expr(x.False, false)
	case *syntax.ListExpr:
		n.exprs(x.List)
	case *syntax.TupleExpr:
		n.exprs(x.List)
	case *syntax.DictExpr:
		for _, e := range x.List {
			if entry, ok := e.(*syntax.DictEntry); ok {
				n.expr(entry.Key, false)
				n.expr(entry.Value, false)
			}
		}
	case *syntax.Comprehension:
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				n.expr(c.X, true)
				n.target(c.Vars)
			case *syntax.IfClause:
				n.expr(c.Cond, true)
			}
		}
		if entry, ok := x.Body.(*syntax.DictEntry); ok {
			n.expr(entry.Key, false)
			n.expr(entry.Value, false)
			break
		}
		n.expr(x.Body, false)
	case *syntax.LambdaExpr:
		n.params(x.Params)
		n.expr(x.Body, false)
	case *syntax.CallExpr:
		if dot, ok := x.Fn.(*syntax.DotExpr); ok {
			n.expr(dot.X, true)
		} else {
			n.expr(x.Fn, true)
		}
		safe := n.keepsNothing(x.Fn)
		for _, arg := range x.Args {
			n.expr(startree.ArgOf(arg).Value, safe)
		}
	}
}

func (n *Locals) exprs(list []syntax.Expr) {
	for _, e := range list {
		n.expr(e, false)
	}
}

// keepsNothing reports whether a call of a function certainly neither changes nor keeps its arguments: a function of
// the interpreter, or one of ours that copies.
func (n *Locals) keepsNothing(fn syntax.Expr) bool {
	switch fn := fn.(type) {
	case *syntax.Ident:
		b, ok := fn.Binding.(*resolve.Binding)
		if !ok || b.Scope != resolve.Universal && b.Scope != resolve.Predeclared {
			return ok && b.Scope == resolve.Global && n.copies(fn)
		}
		switch fn.Name {
		case "attempt", "retry", "fallback", "race", "match", "fn", "tool", "agent":
			return false
		}
		return true
	case *syntax.DotExpr:
		switch fn.Name.Name {
		case "extend", "update", "join", "encode", "union", "difference", "intersection", "startswith", "endswith":
			return true
		}
	}
	return false
}
