package thread

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
)

// Selects reports whether the function returns one item of the list that it receives, the one at taken, and fails if a
// condition does not hold for the item at asked:
//
//	def best(results):
//	    if results[1] != "yes":
//	        fail("no")
//	    return results[1]
//
// The condition is nil if the function tests nothing. Selects is used when a flow is written in another format, while
// no run uses the script.
func (f *Callback) Selects() (taken, asked int, when *predicate.Predicate, ok bool) {
	params, body := f.written()
	if len(params) != 1 {
		return 0, 0, nil, false
	}
	param, named := params[0].(*syntax.Ident)
	if !named {
		return 0, 0, nil, false
	}
	list := param.Name
	if len(body) > 0 && isText(body[0]) {
		body = body[1:]
	}
	switch {
	case len(body) == 1 && fails(body[0]):
		if at := mentioned(body[0], list); at >= 0 {
			return at, at, predicate.Never(), true
		}
		return 0, 0, nil, false
	case len(body) == 2:
		check, isIf := body[0].(*syntax.IfStmt)
		if !isIf || len(check.False) > 0 || len(check.True) != 1 || !fails(check.True[0]) {
			return 0, 0, nil, false
		}
		if asked, when, ok = unless(check.Cond, list); !ok {
			return 0, 0, nil, false
		}
	case len(body) != 1:
		return 0, 0, nil, false
	}
	ret, isReturn := body[len(body)-1].(*syntax.ReturnStmt)
	if !isReturn || ret.Result == nil {
		return 0, 0, nil, false
	}
	if taken, ok = item(ret.Result, list); when == nil {
		asked = taken
	}
	return taken, asked, when, ok
}

// written returns the parameters and statements of the function as the script writes them. It returns none if the
// function is not written in a script.
func (f *Callback) written() (params []syntax.Expr, body []syntax.Stmt) {
	fn, ok := f.Func.(*starlark.Function)
	if !ok {
		return nil, nil
	}
	u := f.State.ByName[fn.Position().Filename()]
	if u == nil || u.File == nil {
		return nil, nil
	}
	switch n := u.Function(fn.Position()).(type) {
	case *syntax.LambdaExpr:
		return n.Params, []syntax.Stmt{&syntax.ReturnStmt{Result: n.Body}}
	case *syntax.DefStmt:
		return n.Params, n.Body
	}
	return nil, nil
}

// isText reports whether a statement is a text, such as a docstring.
func isText(stmt syntax.Stmt) bool {
	e, ok := stmt.(*syntax.ExprStmt)
	if !ok {
		return false
	}
	l, ok := e.X.(*syntax.Literal)
	return ok && l.Token == syntax.STRING
}

// builtin returns the call of a function of the language and its name, or nil for anything else.
func builtin(e syntax.Expr) (call *syntax.CallExpr, name string) {
	call, ok := startree.Unparen(e).(*syntax.CallExpr)
	if !ok {
		return nil, ""
	}
	id, ok := call.Fn.(*syntax.Ident)
	if !ok {
		return nil, ""
	}
	if b, ok := id.Binding.(*resolve.Binding); !ok || b.Scope != resolve.Universal && b.Scope != resolve.Predeclared {
		return nil, ""
	}
	return call, id.Name
}

// fails reports whether a statement calls fail.
func fails(stmt syntax.Stmt) bool {
	e, ok := stmt.(*syntax.ExprStmt)
	if !ok {
		return false
	}
	_, name := builtin(e.X)
	return name == "fail"
}

// mentioned returns the index of the only item of a list that a statement refers to, or -1.
func mentioned(stmt syntax.Stmt, list string) int {
	at := -1
	syntax.Walk(stmt, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.IndexExpr); ok && at < 0 {
			if i, ok := item(e, list); ok {
				at = i
			}
		}
		return true
	})
	return at
}

// item returns the index of an item of a list: list[2].
func item(e syntax.Expr, list string) (at int, ok bool) {
	x, ok := startree.Unparen(e).(*syntax.IndexExpr)
	if !ok {
		return 0, false
	}
	of, named := x.X.(*syntax.Ident)
	v, written := literal(x.Y)
	n, whole := v.AsInt()
	return int(n), named && of.Name == list && written && whole && n >= 0 && n < 1<<20
}

// literal returns the value of a text, a number, True or False.
func literal(e syntax.Expr) (generable.Value, bool) {
	switch e := startree.Unparen(e).(type) {
	case *syntax.Literal:
		switch v := e.Value.(type) {
		case string:
			return generable.StrOf(v), true
		case int64:
			return generable.IntOf(v), true
		case float64:
			return generable.FloatOf(v)
		}
	case *syntax.UnaryExpr:
		v, ok := literal(e.X)
		if n, whole := v.AsInt(); e.Op == syntax.MINUS && ok && whole {
			return generable.IntOf(-n), true
		}
		if n, number := v.AsFloat(); e.Op == syntax.MINUS && ok && number {
			return generable.FloatOf(-n)
		}
	case *syntax.Ident:
		if b, ok := e.Binding.(*resolve.Binding); ok && b.Scope == resolve.Universal && (e.Name == "True" || e.Name == "False") {
			return generable.BoolOf(e.Name == "True"), true
		}
	}
	return generable.Value{}, false
}

// kept maps a comparison to the one that holds if it does not.
var kept = map[syntax.Token]predicate.Op{syntax.NEQ: predicate.Eq, syntax.EQL: predicate.Ne, syntax.LE: predicate.Gt, syntax.LT: predicate.Ge,
	syntax.GE: predicate.Lt, syntax.GT: predicate.Le}

// tests are the functions of the language that make conditions.
var tests = []string{"eq", "ne", "gt", "ge", "lt", "le"} // by [predicate.Op]

// unless returns the condition that holds for an item of a list if an expression is false: results[1] != "yes", or not
// eq("yes")(results[1]).
func unless(e syntax.Expr, list string) (at int, when *predicate.Predicate, ok bool) {
	switch e := startree.Unparen(e).(type) {
	case *syntax.BinaryExpr:
		op, compares := kept[e.Op]
		v, written := literal(e.Y)
		at, ok := item(e.X, list)
		if _, number := v.AsNumber(); !ok || !compares || !written || op != predicate.Eq && op != predicate.Ne && !number {
			return 0, nil, false // the order of texts is case-sensitive there
		}
		p, err := predicate.New(op, "", &v)
		return at, p, err == nil
	case *syntax.UnaryExpr:
		call, isCall := startree.Unparen(e.X).(*syntax.CallExpr)
		if e.Op != syntax.NOT || !isCall || len(call.Args) != 1 {
			return 0, nil, false
		}
		at, ok := item(call.Args[0], list)
		when := test(call.Fn)
		return at, when, ok && when != nil
	}
	return 0, nil, false
}

// test returns the condition on one value that an expression describes: ge("m", fold = True).
func test(e syntax.Expr) *predicate.Predicate {
	call, name := builtin(e)
	op := slices.Index(tests, name)
	if call == nil || op < 0 || len(call.Args) == 0 || len(call.Args) > 2 {
		return nil
	}
	v, ok := literal(call.Args[0])
	if !ok {
		return nil
	}
	p, err := predicate.New(predicate.Op(op), "", &v)
	if err != nil || len(call.Args) == 1 {
		return p
	}
	arg := startree.ArgOf(call.Args[1])
	if arg.Name == nil || arg.Name.Name != "fold" {
		return nil
	}
	if yes, _ := literal(arg.Value); yes.Kind() != generable.Bool {
		return nil
	} else if on, _ := yes.AsBool(); on {
		p = p.Folded()
	}
	return p
}
