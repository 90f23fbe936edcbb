package starlib

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
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
	// guess gives what must be meant by a wrong argument: it is reported, and the call goes on with it.
	guess func(starlark.Value) (starlark.Value, bool)
	// item is the kind of the items of a list, or of the values of a dict.
	item *Kind
	dict bool
	// alts are the kinds of which one does.
	alts []Kind
	// vet tells what is wrong with a value that is of the kind: a number that is too small, a name
	// that is none. The builtin is called all the same, so that what else is wrong is said at once:
	// as if an argument that is wrong as a whole were not given, with one of which a part is.
	vet func(*Param, starlark.Value) []fault
}

// Kinds of arguments that hosts commonly need.
var (
	AnyKind   = Kind{Word: "a value", Stub: "Any"}
	StrKind   = Kind{Word: "str", Stub: "str", accept: as[starlark.String]}
	BoolKind  = Kind{Word: "bool", Stub: "bool", accept: as[starlark.Bool], hint: hintBool, guess: guessBool}
	IntKind   = Kind{Word: "int", Stub: "int", accept: acceptInt, hint: hintInt, guess: guessInt}
	FloatKind = Kind{Word: "float", Stub: "float", accept: acceptFloat, hint: hintFloat, guess: guessFloat}
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

// callHint says how a dict of arguments, or a part of a call, is written as a call.
func callHint(name string, params ...string) func(starlark.Value) string {
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
		return "write " + name + "(" + joined(words) + ")"
	}
}

// guessInt reads a number that stands in quotes.
func guessInt(v starlark.Value) (starlark.Value, bool) {
	s, _ := v.(starlark.String)
	n, err := strconv.Atoi(string(s))
	return starlark.MakeInt(n), err == nil
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
	case *budgetValue:
		return "a budget stands behind the node that it bounds: bounded(node, budget(...))"
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
	k.guess = func(v starlark.Value) (starlark.Value, bool) {
		s, _ := v.(starlark.String)
		near, ok := diag.Suggest(string(s), words)
		return starlark.String(near), ok
	}
	return k
}

// either accepts what one of the given kinds does, the first that fits.
func anyOf(kinds ...Kind) Kind {
	k := Kind{alts: kinds}
	for i, one := range kinds {
		if i > 0 {
			k.Word += " or "
			k.Stub += " | "
		}
		k.Word += one.Word
		k.Stub += one.Stub
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
	k.guess = func(v starlark.Value) (starlark.Value, bool) {
		for _, one := range kinds {
			if one.guess != nil {
				if w, ok := one.guess(v); ok {
					return w, true
				}
			}
		}
		return nil, false
	}
	return k
}

// worded is a kind by another word, such as a shorter one for all that either lists.
func worded(word string, k Kind) Kind {
	k.Word = word
	return k
}

// hinted is a kind that says more of what to write instead.
func hinted(k Kind, hint func(starlark.Value) string) Kind {
	before := k.hint
	k.hint = func(v starlark.Value) string {
		if h := hint(v); h != "" || before == nil {
			return h
		}
		return before(v)
	}
	return k
}

// vetted is a kind of which not every value will do.
func vetted(k Kind, vet func(*Param, starlark.Value) []fault) Kind {
	k.vet = vet
	return k
}

// listOf accepts a list or tuple whose items are all of one kind; items keep their form.
func listOf(item Kind) Kind {
	return Kind{Word: "list of " + item.Word, Stub: "list[" + item.Stub + "]", item: &item,
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
			if _, ok := item.takes(v); ok {
				return "put it into a list: [...]"
			}
			if item.hint != nil {
				return item.hint(v)
			}
			return ""
		},
		guess: func(v starlark.Value) (starlark.Value, bool) {
			w, ok := item.takes(v)
			return starlark.NewList([]starlark.Value{w}), ok
		}}
}

// dictOf accepts a dict whose keys are texts and whose values are all of one kind.
func dictOf(item Kind) Kind {
	return Kind{Word: "dict of " + item.Word, Stub: "dict[str, " + item.Stub + "]", item: &item, dict: true,
		accept: func(v starlark.Value) (starlark.Value, bool) {
			d, ok := v.(*starlark.Dict)
			if !ok {
				return v, false
			}
			for key, value := range d.Entries() {
				_, text := key.(starlark.String)
				if _, ok := item.takes(value); !text || !ok {
					return v, false
				}
			}
			return v, true
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
	if _, is := v.(interface{ opaque() }); is {
		return v.String()
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
