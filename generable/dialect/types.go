package dialect

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
)

// typer makes the types with which the decoder reads the wire. Where the natural form cannot be mistaken for the wire
// form, they accept both: a list of pairs and an object, a text and the value that it encodes.
type typer struct {
	errs  generable.FieldErrors
	loops int
}

// absentType is the type of the marker for a field that is left out.
var absentType, _ = generable.NewSchema("", "", []generable.Field{{Name: absentKey, Type: generable.BoolT}})

func (d *typer) schema(name, doc string, fields ...generable.Field) *generable.Type {
	t, errs := generable.NewSchema(name, doc, fields)
	d.errs = append(d.errs, errs...)
	return t
}

func (d *typer) root(s *shape) *generable.Type {
	if s.form == wrapped {
		f := generable.Field{Name: valueKey, Type: d.typ(s.items)}
		if f.Type.AcceptsNone() { // otherwise any object would do, with the key left out
			f.Optional, f.Default = true, in.Absent()
		}
		s.wire = d.schema("", "", f)
		return s.wire
	}
	return d.typ(s)
}

// typ returns the type of a shape and caches it there.
func (d *typer) typ(s *shape) *generable.Type {
	if s.wire != nil {
		return s.wire
	}
	if !s.changed {
		s.wire = s.full
		return s.wire
	}
	name := s.nat.Name
	switch nominal := s.form == asIs && s.nat.IsNominal(); {
	case nominal:
	case s.loop:
		d.loops++
		name = "part " + strconv.Itoa(d.loops)
	default:
		s.wire = d.body(s)
		return s.wire
	}
	ref := generable.RefTo(name)
	s.wire = ref // the parts refer back to it
	t := d.body(s)
	ref.BindPart(t)
	s.wire = t
	return t
}

func (d *typer) body(s *shape) *generable.Type {
	switch s.form {
	case paired:
		return generable.OneOf(d.pairs(s), generable.DictOfType(d.typ(s.items)))
	case entered:
		return d.schema("", "", generable.Field{Name: entriesKey, Type: d.pairs(s)})
	case encoded:
		return generable.OneOf(generable.StrT, s.full)
	case boxed:
		if s.nat.Kind == generable.AnyType {
			return generable.AnyT
		}
		return d.schema("", "", generable.Field{Name: jsonKey, Type: generable.StrT})
	case slotted:
		fields := make([]generable.Field, len(s.parts))
		for i, p := range s.parts {
			fields[i] = generable.Field{Name: slotName(s, i), Type: generable.ListOfType(d.typ(p)), Optional: true, Default: generable.ListOf()}
		}
		return d.schema("", "", fields...)
	case tupled:
		fields, items := make([]generable.Field, len(s.parts)), make([]*generable.Type, len(s.parts))
		for i, p := range s.parts {
			items[i] = d.typ(p)
			fields[i] = generable.Field{Name: strconv.Itoa(i), Type: items[i], Explicit: items[i].AcceptsNone()}
		}
		return generable.OneOf(d.schema("", "", fields...), generable.TupleType(items, nil))
	case digits:
		return generable.OneOf(generable.IntT, generable.StrT)
	}
	switch s.nat.Kind {
	case generable.ListType:
		if len(s.parts) == 0 {
			return generable.ListOfType(d.typ(s.items))
		}
		items, rest := make([]*generable.Type, len(s.parts)), (*generable.Type)(nil)
		for i, p := range s.parts {
			items[i] = d.typ(p)
		}
		if s.items != nil {
			rest = d.typ(s.items)
		}
		return generable.TupleType(items, rest)
	case generable.DictType:
		return generable.DictOfType(d.typ(s.items))
	case generable.RecordType:
		return d.record(s)
	}
	parts := make([]*generable.Type, len(s.parts))
	for i, p := range s.parts {
		parts[i] = d.typ(p)
	}
	if s.nat.Kind == generable.OneOfType {
		return generable.OneOf(parts...)
	}
	t, errs := generable.NewUnion(s.nat.Name, s.nat.Doc, s.nat.Tag, parts)
	d.errs = append(d.errs, errs...)
	return t
}

func (d *typer) pairs(s *shape) *generable.Type {
	return generable.ListOfType(d.schema("", "", generable.Field{Name: pairKey, Type: generable.StrT}, generable.Field{Name: valueKey, Type: d.typ(s.items)}))
}

func (d *typer) record(s *shape) *generable.Type {
	fields := make([]generable.Field, len(s.fields))
	for i := range s.fields {
		fields[i] = d.field(&s.fields[i])
	}
	return d.schema(s.nat.Name, s.nat.Doc, fields...)
}

// field returns the wire field of one member. A field that may be left out may also be absent on the wire, whatever
// the schema requires.
func (d *typer) field(m *member) generable.Field {
	t := d.typ(m.shape)
	f := *m.nat
	if f.Name = m.name; m.name != m.nat.Name {
		f.Alias = append([]string{m.nat.Name}, m.nat.Alias...)
		if f.AliasOnly { // the name is not a key on the wire
			f.Alias, f.AliasOnly = slices.DeleteFunc(slices.Clone(m.nat.Alias), func(a string) bool { return a == m.name }), false
		}
	}
	if !m.changed && m.presence.same() {
		return f
	}
	// Limits are checked once the value has its natural form.
	f = generable.Field{Name: f.Name, Type: t, Guide: f.Guide, Alias: f.Alias, Dedent: f.Dedent, Explicit: f.Explicit, Optional: f.Optional || !m.presence.same()}
	switch m.presence {
	case markedAbsent:
		f.Type = generable.OneOf(t, absentType)
	case listed:
		f.Type = generable.OneOf(generable.ListOfType(d.withoutNull(m.shape)), t)
	case blank:
		f.Type = generable.OneOf(generable.StrT, m.nat.Type)
	}
	if f.Optional {
		f.Type, f.Default = generable.OneOf(f.Type, generable.NoneT), in.Absent()
	}
	return f
}

// withoutNull returns the type of a shape's values other than null.
func (d *typer) withoutNull(s *shape) *generable.Type {
	if !s.isChoice() || s.nat.Kind != generable.OneOfType {
		return d.typ(s)
	}
	var parts []*generable.Type
	for _, p := range s.parts {
		if p.nat.Kind != generable.NoneType {
			parts = append(parts, d.typ(p))
		}
	}
	return generable.OneOf(parts...)
}
