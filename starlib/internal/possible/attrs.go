package possible

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// methodNames lists the methods of the built-in types.
var methodNames = map[Kind][]string{
	Text:  starlark.String("").AttrNames(),
	Bytes: starlark.Bytes("").AttrNames(),
	List:  (*starlark.List)(nil).AttrNames(),
	Dict:  (*starlark.Dict)(nil).AttrNames(),
	Set:   (*starlark.Set)(nil).AttrNames(),
}

// Attributes returns the attributes of an alternative, if they are known.
func (a *Alt) Attributes() (names []string, known bool) {
	switch a.Kind {
	case Record:
		return a.Typ.FieldNames(), true
	case Thing, Unset:
		if x, ok := a.Exact.(value.Sampled); ok {
			return x.AttrNames(), true
		}
		return nil, false
	}
	return methodNames[a.Kind], true
}

// HasMethod reports whether an alternative is of a built-in type that has the method.
func (a *Alt) HasMethod(name string) bool { return slices.Contains(methodNames[a.Kind], name) }

// Attribute returns x.name of an alternative, and reports whether it exists.
func (a *Alt) Attribute(name string) (*Value, bool) {
	if a.Kind == Thing {
		switch x := a.Exact.(type) {
		case *starlark.Builtin:
			return nil, false
		case value.Sampled:
			got, err := x.Attr(name)
			return OfValue(got, "", 0), err == nil
		case *table.ModuleValue, *value.Type, *value.Maker:
			if got, err := x.(starlark.HasAttrs).Attr(name); err == nil && got != nil {
				return OfValue(got, "", 0), true
			}
		}
		return Unknown, true
	}
	names, known := a.Attributes()
	if !known {
		return Unknown, true
	}
	if !slices.Contains(names, name) {
		return nil, false
	}
	if a.Kind == Record {
		return a.Field(name), true
	}
	return Unknown, true
}

// Results lists the results of methods of the built-in types; other results are unknown.
var Results = map[Kind]map[string]*Value{
	Text: gives(map[string]string{
		"capitalize": "str", "format": "str", "join": "str", "lower": "str", "lstrip": "str", "removeprefix": "str", "removesuffix": "str",
		"replace": "str", "rstrip": "str", "strip": "str", "title": "str", "upper": "str", "count": "int", "find": "int", "index": "int",
		"rfind": "int", "rindex": "int", "endswith": "bool", "startswith": "bool", "isalnum": "bool", "isalpha": "bool", "isdigit": "bool",
		"islower": "bool", "isspace": "bool", "istitle": "bool", "isupper": "bool", "split": "list[str]", "rsplit": "list[str]", "splitlines": "list[str]",
	}),
	List: gives(map[string]string{"append": "None", "clear": "None", "extend": "None", "insert": "None", "remove": "None", "index": "int"}),
	Dict: gives(map[string]string{"clear": "None", "update": "None"}),
	Set:  gives(map[string]string{"add": "None", "clear": "None", "remove": "None", "discard": "None", "issubset": "bool", "issuperset": "bool"}),
}

// Universals lists the results of interpreter functions whose result does not depend on their arguments.
var Universals = gives(map[string]string{
	"abs": "", "all": "bool", "any": "bool", "bool": "bool", "chr": "str", "float": "float", "hasattr": "bool", "hash": "int", "int": "int",
	"len": "int", "ord": "int", "print": "None", "repr": "str", "str": "str", "type": "str", "dir": "list[str]",
})

func gives(words map[string]string) map[string]*Value {
	out := map[string]*Value{}
	for name, word := range words {
		out[name] = Scalar(word)
	}
	return out
}

// Scalar returns the value for the name of a built-in type.
func Scalar(word string) *Value {
	switch word {
	case "list":
		return OfKind(List)
	case "dict":
		return OfKind(Dict)
	case "list[str]":
		return One(Alt{Kind: List, Elem: OfKind(Text)})
	}
	return scalar(func(t *generable.Type) bool { return t.String() == word })
}

