// Package gentest provides what tests of types and values share: random types and values, and golden files.
package gentest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// Rounds returns the number of random types to test a property with: 3,000, or a fifth of that under -short.
func Rounds() int {
	if testing.Short() {
		return 600
	}
	return 3000
}

// Generator makes random types and values. If Wire is set, inline unions have at most one member that is an object and
// one that is a list, so that JSON distinguishes the members.
type Generator struct {
	*rand.Rand
	Any, Wire bool
	names     int
	open      []*generable.Type // references to the schemas under construction, for recursive types
}

func NewGenerator(seed int64) *Generator {
	return &Generator{Rand: rand.New(rand.NewSource(seed))}
}

func (g *Generator) Name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

func (g *Generator) Typ(depth int) *generable.Type {
	scalars := []*generable.Type{generable.NoneT, generable.BoolT, generable.IntT, generable.FloatT, generable.StrT}
	if g.Any {
		scalars = append(scalars, generable.AnyT)
	}
	if depth <= 0 {
		return scalars[g.Intn(len(scalars))]
	}
	switch g.Intn(10) {
	case 0, 1:
		return scalars[g.Intn(len(scalars))]
	case 2:
		return generable.ListOfType(g.Typ(depth - 1))
	case 3:
		return generable.DictOfType(g.Typ(depth - 1))
	case 4:
		return g.Enum()
	case 5:
		return g.Union(depth - 1)
	case 6:
		return generable.OneOf(g.Typ(depth-1), generable.NoneT)
	case 7:
		return g.inline(depth - 1)
	}
	return g.Schema(depth-1, "")
}

func (g *Generator) Enum() *generable.Type {
	values := []string{"low", "medium", "high", "none at all", "é"}
	t, _ := generable.NewEnum(g.Name("Enum"), "", values[:1+g.Intn(len(values))])
	return t
}

