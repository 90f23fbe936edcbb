package starlib

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

func valueRows() []Builtin {
	value := Param{Name: "value", Kind: AnyKind, Doc: "any value"}
	return []Builtin{
		{Name: "isinstance", Group: GroupValues, Returns: "bool", Effect: Pure, Func: isinstanceFunc,
			Params: []Param{value, {Name: "type", Kind: typesKind, Doc: "a type, or a tuple of types"}},
			Doc:    "Tells whether a value is of a type."},
		{Name: "typeof", Group: GroupValues, Returns: "type", Effect: Pure, Func: typeofFunc, Params: []Param{value},
			Doc: "Gives the type of a value: the schema of an instance, list[any] of a list. Of a node it gives .input and .output, the types of what it takes and gives."},
		{Name: "replace", Group: GroupValues, Returns: "value", Effect: Pure, Func: replaceFunc,
			Params: []Param{
				{Name: "value", Kind: recordKind, Shape: Positional, Doc: "an instance of a schema"},
				{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: "the fields that change"},
			},
			Doc: "Gives an instance with some fields changed; the original stays as it is."},
		{Name: "match", Group: GroupValues, Returns: "value", Effect: Pure, Func: matchFunc,
			Params: []Param{value,
				{Name: "cases", Kind: DictKind, Doc: "{Type: function}, or values of an enum, True, False, None as keys; the first that fits is called with the value"},
				{Name: "otherwise", Kind: CallKind, Shape: KeywordOnly, Default: "None", Doc: "called when no case fits"},
			},
			Doc: "Calls the function of the case that fits and gives its result. Of a union, every variant must have a case."},
	}
}

var typesKind = Kind{Word: "type or tuple of types", Stub: "Type | tuple[Type, ...]",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		if tuple, ok := v.(starlark.Tuple); ok {
			for _, item := range tuple {
				if _, ok := acceptType(item); !ok {
					return v, false
				}
			}
			return v, true
		}
		return acceptType(v)
	}, hint: hintType}

var recordKind = Kind{Word: "instance of a schema", Stub: "Any", accept: as[*recordValue]}

// fitsType reports whether a value is of a type. Values without a form outside the script are
// of type any alone.
func fitsType(v starlark.Value, t *generable.Type) bool {
	out, err := toValue(v)
	if err != nil {
		return t.Deref().Kind == generable.AnyType
	}
	return t.Conforms(out) == nil
}

func isinstanceFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return &failedValue{}, nil
	}
	if tuple, ok := c.Arg("type").(starlark.Tuple); ok {
		for _, t := range tuple {
			if fitsType(c.Arg("value"), typeOf(t)) {
				return starlark.True, nil
			}
		}
		return starlark.False, nil
	}
	return starlark.Bool(fitsType(c.Arg("value"), c.typ("type"))), nil
}

func typeofFunc(c *Call) (starlark.Value, error) {
	t := generable.AnyT
	switch v := c.Arg("value").(type) {
	case *recordValue:
		t = v.r.Type()
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
	case *partialValue:
		t = v.p.Type()
	case *nodeValue:
		if !v.n.Failed() {
			return c.state.signature(v.n), nil
		}
		return &failedValue{}, nil
	}
	return c.state.typ(t), nil
}

func replaceFunc(c *Call) (starlark.Value, error) {
	rec, ok := c.Arg("value").(*recordValue)
	if !ok || c.stood {
		return &failedValue{}, nil
	}
	changes := generable.NewMap(len(c.kw))
	for _, kv := range c.kw {
		name := string(kv[0].(starlark.String))
		v, err := toValue(kv[1])
		if err != nil {
			return nil, prefixed(name, err)
		}
		changes.Set(name, v)
	}
	r, errs := generable.Replace(rec.r, changes)
	if errs == nil {
		return fromRecord(r), nil
	}
	c.lookup()
	for _, e := range errs {
		c.wrong = append(c.wrong, fieldDiagnostic(rec.r.Type(), changes, e, c.site))
	}
	return nil, nil
}

func matchFunc(c *Call) (starlark.Value, error) {
	v, cases := c.Arg("value"), c.Arg("cases").(*starlark.Dict)
	if c.stood {
		return &failedValue{}, nil
	}
	for key, f := range cases.Entries() {
		if _, ok := f.(starlark.Callable); !ok {
			c.complain(diag.WrongArgument, c.spanOf("cases"), "the case %s is no function, got %s", key, describe(f))
			return nil, nil
		}
	}
	if !c.Has("otherwise") {
		if of, missing := c.unmatched(v, cases); len(missing) > 0 {
			var names []string
			for _, variant := range of.Variants {
				names = append(names, variant.String())
			}
			d := c.complain(diag.NotExhaustive, c.fnSpan(), "match does not handle %s of %s", joined(missing), of)
			d.Label = "the variants of " + of.String() + " are " + joined(names)
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
	return nil, errorf(diag.NoRoute, "match has no case for %s", describe(v)).WithHelp("add one, or otherwise = function")
}

func takesCase(key, v starlark.Value) bool {
	if t, ok := key.(*typeValue); ok {
		return fitsType(v, t.t)
	}
	same, err := starlark.Equal(key, v)
	return err == nil && same
}

// unmatched lists the variants without a case: of the declared union that the value and all
// cases belong to, unless there is one that is handled in full.
func (c *Call) unmatched(v starlark.Value, cases *starlark.Dict) (of *generable.Type, missing []string) {
	rec, ok := v.(*recordValue)
	if !ok {
		return nil, nil
	}
	keys := map[string]bool{}
	for key := range cases.Entries() {
		t, ok := key.(*typeValue)
		if !ok || t.t.Deref().Kind != generable.RecordType {
			return nil, nil
		}
		keys[t.t.Deref().ID()] = true
	}
	for _, u := range c.state.types.all {
		if u.Kind != generable.UnionType || generable.Assignable(rec.r.Type(), u) != nil {
			continue
		}
		var lacks []string
		covered := 0
		for _, variant := range u.Variants {
			if keys[variant.Deref().ID()] {
				covered++
			} else {
				lacks = append(lacks, variant.String())
			}
		}
		switch {
		case covered < len(keys): // some case is no variant of this union
		case len(lacks) == 0:
			return nil, nil
		case missing == nil:
			of, missing = u, lacks
		}
	}
	return of, missing
}