// HasField reports whether the items of a list are instances with a field with that name.
func HasField(elem *Value, name string) bool {
	return All(elem, func(a *Alt) bool { return a.Kind == Record && a.Typ.FieldIndex(name) >= 0 })
}

// Part is a value that becomes part of an agent, such as a skill or a tool. It has no attributes and is
// identified by its row.
type Part struct {
	value.Unkeyed
	Row *table.Builtin
}

func (p *Part) Type() string   { return p.Row.Returns }
func (p *Part) String() string { return p.Row.Returns }

// OpaqueParts lists the results of builtins that have no attributes, by the word in their rows.
var OpaqueParts = map[string]bool{"skill": true, "tool": true, "knowledge": true, "budget": true, "model": true, "policy": true,
	"hooks": true, "router": true, "mcp": true, "secret": true, "history": true, "remedy": true, "recovery": true}

// Part returns the result of a method that depends on the items of its receiver.
func (a *Alt) Part(name string, args []*Value) *Value {
	elem := OrUnknown(a.Elem)
	switch {
	case a.Kind == List && name == "pop":
		return elem
	case a.Kind == Dict && (name == "get" || name == "pop" || name == "setdefault"):
		if len(args) == 1 && name == "get" {
			if key := KeyOf(args[0].Exactly()); key != nil && a.Shape != nil {
				if e := a.Shape.Find(key); e != nil && !e.Maybe {
					return e.Value
				} else if e == nil {
					return OfKind(None)
				}
			}
			return Unite(elem, OfKind(None), 0)
		}
		if len(args) == 2 {
			return Unite(elem, Forget(args[1]), 0)
		}
		return Unknown
	case a.Kind == Dict && name == "values":
		return One(Alt{Kind: List, Elem: a.Elem, Some: a.Some})
	case a.Kind == Dict && name == "keys":
		keys, _ := a.Each()
		return One(Alt{Kind: List, Elem: Known(keys), Some: a.Some})
	case a.Kind == Dict && name == "items":
		keys, _ := a.Each()
		return One(Alt{Kind: List, Elem: One(Alt{Kind: Tuple, Items: []*Value{OrUnknown(keys), elem}}), Some: a.Some})
	}
	return Unknown
}

// Changing lists the methods that always mutate their receiver.
var Changing = map[Kind]map[string]bool{
	List: {"append": true, "clear": true, "extend": true, "insert": true, "pop": true, "remove": true},
	Dict: {"clear": true, "pop": true, "popitem": true, "update": true, "setdefault": true},
	Set:  {"clear": true, "pop": true, "remove": true},
}

// Changed returns a container after a call of a method.
func (a Alt) Changed(name string, args []*Value, spread bool) Alt {
	arg := func(i int) *Value {
		if spread || i >= len(args) {
			return nil
		}
		return Unmarked(Forget(args[i]))
	}
	if Changing[a.Kind][name] {
		a.Items = nil
		if a.Kind == Dict {
			a.Typ = nil
		}
	}
	switch {
	case a.Kind == List && name == "append", a.Kind == Set && name == "add":
		a.Elem = Joined(a.Elem, arg(0))
		a.Some = true
	case a.Kind == List && name == "insert":
		a.Elem = Joined(a.Elem, arg(1))
		a.Some = true
	case a.Kind == List && name == "extend":
		more, _ := arg(0).Certain()
		item, ok := more.Each()
		if !ok || item.Opaque() || more.Kind == Unset {
			item = nil
		}
		a.Elem = Joined(a.Elem, item)
	case name == "pop" || name == "remove" || name == "clear" || name == "popitem" || name == "discard":
		a.Some, a.Shape = false, nil
	case name == "setdefault" || name == "update":
		a.Elem, a.Shape = nil, nil
	}
	return a
}
