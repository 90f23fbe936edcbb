package generable

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"strings"
)

// generator makes random types and values. With wire set, inline unions hold at most one
// member that is an object and one that is a list, so that JSON tells the members apart.
type generator struct {
	*rand.Rand
	any, wire bool
	names     int
	open      []*Type // references to the schemas being made, for recursive types
}

func newGenerator(seed int64) *generator {
	return &generator{Rand: rand.New(rand.NewSource(seed))}
}

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *generator) typ(depth int) *Type {
	scalars := []*Type{NoneT, BoolT, IntT, FloatT, StrT}
	if g.any {
		scalars = append(scalars, AnyT)
	}
	if depth <= 0 {
		return scalars[g.Intn(len(scalars))]
	}
	switch g.Intn(10) {
	case 0, 1:
		return scalars[g.Intn(len(scalars))]
	case 2:
		return ListOfType(g.typ(depth - 1))
	case 3:
		return DictOfType(g.typ(depth - 1))
	case 4:
		return g.enum()
	case 5:
		return g.union(depth - 1)
	case 6:
		return OneOf(g.typ(depth-1), NoneT)
	case 7:
		return g.inline(depth - 1)
	}
	return g.schema(depth-1, "")
}

func (g *generator) enum() *Type {
	values := []string{"low", "medium", "high", "none at all", "é"}
	t, _ := NewEnum(g.name("Enum"), "", values[:1+g.Intn(len(values))])
	return t
}

func (g *generator) inline(depth int) *Type {
	var members []*Type
	objects, lists := 0, 0
	for range 2 + g.Intn(3) {
		m := g.typ(depth)
		if g.wire {
			isObject := accepts(m, []TypeKind{RecordType, UnionType, DictType})
			isList := accepts(m, []TypeKind{ListType})
			if (isObject && objects > 0) || (isList && lists > 0) {
				continue
			}
			if isObject {
				objects++
			}
			if isList {
				lists++
			}
		}
		members = append(members, m)
	}
	return OneOf(members...)
}

func (g *generator) union(depth int) *Type {
	tag := []string{"type", "kind"}[g.Intn(2)]
	var variants []*Type
	for range 1 + g.Intn(3) {
		variants = append(variants, g.schema(depth, tag))
	}
	t, errs := NewUnion(g.name("Union"), "", tag, variants)
	if len(errs) > 0 {
		panic(errs)
	}
	return t
}

func (g *generator) schema(depth int, tag string) *Type {
	name := g.name("Schema")
	self := RefTo(name)
	g.open = append(g.open, self)
	var fields []Field
	for i := range g.Intn(5) {
		f := Field{Name: fmt.Sprintf("f%d", i), Type: g.typ(depth), Guide: strings.Repeat("g", i)}
		if g.Intn(6) == 0 { // a way back to a schema around this one, with a way out
			back := g.open[g.Intn(len(g.open))]
			f.Type = []*Type{ListOfType(back), OneOf(back, NoneT), DictOfType(back)}[g.Intn(3)]
		}
		switch f.Type.Kind {
		case IntType, FloatType:
			f.Limits = []*Limits{{Ge: ptr(-1000.0), Le: ptr(1000.0)}, {Gt: ptr(-1001.0), Lt: ptr(1001.0)}}[g.Intn(2)]
		case StrType:
			f.Limits = &Limits{MaxLen: ptr(8)}
		}
		if g.Intn(4) == 0 && len(Refs(f.Type)) == 0 {
			f.Optional, f.Default = true, g.value(f.Type, 1)
		}
		fields = append(fields, f)
	}
	g.open = g.open[:len(g.open)-1]
	t, errs := NewSchema(name, "", fields)
	if len(errs) > 0 {
		panic(fmt.Sprint(tag, errs))
	}
	self.Bind(t)
	return t
}

// value makes a value of type t, whose references are bound.
func (g *generator) value(t *Type, depth int) Value {
	t = t.Deref()
	size := 0
	if depth > 0 {
		size = g.Intn(4)
	}
	switch t.Kind {
	case BoolType:
		return BoolOf(g.Intn(2) == 0)
	case IntType:
		return IntOf(int64(g.Intn(2001) - 1000))
	case FloatType:
		return flt(math.Round(g.Float64()*4000)/2 - 1000)
	case StrType:
		return StrOf([]string{"", "a", "hall", `q"\`, "é\n", "日本", "\u2028", "<b>&"}[g.Intn(8)])
	case EnumType:
		return StrOf(t.Values[g.Intn(len(t.Values))])
	case ListType:
		items := make([]Value, size)
		for i := range items {
			items[i] = g.value(t.Elem, depth-1)
		}
		return NewList(items).Value()
	case DictType:
		m := NewMap(size)
		for range size {
			m.Set([]string{"k", "f0", "type", "a b", "é"}[g.Intn(5)], g.value(t.Elem, depth-1))
		}
		return m.Value()
	case RecordType:
		vals := make([]Value, len(t.Fields))
		for i := range vals {
			vals[i] = g.value(t.Fields[i].Type, depth-1)
		}
		return NewRecord(t, vals).Value()
	case UnionType:
		return g.value(t.Variants[g.Intn(len(t.Variants))], depth)
	case OneOfType:
		if depth <= 0 && t.AcceptsNone() {
			return Value{}
		}
		return g.value(t.Variants[g.Intn(len(t.Variants))], depth)
	case AnyType:
		return g.plain(depth)
	}
	return Value{}
}

// plain makes a value without records, of any shape.
func (g *generator) plain(depth int) Value {
	n := 8
	if depth <= 0 {
		n = 6
	}
	switch g.Intn(n) {
	case 0:
		return Value{}
	case 1:
		return g.value(BoolT, 0)
	case 2:
		return g.value(IntT, 0)
	case 3:
		return g.value(FloatT, 0)
	case 4:
		return g.value(StrT, 0)
	case 5:
		return BigOf(new(big.Int).Lsh(big.NewInt(int64(g.Intn(9)+1)), uint(g.Intn(90))))
	case 6:
		items := make([]Value, g.Intn(4))
		for i := range items {
			items[i] = g.plain(depth - 1)
		}
		return NewList(items).Value()
	}
	m := NewMap(0)
	for range g.Intn(4) {
		m.Set([]string{"f0", "f1", "type", "kind", "x"}[g.Intn(5)], g.plain(depth-1))
	}
	return m.Value()
}

// mutate changes one place of a value without records.
func (g *generator) mutate(v Value) Value {
	switch {
	case v.kind == ListKind && (*List)(v.p).Len() > 0 && g.Intn(5) > 0:
		items := append([]Value(nil), (*List)(v.p).items...)
		i := g.Intn(len(items))
		items[i] = g.mutate(items[i])
		return NewList(items).Value()
	case v.kind == MapKind && (*Map)(v.p).Len() > 0 && g.Intn(5) > 0:
		m := (*Map)(v.p)
		out, at, how := NewMap(0), g.Intn(m.Len()), g.Intn(4)
		for i, k := range m.keys {
			switch {
			case i != at || how == 3:
				out.Set(k, m.vals[i])
			case how == 0: // left out
			case how == 1:
				out.Set(k+"x", m.vals[i])
			default:
				out.Set(k, g.mutate(m.vals[i]))
			}
		}
		if how == 3 {
			out.Set("added", Value{})
		}
		return out.Value()
	}
	return g.plain(1)
}
