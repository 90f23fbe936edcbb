package source

import (
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/startree"
)

// A known is what can be said of the value of an expression without running it.
type known struct {
	what   what
	by     *binding // the name that has this value; nil where it is written out
	called bool     // by is a function, and calling it gives the value
}

type what uint8

const (
	unknown what = iota
	aType
	aNode
	anAttempt // what attempt gives in a function
	aCondition
	anApproval // what approve gives
)

func (w what) String() string {
	return [...]string{"value", "type", "node", "attempt", "condition", "approval"}[w]
}

// kindOf says whether e is surely a type or a node: a builtin type, list[str],
// T | None, the call of a maker, an operator between nodes, or a name that is
// assigned one of these and nothing else.
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
		if x.Op == syntax.PIPE && (l.kindOf(x.Y, s).what == aCondition || l.kindOf(x.X, s).what == aCondition) {
			return known{what: aCondition}
		}
		// The left operand may be a long chain: the right one is asked first.
		if l.kindOf(x.Y, s).what == want || l.kindOf(x.X, s).what == want {
			return known{what: want}
		}
	}
	return known{}
}

func (l *linter) valueOf(b *binding) known {
	if isFunction(b) {
		return known{} // its calls are another matter
	}
	if !b.settled && !b.busy && b.value != nil {
		b.busy = true // x = x is unknown
		b.known = l.kindOf(b.value, b.scope)
		b.busy, b.settled = false, true
		if b.known.what != unknown {
			b.known.by, b.known.called = b, false
		}
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

// callsInFunctions reports whether the builtin makes a node at the top level
// but calls its argument, and gives what comes back, in the body of a function.
func callsInFunctions(name string) bool {
	return name == "attempt"
}

// callsAtOnce reports whether the builtin calls the functions it is given before
// it returns, and keeps none.
func callsAtOnce(name string, s *scope) bool {
	switch name {
	case "sorted", "min", "max", "match":
		return true
	}
	return callsInFunctions(name) && s.inFunction()
}

// markImmediate notes the functions in e, an argument of what callsAtOnce.
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
