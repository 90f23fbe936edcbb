package generable

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// JSONSchema returns the JSON Schema (draft 2020-12) of the type as text, indented by two spaces, with keys in
// declared order. It returns the same bytes each time.
//
// Objects are closed. Fields without a default whose type does not accept None are required. A union is oneOf, and
// its discriminator is a constant that comes first; T | None is anyOf with null; a dict has the schema of its values
// as additionalProperties. Types are written where they are used, recursive ones once under $defs.
func (t *Type) JSONSchema() string {
	t = t.resolved()
	return kept(t, &t.made.schemaText, func() string {
		return string(appendIndented(nil, t.SchemaValue(), ""))
	})
}

// SchemaValue returns the JSON Schema of the type as a map; see [Type.JSONSchema].
func (t *Type) SchemaValue() Value {
	t = t.resolved()
	return kept(t, &t.made.schema, func() Value {
		w := schemaWriter{names: newNamer(), defs: NewMap(0), referred: make(map[schemaNode]bool)}
		w.survey(t)
		m := w.body(schemaNode{t: t})
		describeSchema(m, t.Doc)
		if w.defs.Len() > 0 {
			m.Set("$defs", w.defs.Value())
		}
		return m.Value()
	})
}

// schemaNode is one type as it is written: a schema that is a variant carries its union's tag.
type schemaNode struct {
	t   *Type
	tag string
}

type schemaWriter struct {
	names    *namer
	defs     *Map
	referred map[schemaNode]bool // written once under $defs and referred to
}

// write returns the schema of a type in place, or a reference to it.
func (w *schemaWriter) write(t *Type, tag string) *Map {
	n := schemaNode{t.resolved(), tag}
	if !w.referred[n] {
		m := w.body(n)
		describeSchema(m, n.t.Doc)
		return m
	}
	name := w.defName(n)
	if _, done := w.defs.Get(name); !done {
		w.defs.Set(name, Value{}) // reserves the place while the body refers to itself
		m := w.body(n)
		describeSchema(m, n.t.Doc)
		w.defs.Set(name, m.Value())
	}
	return object("$ref", StrOf("#/$defs/"+name))
}

