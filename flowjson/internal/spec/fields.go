package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/internal/text"
)

// reader makes a spec from a tree.
type reader struct {
	o            Options
	defaultModel string
	found        diag.Reporter
}

// list returns the findings.
func (r *reader) list() diag.List {
	r.found.Sum()
	return r.found.Diagnostics()
}

// report reports an error in a value, with the remedy and its pointer. Beyond [diag.MostAlike] similar ones it only
// counts.
//
//go:noinline
func (r *reader) report(code diag.Code, v *tree.Value, help, format string, args ...any) *diag.Diagnostic {
	return r.add(diag.Error, code, v, help, format, args)
}

// warn reports a warning.
func (r *reader) warn(code diag.Code, v *tree.Value, help, format string, args ...any) *diag.Diagnostic {
	return r.add(diag.Warning, code, v, help, format, args)
}

func (r *reader) add(s diag.Severity, code diag.Code, v *tree.Value, help, format string, args []any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Severity: s, Span: v.Span}
	if r.found.Full(d) {
		r.found.Report(d)
		return d
	}
	d.Message = fmt.Sprintf(format, args...)
	if help != "" {
		d.Help = []string{help}
	}
	if pointer := v.Pointer(); pointer != "" {
		d.Notes = append(d.Notes, diag.Note{Message: "JSON pointer " + text.Clip(pointer, mostShown)})
	}
	r.found.Report(d)
	return d
}

// mostShown bounds the characters of a name or a pointer in a message.
const mostShown = 200

// fields checks an object against the members that it may have.
func (r *reader) fields(v *tree.Value, what string, fields []field) {
	if v == nil || v.Kind != tree.Object {
		return
	}
	meant := map[string]bool{}
	var free []string // allowed names that the object does not use
	for _, f := range fields {
		if v.Get(f.name) == nil {
			free = append(free, f.name)
		}
	}
	for _, m := range v.Members {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == m.Key })
		if i < 0 {
			r.unread(m, what, fields, free, meant)
			continue
		}
		f := fields[i]
		switch {
		case f.kinds == nil || slices.Contains(f.kinds, m.Value.Kind):
		case m.Value.Kind == tree.Null && !f.needed && !slices.Contains(f.kinds, tree.Array):
		default:
			r.misfit(m, f)
		}
	}
	for _, f := range fields {
		if f.needed && slices.Contains(free, f.name) && !meant[f.name] {
			r.report(diag.FlowField, v, fmt.Sprintf("add %q: …", f.name), "%s has no %q", what, f.name)
		}
	}
}

// misfit reports a member whose value has the wrong kind.
func (r *reader) misfit(m tree.Member, f field) {
	kinds := f.kinds
	want := text.Each(kinds, tree.Kind.String)
	d := r.report(diag.FlowField, m.Value, "write "+want[0], "%s: want %s, got %s", m.Key, strings.Join(want, ", "), m.Value.Shown())
	switch {
	case m.Value.Kind == tree.Null && !f.needed:
		d.Help = []string{"leave it out"}
	case kinds[0] == tree.String && (m.Value.Kind == tree.Number || m.Value.Kind == tree.Bool):
		quote(d, m.Value)
	case kinds[0] == tree.Array && m.Value.Kind != tree.Null:
		d.Help = []string{"put it into a list: [...]"}
	}
}

// quote adds the remedy to put a value in quotes.
func quote(d *diag.Diagnostic, v *tree.Value) {
	d.Help = []string{"write it in quotes"}
	d.Fixes = []diag.Fix{{Message: "put it in quotes", Span: v.Span, Replacement: `"` + v.Text + `"`}}
}

// unread reports a member that is not read. It may be a misspelling of a free name.
func (r *reader) unread(m tree.Member, what string, fields []field, free []string, meant map[string]bool) {
	if m.Key == "description" || m.Key == "$schema" || m.Key == "comment" {
		return
	}
	names := text.Each(fields, func(f field) string { return f.name })
	near, ok := diag.Suggest(m.Key, free)
	severity := diag.Warning
	if ok && fields[slices.Index(names, near)].needed { // then a required member is missing
		severity = diag.Error
	}
	help := "leave it out, or put it into description; " + what + " has " + strings.Join(names, ", ")
	if part := belongs(what, m.Key); part != "" { // its content must not be lost: toolNames and others restrict the agent
		severity, ok = diag.Error, false
		help = fmt.Sprintf("it belongs into %s: %q: {%q: …}", part, part, m.Key)
	}
	d := r.add(severity, diag.FlowIgnored, m.Value, help, "%s has no %q: it is not read", []any{what, text.Clip(m.Key, mostShown)})
	d.Span = m.Span
	if ok {
		meant[near] = true
		d.Help = nil
		means(d, near)
	}
}

// belongs returns the member of an agent that should contain a key found next to it, or "" for any other key.
func belongs(what, key string) string {
	if what != "an agent" {
		return ""
	}
	within := map[string][]field{"config": configFields, "prompt": promptFields}
	for part, fields := range within {
		if slices.ContainsFunc(fields, func(f field) bool { return f.name == key }) {
			return part
		}
	}
	for _, fields := range paramFields {
		if slices.ContainsFunc(fields, func(f field) bool { return f.name == key }) {
			return "params"
		}
	}
	return ""
}

// means says that the text at the diagnostic's span means a word.
func means(d *diag.Diagnostic, word string) {
	d.Help = append(d.Help, fmt.Sprintf("did you mean %q?", word))
	d.Fixes = append(d.Fixes, diag.Fix{Message: "write " + word, Span: d.Span, Replacement: `"` + word + `"`})
}

// oneOf reports a word that is not one of those allowed there.
func (r *reader) oneOf(v *tree.Value, what string, words []string) bool {
	if v == nil || v.Kind != tree.String || slices.Contains(words, v.Text) {
		return v != nil && v.Kind == tree.String
	}
	meant(r.report(diag.FlowWord, v, "", "there is no %s %q", what, text.Clip(v.Text, mostShown)), v, words)
	return false
}

// meant suggests a word in place of v, as a remedy and as a fix.
func meant(d *diag.Diagnostic, v *tree.Value, words []string) {
	near, ok := diag.Suggest(v.Text, words)
	switch {
	case ok:
		means(d, near)
	case len(words) == 1:
		d.Helpf("the only one is %s", words[0])
	case len(words) > 12:
		d.Helpf("there are %s, …", strings.Join(words[:12], ", "))
	case len(words) > 0:
		d.Helpf("there are %s", strings.Join(words, ", "))
	}
}
