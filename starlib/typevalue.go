package starlib

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// typeValue is a type as a value of the language. The predeclared ones are at once the
// functions whose names they take.
type typeValue struct {
	t    *generable.Type
	c    *state
	fn   *starlark.Builtin // of a predeclared type: the function of the same name
	bare bool              // list or dict without brackets

	of func(*generable.Type) *generable.Type // of a generic schema: what brackets make of it
}

var (
	_ starlark.Callable   = (*typeValue)(nil)
	_ starlark.HasAttrs   = (*typeValue)(nil)
	_ starlark.HasBinary  = (*typeValue)(nil)
	_ starlark.Mapping    = (*typeValue)(nil)
	_ starlark.Comparable = (*typeValue)(nil)
)

func (t *typeValue) String() string {
	if t.bare {
		return t.fn.Name()
	}
	return t.t.String()
}

func (t *typeValue) Type() string          { return "type" }
func (t *typeValue) Freeze()               {}
func (t *typeValue) Truth() starlark.Bool  { return true }
func (t *typeValue) Name() string          { return t.String() }
func (t *typeValue) Hash() (uint32, error) { return starlark.String(t.t.Deref().ID()).Hash() }

// CompareSameType makes equal types equal values.
func (t *typeValue) CompareSameType(op syntax.Token, other starlark.Value, _ int) (bool, error) {
	same := generable.Same(t.t, other.(*typeValue).t)
	switch op {
	case syntax.EQL:
		return same, nil
	case syntax.NEQ:
		return !same, nil
	}
	return false, fmt.Errorf("types have no order: %s %s %s", t, op, other)
}

// Attr gives a value of an enum, or one of the methods that all types have.
func (t *typeValue) Attr(name string) (starlark.Value, error) {
	d := t.t.Deref()
	if d.Kind == generable.ErrorType {
		return &failedValue{}, nil
	}
	if d.Kind == generable.EnumType && slices.Contains(d.Values, name) {
		return starlark.String(name), nil
	}
	if t.c != nil {
		if m := t.c.methods.method("type", name, t); m != nil {
			return m, nil
		}
	}
	what := "the type " + t.String()
	if d.Kind == generable.EnumType {
		return nil, noAttr(what, name, d.Values)
	}
	return nil, noAttr(what, name, t.AttrNames())
}

func (t *typeValue) AttrNames() []string {
	var names []string
	if d := t.t.Deref(); d.Kind == generable.EnumType {
		names = append(names, d.Values...)
	}
	if t.c != nil {
		names = append(names, t.c.methods.methodNames("type")...)
	}
	return names
}

// noAttr is the error of x.name where x has no such attribute.
func noAttr(what, name string, names []string) *engine.Error {
	e := errorf(diag.UnknownAttribute, "%s has no .%s", what, name)
	switch hint := didYouMean(name, names); {
	case hint != "":
		e.Help = hint
	case len(names) > 0:
		e.Help = "it has " + joined(names)
	}
	return e
}

// Get is list[T], dict[str, T] and Enum["value"].
func (t *typeValue) Get(key starlark.Value) (starlark.Value, bool, error) {
	switch d := t.t.Deref(); {
	case d.Kind == generable.ErrorType:
		return t, true, nil
	case t.bare && d.Kind == generable.ListType:
		elem, ok := acceptType(key)
		if !ok {
			return t.wrong("list[T] wants one type, got %s", described(key), hintType(key))
		}
		return t.c.typ(generable.ListOfType(typeOf(elem))), true, nil
	case t.bare:
		pair, _ := key.(starlark.Tuple)
		if len(pair) != 2 {
			return t.wrong("dict[str, T] wants two types, got %s", described(key), "the keys of a dict are str: dict[str, int]")
		}
		k, ok := acceptType(pair[0])
		if !ok || typeOf(k).Deref().Kind != generable.StrType && typeOf(k).Kind != generable.ErrorType {
			return t.wrong("the keys of a dict type are str, got %s", described(pair[0]), "JSON has no other keys: dict[str, T]")
		}
		v, ok := acceptType(pair[1])
		if !ok {
			return t.wrong("dict[str, T] wants a type, got %s", described(pair[1]), hintType(pair[1]))
		}
		return t.c.typ(generable.DictOfType(typeOf(v))), true, nil
	case t.of != nil:
		elem, ok := acceptType(key)
		if !ok {
			return t.wrong(t.String()+"[T] wants one type, got %s", described(key), hintType(key))
		}
		return t.c.typ(t.of(typeOf(elem))), true, nil
	case d.Kind == generable.EnumType:
		if s, ok := key.(starlark.String); ok && slices.Contains(d.Values, string(s)) {
			return s, true, nil
		}
		s, _ := key.(starlark.String)
		return t.wrong(t.String()+" has no value %s", described(key), didYouMean(string(s), d.Values))
	}
	return t.wrong(t.String()+" takes nothing in brackets, got %s", described(key), "only list[T] and dict[str, T] do")
}

// described is describe as an operand of a message.
func described(v starlark.Value) any {
	if _, ok := v.(starlark.Tuple); ok {
		return v.String()
	}
	return describe(v)
}

// wrong reports a type expression that makes no sense, at the bracket or operator.
func (t *typeValue) wrong(format string, got any, help string) (starlark.Value, bool, error) {
	d := &diag.Diagnostic{Code: diag.WrongArgument, Message: fmt.Sprintf(format, got)}
	if help != "" {
		d.Help = []string{help}
	}
	if t.c == nil {
		return nil, false, raised(d)
	}
	d.Span = diag.Span{Pos: position(t.c.here())}
	if err := t.c.report(d); err != nil {
		return nil, false, err
	}
	return t.c.typ(generable.ErrorT), true, nil
}

// Binary is A | B.
func (t *typeValue) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	if op != syntax.PIPE {
		return nil, nil // the other operand may know, as agent >> type does
	}
	if _, isNode := y.(*nodeValue); isNode {
		return nil, nil
	}
	other, ok := acceptType(y)
	if !ok {
		if _, failed := y.(*failedValue); failed {
			return t.c.typ(generable.ErrorT), nil
		}
		v, _, err := t.wrong("| joins types, got %s", described(y), hintType(y))
		return v, err
	}
	c := t.c
	if o := other.(*typeValue); c == nil {
		c = o.c
	}
	a, b := t.t, typeOf(other)
	if side == starlark.Right {
		a, b = b, a
	}
	if a.Kind == generable.ErrorType || b.Kind == generable.ErrorType {
		return c.typ(generable.ErrorT), nil
	}
	return c.typ(generable.OneOf(a, b)), nil
}
