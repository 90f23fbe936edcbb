package possible

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// OfType returns the possible values of a declared type. frozen is the reason why the value is frozen, or "" if that is
// unknown.
func OfType(t *generable.Type, frozen string) *Value { return ofType(t, frozen, 0) }

func ofType(t *generable.Type, frozen string, depth int) *Value {
	if t == nil || depth > 6 {
		return Unknown
	}
	switch t = t.Deref(); t.Kind {
	case generable.NoneType, generable.BoolType, generable.IntType, generable.FloatType, generable.StrType:
		return scalar(func(s *generable.Type) bool { return s.Kind == t.Kind })
	case generable.EnumType:
		return One(Alt{Kind: Text, Typ: t})
	case generable.RecordType:
		return One(Alt{Kind: Record, Typ: t})
	case generable.ListType:
		a := Alt{Kind: List, Frozen: frozen}
		if len(t.Variants) == 0 && !positional(t.Elem) {
			a.Elem = Known(ofType(t.Elem, frozen, depth+1))
		}
		return One(a)
	case generable.DictType:
		return One(Alt{Kind: Dict, Typ: t, Frozen: frozen, Elem: Known(ofType(t.Elem, frozen, depth+1))})
	case generable.UnionType, generable.OneOfType:
		if len(t.Variants) > mostAlts {
			return Unknown
		}
		out := &Value{typ: t}
		for _, v := range t.Variants {
			part := ofType(v, frozen, depth+1)
			if part.Any {
				return Unknown
			}
			for _, a := range part.Alts {
				out.add(a, 0)
			}
		}
		return out.Bounded()
	}
	return Unknown
}

// scalars are the types of the kinds that hold no other values.
var scalars = [...]*generable.Type{None: generable.NoneT, Boolean: generable.BoolT, Integer: generable.IntT, Float: generable.FloatT, Text: generable.StrT}

// scalar returns the possible values of the scalar type that is selects, or Unknown if it selects none.
func scalar(is func(t *generable.Type) bool) *Value {
	for k := None; k <= Text; k++ {
		if is(scalars[k]) {
			return OfKind(k)
		}
	}
	return Unknown
}

// positional reports whether the position of an item of a list may determine its type: par(a, b, output = A | B)
// returns first an A, then a B.
func positional(elem *generable.Type) bool {
	t := elem.Deref()
	return t.Kind == generable.OneOfType && !slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return v.Deref().Kind == generable.NoneType })
}

// Known returns v, or nil if v may be anything.
func Known(v *Value) *Value {
	if v.Opaque() {
		return nil
	}
	return v
}

// fieldOf returns the possible values of a field of an instance.
func fieldOf(f *generable.Field) *Value {
	v := OfType(f.Type, "it is part of an instance")
	if f.Omit || f.Optional && f.Default.Kind() == generable.Null {
		return Unite(v, OfKind(None), 0)
	}
	return v
}

// Type returns the declared type common to all alternatives, or nil.
func (v *Value) Type() *generable.Type {
	if v == nil || v.Any || len(v.Alts) == 0 {
		return nil
	}
	if v.typ != nil {
		return v.typ
	}
	var types []*generable.Type
	for i := range v.Alts {
		t := v.Alts[i].declared()
		if t == nil {
			return nil
		}
		types = append(types, t)
	}
	if len(types) == 1 {
		return types[0]
	}
	return generable.OneOf(types...)
}

func (a *Alt) declared() *generable.Type {
	switch a.Kind {
	case None, Boolean, Integer, Float:
		return scalars[a.Kind]
	case Text:
		return cmp.Or(a.Typ, scalars[Text])
	case Record:
		return a.Typ
	case List:
		return generable.ListOfType(itemType(a.Elem))
	case Dict:
		return generable.DictOfType(itemType(a.Elem))
	}
	return nil
}

func itemType(elem *Value) *generable.Type {
	if elem != nil {
		if t := elem.Type(); t != nil && !t.TooDeep() {
			return t
		}
	}
	return generable.AnyT
}

// OfValue returns the possible value of a loaded global or a literal. The items of a container are known once nothing
// can change them.
func OfValue(v starlark.Value, frozen string, depth int) *Value {
	switch v := v.(type) {
	case nil:
		return Unknown
	case starlark.NoneType:
		return OfKind(None)
	case starlark.Bool:
		return One(Alt{Kind: Boolean, Exact: v})
	case starlark.Int:
		return One(Alt{Kind: Integer, Exact: v})
	case starlark.Float:
		return One(Alt{Kind: Float, Exact: v})
	case starlark.String:
		return One(Alt{Kind: Text, Exact: v})
	case starlark.Bytes:
		return OfKind(Bytes)
	case *starlark.List:
		return One(Alt{Kind: List, Frozen: frozen, Elem: items(v, frozen, depth), Some: frozen != "" && v.Len() > 0})
	case *starlark.Set:
		return One(Alt{Kind: Set, Frozen: frozen})
	case starlark.Tuple:
		if depth > 2 || len(v) > MostKeys {
			return Unknown
		}
		a := Alt{Kind: Tuple, Items: []*Value{}}
		for _, item := range v {
			a.Items = append(a.Items, OfValue(item, frozen, depth+1))
		}
		return One(a)
	case *starlark.Dict:
		return One(ofDict(v, frozen, depth))
	case *value.Record:
		return One(Alt{Kind: Record, Typ: v.Record.Type()})
	case *starlark.Function:
		return One(Alt{Kind: Function, Exact: v})
	case *value.Failed:
		return Unknown
	}
	if v.Type() == "range" {
		return One(Alt{Kind: Ranged, Elem: OfKind(Integer), Some: starlark.Len(v) > 0})
	}
	if !reflect.TypeOf(v).Comparable() {
		return Unknown
	}
	return One(Alt{Kind: Thing, Exact: v})
}

