package dialect

import (
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// property is one member of an object schema.
type property struct {
	name     string
	schema   *generable.Map
	required bool
}

// object writes a closed object.
func (e *emitter) object(list []property) *generable.Map {
	props := generable.NewMap(len(list))
	var need, order []string
	for _, p := range list {
		props.Set(p.name, p.schema.Value())
		order = append(order, p.name)
		e.properties++
		e.chars += len(p.name)
		e.written += 2*len(p.name) + 8
		e.grammar += 3*len(p.name) + 24
		if p.required {
			need = append(need, p.name)
		} else {
			e.usage.optionals++
			e.grammar += 2*len(p.name) + 24
		}
	}
	m := typed("object")
	m.Set("properties", props.Value())
	if len(need) > 0 || e.requireAll { // an empty list, which clients drop
		m.Set("required", in.Texts(need))
	}
	m.Set("additionalProperties", generable.BoolOf(false))
	if e.ordering && len(order) > 1 {
		m.Set("propertyOrdering", in.Texts(order))
	}
	return m
}

// record writes a schema, with the discriminator first if it is a variant.
func (e *emitter) record(s *shape, at spot) *generable.Map {
	e.container(at.level)
	var list []property
	if s.tag != "" {
		c := typed("string")
		if e.constants {
			c.Set("const", generable.StrOf(s.nat.Name))
			e.chars += len(s.nat.Name)
		} else {
			e.rewrite("const-as-enum", at.in(s.tag), "const", "an enum of one value", "")
			e.countEnum([]string{s.nat.Name})
			c.Set("enum", in.Texts([]string{s.nat.Name}))
		}
		list = append(list, property{s.tag, c, true})
	}
	for i := range s.fields {
		f := &s.fields[i]
		m := e.field(f, at)
		list = append(list, property{f.name, m, !f.presence.leaves()})
	}
	return e.object(list)
}

// field writes the schema of one field: that of its value, its alternatives, and everything that must be said about
// it in words.
func (e *emitter) field(f *member, parent spot) *generable.Map {
	n := &notes{}
	at := parent.in(f.nat.Name)
	at.level++
	at.limits, at.notes = f.nat.Limits, n
	at.owner, at.below = f.nat, 0
	at.inName += len(f.name) + 1
	if f.name != f.nat.Name {
		e.rewrite("renamed", at, f.nat.Name, f.name, "written under the key "+text.Quote(f.name))
	}
	inner := at
	if f.presence == listed {
		inner.level++
		inner.path, inner.below = at.path.Part("[]"), 1
	}
	var m *generable.Map
	switch {
	case f.presence == blank:
		m = e.text(f.shape, at)
	case !e.shared[f.shape] && (f.presence == omitted || f.presence == listed || f.presence == nullable) && f.isChoice() && f.acceptsNull():
		m = e.choice(f.shape, inner, false)
	default:
		m = e.write(f.shape, inner)
	}
	m = e.present(f, m, at)
	if f.nat.Optional && !f.nat.Default.IsNull() {
		def := clipped(generable.JSON(f.nat.Default, f.nat.Type))
		e.say("default", at, e.lack(f)+" means "+def)
	}
	if len(f.nat.Examples) > 0 {
		e.say("examples", at, examples(f))
	}
	doc := f.nat.Guide
	if doc == "" {
		doc = e.docOf(f.shape)
	}
	return e.describe(m, at, doc)
}

// lack returns how the absence of a field looks.
func (e *emitter) lack(f *member) string {
	switch f.presence {
	case nullable:
		return "null"
	case markedAbsent:
		return `{"absent": true}`
	case listed:
		return "an empty list"
	case blank:
		return "an empty string"
	}
	return "left out"
}

// present extends the schema of a field's value by the form that represents absence.
func (e *emitter) present(f *member, m *generable.Map, at spot) *generable.Map {
	switch f.presence {
	case optional, omitted:
		e.optionals++
		if f.presence == omitted && f.acceptsNull() && !f.nat.Omit {
			e.rewrite("null-left-out", at, "null", "left out", "")
		}
	case cyclic:
		e.rewrite("cyclic-optional", at, "required", "not required", "")
		at.notes.add("always give it")
		e.limit(at, "always given, though the schema does not require it")
	case required:
		if f.nat.Optional || f.nat.Type.AcceptsNone() {
			e.nullables++
			e.rewrite("required-null", at, "may be left out", "null", "")
		}
	case nullable:
		e.nullables++
		e.rewrite("required-null", at, "may be left out", "null", "null where it would be left out")
		return e.orNull(m)
	case markedAbsent:
		e.rewrite("absent-mark", at, "may be left out", `{"absent": true}`, `{"absent": true} where it would be left out; null is a value of its own`)
		return e.orAbsent(m)
	case listed:
		e.rewrite("list-of-one", at, "may be left out", "a list of at most one item", "a list of one item, or an empty one where it would be left out")
		e.container(at.level)
		list := typed("array")
		list.Set("items", m.Value())
		return list
	case blank:
		e.rewrite("text-or-blank", at, "may be left out", "JSON text, or an empty string", "an empty string where it would be left out")
	}
	return m
}

func (e *emitter) orAbsent(m *generable.Map) *generable.Map {
	mark := typed("boolean")
	if e.constants {
		mark.Set("const", generable.BoolOf(true))
	}
	absent := e.object([]property{{absentKey, mark, true}})
	if list := anyOfAlone(m); list != nil {
		return in.Object("anyOf", generable.ListOf(append(append([]generable.Value(nil), list...), absent.Value())...))
	}
	e.unions++
	return in.Object("anyOf", generable.ListOf(m.Value(), absent.Value()))
}

// describe adds the description of a place. It comes first, so that a model reads it before the parts. A description
// is not allowed next to a $ref; there it moves to the prompt, or the $ref into an anyOf.
func (e *emitter) describe(m *generable.Map, at spot, doc string) *generable.Map {
	text := at.notes.text(doc)
	if text == "" {
		return m
	}
	e.written += len(text)
	if _, isRef := m.Get("$ref"); isRef {
		if e.refBeside == besideDropped {
			e.rewrite("description-in-prompt", at, "a description beside $ref", "the prompt", "")
			e.limit(at, text)
			return m
		}
		e.rewrite("ref-in-any-of", at, "$ref with a description", "anyOf of the $ref", "")
		m = in.Object("anyOf", generable.ListOf(m.Value()))
	}
	return withDescription(m, text)
}

// withDescription puts a description after the type.
func withDescription(m *generable.Map, text string) *generable.Map {
	out := generable.NewMap(m.Len() + 1)
	if kind, ok := m.Get("type"); ok {
		out.Set("type", kind)
	}
	out.Set("description", generable.StrOf(text))
	for key, v := range m.All() {
		if key != "description" {
			out.Set(key, v)
		}
	}
	return out
}

// in returns the place of a field.
func (at spot) in(name string) spot {
	at.path = at.path.Key(name)
	at.below++
	return at
}

// down returns the place of a part that is deeper by the given number of levels.
func (at spot) down(name string, levels int) spot {
	down := spot{path: at.path, level: at.level + levels, owner: at.owner, below: at.below + 1, inName: at.inName + 5*levels}
	if name != "" {
		down.path = at.path.Part(name)
	}
	return down
}

func typed(name string) *generable.Map { return in.Object("type", generable.StrOf(name)) }
