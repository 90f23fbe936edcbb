package value

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// AcceptFunction takes what a run can call: functions of the script, builtins and types. A
// node has a place in the graph instead.
func AcceptFunction(v starlark.Value) (starlark.Value, bool) {
	switch v.(type) {
	case *starlark.Function, *starlark.Builtin, *Type:
		return v, true
	}
	return v, false
}

// TypeWord is the type that a text names, as far as one can tell from a text.
func TypeWord(s string) (string, bool) {
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

// HintType says what to write instead of what is no type.
func HintType(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		if name, ok := TypeWord(string(v)); ok {
			return "write the type itself: " + name + `, not "` + string(v) + `"`
		}
		return "a type is str, int, list[str], a schema, ..., without quotes"
	case *starlark.List:
		if v.Len() == 1 {
			if t, ok := v.Index(0).(*Type); ok {
				return "write list[" + t.String() + "]"
			}
		}
		return "a list type is written list[str]"
	case *starlark.Dict:
		return "declare a schema, or write dict[str, int]"
	case starlark.Int, starlark.Float, starlark.Bool:
		return "write the type itself: " + v.Type()
	case *Record:
		return "this is an instance; its type is " + v.Type()
	}
	return ""
}

// HintNode says what to write instead of what is no node.
func HintNode(v starlark.Value) string {
	switch v := v.(type) {
	case *starlark.Function:
		if v.Name() != "lambda" && v.NumParams() == 0 {
			return "call the factory: " + v.Name() + "()"
		}
		if v.Name() == "lambda" {
			return "make it a step: fn(lambda ..., input = ..., output = ...)"
		}
		return "if it makes a node, call it: " + v.Name() + "(...); as a step a function is fn(" + v.Name() + ", input = ..., output = ...)"
	case *starlark.Builtin, *Type:
		return "make it a step: fn(" + NameOf(v) + ")"
	case Finish:
		return "FINISH is where an edge leads that ends a graph: edge(node, FINISH)"
	case *starlark.List:
		return "give the nodes one by one, or the list alone"
	case *Budget:
		return "a budget stands behind the node that it bounds: bounded(node, budget(...))"
	case starlark.String:
		return "a text becomes a step as template(\"...\"), or agent(prompt = \"...\")"
	}
	return ""
}

// Describe shows an argument in a message: its type, and what it is when that is short.
func Describe(v starlark.Value) string {
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
	case *Type:
		return "the type " + v.String()
	case *Node:
		return "the " + v.Node.Kind().String() + " " + v.Label()
	case *starlark.Function:
		if v.Name() == "lambda" {
			return "a lambda"
		}
		return "the function " + v.Name()
	case *starlark.Builtin:
		return "the builtin " + v.Name()
	case *Maker:
		return "the builtin " + v.Name()
	}
	if _, is := v.(interface{ Opaque() }); is {
		return v.String()
	}
	return v.Type()
}

// NameOf is how a script names a callable.
func NameOf(v starlark.Value) string {
	switch v := v.(type) {
	case *Type:
		return v.String()
	case starlark.Callable:
		return v.Name()
	}
	return v.Type()
}
