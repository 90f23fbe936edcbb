package dialect

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/agentscript/agentscript/generable"
)

// maker makes random types and values of them. An inline union has at most one part that is an object and one that is
// a list, so that JSON distinguishes its parts in the natural form.
type maker struct {
	*rand.Rand
	named int
	refs  []*generable.Type // schemas and unions under construction, for types that contain themselves
}

func newMaker(seed uint64) *maker { return &maker{Rand: rand.New(rand.NewPCG(seed, 7))} }

func (m *maker) next(prefix string) string {
	m.named++
	return fmt.Sprint(prefix, m.named)
}

func pick[T any](m *maker, list ...T) T { return list[m.IntN(len(list))] }

func ptr[T any](v T) *T { return &v }

func good(t *generable.Type, errs generable.FieldErrors) *generable.Type {
	if errs != nil {
		panic(errs)
	}
	return t
}

func (m *maker) typ(depth int) *generable.Type {
	flat := []*generable.Type{generable.BoolT, generable.IntT, generable.FloatT, generable.StrT, generable.AnyT, generable.NoneT}
	if depth <= 0 {
		return pick(m, flat...)
	}
	depth--
	switch m.IntN(13) {
	case 9:
		return m.limited()
	case 10:
		return m.tuple(depth)
	case 11:
		return m.itself(depth)
	case 0:
		return generable.ListOfType(m.typ(depth))
	case 1:
		return generable.DictOfType(m.typ(depth))
	case 2:
		return m.enum()
	case 3:
		return m.union(depth)
	case 4:
		return generable.OneOf(m.typ(depth), generable.NoneT)
	case 5:
		return m.mixed(depth)
	case 6:
		return pick(m, flat...)
	}
	return m.record(depth)
}

// limited returns a scalar with its own limits, or one of a few values.
func (m *maker) limited() *generable.Type {
	only := func(values ...generable.Value) generable.Limits {
		return generable.Limits{Only: generable.NewList(values)}
	}
	half, _ := generable.FloatOf(2.5)
	switch m.IntN(8) {
	case 0:
		return good(generable.Limited(generable.IntT, generable.Limits{Ge: ptr(-1000.0), Lt: ptr(1000.5)}))
	case 1:
		return good(generable.Limited(generable.StrT, generable.Limits{MaxLen: ptr(30)}))
	case 2:
		return good(generable.Limited(generable.IntT, only(generable.IntOf(1), generable.IntOf(-7))))
	case 3:
		return good(generable.Limited(generable.StrT, only(generable.StrOf(""), generable.StrOf("a b"))))
	case 4:
		return good(generable.Limited(generable.BoolT, only(generable.BoolOf(true))))
	case 5:
		return good(generable.Limited(generable.OneOf(generable.IntT, generable.FloatT), only(generable.IntOf(1), half)))
	case 6:
		return good(generable.Limited(generable.FloatT, generable.Limits{Gt: ptr(-1000.5), Check: &generable.Check{Says: "a number that the host likes", Holds: func(generable.Value) bool { return true }}}))
	}
	return good(generable.Limited(generable.AnyT, only(generable.ListOf(generable.IntOf(1)), pair("a", half))))
}

// tuple returns a list whose positions have their own types: of fixed or arbitrary length.
func (m *maker) tuple(depth int) *generable.Type {
	items := []*generable.Type{m.typ(depth - 1)}
	for range m.IntN(3) {
		items = append(items, m.typ(depth-1))
	}
	if n := len(items); m.IntN(3) > 0 {
		return good(generable.Limited(generable.TupleType(items, nil), generable.Limits{MinLen: &n, MaxLen: &n}))
	}
	return generable.TupleType(items, pick(m, nil, generable.BoolT))
}

// itself returns a type that contains itself without a schema in between.
func (m *maker) itself(depth int) *generable.Type {
	self := generable.RefTo(m.next("Self"))
	parts := []*generable.Type{pick(m, generable.StrT, generable.IntT, m.enum())}
	if m.IntN(3) > 0 {
		parts = append(parts, generable.ListOfType(self))
	}
	if m.IntN(3) > 0 {
		parts = append(parts, generable.DictOfType(self))
	}
	if m.IntN(3) == 0 {
		parts = append(parts, generable.NoneT)
	}
	t := generable.OneOf(parts...)
	self.BindPart(t)
	return t
}

