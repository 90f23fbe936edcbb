package jsonschema

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// Export writes the JSON Schema of a type such that [Import] makes the same type from it, using extra keywords such
// as x-alias for what JSON Schema cannot express. Schemas, unions and enums are written once, under $defs, by their
// names.
//
// Models and providers receive [generable.Type.JSONSchema], which has none of these keywords.
func Export(t *generable.Type) generable.Value {
	x := &exporter{names: make(map[string]bool), named: make(map[exported]string), defs: generable.NewMap(0)}
	m := x.schema(t, "")
	if ref, _, isRef := refOf(m); isRef && x.uses[ref] == 1 { // only the root refers to it: it is written in place
		name := ref[len(defsPath):]
		body, _ := x.defs.Get(name)
		m, _ = body.AsMap()
		x.defs = without(x.defs, name)
	}
	if x.defs.Len() > 0 {
		m.Set("$defs", x.defs.Value())
	}
	return m.Value()
}

// ExportText is [Export] as text, indented by two spaces, keys in declared order.
func ExportText(t *generable.Type) string { return in.Indented(Export(t)) }

const defsPath = "#/$defs/"

// exported identifies a type as it is written: a variant carries the tag of its union.
type exported struct {
	t   *generable.Type
	tag string
}

type exporter struct {
	names map[string]bool
	named map[exported]string
	defs  *generable.Map
	uses  map[string]int // of references
}

// schema writes a type in place, or a reference to it.
func (x *exporter) schema(t *generable.Type, tag string) *generable.Map {
	isRef, name := t.Kind == generable.RefType, t.Name
	t = in.Resolved(t)
	if !isRef && !t.IsNominal() || t.Kind == generable.RefType {
		return x.body(t, tag)
	}
	key := exported{t, tag}
	known, done := x.named[key]
	if done {
		name = known
	} else {
		if t.IsNominal() || name == "" {
			name = cmp.Or(t.Name, "Type")
		}
		if tag != "" {
			name += "." + tag
		}
		name = message.Unique(escaped(name), x.names)
		x.named[key] = name
		x.defs.Set(name, generable.Value{}) // reserves the place while the body refers to itself
		x.defs.Set(name, x.body(t, tag).Value())
	}
	if x.uses == nil {
		x.uses = make(map[string]int)
	}
	x.uses[defsPath+name]++
	return in.Object("$ref", generable.StrOf(defsPath+name))
}

// escaped returns a name whose characters need no escaping in a reference.
func escaped(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (message.IsAlnum(byte(r)) || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, name)
}

func (x *exporter) body(t *generable.Type, tag string) *generable.Map {
	m := generable.NewMap(4)
	if t.IsNominal() && t.Name != "" {
		m.Set("title", generable.StrOf(t.Name))
	}
	set(m, "description", t.Doc)
	set(m, wordDescription, t.Description)
	switch t.Kind {
	case generable.NoneType, generable.BoolType, generable.IntType, generable.FloatType, generable.StrType:
		set(m, "type", scalarNames[t.Kind])
	case generable.EnumType:
		set(m, "type", "string")
		m.Set("enum", in.Texts(t.Values))
		exportNotes(m, t)
	case generable.ListType:
		x.list(m, t)
	case generable.DictType:
		set(m, "type", "object")
		m.Set("additionalProperties", orTrue(x.schema(t.Elem, "")))
	case generable.LimitType:
		m = x.schema(t.Elem, "")
		exportLimits(m, t.Elem, t.Limits)
	case generable.RecordType:
		x.record(m, t, tag)
	case generable.UnionType:
		m.Set("discriminator", in.Object("propertyName", generable.StrOf(t.Tag)).Value())
		m.Set("oneOf", x.all(t.Variants, t.Tag))
	case generable.OneOfType:
		m.Set("anyOf", x.all(t.Variants, ""))
	}
	return m
}

var scalarNames = map[generable.TypeKind]string{generable.NoneType: "null", generable.BoolType: "boolean", generable.IntType: "integer",
	generable.FloatType: "number", generable.StrType: "string"}

// set writes a text unless it is empty.
func set(m *generable.Map, key, text string) {
	if text != "" {
		m.Set(key, generable.StrOf(text))
	}
}

// orTrue returns a schema, or true if it is empty.
func orTrue(m *generable.Map) generable.Value {
	if m.Len() == 0 {
		return generable.BoolOf(true)
	}
	return m.Value()
}

func (x *exporter) all(types []*generable.Type, tag string) generable.Value {
	out := make([]generable.Value, len(types))
	for i, t := range types {
		out[i] = x.schema(t, tag).Value()
	}
	return generable.ListOf(out...)
}

func (x *exporter) list(m *generable.Map, t *generable.Type) {
	set(m, "type", "array")
	if len(t.Variants) > 0 {
		m.Set("prefixItems", x.all(t.Variants, ""))
	}
	if items := x.schema(t.Elem, ""); items.Len() > 0 {
		m.Set("items", items.Value())
	}
}

func (x *exporter) record(m *generable.Map, t *generable.Type, tag string) {
	props, required := generable.NewMap(len(t.Fields)+1), []string{}
	if tag != "" {
		props.Set(tag, in.Object("const", generable.StrOf(t.Name)).Value())
		required = append(required, tag)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		props.Set(f.Name, x.property(f).Value())
		if f.Required() {
			required = append(required, f.Name)
		}
	}
	set(m, "type", "object")
	m.Set("properties", props.Value())
	m.Set("required", in.Texts(required))
	if _, open := in.Foreign(t); !open {
		m.Set("additionalProperties", generable.BoolOf(false))
	}
}

func (x *exporter) property(f *generable.Field) *generable.Map {
	t := in.Shown(f)
	m := x.schema(t, "")
	exportLimits(m, t, f.Limits)
	set(m, "description", f.Guide)
	switch {
	case f.Optional && !f.Omit:
		m.Set("default", generable.Plain(f.Default, f.Type))
	case f.Type.Deref().Kind == generable.AnyType && !f.Optional && !f.Explicit: // a field of any type that may be left out then has no value
		m.Set("default", generable.Value{})
	}
	if len(f.Examples) > 0 {
		examples := make([]generable.Value, len(f.Examples))
		for i, e := range f.Examples {
			examples[i] = generable.Plain(e, f.Type)
		}
		m.Set("examples", generable.ListOf(examples...))
	}
	exportField(m, f)
	return m
}

// exportLimits writes limits into the schema of a type, and those that a schema cannot express as constraints.
func exportLimits(m *generable.Map, t *generable.Type, l *generable.Limits) {
	in.LimitSchema(m, t, l)
	if l != nil && l.Check != nil {
		have, _ := listAt(m, wordConstraints)
		m.Set(wordConstraints, generable.ListOf(append(have[:len(have):len(have)], generable.StrOf(l.Check.Says))...))
	}
}

// place returns the JSON pointer of an item of a list.
func place(at string, i int) string { return at + "/" + strconv.Itoa(i) }
