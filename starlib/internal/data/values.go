package data

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func valueRows() []table.Builtin {
	value := table.Param{Name: "value", Kind: table.AnyKind, Doc: "any value"}
	return []table.Builtin{
		{Name: "isinstance", Group: table.GroupValues, Returns: "bool", Effect: table.Pure, Whole: true, Func: isinstanceFunc,
			Params: []table.Param{value, {Name: "type", Kind: typesKind, Doc: "a type, or a tuple of types"}},
			Doc:    "Reports whether a value is of a type."},
		{Name: "typeof", Group: table.GroupValues, Returns: "type", Effect: table.Pure, Func: typeofFunc, Params: []table.Param{value},
			Doc: "Returns the type of a value: the schema of an instance, list[any] for a list. For a node, the result has .input and .output, the types that the node takes and returns."},
		{Name: "replace", Group: table.GroupValues, Returns: "value", Effect: table.Pure, Whole: true, Func: replaceFunc,
			Params: []table.Param{
				{Name: "value", Kind: recordKind, Shape: table.Positional, Doc: "an instance of a schema"},
				{Name: "fields", Kind: table.AnyKind, Shape: table.Keywords, Doc: "the fields to change"},
			},
			Doc: "Returns a copy of an instance with some fields changed; the original is unchanged."},
		{Name: "match", Group: table.GroupValues, Returns: "value", Effect: table.Pure, Whole: true, Func: matchFunc,
			Params: []table.Param{value,
				{Name: "cases", Kind: table.DictKind, Doc: "{Type: function}, or values of an enum, True, False or None as keys; the first function whose key fits is called with the value"},
				table.Opt("otherwise", table.CallKind, "None", "called with the value if no case fits"),
			},
			Doc: "Calls the function of the first case that fits and returns its result. Every variant of a union must have a case."},
	}
}

var typesKind = &table.Kind{Word: "type or tuple of types", Stub: "Type | tuple[Type, ...]",
	Accept: func(v starlark.Value) (starlark.Value, bool) {
		if tuple, ok := v.(starlark.Tuple); ok {
			return v, !slices.ContainsFunc(tuple, func(item starlark.Value) bool {
				_, ok := value.AcceptType(item)
				return !ok
			})
		}
		return value.AcceptType(v)
	}, Hint: value.HintType}

var recordKind = &table.Kind{Word: "instance of a schema", Stub: "Any", Accept: value.As[*value.Record]}

// fitsType reports whether a value conforms to a type. Values that have no form outside the script conform only to any.
func fitsType(v starlark.Value, t *generable.Type) bool {
	out, err := value.ToData(v)
	if err != nil {
		return t.Deref().Kind == generable.AnyType
	}
	return t.Conforms(out) == nil
}

func isinstanceFunc(c *table.Call) (starlark.Value, error) {
	types, several := c.Arg("type").(starlark.Tuple)
	if !several {
		types = starlark.Tuple{c.Arg("type")}
	}
	return starlark.Bool(slices.ContainsFunc(types, func(t starlark.Value) bool { return fitsType(c.Arg("value"), value.TypeOf(t)) })), nil
}

func typeofFunc(c *table.Call) (starlark.Value, error) {
	t := generable.AnyT
	switch v := c.Arg("value").(type) {
	case *value.Record:
		t = v.Record.Type()
	case starlark.NoneType:
		t = generable.NoneT
	case starlark.Bool:
		t = generable.BoolT
	case starlark.Int:
		t = generable.IntT
	case starlark.Float:
		t = generable.FloatT
	case starlark.String:
		t = generable.StrT
	case *starlark.List, starlark.Tuple:
		t = generable.ListOfType(generable.AnyT)
	case *starlark.Dict:
		t = generable.DictOfType(generable.AnyT)
	case *value.Partial:
		t = v.Partial.Type()
	case *value.Node:
		if !v.Node.Failed() {
			return value.NewSignature(c.State, v.Node), nil
		}
		return &value.Failed{}, nil
	}
	return value.NewType(c.State, t), nil
}

func replaceFunc(c *table.Call) (starlark.Value, error) {
	rec := c.Arg("value").(*value.Record)
	changes := generable.NewMap(len(c.Kwargs))
	for _, kv := range c.Kwargs {
		name := string(kv[0].(starlark.String))
		v, err := value.ToData(kv[1])
		if err != nil {
			return nil, value.Prefixed(name, err)
		}
		changes.Set(name, v)
	}
	r, errs := generable.Replace(rec.Record, changes)
	if errs == nil {
		return value.FromRecord(r), nil
	}
	c.Locate()
	for _, e := range errs {
		c.Problems = append(c.Problems, value.FieldDiagnostic(rec.Record.Type(), changes, e, c.CallSite))
	}
	return nil, nil
}