func (g *Generator) inline(depth int) *generable.Type {
	var members []*generable.Type
	objects, lists := 0, 0
	for range 2 + g.Intn(3) {
		m := g.Typ(depth)
		if g.Wire {
			isObject := accepts(m, generable.RecordType, generable.UnionType, generable.DictType)
			isList := accepts(m, generable.ListType)
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
	return generable.OneOf(members...)
}

func (g *Generator) Union(depth int) *generable.Type {
	tag := []string{"type", "kind"}[g.Intn(2)]
	var variants []*generable.Type
	for range 1 + g.Intn(3) {
		variants = append(variants, g.Schema(depth, tag))
	}
	t, errs := generable.NewUnion(g.Name("Union"), "", tag, variants)
	if len(errs) > 0 {
		panic(errs)
	}
	return t
}

func (g *Generator) Schema(depth int, tag string) *generable.Type {
	name := g.Name("Schema")
	self := generable.RefTo(name)
	g.open = append(g.open, self)
	var fields []generable.Field
	for i := range g.Intn(5) {
		f := generable.Field{Name: fmt.Sprintf("f%d", i), Type: g.Typ(depth), Guide: strings.Repeat("g", i)}
		if g.Intn(6) == 0 { // a reference to an enclosing schema, in a type that can also end the recursion
			back := g.open[g.Intn(len(g.open))]
			f.Type = []*generable.Type{generable.ListOfType(back), generable.OneOf(back, generable.NoneT), generable.DictOfType(back)}[g.Intn(3)]
		}
		switch f.Type.Kind {
		case generable.IntType, generable.FloatType:
			f.Limits = []*generable.Limits{{Ge: Ptr(-1000.0), Le: Ptr(1000.0)}, {Gt: Ptr(-1001.0), Lt: Ptr(1001.0)}}[g.Intn(2)]
		case generable.StrType:
			f.Limits = &generable.Limits{MaxLen: Ptr(8)}
		}
		if g.Intn(4) == 0 && len(generable.Refs(f.Type)) == 0 {
			f.Optional, f.Default = true, g.Value(f.Type, 1)
		}
		fields = append(fields, f)
	}
	g.open = g.open[:len(g.open)-1]
	t, errs := generable.NewSchema(name, "", fields)
	if len(errs) > 0 {
		panic(fmt.Sprint(tag, errs))
	}
	self.Bind(t)
	return t
}

// Value makes a value of type t, whose references must be bound.
func (g *Generator) Value(t *generable.Type, depth int) generable.Value {
	t = t.Deref()
	size := 0
	if depth > 0 {
		size = g.Intn(4)
	}
	switch t.Kind {
	case generable.BoolType:
		return generable.BoolOf(g.Intn(2) == 0)
	case generable.IntType:
		return generable.IntOf(int64(g.Intn(2001) - 1000))
	case generable.FloatType:
		return Float(math.Round(g.Float64()*4000)/2 - 1000)
	case generable.StrType:
		return generable.StrOf([]string{"", "a", "hall", `q"\`, "é\n", "日本", "\u2028", "<b>&"}[g.Intn(8)])
	case generable.EnumType:
		return generable.StrOf(t.Values[g.Intn(len(t.Values))])
	case generable.ListType:
		items := make([]generable.Value, size)
		for i := range items {
			items[i] = g.Value(t.Elem, depth-1)
		}
		return generable.NewList(items).Value()
	case generable.DictType:
		m := generable.NewMap(size)
		for range size {
			m.Set([]string{"k", "f0", "type", "a b", "é"}[g.Intn(5)], g.Value(t.Elem, depth-1))
		}
		return m.Value()
	case generable.RecordType:
		vals := make([]generable.Value, len(t.Fields))
		for i := range vals {
			vals[i] = g.Value(t.Fields[i].Type, depth-1)
		}
		return generable.NewRecord(t, vals).Value()
	case generable.UnionType:
		return g.Value(t.Variants[g.Intn(len(t.Variants))], depth)
	case generable.OneOfType:
		if depth <= 0 && t.AcceptsNone() {
			return generable.Value{}
		}
		return g.Value(t.Variants[g.Intn(len(t.Variants))], depth)
	case generable.AnyType:
		return g.Plain(depth)
	}
	return generable.Value{}
}

// Plain makes a value of any shape without records.
func (g *Generator) Plain(depth int) generable.Value {
	n := 8
	if depth <= 0 {
		n = 6
	}
	switch g.Intn(n) {
	case 0:
		return generable.Value{}
	case 1:
		return g.Value(generable.BoolT, 0)
	case 2:
		return g.Value(generable.IntT, 0)
	case 3:
		return g.Value(generable.FloatT, 0)
	case 4:
		return g.Value(generable.StrT, 0)
	case 5:
		return generable.BigOf(new(big.Int).Lsh(big.NewInt(int64(g.Intn(9)+1)), uint(g.Intn(90))))
	case 6:
		items := make([]generable.Value, g.Intn(4))
		for i := range items {
			items[i] = g.Plain(depth - 1)
		}
		return generable.NewList(items).Value()
	}
	m := generable.NewMap(0)
	for range g.Intn(4) {
		m.Set([]string{"f0", "f1", "type", "kind", "x"}[g.Intn(5)], g.Plain(depth-1))
	}
	return m.Value()
}

// Mutate changes one place of a value without records.
func (g *Generator) Mutate(v generable.Value) generable.Value {
	list, isList := v.AsList()
	m, isMap := v.AsMap()
	switch {
	case isList && list.Len() > 0 && g.Intn(5) > 0:
		items := slices.Clone(list.Items())
		i := g.Intn(len(items))
		items[i] = g.Mutate(items[i])
		return generable.NewList(items).Value()
	case isMap && m.Len() > 0 && g.Intn(5) > 0:
		out, at, how := generable.NewMap(0), g.Intn(m.Len()), g.Intn(4)
		for i := range m.Len() {
			k, v := m.At(i)
			switch {
			case i != at || how == 3:
				out.Set(k, v)
			case how == 0: // left out
			case how == 1:
				out.Set(k+"x", v)
			default:
				out.Set(k, g.Mutate(v))
			}
		}
		if how == 3 {
			out.Set("added", generable.Value{})
		}
		return out.Value()
	}
	return g.Plain(1)
}

// accepts reports whether t, or a member of t if it is an inline union, is a type of one of the kinds.
func accepts(t *generable.Type, kinds ...generable.TypeKind) bool {
	t = t.Deref()
	return slices.Contains(kinds, t.Kind) ||
		t.Kind == generable.OneOfType && slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return accepts(v, kinds...) })
}

// Must returns a function that returns a declared type, and fails the test if its declaration has problems.
func Must(t testing.TB) func(*generable.Type, generable.FieldErrors) *generable.Type {
	return func(typ *generable.Type, errs generable.FieldErrors) *generable.Type {
		t.Helper()
		if len(errs) > 0 {
			t.Fatalf("declaration: %v", errs)
		}
		return typ
	}
}

func Ptr[T any](v T) *T { return &v }

func Float(f float64) generable.Value {
	v, ok := generable.FloatOf(f)
	if !ok {
		panic("not a finite float")
	}
	return v
}
