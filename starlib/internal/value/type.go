package value

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Type is a type as a value of the language. The predeclared ones are also the functions with the same names.
type Type struct {
	Plain
	T     *generable.Type
	State *script.State
	Func  *starlark.Builtin // for a predeclared type: the function with the same name
	Bare  bool              // list or dict without brackets

	Of func(*generable.Type) *generable.Type // for list and a generic schema: the type that brackets make of it
}

var (
	_ starlark.Callable   = (*Type)(nil)
	_ starlark.HasAttrs   = (*Type)(nil)
	_ starlark.HasBinary  = (*Type)(nil)
	_ starlark.Mapping    = (*Type)(nil)
	_ starlark.Comparable = (*Type)(nil)
)

func (t *Type) String() string {
	if t.Bare {
		return t.Func.Name()
	}
	return t.T.String()
}

func (t *Type) Type() string { return "type" }

func (t *Type) Name() string { return t.String() }

func (t *Type) Hash() (uint32, error) { return starlark.String(t.T.Deref().ID()).Hash() }

// CompareSameType makes equal types equal values.
func (t *Type) CompareSameType(op syntax.Token, other starlark.Value, _ int) (bool, error) {
	return compared(op, generable.Same(t.T, other.(*Type).T), "types have no order: %s %s %s", t, op, other)
}

// compared returns the result of == and != for values that are the same or not. Any other comparison is an error.
func compared(op syntax.Token, same bool, format string, args ...any) (bool, error) {
	if op == syntax.EQL || op == syntax.NEQ {
		return same == (op == syntax.EQL), nil
	}
	return false, fmt.Errorf(format, args...)
}

// Attr returns a value of an enum, or one of the methods that all types have.
func (t *Type) Attr(name string) (starlark.Value, error) {
	d := t.T.Deref()
	if d.Kind == generable.ErrorType {
		return &Failed{}, nil
	}
	if d.Kind == generable.EnumType && slices.Contains(d.Values, name) {
		return starlark.String(name), nil
	}
	if t.State != nil {
		if m := t.State.Methods.Method("type", name, t); m != nil {
			return m, nil
		}
	}
	what := "the type " + t.String()
	if sample, ok := samples[t.String()]; ok && t.Func != nil && slices.Contains(sample.AttrNames(), name) {
		e := NoAttribute(what, name, nil)
		e.Help = "a method belongs to a value: fn(lambda x: x." + name + "())"
		return nil, e
	}
	if d.Kind == generable.EnumType {
		return nil, NoAttribute(what, name, d.Values)
	}
	return nil, NoAttribute(what, name, t.AttrNames())
}

// samples are values of the types whose constructors have the same names.
var samples = map[string]starlark.HasAttrs{"str": starlark.String(""), "list": (*starlark.List)(nil), "dict": (*starlark.Dict)(nil)}

func (t *Type) AttrNames() []string {
	var names []string
	if d := t.T.Deref(); d.Kind == generable.EnumType {
		names = append(names, d.Values...)
	}
	if t.State != nil {
		names = append(names, t.State.Methods.MethodNames("type")...)
	}
	return names
}

// Method returns a method of a value by its kind.
func Method(c *script.State, kind, what, name string, v starlark.HasAttrs) (starlark.Value, error) {
	if m := c.Methods.Method(kind, name, v); m != nil {
		return m, nil
	}
	return nil, NoAttribute(what, name, v.AttrNames())
}

// mostNear bounds the names that a missing one is compared with: it may be looked up very often.
const mostNear = 200

// NoAttribute returns the error for x.name if x has no such attribute.
func NoAttribute(what, name string, names []string) *engine.Error {
	names = names[:min(len(names), mostNear)]
	e := script.Errorf(diag.UnknownAttribute, "%s has no .%s", what, name)
	switch hint := script.DidYouMean(name, names); {
	case hint != "":
		e.Help = hint
	case len(names) > 0:
		e.Help = "it has " + script.Some(names)
	}
	return e
}

// Get implements list[T], dict[str, T] and Enum["value"].
func (t *Type) Get(key starlark.Value) (starlark.Value, bool, error) {
	switch d := t.T.Deref(); {
	case d.Kind == generable.ErrorType:
		return t, true, nil
	case t.Of != nil:
		elem, ok := AcceptType(key)
		if !ok {
			return t.wrong(t.String()+"[T] wants one type, got %s", described(key), HintType(key), key)
		}
		return t.made(t.State, t.Of(TypeOf(elem)))
	case t.Bare:
		pair, _ := key.(starlark.Tuple)
		if len(pair) != 2 {
			return t.wrong("dict[str, T] wants two types, got %s", described(key), "the keys of a dict are str: dict[str, int]", nil)
		}
		k, ok := AcceptType(pair[0])
		if !ok || TypeOf(k).Deref().Kind != generable.StrType && TypeOf(k).Kind != generable.ErrorType {
			return t.wrong("the keys of a dict type are str, got %s", described(pair[0]), "JSON has no other keys: dict[str, T]", nil)
		}
		v, ok := AcceptType(pair[1])
		if !ok {
			return t.wrong("dict[str, T] wants a type, got %s", described(pair[1]), HintType(pair[1]), pair[1])
		}
		return t.made(t.State, generable.DictOfType(TypeOf(v)))
	case d.Kind == generable.EnumType:
		if s, ok := key.(starlark.String); ok && slices.Contains(d.Values, string(s)) {
			return s, true, nil
		}
		s, _ := key.(starlark.String)
		return t.wrong(t.String()+" has no value %s", described(key), script.DidYouMean(string(s), d.Values), nil)
	}
	return t.wrong(t.String()+" takes nothing in brackets, got %s", described(key), "only list[T] and dict[str, T] do", nil)
}