// defName names a definition with characters that need no escaping in a reference.
func (w *schemaWriter) defName(n schemaNode) string {
	plain := func(r rune) rune {
		if r < 0x80 && (message.IsAlnum(byte(r)) || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}
	name := strings.Map(plain, w.names.name(n.t))
	if n.tag != "" {
		name += "." + strings.Map(plain, n.tag)
	}
	return name
}

var scalarKeywords = [...]string{NoneType: "null", BoolType: "boolean", IntType: "integer", FloatType: "number", StrType: "string"}

func (w *schemaWriter) body(n schemaNode) *Map {
	switch t := n.t; t.Kind {
	case NoneType, BoolType, IntType, FloatType, StrType:
		return typed(scalarKeywords[t.Kind])
	case EnumType:
		m := typed("string")
		m.Set("enum", texts(t.Values))
		return m
	case ListType:
		m := typed("array")
		w.items(m, t)
		return m
	case LimitType:
		m := w.write(t.Elem, "")
		limitSchema(m, t.Elem, t.Limits)
		return m
	case DictType:
		m := typed("object")
		if values := w.write(t.Elem, ""); values.Len() > 0 {
			m.Set("additionalProperties", values.Value())
		} else {
			m.Set("additionalProperties", BoolOf(true))
		}
		return m
	case RecordType:
		return w.object(t, n.tag)
	case UnionType:
		return object("oneOf", w.members(t, t.Tag))
	case OneOfType:
		return object("anyOf", w.members(t, ""))
	}
	return NewMap(0) // any value
}

// items writes the item types of a list: one for all items, or one for each item of a tuple.
func (w *schemaWriter) items(m *Map, t *Type) {
	if len(t.Variants) > 0 {
		first := make([]Value, len(t.Variants))
		for i, v := range t.Variants {
			first[i] = w.write(v, "").Value()
		}
		m.Set("prefixItems", NewList(first).Value())
	}
	if items := w.write(t.Elem, ""); items.Len() > 0 {
		m.Set("items", items.Value())
	}
}

func (w *schemaWriter) members(t *Type, tag string) Value {
	var out []Value
	for _, v := range t.Variants {
		if isMember(t, v) {
			out = append(out, w.write(v, tag).Value())
		}
	}
	return NewList(out).Value()
}

func (w *schemaWriter) object(t *Type, tag string) *Map {
	props := NewMap(len(t.Fields) + 1)
	required := []string{}
	if tag != "" {
		c := typed("string")
		c.Set("const", StrOf(t.Name))
		props.Set(tag, c.Value())
		required = append(required, tag)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		props.Set(f.Key(), w.property(f).Value())
		if f.Required() {
			required = append(required, f.Key())
		}
	}
	m := typed("object")
	m.Set("properties", props.Value())
	m.Set("required", texts(required))
	m.Set("additionalProperties", BoolOf(false))
	return m
}

func (w *schemaWriter) property(f *Field) *Map {
	t := f.shown()
	n := schemaNode{t: t.resolved()}
	doc := n.t.Doc
	var m *Map
	if w.referred[n] {
		m, doc = w.write(t, ""), "" // the definition has the type's own doc
	} else {
		m = w.body(n)
	}
	limitSchema(m, t, f.Limits)
	if f.Optional && !f.Omit {
		m.Set("default", Answer(f.Default, f.Type))
	}
	if len(f.Examples) > 0 {
		examples := make([]Value, len(f.Examples))
		for i, e := range f.Examples {
			examples[i] = Answer(e, f.Type)
		}
		m.Set("examples", NewList(examples).Value())
	}
	if f.Guide != "" {
		doc = f.Guide
	}
	describeSchema(m, doc)
	return m
}

// limitSchema writes limits into the schema of a type, or into the members of an inline union that they apply to.
func limitSchema(m *Map, t *Type, l *Limits) {
	if l == nil {
		return
	}
	setLen := func(minKey, maxKey string) {
		if l.MinLen != nil {
			m.Set(minKey, IntOf(int64(*l.MinLen)))
		}
		if l.MaxLen != nil {
			m.Set(maxKey, IntOf(int64(*l.MaxLen)))
		}
	}
	if l.Only != nil {
		m.Set("enum", l.Only.Value())
	}
	switch t = t.Deref(); t.Kind {
	case IntType, FloatType:
		if l.MultipleOf != nil {
			m.Set("multipleOf", boundValue(*l.MultipleOf))
		}
		for i := range bounds {
			if f := *bounds[i].Of(l); f != nil {
				m.Set(bounds[i].Keyword, boundValue(*f))
			}
		}
	case StrType:
		setLen("minLength", "maxLength")
		if l.Pattern != "" {
			m.Set("pattern", StrOf(l.Pattern))
		}
		if l.Format != "" {
			m.Set("format", StrOf(l.Format))
		}
	case ListType:
		setLen("minItems", "maxItems")
		if l.Unique {
			m.Set("uniqueItems", BoolOf(true))
		}
	case DictType:
		setLen("minProperties", "maxProperties")
	case OneOfType:
		anyOf, _ := m.Get("anyOf")
		if list, ok := anyOf.AsList(); ok {
			for i, v := range t.Variants {
				if member, ok := list.At(i).AsMap(); ok {
					each := *l
					each.Only = nil
					limitSchema(member, v, &each)
				}
			}
		}
	}
}

// boundValue returns a bound as a value, and a whole bound as an integer.
func boundValue(f float64) Value {
	v, _ := FloatOf(f)
	if i, ok := exactInt(v); ok {
		return i
	}
	return v
}

func describeSchema(m *Map, doc string) {
	if doc != "" {
		m.Set("description", StrOf(doc))
	}
}

func typed(name string) *Map { return object("type", StrOf(name)) }

func object(key string, v Value) *Map {
	m := NewMap(4)
	m.Set(key, v)
	return m
}

func texts(list []string) Value {
	out := make([]Value, len(list))
	for i, s := range list {
		out[i] = StrOf(s)
	}
	return NewList(out).Value()
}

// maxInlined is how many schemas are written in place before types that are used more than once move to $defs.
// Without it, a chain of schemas that each use the next one twice would double in size with every link.
const maxInlined = 2000

// survey decides which types are written once under $defs: those that contain themselves and, where writing all types
// in place would exceed maxInlined, all that are used more than once.
func (w *schemaWriter) survey(root *Type) {
	s := schemaSurvey{open: make(map[schemaNode]bool), uses: make(map[schemaNode]int), loops: w.referred}
	s.visit(schemaNode{t: root.resolved()})
	if s.size(schemaNode{t: root.resolved()}, make(map[schemaNode]int)) <= maxInlined {
		return
	}
	for n, uses := range s.uses {
		if uses > 1 && n.t.IsNominal() {
			w.referred[n] = true
		}
	}
}

type schemaSurvey struct {
	open  map[schemaNode]bool // visited nodes; true while on the way down, where visiting one again closes a loop
	uses  map[schemaNode]int
	loops map[schemaNode]bool
}

// parts lists the nodes that n is written with.
func (n schemaNode) parts() []schemaNode {
	var out []schemaNode
	t := n.t
	if t.Elem != nil {
		out = append(out, schemaNode{t: t.Elem.resolved()})
	}
	tag := ""
	if t.Kind == UnionType {
		tag = t.Tag
	}
	for _, v := range t.Variants {
		if isMember(t, v) {
			out = append(out, schemaNode{v.resolved(), tag})
		}
	}
	for i := range t.Fields {
		out = append(out, schemaNode{t: t.Fields[i].shown().resolved()})
	}
	return out
}

func (s *schemaSurvey) visit(n schemaNode) {
	s.uses[n]++
	if open, met := s.open[n]; met {
		if open {
			s.loops[n] = true
		}
		return
	}
	s.open[n] = true
	for _, p := range n.parts() {
		s.visit(p)
	}
	s.open[n] = false
}

// size counts the schemas written in place for a node, stopping a little beyond maxInlined.
func (s *schemaSurvey) size(n schemaNode, known map[schemaNode]int) int {
	if total, ok := known[n]; ok {
		return total
	}
	known[n] = 1 // a reference, if the node contains itself
	total := 1
	for _, p := range n.parts() {
		if total > maxInlined {
			break
		}
		if s.loops[p] {
			total++
			continue
		}
		total += s.size(p, known)
	}
	known[n] = total
	return total
}
