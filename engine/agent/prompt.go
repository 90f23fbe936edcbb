package agent

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// Braces that look like a placeholder and are none go to the model as they stand. That is
// what a prompt about templates wants, so it is a warning.

var (
	doubleBraces = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}\}`) })
	singleBraces = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[^{$])\{([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\}(?:[^}]|$)`)
	})
)

// literalBraces looks into a prompt that is no template.
func (c *checker) literalBraces(at diag.Span, prompt string, in *generable.Type) {
	if !strings.Contains(prompt, "{") {
		return
	}
	if m := doubleBraces().FindStringSubmatch(prompt); m != nil {
		d := c.Warnf(diag.LiteralPlaceholder, at, "a prompt is literal: {{%s}} is not filled in", m[1])
		if namesInput(m[1], in) {
			d.Helpf("write prompt = template(\"...\")")
		} else {
			d.Helpf("write prompt = template(\"...\"), in which {{%s}} is the whole input%s", wholeInput, itsFields(in))
		}
		return
	}
	if name := singleBraced(prompt, in); name != "" {
		d := c.Warnf(diag.LiteralPlaceholder, at, "a prompt is literal: {%s} is not filled in", name)
		d.Helpf("write {{%s}}, in prompt = template(\"...\")", name)
	}
}

// singleBraces looks into the literal parts of a template.
func (t *TemplateText) singleBraces(r *diag.Reporter, at diag.Span, in *generable.Type) {
	for i := range t.parts {
		name := singleBraced(t.parts[i].text, in)
		if name == "" || slices.ContainsFunc(t.parts, func(p templatePart) bool { return p.String() == name }) {
			continue // who writes both knows the difference
		}
		d := r.Warnf(diag.LiteralPlaceholder, at, "{%s} is not filled in: a placeholder has two braces", name)
		d.Helpf("write {{%s}}", name)
		return
	}
}

// singleBraced finds a field of the input in single braces, which Python would fill in.
func singleBraced(text string, in *generable.Type) string {
	for _, m := range singleBraces().FindAllStringSubmatch(text, -1) {
		if m[1] == wholeInput || namesInput(m[1], in) && in.Deref().Kind != generable.DictType { // whose keys are anything
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
