package source

import (
	"slices"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// A known is what is known about the value of an expression without running it.
type known struct {
	what   what
	by     *binding // the name that has this value; nil for a literal expression
	called bool     // by is a function, and calling it returns the value
}

type what uint8

const (
	unknown what = iota
	aType
	aNode
	anAttempt // the result of attempt in a function
	aCondition
	anApproval // the result of approve
)

func (w what) String() string {
	return [...]string{"value", "type", "node", "attempt", "condition", "approval"}[w]
}

// kindOf reports whether e is certainly a type or a node: a builtin type, list[str], T | None, the call of a maker, an
// operator between nodes, or a name that is only ever assigned one of these.
func (l *linter) kindOf(e syntax.Expr, s *scope) known {
	switch x := startree.Unparen(e).(type) {
	case *syntax.Ident:
		b, _ := s.lookup(x.Name)
		if b != nil {
			return l.valueOf(b)
		}
		if l.types[x.Name] {
			return known{what: aType}
		}
		if l.constants[x.Name] {
			return known{what: aCondition}
		}
	case *syntax.CallExpr:
		return l.made(x, s)
	case *syntax.IndexExpr:
		if id, ok := x.X.(*syntax.Ident); ok && (id.Name == "list" || id.Name == "dict") && l.types[id.Name] {
			if b, _ := s.lookup(id.Name); b == nil {
				return known{what: aType}
			}
		}
	case *syntax.CondExpr:
		if k := l.kindOf(x.True, s); k.what != unknown && k.what == l.kindOf(x.False, s).what {
			return known{what: k.what}
		}
	case *syntax.UnaryExpr:
		if x.Op == syntax.TILDE && x.X != nil {
			if l.kindOf(x.X, s).what == aCondition {
				return known{what: aCondition}
			}
		}
	case *syntax.BinaryExpr:
		want := unknown
		switch x.Op {
		case syntax.AMP:
			want = aCondition
		case syntax.PIPE:
			want = aType
		case syntax.GTGT, syntax.SLASH, syntax.STAR:
			want = aNode
		default:
			return known{}
		}
		// Each operand is examined once: chains of operators may be long, and brackets deep.
		right := l.kindOf(x.Y, s).what
		if right == want && want != aType || right == aCondition && x.Op == syntax.PIPE {
			return known{what: right}
		}
		switch left := l.kindOf(x.X, s).what; {
		case left == aCondition && x.Op == syntax.PIPE:
			return known{what: aCondition}
		case left == want || right == want:
			return known{what: want}
		}
	}
	return known{}
}

func (l *linter) valueOf(b *binding) known {
	if isFunction(b) {
		return known{} // calling it is handled elsewhere
	}
	return b.settle(false, func() known {
		if b.value == nil {
			return known{}
		}
		return l.kindOf(b.value, b.scope)
	})
}

// settle determines once what is known about a binding. A binding that depends on itself, such as x = x, is unknown.
func (b *binding) settle(called bool, find func() known) known {
	if b.settled || b.busy {
		return b.known
	}
	b.busy = true
	b.known = find()
	b.busy, b.settled = false, true
	if b.known.what != unknown {
		b.known.by, b.known.called = b, called
	}
	return b.known
}

func (l *linter) made(x *syntax.CallExpr, s *scope) known {
	switch fn := startree.Unparen(x.Fn).(type) {
	case *syntax.Ident:
		if b, _ := s.lookup(fn.Name); b != nil {
			return l.givenBy(b)
		}
		switch {
		case l.typeMakers[fn.Name]:
			return known{what: aType}
		case callsInFunctions(fn.Name) && l.builtins[fn.Name] && s.inFunction():
			return known{what: anAttempt}
		case l.conditions[fn.Name]:
			return known{what: aCondition}
		case fn.Name == "approve":
			return known{what: anApproval}
		case takesCalls(fn.Name) && s.inFunction() && len(x.Args) > 0 && isList(x.Args[0]):
			return known{} // what the calls return
		case l.nodeMakers[fn.Name] && !(callsInFunctions(fn.Name) && s.inFunction()):
			return known{what: aNode}
		}
	case *syntax.LambdaExpr:
		return l.bodyGives(fn, s)
	case *syntax.DotExpr:
		switch fn.Name.Name {
		case "then", "loop", "branch", "each":
			if l.kindOf(fn.X, s).what == aNode {
				return known{what: aNode}
			}
		}
	}
	return known{}
}

// takesCalls reports whether the builtin makes a node of nodes, and in the body of a function makes the calls in a
// list.
func takesCalls(name string) bool { return name == "race" || name == "fallback" }

func isList(e syntax.Expr) bool {
	switch startree.Unparen(e).(type) {
	case *syntax.ListExpr, *syntax.Comprehension:
		return true
	}
	return false
}

// callsInFunctions reports whether the builtin makes a node at the top level but calls its argument, and returns the
// result, in the body of a function.
func callsInFunctions(name string) bool {
	return name == "attempt"
}

// callsAtOnce reports whether the builtin calls the functions passed to it before it returns, and keeps none.
func callsAtOnce(name string, s *scope) bool {
	switch name {
	case "sorted", "min", "max", "match":
		return true
	}
	return callsInFunctions(name) && s.inFunction()
}

// markImmediate marks the functions in e, an argument of a builtin for which callsAtOnce is true.
func (l *linter) markImmediate(e syntax.Expr) {
	startree.Targets(e, func(e syntax.Expr) {
		switch x := e.(type) {
		case *syntax.LambdaExpr, *syntax.Ident:
			l.immediate[x] = true
		case *syntax.DictExpr:
			for _, e := range x.List {
				l.markImmediate(e.(*syntax.DictEntry).Value)
			}
		}
	})
}

// The result of a call of a function of the file (AS207): a factory's result is a node like any other.

// givenBy determines what a call of the function named by b certainly returns.
func (l *linter) givenBy(b *binding) known {
	if !isFunction(b) {
		return known{}
	}
	return b.settle(true, func() known {
		if fn, ok := startree.Unparen(b.value).(*syntax.LambdaExpr); ok {
			return l.bodyGives(fn, b.scope)
		}
		return l.returned(b.def, b.scope)
	})
}

// isFunction reports whether the name refers to a def or a lambda of the file.
func isFunction(b *binding) bool {
	_, ok := startree.Unparen(b.value).(*syntax.LambdaExpr)
	return ok || b.def != nil
}

// bodyGives determines what a call of a lambda returns.
func (l *linter) bodyGives(fn *syntax.LambdaExpr, outer *scope) known {
	inner := &scope{parent: outer, node: fn}
	inner.params(fn.Params)
	return known{what: l.kindOf(fn.Body, inner).what}
}

// returned determines what a def returns if all its paths end in a return of the same kind. If its end is reachable, it
// may also return None.
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

// leaves reports whether the end of a block is unreachable.
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
