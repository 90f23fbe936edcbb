package generable

import (
	"strings"
	"sync/atomic"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/internal/naming"
)

// artefacts are the texts that a type has yielded, made when first asked for. They are kept
// only once every reference inside the type is bound.
type artefacts struct {
	description, fragment, schemaText atomic.Pointer[string]
	schema                            atomic.Pointer[Value]
	names                             atomic.Pointer[*naming.Table]
	values                            atomic.Pointer[map[string]bool]
}

// kept returns what slot holds, or makes it. Two branches may make it at the same time; both
// make the same.
func kept[T any](t *Type, slot *atomic.Pointer[T], build func() T) T {
	if p := slot.Load(); p != nil {
		return *p
	}
	made := build()
	if len(Refs(t)) == 0 {
		slot.CompareAndSwap(nil, &made)
	}
	return made
}

// LLMDescription tells a model in Markdown what the type means: its name, its doc, a bullet
// per field with type and guide; for a union its variants. Types of fields appear by name.
// A Description given with the declaration replaces all of it, verbatim.
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
			describeFields(&b, t)
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
			b.WriteString("\n### " + titled(v.String(), v.Doc) + "\n")
			describeFields(&b, v)
		}
	case EnumType:
		b.WriteString("\nOne of the following values:\n")
		for i, v := range t.Values {
			b.WriteString("- " + titled(v, t.Note(i).Doc) + "\n")
		}
	}
	return strings.TrimRight(b.String(), " \t\r\n")
}

// nonNone is T when t is T | None, else nil.
func (t *Type) nonNone() *Type {
	if t.Kind == OneOfType && len(t.Variants) == 2 && t.Variants[1].Kind == NoneType {
		return t.Variants[0].Deref()
	}
	return nil
}

// titled is a name, followed by what it means where that is known.
func titled(name, doc string) string {
	if doc == "" {
		return name
	}
	return name + ": " + oneLine(doc)
}

func describeFields(b *strings.Builder, t *Type) {
	for i := range t.Fields {
		f := &t.Fields[i]
		b.WriteString("- " + titled("**"+f.Name+"** ("+f.Type.String()+")", f.Guide) + "\n")
	}
}

// Knowledge is one entry that a skill can look up, as its description lists it.
type Knowledge struct{ Key, Description string }

// SkillDescription tells a model in Markdown what a skill takes, gives, does and knows.
// Input and output show the fields of schemas and the variants of unions; a list or dict
// shows those of its items.
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
			b.WriteString("- " + dashed(k.Key, k.Description) + "\n")
		}
	}
	return strings.TrimRight(b.String(), " \t\r\n")
}

func dashed(name, doc string) string {
	if doc == "" {
		return name
	}
	return name + " — " + oneLine(doc)
}

func describePort(b *strings.Builder, label string, t *Type) {
	t = t.Deref()
	nominal := nominalParts(t)
	doc := ""
	if len(nominal) == 1 {
		doc = nominal[0].Doc
	}
	b.WriteString("**" + label + ":** " + dashed(t.String(), doc) + "\n")
	for _, n := range nominal {
		indent := "  "
		if len(nominal) > 1 {
			b.WriteString(indent + "- " + dashed(n.String(), n.Doc) + "\n")
			indent += "  "
		}
		describeParts(b, n, indent)
	}
}

// nominalParts lists the nominal types at the surface of t: t itself, or those that a list,
// dict or inline union is made of.
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
		for i := range t.Fields {
			f := &t.Fields[i]
			b.WriteString(indent + "- " + titled(f.Name+" ("+f.Type.String()+")", f.Guide) + "\n")
		}
	case UnionType:
		for _, v := range t.Variants {
			if !isMember(t, v) {
				continue
			}
			v = v.Deref()
			b.WriteString(indent + "- " + dashed(v.String(), v.Doc) + "\n")
			describeParts(b, v, indent+"  ")
		}
	case EnumType:
		b.WriteString(indent + "- " + message.OneOf(t.Values) + "\n")
	}
}