func (m *maker) enum() *generable.Type {
	values := []string{"low", "not so low", "hoch", "日本", "x_y"}
	return good(generable.NewEnum(m.next("Enum"), pick(m, "", "how much"), values[:1+m.IntN(len(values))]))
}

func (m *maker) mixed(depth int) *generable.Type {
	parts := []*generable.Type{pick(m, generable.IntT, generable.StrT, generable.BoolT)}
	if m.IntN(2) == 0 {
		parts = append(parts, pick(m, generable.ListOfType(m.typ(depth)), m.tuple(depth)))
	}
	if m.IntN(2) == 0 {
		parts = append(parts, pick(m, m.record(depth), m.union(depth), generable.DictOfType(m.typ(depth))))
	}
	if m.IntN(3) == 0 {
		parts = append(parts, generable.NoneT)
	}
	return generable.OneOf(parts...)
}

func (m *maker) union(depth int) *generable.Type {
	name := m.next("Union")
	self := generable.RefTo(name)
	m.refs = append(m.refs, self)
	var variants []*generable.Type
	for range 1 + m.IntN(3) {
		variants = append(variants, m.record(depth))
	}
	m.refs = m.refs[:len(m.refs)-1]
	t := good(generable.NewUnion(name, pick(m, "", "one of several"), pick(m, "type", "kind of thing"), variants))
	self.Bind(t)
	return t
}

func (m *maker) record(depth int) *generable.Type {
	name := m.next("Record")
	self := generable.RefTo(name)
	m.refs = append(m.refs, self)
	var fields []generable.Field
	for i := range m.IntN(6) {
		f := generable.Field{Name: pick(m, "a", "value", "key", "json", "größe", "a b") + fmt.Sprint(i), Type: m.typ(depth), Guide: pick(m, "", "What it is", "Was es ist.")}
		if m.IntN(5) == 0 {
			back := pick(m, m.refs...)
			f.Type = pick(m, generable.ListOfType(back), generable.OneOf(back, generable.NoneT), generable.DictOfType(back), generable.OneOf(generable.StrT, back))
		}
		m.limit(&f)
		if len(generable.Refs(f.Type)) == 0 && m.IntN(3) == 0 {
			f.Optional, f.Default = true, m.value(f.Type, f.Limits, 1)
		} else if f.Type.Kind != generable.RefType && m.IntN(4) == 0 {
			f = generable.OmittedField(f)
		} else if f.Type.AcceptsNone() && m.IntN(3) == 0 {
			f.Explicit = true
		}
		fields = append(fields, f)
	}
	m.refs = m.refs[:len(m.refs)-1]
	t := good(generable.NewSchema(name, pick(m, "", "A record of things"), fields))
	self.Bind(t)
	return t
}

// limit adds limits to a field that its values, as made by value, keep.
func (m *maker) limit(f *generable.Field) {
	if m.IntN(2) == 0 {
		return
	}
	switch f.Type.Kind {
	case generable.IntType:
		f.Limits = pick(m, &generable.Limits{Ge: ptr(-1000.0), Le: ptr(1000.0)}, &generable.Limits{Le: ptr(math.Pow(2, 62))})
	case generable.FloatType:
		f.Limits = &generable.Limits{Ge: ptr(-1000.5)}
	case generable.StrType:
		f.Limits = pick(m, &generable.Limits{MaxLen: ptr(30)}, &generable.Limits{Pattern: "^[a-z]{1,4}$", MinLen: ptr(1)},
			&generable.Limits{Pattern: `(?i)^\d+$`}, &generable.Limits{Format: "date"}, &generable.Limits{Format: "uri"})
	case generable.ListType, generable.DictType:
		f.Limits = &generable.Limits{MinLen: ptr(0), MaxLen: ptr(3)}
	}
}

