package lint

import (
	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// handedOn checks a call of a builtin that calls its arguments: what attempt(http.get, "https://…") uses is as certain
// as what a direct call uses. Other forms stay unknown.
func (l *useLint) handedOn(call *syntax.CallExpr) {
	id, ok := call.Fn.(*syntax.Ident)
	if !ok || len(call.Args) == 0 {
		return
	}
	if b, ok := id.Binding.(*resolve.Binding); !ok || b.Scope != resolve.Predeclared {
		return
	}
	first, rest := startree.Unparen(call.Args[0]), call.Args[1:]
	switch id.Name {
	case "attempt", "retry":
		l.called(call, first, rest)
	case "race", "fallback", "parallel":
		list, ok := first.(*syntax.ListExpr)
		if !ok {
			l.mapped(call, id.Name, first, rest)
			return
		}
		for _, item := range list.List {
			item = startree.Unparen(item)
			if own, ok := item.(*syntax.TupleExpr); ok && len(own.List) > 0 {
				l.called(call, startree.Unparen(own.List[0]), own.List[1:])
			} else if id.Name != "parallel" {
				l.called(call, item, rest)
			}
		}
	}
}

// mapped checks parallel(f, [x, y]).
func (l *useLint) mapped(call *syntax.CallExpr, name string, f syntax.Expr, rest []syntax.Expr) {
	if name != "parallel" || len(rest) == 0 {
		return
	}
	if items, ok := startree.Unparen(rest[0]).(*syntax.ListExpr); ok {
		for _, item := range items.List {
			l.called(call, f, []syntax.Expr{item})
		}
	}
}

// called checks a call f(args...) that a builtin makes, if f is certainly an operation of a capability.
func (l *useLint) called(within *syntax.CallExpr, f syntax.Expr, args []syntax.Expr) {
	dot, ok := f.(*syntax.DotExpr)
	if !ok {
		return
	}
	if row := l.member(dot); row != nil {
		l.seen[dot], l.seen[dot.X] = true, true
		l.call(&syntax.CallExpr{Fn: dot, Lparen: within.Lparen, Args: args, Rparen: within.Rparen}, dot, row)
	}
}
