package possible

import (
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/generable"
)

// Kind is the kind of an alternative.
type Kind uint8

const (
	Unset Kind = iota // a name without a value
	None
	Boolean
	Integer
	Float
	Text
	Bytes
	List
	Tuple
	Dict
	Set
	Ranged
	Record
	Function // a function of the script
	Thing    // any other value of known identity: a node, a type, a builtin
)

// Alt is one alternative for a value. It is immutable.
type Alt struct {
	Kind   Kind
	Exact  starlark.Value  // the value itself, nil if unknown
	Typ    *generable.Type // the type of a record; the type that declares a text of an enum or a dict
	Elem   *Value          // the items of a list, set or range, or the values of a dict; nil if they may be anything
	Items  []*Value        // the items of a tuple, or of a list as written; nil for a list whose items are not known individually
	Shape  *Shape          // the keys of a dict, if they are known
	Fields Fields          // the fields of a record
	Some   bool            // a list or dict that certainly has items
	Frozen string          // the reason why it is frozen; "" if it is not, or if that is unknown
	Code   *Closure
	Mark   *Mark
	Region int // the region in which a record was bound to a name; see In
}

// Shape holds what is known of the keys of a dict without other references.
type Shape struct {
	Keys  []Entry
	index map[starlark.Value]int
}

type Entry struct {
	Key   starlark.Value // a str, an int, a bool or None
	Value *Value
	Mark  *Mark // the path on which the key is missing; live if it may be
	Maybe bool  // it may be missing
}

// Value is the set of possible values of an expression. It is immutable; nil means that the expression is
// never evaluated.
type Value struct {
	Any  bool            // may be anything, in addition to Alts
	Alts []Alt           // at most one of each kind, except for records and things
	typ  *generable.Type // the declared union of all alternatives, if there is one
	own  [1]Alt          // storage for a single alternative
}

// mostAlts bounds the number of alternatives.
const mostAlts = 8

var Unknown = &Value{Any: true}

//go:noinline
func One(a Alt) *Value {
	v := &Value{own: [1]Alt{a}}
	v.Alts = v.own[:]
	return v
}

func OfKind(k Kind) *Value { return simple[k] }

var simple = func() (all [Thing + 1]*Value) {
	for k := range all {
		all[k] = One(Alt{Kind: Kind(k)})
	}
	all[None].Alts[0].Exact = starlark.None
	return all
}()

// Certain returns the only alternative, if there is exactly one.
func (v *Value) Certain() (Alt, bool) {
	if v == nil || v.Any || len(v.Alts) != 1 {
		return Alt{}, false
	}
	return v.Alts[0], true
}

// Opaque reports whether nothing is known.
func (v *Value) Opaque() bool { return v != nil && v.Any && len(v.Alts) == 0 }

// Exactly returns the value itself, or nil if it is unknown.
//
//go:noinline
func (v *Value) Exactly() starlark.Value {
	a, _ := v.Certain()
	return a.Exact
}

// Constant returns the exact str, int, bool or None, or nil for any other value.
func (v *Value) Constant() starlark.Value {
	switch x := v.Exactly().(type) {
	case starlark.String, starlark.Int, starlark.Bool, starlark.NoneType:
		return x
	}
	return nil
}

// Without removes the alternatives for which drop is true; nil if none remains.
func (v *Value) Without(drop func(a *Alt) bool) *Value {
	if v == nil || !slices.ContainsFunc(v.Alts, func(a Alt) bool { return drop(&a) }) {
		return v
	}
	out := &Value{Any: v.Any}
	for i := range v.Alts {
		if !drop(&v.Alts[i]) {
			out.Alts = append(out.Alts, v.Alts[i])
		}
	}
	if !out.Any && len(out.Alts) == 0 {
		return nil
	}
	return out
}

// Only keeps the alternatives for which keep is true. An unknown value stays unknown.
func (v *Value) Only(keep func(a *Alt) bool) *Value {
	return v.Without(func(a *Alt) bool { return !keep(a) })
}

// Closure is a function of the script with its captured values.
type Closure struct {
	Node   syntax.Node // *syntax.DefStmt or *syntax.LambdaExpr
	Env    map[*syntax.Ident]*Value
	Nested bool // it is defined inside another function
}

// same reports whether two alternatives are equal, ignoring their paths.
func same(a, b *Alt) bool {
	return a.Kind == b.Kind && a.Exact == b.Exact && a.Typ == b.Typ && a.Elem == b.Elem && a.Shape == b.Shape &&
		a.Some == b.Some && a.Frozen == b.Frozen && a.Code == b.Code && a.Region == b.Region && a.Fields.same(b.Fields) && (a.Items == nil) == (b.Items == nil) && slices.Equal(a.Items, b.Items)
}

// Alike reports whether two alternatives are merged into one.
func Alike(a, b *Alt) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == Record:
		return generable.Same(a.Typ, b.Typ)
	case a.Kind == Tuple:
		return len(a.Items) == len(b.Items)
	case a.Kind == Function:
		return a.Code != nil && b.Code != nil && a.Code.Node == b.Code.Node || a.Exact != nil && a.Exact == b.Exact
	case a.Kind == Thing:
		return a.Exact == b.Exact
	case a.Kind == List || a.Kind == Dict:
		return (a.Frozen == "") == (b.Frozen == "")
	}
	return true
}