func matchFunc(c *table.Call) (starlark.Value, error) {
	v, cases := c.Arg("value"), c.Arg("cases").(*starlark.Dict)
	for key, f := range cases.Entries() {
		if _, ok := f.(starlark.Callable); !ok {
			c.Problemf(diag.WrongArgument, c.ArgSpan("cases"), "the case %s is not a function, got %s", key, value.Describe(f))
			return nil, nil
		}
	}
	if !c.Has("otherwise") {
		if of, missing := unmatched(c, v, cases); len(missing) > 0 {
			names := text.Each(of.Variants, (*generable.Type).String)
			d := c.Problemf(diag.NotExhaustive, c.FuncSpan(), "match does not handle %s of %s", script.Joined(missing), of)
			d.Label = "the variants of " + of.String() + " are " + script.Joined(names)
			d.Help = append(d.Help, "add "+strings.Join(missing, ": function, ")+": function, or otherwise = function")
			return nil, nil
		}
	}
	for key, f := range cases.Entries() {
		if takesCase(key, v) {
			return starlark.Call(c.Thread(), f, starlark.Tuple{v}, nil)
		}
	}
	if f := c.Arg("otherwise"); f != nil {
		return starlark.Call(c.Thread(), f, starlark.Tuple{v}, nil)
	}
	return nil, script.Errorf(diag.NoRoute, "match has no case for %s", value.Describe(v)).WithHelp("add one, or otherwise = function")
}

func takesCase(key, v starlark.Value) bool {
	if t, ok := key.(*value.Type); ok {
		return fitsType(v, t.T)
	}
	same, err := starlark.Equal(key, v)
	return err == nil && same
}

// unmatched lists the variants without a case, of the declared union that the value and all cases belong to. It lists
// none if one such union is handled in full.
func unmatched(c *table.Call, v starlark.Value, cases *starlark.Dict) (of *generable.Type, missing []string) {
	rec, ok := v.(*value.Record)
	if !ok {
		return nil, nil
	}
	var keys []starlark.Value
	for key := range cases.Entries() {
		keys = append(keys, key)
	}
	return value.Unmatched(c.State, rec.Record.Type(), keys)
}

func describeRows() []table.Builtin {
	return []table.Builtin{
		{Name: "describe", Group: table.GroupValues, Returns: "str", Effect: table.Pure, May: true, Func: describeFunc,
			Params: []table.Param{{Name: "about", Kind: table.AnyKind, Doc: "a node, a type, a function, a builtin or an instance"}},
			Doc:    "Returns the text that help prints. For a node, this is its name, its types and where it was made, and the same for each of its parts."},
		{Name: "sum", Group: table.GroupValues, Returns: "value", Effect: table.Pure, May: true, Whole: true, Func: sumFunc,
			Params: []table.Param{
				{Name: "items", Kind: table.ItemsKind, Shape: table.Positional, Doc: "numbers or, with start = [], lists; True counts as 1"},
				{Name: "start", Kind: table.AnyKind, Default: "0", Doc: "the value that the items are added to"},
			},
			Doc: "Adds up numbers or, with start = [], joins lists."},
	}
}

var _ starlark.HasAttrs = (*value.Signature)(nil)

func describeFunc(c *table.Call) (starlark.Value, error) {
	switch v := c.Arg("about").(type) {
	case *value.Failed:
		return v, nil
	case starlark.String:
		return starlark.String("str: " + v.String()), nil
	default:
		return starlark.String(doc.Help(c.Row.Table, v)), nil
	}
}

func sumFunc(c *table.Call) (starlark.Value, error) {
	total := c.Arg("start")
	if total == nil {
		total = starlark.MakeInt(0)
	}
	items := table.Sequence(c.Arg("items"))
	if list, ok := total.(*starlark.List); ok {
		return sumLists(c, table.Sequence(list), items)
	}
	total, ok := number(total)
	if !ok {
		c.Problemf(diag.WrongArgument, c.ArgSpan("start"), "sum adds numbers, or with start = [] lists; start is %s", value.Describe(c.Arg("start")))
		return nil, nil
	}
	for i, item := range items {
		n, ok := number(item)
		if !ok {
			notAdded(c, i, item)
			return nil, nil
		}
		var err error
		if total, err = starlark.Binary(syntax.PLUS, total, n); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// number returns the numeric value of an item; a bool counts as it does in Python.
func number(v starlark.Value) (starlark.Value, bool) {
	switch v := v.(type) {
	case starlark.Int, starlark.Float:
		return v, true
	case starlark.Bool:
		if v {
			return starlark.MakeInt(1), true
		}
		return starlark.MakeInt(0), true
	}
	return v, false
}

// sumLists joins lists by appending to one list, instead of copying it for each.
func sumLists(c *table.Call, joined, items []starlark.Value) (starlark.Value, error) {
	for i, item := range items {
		list, ok := item.(*starlark.List)
		if !ok {
			notAdded(c, i, item)
			return nil, nil
		}
		joined = append(joined, table.Sequence(list)...)
	}
	return starlark.NewList(joined), nil
}

func notAdded(c *table.Call, i int, item starlark.Value) {
	d := c.Problemf(diag.WrongArgument, c.ArgSpan("items"), "sum adds numbers, or with start = [] lists; item %d is %s", i, value.Describe(item))
	switch item.(type) {
	case starlark.String:
		d.Help = []string{`texts are joined: "".join(items)`}
	case *starlark.List:
		d.Help = []string{"write sum(items, [])"}
	case *value.Record:
		d.Help = []string{"add up one field: sum([x.field for x in items])"}
	}
}
