package table

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Kind is a kind of argument: its word in messages and the reference, its annotation in the
// stub, and what it accepts.
type Kind struct {
	Word string // "str", "list of nodes"
	Stub string // "str", "list[Node]"

	// accept returns the argument in the form that the builtin reads, or false.
	Accept func(starlark.Value) (starlark.Value, bool)
	// hint says what to write instead of a wrong argument, or "".
	Hint func(starlark.Value) string
	// guess gives what must be meant by a wrong argument: it is reported, and the call goes on with it.
	Guess func(starlark.Value) (starlark.Value, bool)
	// item is the kind of the items of a list, or of the values of a dict.
	item *Kind
	dict bool
	// alts are the kinds of which one does.
	alts []Kind
	// vet tells what is wrong with a value that is of the kind: a number that is too small, a name
	// that is none. The builtin is called all the same, so that what else is wrong is said at once:
	// as if an argument that is wrong as a whole were not given, with one of which a part is.
	vet func(*Param, starlark.Value) []Fault
}

// Kinds of arguments that hosts commonly need.
var (
	AnyKind   = Kind{Word: "a value", Stub: "Any"}
	StrKind   = Kind{Word: "str", Stub: "str", Accept: value.As[starlark.String]}
	BoolKind  = Kind{Word: "bool", Stub: "bool", Accept: value.As[starlark.Bool], Hint: hintBool, Guess: guessBool}
	IntKind   = Kind{Word: "int", Stub: "int", Accept: acceptInt, Hint: hintInt, Guess: guessInt}
	FloatKind = Kind{Word: "float", Stub: "float", Accept: AcceptFloat, Hint: hintFloat, Guess: guessFloat}
	ListKind  = Kind{Word: "list", Stub: "list", Accept: AcceptList}
	DictKind  = Kind{Word: "dict", Stub: "dict", Accept: value.As[*starlark.Dict]}
	CallKind  = Kind{Word: "function", Stub: "Callable", Accept: value.AcceptFunction, Hint: HintFunction}
	TypeKind  = Kind{Word: "type", Stub: "Type", Accept: value.AcceptType, Hint: value.HintType}
	NodeKind  = Kind{Word: "node", Stub: "Node", Accept: value.As[*value.Node], Hint: value.HintNode}
)

// acceptInt takes integers that fit int64 and whole floats.
func acceptInt(v starlark.Value) (starlark.Value, bool) {
	switch v := v.(type) {
	case starlark.Int:
		_, ok := v.Int64()
		return v, ok
	case starlark.Float:
		if f := float64(v); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return starlark.MakeInt64(int64(f)), true
		}
	}
	return v, false
}

func AcceptFloat(v starlark.Value) (starlark.Value, bool) {
	switch v := v.(type) {
	case starlark.Float:
		return v, !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
	case starlark.Int:
		f, _ := new(big.Float).SetInt(v.BigInt()).Float64()
		return starlark.Float(f), !math.IsInf(f, 0)
	}
	return v, false
}

// AcceptList takes lists and tuples; builtins read both as a starlark.Sequence.
func AcceptList(v starlark.Value) (starlark.Value, bool) {
	switch v.(type) {
	case *starlark.List, starlark.Tuple:
		return v, true
	}
	return v, false
}

// hintInt says how a number is written.
func hintInt(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		if _, err := strconv.Atoi(string(v)); err == nil {
			return "write " + string(v) + " without quotes"
		}
		if n, ok := strings.CutSuffix(strings.ToLower(string(v)), "k"); ok {
			if _, err := strconv.Atoi(n); err == nil {
				return "write " + n + "000"
			}
		}
		return "write a number: 3"
	case starlark.Int:
		return "no bound is as large: leave it out, or write a smaller number"
	}
	return "write a whole number: 3"
}

func hintBool(v starlark.Value) string {
	if b, ok := guessBool(v); ok {
		return "write " + b.String()
	}
	return "write True or False"
}

// guessBool reads the words that others have for truth.
func guessBool(v starlark.Value) (starlark.Value, bool) {
	s, _ := v.(starlark.String)
	switch strings.ToLower(string(s)) {
	case "yes", "true", "on":
		return starlark.True, true
	case "no", "false", "off":
		return starlark.False, true
	}
	return nil, false
}

func hintFloat(v starlark.Value) string {
	if f, ok := guessFloat(v); ok {
		return "write " + f.String() + " without quotes"
	}
	return "write a number: 0.5"
}

