package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// TemplateText is a text with placeholders {{field}}, {{a.b}} or {{input}}.
type TemplateText struct {
	parts []templatePart
}

// templatePart is literal text with the placeholder that follows it, if any.
type templatePart struct {
	text string
	path []string
}

// String returns the path of the placeholder, as in "author.name".
func (p *templatePart) String() string { return strings.Join(p.path, ".") }

// wholeInput is the placeholder for the whole input, unless the input has a field with that name.
const wholeInput = "input"

// ParseTemplate parses a template. Single braces are literal.
func ParseTemplate(src string) (*TemplateText, error) {
	t := &TemplateText{}
	for at := 0; ; {
		open := strings.Index(src[at:], "{{")
		if open < 0 {
			t.parts = append(t.parts, templatePart{text: src[at:]})
			return t, nil
		}
		open += at
		end := strings.Index(src[open:], "}}")
		if end < 0 {
			return nil, fmt.Errorf("the placeholder %q is not closed with }}", text.Clip(src[open:], 20))
		}
		inner := strings.TrimSpace(src[open+2 : open+end])
		path := strings.Split(inner, ".")
		for _, p := range path {
			if !isName(p) {
				return nil, fmt.Errorf("{{%s}} is no placeholder: want a field name, as in {{title}} or {{author.name}}", inner)
			}
		}
		t.parts = append(t.parts, templatePart{text: src[at:open], path: path})
		at = open + end + 2
	}
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') && r < 0x80 {
			return false
		}
	}
	return s != ""
}

// Check reports placeholders of a template, written at a place of a script, that the type of its input does not have,
// and warns about text that looks like a placeholder.
func (t *TemplateText) Check(r *diag.Reporter, at diag.Span, in *generable.Type) bool {
	ok := true
	for i := range t.parts {
		if p := &t.parts[i]; p.path != nil {
			ok = p.check(r, at, in.Deref()) && ok
		}
	}
	if ok {
		t.singleBraces(r, at, in)
	}
	return ok
}

func (p *templatePart) check(r *diag.Reporter, at diag.Span, in *generable.Type) bool {
	cur := in
	for i, name := range p.path {
		typ, lacks := typing.FieldType(cur, name)
		switch {
		case lacks == nil:
			cur = typ.Deref()
			continue
		case i == 0 && name == wholeInput:
			continue
		case lacks != cur:
			d := r.Errorf(diag.UnknownPlaceholder, at, "the template asks for {{%s}}, and not every %s has a field %q", p, cur, name)
			d.Label = fmt.Sprintf("%s has none", lacks)
			d.Helpf("route the cases first: branch(node, {%s})", typing.Routes(cur))
		case cur.Kind == generable.RecordType:
			d := r.Errorf(diag.UnknownPlaceholder, at, "the template's {{%s}} is no field of %s", p, cur)
			typing.FieldHelp(d, name, cur, "; {{"+wholeInput+"}} is the whole input")
		case i == 0:
			d := r.Errorf(diag.UnknownPlaceholder, at, "the template's {{%s}} asks for a field, but the input is %s", p, cur)
			d.Helpf("{{%s}} is the whole input", wholeInput)
		default:
			d := r.Errorf(diag.UnknownPlaceholder, at, "the template's {{%s}} asks for a field, but {{%s}} is %s, which has no fields",
				p, strings.Join(p.path[:i], "."), cur)
			d.Helpf("write {{%s}}", strings.Join(p.path[:i], "."))
		}
		return false
	}
	return true
}

// Render fills the template from a value of type in: strings verbatim, anything else as JSON.
func (t *TemplateText) Render(v generable.Value, in *generable.Type) (string, error) {
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		b.WriteString(p.text)
		cur, typ := v, in
		for i, name := range p.path {
			next, ok := typing.Field(cur, name)
			if !ok && i == 0 && name == wholeInput {
				continue
			}
			if !ok {
				return "", fmt.Errorf("the template's {{%s}} is not in %s", p, cur.TypeName())
			}
			cur = next
			if typ != nil { // for the discriminator of a union
				typ, _ = typing.FieldType(typ, name)
			}
		}
		if p.path != nil {
			b.WriteString(model.InputText(cur, typ))
		}
	}
	return b.String(), nil
}

// Braces that only look like a placeholder go to the model unchanged. A prompt about templates needs that, so it is
// only a warning.

var (
	doubleBraces = lazy.Regexp(`\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}`)
	// loneBraces match a word of prose in single braces, where neither LaTeX, a shell nor the path of a URL needs
	// them.
	loneBraces   = lazy.Regexp(`(?:^|[\s("':])\{([a-z][a-z0-9_]*)\}(?:[\s)"'.,:;!?]|$)`)
	singleBraces = lazy.Regexp(`(?:^|[^{$])\{([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\}(?:[^}]|$)`)
)

// literalBraces checks a prompt or task that is not a template.
func (c *checker) literalBraces(what string, at diag.Span, prompt string, in *generable.Type) {
	if !strings.Contains(prompt, "{") {
		return
	}
	if m := doubleBraces().FindStringSubmatch(prompt); m != nil {
		d := c.Warnf(diag.LiteralPlaceholder, at, "%s is literal: {{%s}} is not filled in", what, m[1])
		if namesInput(m[1], in) {
			d.Helpf("write %s = template(\"...\")", what[2:])
		} else {
			d.Helpf("write %s = template(\"...\"), in which {{%s}} is the whole input%s", what[2:], wholeInput, itsFields(in))
		}
		return
	}
	name := singleBraced(prompt, in)
	fills := name
	if name == "" && in.Deref().Kind == generable.StrType {
		if m := loneBraces().FindStringSubmatch(prompt); m != nil {
			name, fills = m[1], wholeInput // a text has no other name
		}
	}
	if name != "" {
		d := c.Warnf(diag.LiteralPlaceholder, at, "%s is literal: {%s} is not filled in", what, name)
		d.Helpf("write {{%s}}, in %s = template(\"...\")", fills, what[2:])
	}
}

// singleBraces checks the literal parts of a template.
func (t *TemplateText) singleBraces(r *diag.Reporter, at diag.Span, in *generable.Type) {
	for i := range t.parts {
		name := singleBraced(t.parts[i].text, in)
		if name == "" || slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.String() == name }) {
			continue // an author who writes both knows the difference
		}
		d := r.Warnf(diag.LiteralPlaceholder, at, "{%s} is not filled in: a placeholder has two braces", name)
		d.Helpf("write {{%s}}", name)
		return
	}
}

// singleBraced finds a field of the input in single braces, which Python would fill in.
func singleBraced(text string, in *generable.Type) string {
	for _, m := range singleBraces().FindAllStringSubmatch(text, -1) {
		if m[1] == wholeInput || namesInput(m[1], in) && in.Deref().Kind != generable.DictType { // whose keys can be anything
			return m[1]
		}
	}
	return ""
}

// namesInput reports whether a placeholder would be filled from an input of the type.
func namesInput(placeholder string, in *generable.Type) bool {
	name, _, _ := strings.Cut(placeholder, ".")
	if name == wholeInput {
		return true
	}
	_, lacks := typing.FieldType(in, name)
	return lacks == nil && !typing.Untyped(in)
}

// itsFields lists the fields that a placeholder can name.
func itsFields(in *generable.Type) string {
	if in = in.Deref(); in.Kind != generable.RecordType || len(in.Fields) == 0 {
		return ""
	}
	return " and its fields are " + strings.Join(in.FieldNames(), ", ")
}
