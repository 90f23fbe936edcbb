package generable

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable/internal/format"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// PromptFragment returns instructions for a model to write an answer of this type: an instruction, a template of the
// JSON, and then the types that the template names, each once. It states everything that the decoder requires, so
// that a model without constrained decoding can comply.
func (t *Type) PromptFragment() string {
	t = t.Deref()
	return kept(t, &t.made.fragment, func() string {
		w := fragmentWriter{names: newNamer(), seen: make(map[*Type]bool)}
		w.root(t)
		w.sections()
		return strings.TrimRight(w.b.String(), "\n")
	})
}

// fragmentWriter writes one fragment. Types that a template names wait in the queue for their own section.
type fragmentWriter struct {
	b       strings.Builder
	names   *namer
	seen    map[*Type]bool
	queue   []*Type
	top     *Type // the type of the answer, written without a name
	recurse bool  // a part of top refers to it by name
}

//go:noinline
func (w *fragmentWriter) line(parts ...string) {
	for _, p := range parts {
		w.b.WriteString(p)
	}
	w.b.WriteByte('\n')
}

func (w *fragmentWriter) root(t *Type) {
	switch t.Kind {
	case RecordType:
		w.top = t
		w.names.name(t)
		w.line("Respond with a JSON object matching this structure:")
		w.template(t, "")
	case UnionType:
		w.top = t
		w.names.name(t)
		w.seen[t] = true
		w.line("Respond with a JSON object for one of the following variants.")
		w.line("Set ", text.Quote(t.Tag), " to the variant name.")
		w.variants(t)
	case EnumType:
		w.line("Respond with one of these values and nothing else:")
		for _, v := range t.Values {
			w.line("- ", v)
		}
	case ListType:
		w.line("Respond with a JSON array matching this structure:")
		w.line("[<", w.typeName(t.Elem), ">, ...]")
	case DictType:
		w.line("Respond with a JSON object matching this structure:")
		w.line(`{"<key>": <`, w.typeName(t.Elem), ">, ...}")
	case OneOfType:
		w.rootOneOf(t)
	case StrType:
		w.line("Respond with plain text.")
	case IntType:
		w.line("Respond with a whole number and nothing else.")
	case FloatType:
		w.line("Respond with a number and nothing else.")
	case BoolType:
		w.line("Respond with true or false and nothing else.")
	case NoneType:
		w.line("Respond with null and nothing else.")
	default:
		w.line("Respond with a JSON value.")
	}
}

// rootOneOf writes T | None as T with an alternative, and other inline unions as a choice.
func (w *fragmentWriter) rootOneOf(t *Type) {
	if inner := t.nonNone(); inner != nil {
		w.root(inner)
		w.line()
		w.line("If there is no such answer, respond with null.")
		return
	}
	w.line("Respond with a JSON value of one of these types:")
	for _, v := range t.Variants {
		w.line("- ", w.typeName(v))
	}
}

// sections writes the types that have been named, and those that they name in turn.
func (w *fragmentWriter) sections() {
	for len(w.queue) > 0 {
		// Unions come last: the headings of their variants look like those of types.
		next := max(0, slices.IndexFunc(w.queue, func(t *Type) bool { return t.Kind != UnionType }))
		t := w.queue[next]
		w.queue = slices.Delete(w.queue, next, next+1)
		w.line()
		w.line(message.Heading(w.names.name(t), t.Doc))
		switch t.Kind {
		case RecordType:
			w.template(t, "")
		case UnionType:
			w.line("A JSON object for one of the following variants, with ", text.Quote(t.Tag), " set to the variant name.")
			w.variants(t)
		case RefType:
			w.line(w.typeName(t.resolved()))
		case EnumType:
			values := text.Each(t.Values, text.Quote)
			w.line("One of ", strings.Join(values, ", "))
			for i, v := range values {
				if doc := t.Note(i).Doc; doc != "" {
					w.line("- ", message.Titled(v, doc))
				}
			}
		}
	}
	if w.recurse {
		w.line()
		w.line(w.names.name(w.top), ": again as described at the start.")
	}
}

func (w *fragmentWriter) variants(t *Type) {
	for _, v := range t.Variants {
		if v = v.Deref(); v.Kind == RecordType {
			w.line()
			w.line(message.Heading(v.Name, v.Doc))
			w.template(v, t.Tag)
		}
	}
}