func items(seq starlark.Indexable, frozen string, depth int) *Value {
	if frozen == "" || depth > 2 || seq.Len() > MostKeys {
		return nil
	}
	out := Nothing
	for i := range seq.Len() {
		out = Unite(out, OfValue(seq.Index(i), frozen, depth+1), 0)
	}
	return Known(out)
}

func ofDict(d *starlark.Dict, frozen string, depth int) Alt {
	a := Alt{Kind: Dict, Frozen: frozen, Some: frozen != "" && d.Len() > 0}
	if frozen == "" || depth > 2 || d.Len() > MostKeys {
		return a
	}
	a.Elem, a.Shape = Nothing, NewShape()
	for k, item := range d.Entries() {
		v := OfValue(item, frozen, depth+1)
		a.Elem = Unite(a.Elem, v, 0)
		if a.Shape == nil {
			continue
		}
		if key := KeyOf(k); key != nil {
			a.Shape.Put(Entry{Key: key, Value: v})
		} else {
			a.Shape = nil
		}
	}
	a.Elem = Known(a.Elem)
	return a
}

// KeyOf returns a key that can be compared without the interpreter, or nil.
func KeyOf(v starlark.Value) starlark.Value {
	switch v := v.(type) {
	case starlark.String, starlark.Bool, starlark.NoneType:
		return v
	case starlark.Int:
		if _, small := v.Int64(); small {
			return v
		}
	}
	return nil
}

// instance stands for any instance of a schema when the interpreter tries an operation.
type instance struct {
	value.Plain
	typ *generable.Type
}

func (v instance) Type() string          { return v.typ.String() }
func (v instance) String() string        { return v.typ.String() }
func (v instance) Hash() (uint32, error) { return 0, nil }

// Get makes instance a mapping, as real instances are.
func (v instance) Get(starlark.Value) (starlark.Value, bool, error) { return nil, false, nil }

// CompareSameType compares as real instances do: by value, without an order.
func (v instance) CompareSameType(op syntax.Token, _ starlark.Value, _ int) (bool, error) {
	return false, compareError(op, v.typ.String())
}

// orderless is the interpreter's error for two values of a type without an order.
type orderless struct {
	op  syntax.Token
	typ string
}

func (o orderless) Error() string { return fmt.Sprintf("%s %s %s not implemented", o.typ, o.op, o.typ) }

func compareError(op syntax.Token, typ string) error {
	if op == syntax.EQL || op == syntax.NEQ {
		return nil
	}
	return orderless{op, typ}
}

var rangeSample = func() starlark.Value {
	v, err := starlark.Call(&starlark.Thread{}, starlark.Universe["range"], starlark.Tuple{starlark.MakeInt(1)}, nil)
	if err != nil {
		panic(err)
	}
	return v
}()

// Sample returns a value for which an operation succeeds if it succeeds for any value of the alternative, or nil if
// there is none.
func (a *Alt) Sample() starlark.Value {
	switch a.Kind {
	case None:
		return starlark.None
	case Boolean:
		return starlark.True
	case Integer:
		return starlark.MakeInt(1)
	case Float:
		return starlark.Float(1)
	case Text:
		return starlark.String("1")
	case Bytes:
		return starlark.Bytes("1")
	case List:
		return starlark.NewList(nil)
	case Tuple:
		return make(starlark.Tuple, 0)
	case Dict:
		return starlark.NewDict(0)
	case Set:
		return starlark.NewSet(0)
	case Ranged:
		return rangeSample
	case Record:
		return instance{typ: a.Typ}
	case Function:
		return starlark.Universe["len"]
	}
	return nil
}

// sampled maps the names of types to the kinds of results.
var sampled = map[string]Kind{
	"NoneType": None, "bool": Boolean, "int": Integer, "float": Float, "string": Text, "bytes": Bytes, "list": List, "dict": Dict, "set": Set,
}

// OfSample returns the possible values for the interpreter's result on samples.
func OfSample(v starlark.Value) *Value {
	if kind, ok := sampled[v.Type()]; ok {
		return OfKind(kind)
	}
	return Unknown
}

// Word returns the name of an alternative for messages.
func (a *Alt) Word() string {
	switch a.Kind {
	case Unset:
		return "no value"
	case Bytes, Tuple, Set, Ranged:
		return a.Sample().Type()
	case Function:
		return "function"
	case List, Dict:
		if a.Elem == nil || a.Elem == Nothing {
			return a.Sample().Type()
		}
	case Thing:
		return a.Exact.Type()
	}
	if t := a.declared(); t != nil {
		return t.String()
	}
	return "value"
}

// Words returns the names of all alternatives for messages.
func (v *Value) Words() string {
	if v.typ != nil {
		return v.typ.String()
	}
	var words []string
	for i := range v.Alts {
		if w := v.Alts[i].Word(); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if v.Any || len(words) == 0 {
		return "a value"
	}
	return strings.Join(words, " | ")
}