// value makes a value of a type whose references are bound.
func (m *maker) value(t *generable.Type, l *generable.Limits, depth int) generable.Value {
	l = both(l, limitsOn(t))
	if l != nil && l.Only != nil {
		return pick(m, l.Only.Items()...)
	}
	t = t.Deref()
	size := 0
	if depth > 0 {
		size = m.IntN(4)
	}
	switch t.Kind {
	case generable.BoolType:
		return generable.BoolOf(m.IntN(2) == 0)
	case generable.IntType:
		if l != nil && l.Le != nil && *l.Le > 1000 {
			return generable.IntOf(m.Int64N(1 << 62))
		}
		return generable.IntOf(int64(m.IntN(2001) - 1000))
	case generable.FloatType:
		f, _ := generable.FloatOf(float64(m.IntN(8000))/4 - 1000)
		return f
	case generable.StrType:
		return generable.StrOf(m.text(l))
	case generable.EnumType:
		return generable.StrOf(pick(m, t.Values...))
	case generable.ListType:
		if n := fixedLen(l); n >= 0 {
			size = n
		}
		items := make([]generable.Value, size)
		for i := range items {
			of := t.Elem
			if i < len(t.Variants) {
				of = t.Variants[i]
			}
			items[i] = m.value(of, nil, depth-1)
		}
		return generable.NewList(items).Value()
	case generable.DictType:
		d := generable.NewMap(size)
		for range size {
			d.Set(pick(m, "k", "key", "entries", "some thing", "é", ""), m.value(t.Elem, nil, depth-1))
		}
		return d.Value()
	case generable.RecordType:
		vals := make([]generable.Value, len(t.Fields))
		for i := range vals {
			if f := &t.Fields[i]; f.Omit && m.IntN(2) == 0 {
				vals[i] = f.Default
				continue
			}
			vals[i] = m.value(t.Fields[i].Type, t.Fields[i].Limits, depth-1)
			if f := &t.Fields[i]; f.Omit && f.Type.Kind != generable.AnyType && vals[i].IsNull() {
				vals[i] = f.Default
			}
		}
		return generable.NewRecord(t, vals).Value()
	case generable.UnionType:
		return m.value(pick(m, t.Variants...), nil, depth)
	case generable.OneOfType:
		switch {
		case depth <= 0 && t.AcceptsNone():
			return generable.Value{}
		case depth <= 0: // the first part is not recursive
			return m.value(t.Variants[0], l, depth)
		}
		return m.value(pick(m, t.Variants...), l, depth)
	case generable.AnyType:
		return m.plain(depth)
	}
	return generable.Value{}
}

func (m *maker) text(l *generable.Limits) string {
	switch {
	case l == nil || l.Pattern == "" && l.Format == "":
		return pick(m, "", "text", "5", "null", `q"\`, "zwei\nZeilen", "日本", `{"json": 1}`, "[]")
	case l.Format == "date":
		return "2026-02-28"
	case l.Format == "uri":
		return "https://example.org/a?b"
	case l.MinLen != nil:
		return pick(m, "a", "abc", "wxyz")
	}
	return pick(m, "1", "42")
}

// plain makes a value of any shape.
func (m *maker) plain(depth int) generable.Value {
	kinds := 7
	if depth <= 0 {
		kinds = 5
	}
	switch m.IntN(kinds) {
	case 0:
		return generable.Value{}
	case 1:
		return generable.BoolOf(true)
	case 2:
		return generable.BigOf(new(big.Int).Lsh(big.NewInt(int64(m.IntN(9))), uint(m.IntN(90))))
	case 3:
		return m.value(generable.FloatT, nil, 0)
	case 4:
		return generable.StrOf(m.text(nil))
	case 5:
		items := make([]generable.Value, m.IntN(3))
		for i := range items {
			items[i] = m.plain(depth - 1)
		}
		return generable.NewList(items).Value()
	}
	d := generable.NewMap(2)
	for range m.IntN(3) {
		d.Set(pick(m, "x", "type", "y z"), m.plain(depth-1))
	}
	return d.Value()
}