// template writes a schema as pseudo JSON, with the discriminator first when the schema is a variant, followed by
// notes on its fields that the template cannot express.
func (w *fragmentWriter) template(t *Type, tag string) {
	if tag == "" {
		w.seen[t] = true // as a variant it looks different, and may appear again without the tag
	}
	var lines []string
	if tag != "" {
		lines = append(lines, "  "+text.Quote(tag)+": "+text.Quote(t.Name))
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		lines = append(lines, "  "+text.Quote(f.Key())+": <"+message.Titled(w.typeName(f.Type), f.Guide)+">")
	}
	w.line("{")
	if len(lines) > 0 {
		w.line(strings.Join(lines, ",\n"))
	}
	w.line("}")
	for i := range t.Fields {
		if note := t.Fields[i].note(); note != "" {
			w.line("- ", t.Fields[i].Key(), ": ", note)
		}
	}
}

// typeName names t as it should appear in JSON, and queues the nominal types it mentions.
func (w *fragmentWriter) typeName(t *Type) string {
	if r := t.resolved(); t.Kind == RefType && !r.IsNominal() && r.Kind != RefType { // it contains itself
		return w.mention(t)
	}
	switch t = t.resolved(); t.Kind {
	case LimitType:
		if t.Limits.Only != nil {
			return strings.Join(t.Limits.onlyTexts(), " | ")
		}
		return w.typeName(t.Elem) + " (" + strings.Join(t.Limits.words(t.Elem), ", ") + ")"
	case ListType:
		if len(t.Variants) > 0 {
			items := text.Each(t.Variants, w.typeName)
			return "[" + strings.Join(items, ", ") + "]"
		}
		return "list[" + w.typeName(t.Elem) + "]"
	case DictType:
		return "dict[str, " + w.typeName(t.Elem) + "]"
	case OneOfType:
		names := text.Each(t.Variants, w.typeName)
		return strings.Join(names, " | ")
	case NoneType:
		return "null"
	case RecordType, UnionType, EnumType:
		w.recurse = w.recurse || t == w.top
		return w.mention(t)
	}
	return t.String()
}

// mention returns the name of a type and queues it for its own section unless it has one.
func (w *fragmentWriter) mention(t *Type) string {
	if !w.seen[t] {
		w.seen[t] = true
		w.queue = append(w.queue, t)
	}
	return w.names.name(t)
}

// note says in words what an answer must respect about a field beyond its type and guide.
func (f *Field) note() string {
	var parts []string
	if f.Limits != nil {
		parts = f.Limits.words(f.Type)
	}
	if len(f.Examples) > 0 {
		shown := text.Each(f.Examples, func(e Value) string { return JSON(Answer(e, f.Type), nil) })
		parts = append(parts, "for example "+strings.Join(shown, " or "))
	}
	switch {
	case f.Required():
	case !f.Default.IsNull():
		parts = append(parts, "may be left out, which means "+JSON(Answer(f.Default, f.Type), nil))
	default:
		parts = append(parts, "may be left out")
	}
	return strings.Join(parts, ", ")
}

// words returns each limit of a value of type t in words.
func (l *Limits) words(t *Type) []string {
	var parts []string
	for i := range bounds {
		if f := *bounds[i].Of(l); f != nil {
			parts = append(parts, bounds[i].Words+" "+message.Number(*f))
		}
	}
	if l.MultipleOf != nil {
		parts = append(parts, "a multiple of "+message.Number(*l.MultipleOf))
	}
	unit := lengthUnit(t)
	if l.MinLen != nil {
		parts = append(parts, "at least "+text.Count(*l.MinLen, unit))
	}
	if l.MaxLen != nil {
		parts = append(parts, "at most "+text.Count(*l.MaxLen, unit))
	}
	if l.Pattern != "" {
		parts = append(parts, "matches the regular expression "+l.Pattern)
	}
	if f, ok := format.Named(l.Format); ok {
		parts = append(parts, f.What+" such as "+f.Example)
	}
	if l.Unique {
		parts = append(parts, "all items different")
	}
	if l.Only != nil {
		parts = append(parts, message.OneOf(l.onlyTexts()))
	}
	if l.Check != nil {
		parts = append(parts, l.Check.Says)
	}
	return parts
}

// lengthUnit returns what min_len and max_len count for a type; an inline union may count several things.
func lengthUnit(t *Type) string {
	switch {
	case accepts(t, []TypeKind{StrType}):
		return "character"
	case accepts(t, []TypeKind{ListType}):
		return "item"
	}
	return "entry"
}