// Merged returns one alternative for both. Beyond some depth, the items of a container that contains itself
// are unknown.
func Merged(a, b Alt, depth int) Alt {
	if same(&a, &b) {
		return a
	}
	if depth > 4 {
		return Alt{Kind: a.Kind, Typ: a.Typ}
	}
	out := Alt{Kind: a.Kind, Some: a.Some && b.Some, Mark: a.Mark}
	if a.Typ == b.Typ || a.Kind == Record {
		out.Typ = a.Typ
	}
	if a.Exact == b.Exact || a.Kind != Thing && equalScalars(a.Exact, b.Exact) {
		out.Exact = a.Exact
	}
	if a.Frozen != "" && b.Frozen != "" {
		out.Frozen = a.Frozen
	}
	if a.Elem != nil && b.Elem != nil {
		out.Elem = Unite(a.Elem, b.Elem, depth+1)
	} else if a.Kind == List || a.Kind == Dict || a.Kind == Set { // an empty one adds nothing
		switch {
		case a.Elem == Nothing:
			out.Elem = b.Elem
		case b.Elem == Nothing:
			out.Elem = a.Elem
		}
	}
	if len(a.Items) == len(b.Items) && a.Items != nil && b.Items != nil {
		out.Items = make([]*Value, len(a.Items))
		for i := range a.Items {
			out.Items[i] = Unite(a.Items[i], b.Items[i], depth+1)
		}
	}
	if a.Shape != nil && b.Shape != nil {
		out.Shape = a.Shape.Unite(b.Shape, depth+1)
	}
	if a.Kind == Record {
		out.Fields, out.Region = a.Fields.unite(b.Fields, depth+1), a.Region
		if a.Region != b.Region {
			out.Region = tested
		}
	}
	if a.Kind == Function {
		out.Code, out.Exact = a.Code, a.Exact
		if a.Code != b.Code {
			out.Code = &Closure{Node: a.Code.Node, Nested: a.Code.Nested}
		}
	}
	return out
}

// Nothing stands for the items of an empty container.
var Nothing = &Value{}

func equalScalars(a, b starlark.Value) bool {
	if a == nil || b == nil || a.Type() != b.Type() {
		return false
	}
	switch a.(type) {
	case starlark.String, starlark.Int, starlark.Bool, starlark.NoneType, starlark.Float:
		eq, err := starlark.Equal(a, b)
		return err == nil && eq
	}
	return false
}

// Unite returns the union of two values, ignoring paths.
func Unite(a, b *Value, depth int) *Value {
	switch {
	case a == b || b == nil:
		return a
	case a == nil || !a.Any && len(a.Alts) == 0:
		return b
	case !b.Any && len(b.Alts) == 0 || a.Opaque():
		return a
	case b.Opaque():
		return b
	case a.typ == nil && (a.Any || !b.Any) && a.holds(b):
		return a
	}
	out := &Value{Any: a.Any || b.Any, Alts: slices.Clone(a.Alts)}
	for _, x := range b.Alts {
		out.add(x, depth)
	}
	return out.Bounded()
}

// holds reports whether every alternative of another value is one of v.
func (v *Value) holds(o *Value) bool {
	for i := range o.Alts {
		x := &o.Alts[i]
		if !slices.ContainsFunc(v.Alts, func(a Alt) bool { return same(&a, x) }) {
			return false
		}
	}
	return true
}

// add adds an alternative, merging it with one of its kind.
func (v *Value) add(x Alt, depth int) {
	for i := range v.Alts {
		if Alike(&v.Alts[i], &x) {
			v.Alts[i] = Merged(v.Alts[i], x, depth)
			return
		}
	}
	v.Alts = append(v.Alts, x)
}

// Bounded returns the value with at most mostAlts alternatives. It always keeps the alternative that a name may have no
// value.
func (v *Value) Bounded() *Value {
	if len(v.Alts) <= mostAlts {
		return v
	}
	out := &Value{Any: true}
	for _, a := range v.Alts {
		if a.Kind == Unset {
			out.Alts = append(out.Alts, a)
		}
	}
	return out
}

func (s *Shape) Find(key starlark.Value) *Entry {
	if s == nil {
		return nil
	}
	if i, ok := s.index[key]; ok {
		return &s.Keys[i]
	}
	return nil
}

// With returns the shape with a key set.
func (s *Shape) With(key starlark.Value, v *Value) *Shape {
	out := &Shape{Keys: slices.Clone(s.Keys), index: make(map[starlark.Value]int, len(s.Keys)+1)}
	for i := range s.Keys {
		out.index[s.Keys[i].Key] = i
	}
	out.Put(Entry{Key: key, Value: v})
	return out
}

func (s *Shape) Put(e Entry) {
	if i, ok := s.index[e.Key]; ok {
		s.Keys[i] = e
		return
	}
	s.index[e.Key] = len(s.Keys)
	s.Keys = append(s.Keys, e)
}

// MostKeys and MostItems bound the number of tracked keys and items.
const (
	MostKeys  = 64
	MostItems = 16
)

func NewShape() *Shape { return &Shape{index: map[starlark.Value]int{}} }

// Unite returns the union of the keys of two dicts: a key that one of them lacks may be missing.
func (s *Shape) Unite(o *Shape, depth int) *Shape {
	out := NewShape()
	for _, e := range s.Keys {
		other := o.Find(e.Key)
		if other == nil {
			e.Maybe = true
		} else {
			e.Maybe = e.Maybe || other.Maybe
			e.Value = Unite(e.Value, other.Value, depth)
		}
		out.Put(e)
	}
	for _, e := range o.Keys {
		if s.Find(e.Key) == nil {
			e.Maybe = true
			out.Put(e)
		}
	}
	if len(out.Keys) > MostKeys {
		return nil
	}
	return out
}

// All reports whether a predicate holds for all alternatives, of which there must be at least one.
func All(v *Value, holds func(a *Alt) bool) bool {
	if v.Any || len(v.Alts) == 0 {
		return false
	}
	ok := true
	for i := range v.Alts {
		ok = holds(&v.Alts[i]) && ok
	}
	return ok
}
