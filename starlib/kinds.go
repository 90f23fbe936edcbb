package starlib

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
)

// Kind is a kind of argument: its word in messages and the reference, its annotation in the
// stub, and what it accepts.
type Kind struct {
	Word string // "str", "list of nodes"
	Stub string // "str", "list[Node]"

	// accept returns the argument in the form that the builtin reads, or false.
	accept func(starlark.Value) (starlark.Value, bool)
	// hint says what to write instead of a wrong argument, or "".
	hint func(starlark.Value) string
	// least is the least number that makes sense, 0 when any does.
	least int
}

// Kinds of arguments that hosts commonly need.
var (
	AnyKind   = Kind{Word: "a value", Stub: "Any"}
	StrKind   = Kind{Word: "str", Stub: "str", accept: as[starlark.String]}
	BoolKind  = Kind{Word: "bool", Stub: "bool", accept: as[starlark.Bool]}
	IntKind   = Kind{Word: "int", Stub: "int", accept: acceptInt, hint: hintInt}
	FloatKind = Kind{Word: "float", Stub: "float", accept: acceptFloat}
	ListKind  = Kind{Word: "list", Stub: "list", accept: acceptList}
	DictKind  = Kind{Word: "dict", Stub: "dict", accept: as[*starlark.Dict]}
	CallKind  = Kind{Word: "function", Stub: "Callable", accept: acceptFunction, hint: hintFunction}
	TypeKind  = Kind{Word: "type", Stub: "Type", accept: acceptType, hint: hintType}
	NodeKind  = Kind{Word: "node", Stub: "Node", accept: as[*nodeValue], hint: hintNode}
)

func as[T starlark.Value](v starlark.Value) (starlark.Value, bool) {
	_, ok := v.(T)
	return v, ok
}

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

func acceptFloat(v starlark.Value) (starlark.Value, bool) {
	switch v := v.(type) {
	case starlark.Float:
		return v, !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0)
	case starlark.Int:
		f, _ := new(big.Float).SetInt(v.BigInt()).Float64()
		return starlark.Float(f), !math.IsInf(f, 0)
	}
	return v, false
}

// acceptList takes lists and tuples; builtins read both as a starlark.Sequence.
func acceptList(v starlark.Value) (starlark.Value, bool) {
	switch v.(type) {
	case *starlark.List, starlark.Tuple:
		return v, true
	}
	return v, false
}

// acceptFunction takes what a run can call: functions of the script, builtins and types. A
// node has a place in the graph instead.
func acceptFunction(v starlark.Value) (starlark.Value, bool) {
	switch v.(type) {
	case *starlark.Function, *starlark.Builtin, *typeValue:
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
		return "write a number: 3"
	case starlark.Int:
		return "no bound is as large: leave it out, or write a smaller number"
	}
	return "write a whole number: 3"
}

func hintFunction(v starlark.Value) string {
	switch v := v.(type) {
	case *nodeValue:
		return "wrap the call: lambda x: " + v.label() + "(x)"
	case starlark.String:
		return "write lambda x: ..., or the name of a function without quotes"
	}
	return ""
}

// acceptType takes types, and None for the type that has None alone.
func acceptType(v starlark.Value) (starlark.Value, bool) {
	switch v := v.(type) {
	case *typeValue:
		return v, true
	case starlark.NoneType:
		return &typeValue{t: generable.NoneT}, true
	case *failedValue:
		return &typeValue{t: generable.ErrorT}, true
	}
	return v, false
}

// typeWord is the type that a text names, as far as one can tell from a text.
func typeWord(s string) (string, bool) {
	switch strings.ToLower(s) {
	case "str", "string", "text":
		return "str", true
	case "int", "integer":
		return "int", true
	case "float", "number", "double":
		return "float", true
	case "bool", "boolean":
		return "bool", true
	case "array":
		return "list", true
	case "object":
		return "dict", true
	case "any", "list", "dict":
		return strings.ToLower(s), true
	}
	r, _ := utf8.DecodeRuneInString(s)
	name, _, _ := strings.Cut(s, "[")
	return s, unicode.IsUpper(r) && strings.IndexFunc(s, unicode.IsSpace) < 0 || name == "list" || name == "dict"
}

// hintField says what to write instead of what is no field.
func hintField(v starlark.Value) string {
	s, ok := v.(starlark.String)
	if !ok {
		return hintType(v)
	}
	if _, isType := typeWord(string(s)); isType {
		return hintType(v)
	}
	text := "..."
	if len(s) <= 30 {
		text = string(s)
	}
	return fmt.Sprintf("a field has a type: field(str, %q); what the schema is about goes first: schema(%q, ...)", text, text)
}

func hintType(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		if name, ok := typeWord(string(v)); ok {
			return "write the type itself: " + name + `, not "` + string(v) + `"`
		}
		return "a type is str, int, list[str], a schema, ..., without quotes"
	case *starlark.List:
		if v.Len() == 1 {
			if t, ok := v.Index(0).(*typeValue); ok {
				return "write list[" + t.String() + "]"
			}
		}
		return "a list type is written list[str]"
	case *starlark.Dict:
		return "declare a schema, or write dict[str, int]"
	case starlark.Int, starlark.Float, starlark.Bool:
		return "write the type itself: " + v.Type()
	case *recordValue:
		return "this is an instance; its type is " + v.Type()
	}
	return ""
}