// LLMDescription describes the type to a model in Markdown: its name, its doc, and a bullet per field with type and
// guide, or the variants of a union. Types of fields appear by name. A Description given with the declaration
// replaces all of it, verbatim.
func (t *Type) LLMDescription() string {
	t = t.Deref()
	if t.Description != "" {
		return t.Description
	}
	return kept(t, &t.made.description, func() string { return describe(t) })
}

func describe(t *Type) string {
	var b strings.Builder
	b.WriteString("## " + t.String() + "\n")
	if t.Doc != "" {
		b.WriteString("\n" + t.Doc + "\n")
	}
	switch t.Kind {
	case RecordType:
		if len(t.Fields) > 0 {
			b.WriteByte('\n')
			describeFields(&b, t, "", "**")
		}
	case OneOfType:
		if inner := t.nonNone(); inner != nil {
			return inner.LLMDescription() + "\n\nMay also be None."
		}
		fallthrough
	case UnionType:
		b.WriteString("\nChoose one of the following variants:\n")
		for _, v := range t.Variants {
			v = v.Deref()
			b.WriteString("\n### " + message.Titled(v.String(), v.Doc) + "\n")
			describeFields(&b, v, "", "**")
		}
	case EnumType:
		b.WriteString("\nOne of the following values:\n")
		for i, v := range t.Values {
			b.WriteString("- " + message.Titled(v, t.Note(i).Doc) + "\n")
		}
	}
	return strings.TrimRight(b.String(), " \t\r\n")
}

// nonNone returns T when t is T | None, else nil.
func (t *Type) nonNone() *Type {
	if t.Kind == OneOfType && len(t.Variants) == 2 && t.Variants[1].Kind == NoneType {
		return t.Variants[0].Deref()
	}
	return nil
}

// describeFields writes a bullet for each field, with its name between marks.
func describeFields(b *strings.Builder, t *Type, indent, mark string) {
	for i := range t.Fields {
		f := &t.Fields[i]
		b.WriteString(indent + "- " + message.Titled(mark+f.Key()+mark+" ("+f.Type.String()+")", f.Guide) + "\n")
	}
}

// Knowledge is one entry that a skill can look up, as listed in its description.
type Knowledge struct{ Key, Description string }

// SkillDescription describes to a model in Markdown what a skill takes, returns, does and knows. Input and output
// show the fields of schemas and the variants of unions; a list or dict shows those of its items.
func SkillDescription(name, doc string, in, out *Type, knowledge []Knowledge) string {
	var b strings.Builder
	b.WriteString("## Skill: " + name + "\n\n")
	describePort(&b, "Input", in)
	describePort(&b, "Output", out)
	if doc != "" {
		b.WriteString("\n" + doc + "\n")
	}
	if len(knowledge) > 0 {
		b.WriteString("\n**Knowledge:**\n")
		for _, k := range knowledge {
			b.WriteString("- " + message.Dashed(k.Key, k.Description) + "\n")
		}
	}
	return strings.TrimRight(b.String(), " \t\r\n")
}

func describePort(b *strings.Builder, label string, t *Type) {
	t = t.Deref()
	nominal := nominalParts(t)
	doc := ""
	if len(nominal) == 1 {
		doc = nominal[0].Doc
	}
	b.WriteString("**" + label + ":** " + message.Dashed(t.String(), doc) + "\n")
	for _, n := range nominal {
		indent := "  "
		if len(nominal) > 1 {
			b.WriteString(indent + "- " + message.Dashed(n.String(), n.Doc) + "\n")
			indent += "  "
		}
		describeParts(b, n, indent)
	}
}

// nominalParts lists the nominal types at the surface of t: t itself, or those that a list, dict or inline union
// consists of.
func nominalParts(t *Type) []*Type {
	var out []*Type
	Walk(t, func(p *Type) bool {
		if p.IsNominal() {
			out = append(out, p)
			return false
		}
		return true
	})
	return out
}

func describeParts(b *strings.Builder, t *Type, indent string) {
	switch t.Kind {
	case RecordType:
		describeFields(b, t, indent, "")
	case UnionType:
		for _, v := range t.Variants {
			if !isMember(t, v) {
				continue
			}
			v = v.Deref()
			b.WriteString(indent + "- " + message.Dashed(v.String(), v.Doc) + "\n")
			describeParts(b, v, indent+"  ")
		}
	case EnumType:
		b.WriteString(indent + "- " + message.OneOf(t.Values) + "\n")
	}
}
