package source

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// What a call of a function of the file gives (AS207): a factory's result is a
// node like any other.

// givenBy says what a call of the function that b names surely gives.
func (l *linter) givenBy(b *binding) known {
	if !isFunction(b) {
		return known{}
	}
	if !b.settled && !b.busy {
		b.busy = true // a function that gives what it gives itself is unknown
		if fn, ok := startree.Unparen(b.value).(*syntax.LambdaExpr); ok {
			b.known = l.bodyGives(fn, b.scope)
		} else {
			b.known = l.returned(b.def, b.scope)
		}
		b.busy, b.settled = false, true
		if b.known.what != unknown {
			b.known.by, b.known.called = b, true
		}
	}
	return b.known
}

// isFunction reports whether the name stands for a def or a lambda of the file.
func isFunction(b *binding) bool {
	_, ok := startree.Unparen(b.value).(*syntax.LambdaExpr)
	return ok || b.def != nil
}

// bodyGives says what a call of a lambda gives.
func (l *linter) bodyGives(fn *syntax.LambdaExpr, outer *scope) known {
	inner := &scope{parent: outer, node: fn}
	inner.params(fn.Params)
	return known{what: l.kindOf(fn.Body, inner).what}
}

// returned says what a def gives when all its ways end in a return of the same kind. One that
// can come to its end gives None as well.
func (l *linter) returned(def *syntax.DefStmt, outer *scope) known {
	if !leaves(def.Body) {
		return known{}
	}
	inner := &scope{parent: outer, node: def}
	inner.params(def.Params)
	inner.collect(def.Body)
	what, same := unknown, true
	startree.Returns(def.Body, func(r *syntax.ReturnStmt) {
		if r.Result == nil {
			same = false
			return
		}
		k := l.kindOf(r.Result, inner).what
		if what == unknown {
			what = k
		}
		same = same && k == what
	})
	if !same {
		return known{}
	}
	return known{what: what}
}

// leaves reports whether a block never comes to its end.
func leaves(block []syntax.Stmt) bool {
	return slices.ContainsFunc(block, func(s syntax.Stmt) bool {
		switch s := s.(type) {
		case *syntax.ReturnStmt:
			return true
		case *syntax.IfStmt:
			return leaves(s.True) && leaves(s.False)
		case *syntax.ExprStmt:
			call, ok := s.X.(*syntax.CallExpr)
			if !ok {
				return false
			}
			id, ok := call.Fn.(*syntax.Ident)
			return ok && id.Name == "fail"
		}
		return false
	})
}
