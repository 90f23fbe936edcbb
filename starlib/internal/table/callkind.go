package table

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/starlib/internal/value"
)

// CalledKind takes what attempt calls: functions, builtins, types, and nodes.
var CalledKind = Kind{Word: "function or node", Stub: "Callable | Node",
	Accept: NextKind.Accept,
	Hint: func(starlark.Value) string {
		return "give the function and its arguments apart: attempt(f, x) calls f itself"
	}}

// NodesKind takes a node, or one list of nodes in the place of all.
var NodesKind = Kind{Word: "node or list of nodes", Stub: "Node | list[Node]",
	Accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *value.Node, *starlark.List, starlark.Tuple:
			return v, true
		}
		return v, false
	}, Hint: value.HintNode}

// NextKind takes what makes a next value: a function or a node.
var NextKind = Kind{Word: "function or node", Stub: "Callable | Node",
	Accept: func(v starlark.Value) (starlark.Value, bool) {
		if _, ok := v.(*value.Node); ok {
			return v, true
		}
		return value.AcceptFunction(v)
	}}

// ItemsKind takes what can be gone through more than once, in an order.
var ItemsKind = Kind{Word: "list", Stub: "list",
	Accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v.(type) {
		case *starlark.List, starlark.Tuple, *starlark.Set:
			return v, true
		}
		_, ok := v.(starlark.Sequence)
		return v, ok && v.Type() == "range"
	},
	Hint: func(v starlark.Value) string {
		switch v.(type) {
		case *starlark.Dict:
			return "write d.items(), d.keys() or d.values()"
		case *starlark.Function, *value.Node:
			return CallsInList
		case starlark.String:
			return "a list of one is [text]; s.elems() and s.splitlines() are lists of its parts"
		}
		return "put it into a list: [...]"
	}}

// Sequence lists the items of an argument.
func Sequence(v starlark.Value) []starlark.Value {
	var out []starlark.Value
	if seq, ok := v.(starlark.Iterable); ok {
		for item := range starlark.Elements(seq) {
			out = append(out, item)
		}
	}
	return out
}

// PredicateKind takes conditions as data alone.
var PredicateKind = Kind{Word: "condition", Stub: "Predicate", Accept: value.As[*value.Predicate], Hint: func(v starlark.Value) string {
	if _, ok := value.AcceptFunction(v); ok {
		return "a condition as data is needed here, such as ge(1) & le(10)"
	}
	return ""
}}

// CondKind takes conditions as data and functions.
var CondKind = Kind{Word: "function or condition", Stub: "Callable | Predicate",
	Accept: func(v starlark.Value) (starlark.Value, bool) {
		if _, ok := v.(*value.Predicate); ok {
			return v, true
		}
		return value.AcceptFunction(v)
	}, Hint: HintFunction}