func hintNode(v starlark.Value) string {
	switch v := v.(type) {
	case *starlark.Function:
		if v.Name() != "lambda" && v.NumParams() == 0 {
			return "call the factory: " + v.Name() + "()"
		}
		if v.Name() == "lambda" {
			return "make it a step: fn(lambda ..., input = ..., output = ...)"
		}
		return "if it makes a node, call it: " + v.Name() + "(...); as a step a function is fn(" + v.Name() + ", input = ..., output = ...)"
	case *starlark.Builtin, *typeValue:
		return "make it a step: fn(" + nameOf(v) + ")"
	case finishValue:
		return "FINISH is where an edge leads that ends a graph: edge(node, FINISH)"
	case *starlark.List:
		return "give the nodes one by one, or the list alone"
	case starlark.String:
		return "a text becomes a step as template(\"...\"), or agent(prompt = \"...\")"
	}
	return ""
}

// oneOf accepts the given words.
func oneOf(words ...string) Kind {
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
	k.accept = func(v starlark.Value) (starlark.Value, bool) {
		s, ok := v.(starlark.String)
		for _, w := range words {
			if ok && w == string(s) {
				return v, true
			}
		}
		return v, false
	}
	k.hint = func(v starlark.Value) string {
		if s, ok := v.(starlark.String); ok {
			return didYouMean(string(s), words)
		}
		return ""
	}
	return k
}

// either accepts what one of the given kinds does, the first that fits.
func either(kinds ...Kind) Kind {
	k := Kind{}
	for i, one := range kinds {
		if i > 0 {
			k.Word += " or "
			k.Stub += " | "
		}
		k.Word += one.Word
		k.Stub += one.Stub
		k.least = max(k.least, one.least)
	}
	k.accept = func(v starlark.Value) (starlark.Value, bool) {
		for _, one := range kinds {
			if w, ok := one.takes(v); ok {
				return w, true
			}
		}
		return v, false
	}
	k.hint = func(v starlark.Value) string {
		for _, one := range kinds {
			if one.hint != nil {
				if h := one.hint(v); h != "" {
					return h
				}
			}
		}
		return ""
	}
	return k
}

// tooLow gives a number among v, which the kind takes, that is less than makes sense.
func (k *Kind) tooLow(v starlark.Value) (int, bool) {
	if k.least == 0 {
		return 0, false
	}
	if list, ok := v.(*starlark.List); ok {
		for item := range list.Elements() {
			if n, low := k.tooLow(item); low {
				return n, true
			}
		}
		return 0, false
	}
	n, ok := v.(starlark.Int)
	if !ok {
		return 0, false
	}
	i, err := starlark.AsInt32(n)
	return i, err == nil && i < k.least
}

// boundKind takes what bounds something: how often, how many.
var boundKind = Kind{Word: IntKind.Word, Stub: IntKind.Stub, accept: acceptInt, hint: hintInt, least: 1}

// listOf accepts a list or tuple whose items are all of one kind; items keep their form.
func listOf(item Kind) Kind {
	return Kind{Word: "list of " + item.Word, Stub: "list[" + item.Stub + "]", least: item.least,
		accept: func(v starlark.Value) (starlark.Value, bool) {
			seq, ok := v.(starlark.Sequence)
			if _, isList := acceptList(v); !ok || !isList {
				return v, false
			}
			out := make([]starlark.Value, 0, seq.Len())
			for item0 := range starlark.Elements(seq) {
				w, ok := item.takes(item0)
				if !ok {
					return v, false
				}
				out = append(out, w)
			}
			return starlark.NewList(out), true
		},
		hint: func(v starlark.Value) string {
			seq, isSeq := v.(starlark.Sequence)
			if _, isList := acceptList(v); !isSeq || !isList {
				if _, ok := item.takes(v); ok {
					return "put it into a list: [...]"
				}
				return ""
			}
			i := 0
			for item0 := range starlark.Elements(seq) {
				if _, ok := item.takes(item0); !ok {
					h := "item " + starlark.MakeInt(i).String() + " is " + describe(item0)
					if item.hint != nil {
						if more := item.hint(item0); more != "" {
							h += "; " + more
						}
					}
					return h
				}
				i++
			}
			return ""
		}}
}

// takes applies a kind to an argument. A stand-in for something that failed fits everywhere.
func (k *Kind) takes(v starlark.Value) (starlark.Value, bool) {
	if _, failed := v.(*failedValue); failed || k.accept == nil {
		return v, true
	}
	return k.accept(v)
}

// describe shows an argument in a message: its type, and what it is when that is short.
func describe(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.NoneType:
		return "None"
	case starlark.String:
		if len(v) <= 30 {
			return "str " + v.String()
		}
		return "str"
	case starlark.Int, starlark.Float, starlark.Bool:
		return v.Type() + " " + v.String()
	case *typeValue:
		return "the type " + v.String()
	case *nodeValue:
		return "the " + v.n.Kind().String() + " " + v.label()
	case *starlark.Function:
		if v.Name() == "lambda" {
			return "a lambda"
		}
		return "the function " + v.Name()
	case *starlark.Builtin:
		return "the builtin " + v.Name()
	case *makerValue:
		return "the builtin " + v.Name()
	}
	return v.Type()
}

// nameOf is how a script names a callable.
func nameOf(v starlark.Value) string {
	switch v := v.(type) {
	case *typeValue:
		return v.String()
	case starlark.Callable:
		return v.Name()
	}
	return v.Type()
}
