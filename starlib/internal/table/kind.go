package table

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Kind is a kind of argument: its word in messages and the reference, its annotation in the
// stub, and what it accepts.
type Kind struct {
	Word string // "str", "list of nodes"
	Stub string // "str", "list[Node]"

	// Accept returns the argument in the form that the builtin reads, or false.
	Accept func(starlark.Value) (starlark.Value, bool)
	// Hint says what to write instead of a wrong argument, or "".
	Hint func(starlark.Value) string
	// Guess returns what a wrong argument must mean: the argument is reported, and the call continues with the guess.
	Guess func(starlark.Value) (starlark.Value, bool)
	// item is the kind of the items of a list, or of the values of a dict.
	item *Kind
	dict bool
	// alts are the kinds of which one must accept the argument.
	alts []*Kind
	// names is what a text of the kind names.
	names []Subject
	// vet returns what is wrong with a value of the kind: a number that is too small, an invalid name. The builtin is
	// called nevertheless, so that its other errors are reported at once: without the argument if all of it is wrong,
	// with it if only a part is.
	vet func(*Param, starlark.Value) []Fault
}

// The kinds of arguments that hosts commonly need.
var (
	AnyKind   = &Kind{Word: "a value", Stub: "Any"}
	StrKind   = &Kind{Word: "str", Stub: "str", Accept: value.As[starlark.String], Hint: hintStr}
	BoolKind  = &Kind{Word: "bool", Stub: "bool", Accept: value.As[starlark.Bool], Hint: hintBool, Guess: guessBool}
	IntKind   = &Kind{Word: "int", Stub: "int", Accept: acceptInt, Hint: hintInt, Guess: guessInt}
	FloatKind = &Kind{Word: "float", Stub: "float", Accept: AcceptFloat, Hint: hintFloat, Guess: guessFloat}
	ListKind  = &Kind{Word: "list", Stub: "list", Accept: AcceptList}
	DictKind  = &Kind{Word: "dict", Stub: "dict", Accept: value.As[*starlark.Dict]}
	CallKind  = &Kind{Word: "function", Stub: "Callable", Accept: value.AcceptFunction, Hint: HintFunction}
	TypeKind  = &Kind{Word: "type", Stub: "Type", Accept: value.AcceptType, Hint: value.HintType}
	NodeKind  = &Kind{Word: "node", Stub: "Node", Accept: value.As[*value.Node], Hint: value.HintNode}
)

// acceptInt accepts integers that fit int64 and whole floats.
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

// AcceptFloat accepts numbers, as a float.
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

// AcceptList accepts lists and tuples; builtins read both as a starlark.Sequence.
var AcceptList = value.Either(value.As[*starlark.List], value.As[starlark.Tuple])

// hintStr says how to convert a value to a text.
func hintStr(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.Int, starlark.Float:
		return "write str(" + v.String() + ")"
	case *starlark.List:
		if _, texts := ListOf(&Kind{Accept: value.As[starlark.String]}).Accept(v); texts {
			return `join the lines: "\n".join([...])`
		}
	case *value.Record:
		return "its JSON is a text: json.encode(...)"
	}
	return ""
}

// hintInt says how to write a number.
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

// guessBool reads the words for truth values in other languages.
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

// guessFloat reads a number in quotes.
func guessFloat(v starlark.Value) (starlark.Value, bool) {
	s, _ := v.(starlark.String)
	f, err := strconv.ParseFloat(strings.TrimPrefix(string(s), "$"), 64)
	return starlark.Float(f), err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// CallHint says how to write a dict of arguments, or a part of a call, as a call.
func CallHint(name string, params ...string) func(starlark.Value) string {
	return func(v starlark.Value) string {
		words := params[:1]
		if d, ok := v.(*starlark.Dict); ok {
			keys := StringsOf(d.Keys())
			if !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(params, key) }) {
				words = keys
			}
		}
		return "write " + name + "(" + script.Joined(text.Each(words, func(word string) string { return word + " = ..." })) + ")"
	}
}

// guessInt reads a number in quotes.
func guessInt(v starlark.Value) (starlark.Value, bool) {
	s, _ := v.(starlark.String)
	n, err := strconv.Atoi(string(s))
	return starlark.MakeInt(n), err == nil
}