// described is Describe for an operand of a message.
func described(v starlark.Value) any {
	if _, ok := v.(starlark.Tuple); ok {
		return v.String()
	}
	return Describe(v)
}

// wrong reports an invalid type expression at the contents of the brackets, or at the operator. given is the value that
// should be a type, if that is the mistake.
func (t *Type) wrong(format string, got any, help string, given starlark.Value) (starlark.Value, bool, error) {
	d := &diag.Diagnostic{Code: diag.WrongArgument, Message: fmt.Sprintf(format, got)}
	d.Advise(help)
	if t.State == nil {
		return nil, false, script.Raised(d)
	}
	d.Span = t.State.KeySpan(t.State.Here(), given != nil)
	AdviseType(t.State, d, given)
	if err := t.State.Report(d); err != nil {
		return nil, false, err
	}
	return NewType(t.State, generable.ErrorT), true, nil
}

// Binary implements A | B.
func (t *Type) Binary(op syntax.Token, y starlark.Value, side starlark.Side) (starlark.Value, error) {
	y = Unwrapped(y)
	if op != syntax.PIPE {
		return nil, nil // the other operand may know, as in agent >> type
	}
	if _, isNode := y.(*Node); isNode {
		return nil, nil
	}
	other, ok := AcceptType(y)
	if !ok {
		if _, failed := y.(*Failed); failed {
			return NewType(t.State, generable.ErrorT), nil
		}
		v, _, err := t.wrong("| joins types, got %s", described(y), HintType(y), y)
		return v, err
	}
	c := t.State
	if o := other.(*Type); c == nil {
		c = o.State
	}
	a, b := t.T, TypeOf(other)
	if side == starlark.Right {
		a, b = b, a
	}
	if a.Kind == generable.ErrorType || b.Kind == generable.ErrorType {
		return NewType(c, generable.ErrorT), nil
	}
	v, _, err := t.made(c, generable.OneOf(a, b))
	return v, err
}

// MostJoined bounds the types that | joins: each A | B | C | ... is a type that contains all those before it.
const MostJoined = 1000

// made returns the value of a type that an expression makes from others, which a script can do again and again.
func (t *Type) made(c *script.State, of *generable.Type) (starlark.Value, bool, error) {
	switch {
	case of.TooDeep():
		return t.wrong("a type nests at most %d deep", generable.MaxTypeDepth, "declare a schema: a field may refer to it, ref(\"Name\")", nil)
	case len(of.Variants) > MostJoined:
		return t.wrong("| joins at most %d types", MostJoined, "union(\"what it is\", A, B, ...) declares a union of schemas", nil)
	}
	return NewType(c, of), true, nil
}

// TypeOf returns the type that an argument of kind type stands for.
func TypeOf(v starlark.Value) *generable.Type {
	switch v := v.(type) {
	case *Type:
		return v.T
	case starlark.NoneType:
		return generable.NoneT
	case *Failed:
		return generable.ErrorT
	}
	return nil
}

// Signature is the result of typeof for a node.
type Signature struct {
	Plain
	in, out *Type
}

func (s *Signature) String() string { return s.in.String() + " -> " + s.out.String() }

func (s *Signature) Type() string { return "signature" }

func (s *Signature) AttrNames() []string { return []string{"input", "output"} }

func (s *Signature) Hash() (uint32, error) { return starlark.String(s.String()).Hash() }

func (s *Signature) Attr(name string) (starlark.Value, error) {
	switch name {
	case "input":
		return s.in, nil
	case "output":
		return s.out, nil
	}
	return nil, NoAttribute("a signature", name, s.AttrNames())
}

// NewSignature returns the result of typeof for a node.
func NewSignature(c *script.State, n *flow.Node) starlark.Value {
	return &Signature{in: NewType(c, n.In()), out: NewType(c, n.Out())}
}

// NewType makes a type a value of the language.
func NewType(c *script.State, t *generable.Type) *Type { return &Type{T: t, State: c} }

// As accepts the values of one Go type.
func As[T starlark.Value](v starlark.Value) (starlark.Value, bool) {
	_, ok := v.(T)
	return v, ok
}

// Either accepts what one of several functions accepts; the first that fits is used.
func Either(accepts ...func(starlark.Value) (starlark.Value, bool)) func(starlark.Value) (starlark.Value, bool) {
	return func(v starlark.Value) (starlark.Value, bool) {
		for _, accept := range accepts {
			if w, ok := accept(v); ok {
				return w, true
			}
		}
		return v, false
	}
}

// AcceptType accepts types, and None as the type whose only value is None.
func AcceptType(v starlark.Value) (starlark.Value, bool) {
	switch v := v.(type) {
	case *Type:
		return v, true
	case starlark.NoneType:
		return &Type{T: generable.NoneT}, true
	case *Failed:
		return &Type{T: generable.ErrorT}, true
	}
	return v, false
}

// Field is the result of field(...): a field that has no name yet.
type Field struct {
	Unkeyed
	Field generable.Field
}

func (f *Field) String() string { return "field(" + f.Field.Type.String() + ")" }

func (f *Field) Type() string { return "field" }

// FieldOf returns a field under a name.
func FieldOf(name string, v starlark.Value) generable.Field {
	f := generable.Field{Type: TypeOf(v)}
	if own, ok := v.(*Field); ok {
		f = own.Field
	}
	f.Name = name
	return f
}