// guessFloat reads a number that stands in quotes.
func guessFloat(v starlark.Value) (starlark.Value, bool) {
	s, _ := v.(starlark.String)
	f, err := strconv.ParseFloat(strings.TrimPrefix(string(s), "$"), 64)
	return starlark.Float(f), err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// CallHint says how a dict of arguments, or a part of a call, is written as a call.
func CallHint(name string, params ...string) func(starlark.Value) string {
	return func(v starlark.Value) string {
		d, ok := v.(*starlark.Dict)
		if !ok {
			return "write " + name + "(" + params[0] + " = ...)"
		}
		var words []string
		for _, key := range d.Keys() {
			s, _ := key.(starlark.String)
			if !slices.Contains(params, string(s)) {
				return "write " + name + "(" + params[0] + " = ...)"
			}
			words = append(words, string(s)+" = ...")
		}
		return "write " + name + "(" + script.Joined(words) + ")"
	}
}

// guessInt reads a number that stands in quotes.
func guessInt(v starlark.Value) (starlark.Value, bool) {
	s, _ := v.(starlark.String)
	n, err := strconv.Atoi(string(s))
	return starlark.MakeInt(n), err == nil
}

func HintFunction(v starlark.Value) string {
	switch v := v.(type) {
	case *value.Node:
		return "wrap the call: lambda x: " + v.Label() + "(x)"
	case starlark.String:
		return "write lambda x: ..., or the name of a function without quotes"
	}
	return ""
}

// HintField says what to write instead of what is no field.
func HintField(v starlark.Value) string {
	s, ok := v.(starlark.String)
	if !ok {
		return value.HintType(v)
	}
	if _, isType := value.TypeWord(string(s)); isType {
		return value.HintType(v)
	}
	text := "..."
	if len(s) <= 30 {
		text = string(s)
	}
	return fmt.Sprintf("a field has a type: field(str, %q); what the schema is about goes first: schema(%q, ...)", text, text)
}

// OneOf accepts the given words.
func OneOf(words ...string) Kind {
	k := Kind{Word: "one of ", Stub: "Literal["}
	for i, w := range words {
		if i > 0 {
			k.Word += ", "
			k.Stub += ", "
		}
		k.Word += `"` + w + `"`
		k.Stub += `"` + w + `"`
	}
	k.Stub += "]"
	k.Accept = func(v starlark.Value) (starlark.Value, bool) {
		s, ok := v.(starlark.String)
		for _, w := range words {
			if ok && w == string(s) {
				return v, true
			}
		}
		return v, false
	}
	k.Hint = func(v starlark.Value) string {
		if s, ok := v.(starlark.String); ok {
			return script.DidYouMean(string(s), words)
		}
		return ""
	}
	k.Guess = func(v starlark.Value) (starlark.Value, bool) {
		s, _ := v.(starlark.String)
		near, ok := diag.Suggest(string(s), words)
		return starlark.String(near), ok
	}
	return k
}

// either accepts what one of the given kinds does, the first that fits.
func AnyOf(kinds ...Kind) Kind {
	k := Kind{alts: kinds}
	for i, one := range kinds {
		if i > 0 {
			k.Word += " or "
			k.Stub += " | "
		}
		k.Word += one.Word
		k.Stub += one.Stub
	}
	k.Accept = func(v starlark.Value) (starlark.Value, bool) {
		for _, one := range kinds {
			if w, ok := one.Takes(v); ok {
				return w, true
			}
		}
		return v, false
	}
	k.Hint = func(v starlark.Value) string {
		for _, one := range kinds {
			if one.Hint != nil {
				if h := one.Hint(v); h != "" {
					return h
				}
			}
		}
		return ""
	}
	k.Guess = func(v starlark.Value) (starlark.Value, bool) {
		for _, one := range kinds {
			if one.Guess != nil {
				if w, ok := one.Guess(v); ok {
					return w, true
				}
			}
		}
		return nil, false
	}
	return k
}

// Worded is a kind by another word, such as a shorter one for all that either lists.
func Worded(word string, k Kind) Kind {
	k.Word = word
	return k
}

// Hinted is a kind that says more of what to write instead.
func Hinted(k Kind, hint func(starlark.Value) string) Kind {
	before := k.Hint
	k.Hint = func(v starlark.Value) string {
		if h := hint(v); h != "" || before == nil {
			return h
		}
		return before(v)
	}
	return k
}

// Vetted is a kind of which not every value will do.
func Vetted(k Kind, vet func(*Param, starlark.Value) []Fault) Kind {
	k.vet = vet
	return k
}

// ListOf accepts a list or tuple whose items are all of one kind; items keep their form.
func ListOf(item Kind) Kind {
	return Kind{Word: "list of " + item.Word, Stub: "list[" + item.Stub + "]", item: &item,
		Accept: func(v starlark.Value) (starlark.Value, bool) {
			seq, ok := v.(starlark.Sequence)
			if _, isList := AcceptList(v); !ok || !isList {
				return v, false
			}
			out := make([]starlark.Value, 0, seq.Len())
			for item0 := range starlark.Elements(seq) {
				w, ok := item.Takes(item0)
				if !ok {
					return v, false
				}
				out = append(out, w)
			}
			return starlark.NewList(out), true
		},
		Hint: func(v starlark.Value) string {
			if _, ok := item.Takes(v); ok {
				return "put it into a list: [...]"
			}
			if item.Hint != nil {
				return item.Hint(v)
			}
			return ""
		},
		Guess: func(v starlark.Value) (starlark.Value, bool) {
			w, ok := item.Takes(v)
			return starlark.NewList([]starlark.Value{w}), ok
		}}
}

// DictOf accepts a dict whose keys are texts and whose values are all of one kind.
func DictOf(item Kind) Kind {
	return Kind{Word: "dict of " + item.Word, Stub: "dict[str, " + item.Stub + "]", item: &item, dict: true,
		Accept: func(v starlark.Value) (starlark.Value, bool) {
			d, ok := v.(*starlark.Dict)
			if !ok {
				return v, false
			}
			for key, value := range d.Entries() {
				_, text := key.(starlark.String)
				if _, ok := item.Takes(value); !text || !ok {
					return v, false
				}
			}
			return v, true
		}}
}

// Takes applies a kind to an argument. A stand-in for something that failed fits everywhere.
func (k *Kind) Takes(v starlark.Value) (starlark.Value, bool) {
	if _, failed := v.(*value.Failed); failed || k.Accept == nil {
		return v, true
	}
	return k.Accept(v)
}

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