// HintFunction says what to write instead of a value that is not a function.
func HintFunction(v starlark.Value) string {
	switch v := v.(type) {
	case *value.Node:
		return "wrap the call: lambda x: " + v.Label() + "(x)"
	case starlark.String:
		return "write lambda x: ..., or the name of a function without quotes"
	}
	return ""
}

// HintCondition says what to write instead of a value that is not a condition.
func HintCondition(v starlark.Value) string {
	s, ok := v.(starlark.String)
	if !ok {
		return HintFunction(v)
	}
	switch p := predicate.OfText(string(s)); {
	case p != nil:
		return "a condition is no text: write " + p.String()
	case strings.ContainsAny(string(s), "<>="):
		return "a condition is no text: write lambda x: " + string(s)
	case regexp.QuoteMeta(string(s)) != string(s):
		return "to match a text write matches(" + v.String() + ")"
	}
	return "test a value with a condition: eq(" + v.String() + ")"
}

// fieldStub is the annotation of a type or field(...).
const fieldStub = "Type | Field"

// HintField says what to write instead of a value that is not a field: most are meant as the default, or as the allowed
// values.
func HintField(v starlark.Value) string {
	s, ok := v.(starlark.String)
	switch v := v.(type) {
	case starlark.Int, starlark.Float, starlark.Bool:
		return "write field(" + v.Type() + ", default = " + v.String() + ")"
	case *starlark.List:
		values := Sequence(v)
		switch {
		case v.Len() == 0:
			return "write field(list[str], default = []), or the type of its items for str"
		case !slices.ContainsFunc(values, func(item starlark.Value) bool { _, text := item.(starlark.String); return !text }):
			return "write enum(" + script.Joined(text.Each(StringsOf(values), strconv.Quote)) + ")"
		}
	case *starlark.Dict:
		if v.Len() == 0 {
			return "write field(dict[str, any], default = {})"
		}
	}
	if !ok {
		return value.HintType(v)
	}
	if _, isType := value.TypeWord(string(s)); isType {
		return value.HintType(v)
	}
	return guideHint(string(s))
}

// guideHint says what to write instead of a text that describes a field or a schema.
func guideHint(about string) string {
	if len(about) > 30 {
		about = "..."
	}
	return fmt.Sprintf("a field has a type: field(str, %q); what the schema is about goes first: schema(%q, ...)", about, about)
}

// advise adds what only the script as a whole shows about a wrong argument: which types it declares.
func (k *Kind) advise(c *Call, d *diag.Diagnostic, v starlark.Value) {
	if k.Stub != TypeKind.Stub && k.Stub != fieldStub {
		return
	}
	if text, ok := v.(starlark.String); ok && !value.AdviseType(c.State, d, v) && k.Stub == fieldStub && !strings.Contains(d.Help[0], "did you mean") {
		d.Help = []string{guideHint(string(text))}
	}
}

// HintOf says what to write instead of a wrong argument, or "".
func (k *Kind) HintOf(v starlark.Value) string {
	if _, typed := v.(*value.Typed); typed && k.Word == "str" {
		return "make it text: str(x)"
	}
	if k.Hint == nil {
		return ""
	}
	return k.Hint(v)
}

// Takes applies a kind to an argument. A stand-in for something that failed fits everywhere.
func (k *Kind) Takes(v starlark.Value) (starlark.Value, bool) {
	if _, failed := v.(*value.Failed); failed || k.Accept == nil {
		return v, true
	}
	if t, ok := v.(*value.Typed); ok {
		return &value.Failed{}, k.mayTake(t.Of)
	}
	return k.Accept(v)
}

// mayTake reports whether a kind may accept some value of the type of a sample: if it accepts a value other than the
// sample, its annotation names the type.
func (k *Kind) mayTake(sample starlark.Value) bool {
	if _, ok := k.Accept(sample); ok {
		return true
	}
	words := []string{"Any"}
	switch sample.(type) {
	case starlark.String:
		words = append(words, "str", "Literal")
	case starlark.Int, starlark.Float, starlark.Bool:
		words = append(words, "int", "float", "bool", "Literal")
	case *starlark.List, starlark.Tuple:
		words = append(words, "list", "tuple", "Sequence", "Iterable")
	case *starlark.Dict:
		words = append(words, "dict", "Mapping")
	case starlark.NoneType:
		words = append(words, "None")
	case starlark.Callable:
		words = append(words, "Callable")
	default:
		return true
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(k.Stub, word) })
}
