package flowjson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// field is a member that an object may have.
type field struct {
	name   string
	kinds  []Kind // nil: any
	needed bool
}

func text(name string) field   { return field{name: name, kinds: []Kind{String}} }
func list(name string) field   { return field{name: name, kinds: []Kind{Array}} }
func object(name string) field { return field{name: name, kinds: []Kind{Object}} }
func plain(name string) field {
	return field{name: name, kinds: []Kind{String, Number, Bool}}
}

func needed(f field) field {
	f.needed = true
	return f
}

// The objects of a flow. A description is taken anywhere: it is for people.
var (
	flowFields      = []field{needed(text("id")), needed(text("version")), text("defaultModel"), list("agents"), list("tools"), list("transitions")}
	agentFields     = []field{needed(text("name")), needed(text("type")), text("model"), text("runtime"), object("config"), object("prompt"), object("params"), object("output")}
	configFields    = []field{{name: "temperature", kinds: []Kind{Number}}, {name: "maxIterations", kinds: []Kind{Number}}, {name: "maxTokens", kinds: []Kind{Number}}, {name: "topP", kinds: []Kind{Number}}, {name: "toolChoice", kinds: []Kind{String, Object}}, text("speculation")}
	promptFields    = []field{needed(text("system")), text("user")}
	outputFields    = []field{{name: "schema", kinds: []Kind{String, Object}}}
	toolFields      = []field{needed(text("name")), needed(text("type")), needed(object("parameters"))}
	edgeFields      = []field{needed(text("from")), needed(text("to")), object("condition"), object("transformation")}
	conditionFields = []field{needed(text("variable")), needed(text("operation")), {name: "value", kinds: []Kind{String, Number, Bool, Object}, needed: true}}
	valueFields     = []field{needed(text("value"))}
	mergeFields     = []field{needed(text("variable")), needed(text("operation")), {name: "value", kinds: []Kind{String, Number, Bool, Object}, needed: true}}

	paramFields = map[string][]field{
		Task:      {plain("task"), list("toolNames")},
		Verify:    {plain("task"), list("toolNames")},
		React:     {plain("task"), list("toolNames"), {name: "reasoningInterval", kinds: []Kind{Number}}},
		Transform: {list("transformations")},
		Parallel:  {needed(list("agents")), object("merge")},
	}
	transportFields = map[string][]field{
		"stdio": {text("transport"), needed(text("command")), list("args"), object("env")},
		"sse":   {text("transport"), needed(text("url")), object("headers")},
		"http":  {text("transport"), needed(text("url")), object("headers")},
	}
)

// reader makes a spec of a tree.
type reader struct{ found diag.List }

// report tells what is wrong with a value, and its pointer.
func (r *reader) report(code diag.Code, v *Value, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	if pointer := v.Pointer(); pointer != "" {
		d.Notes = append(d.Notes, diag.Note{Message: "JSON pointer " + pointer})
	}
	r.found = append(r.found, d)
	return d
}

// warn tells of what is no error.
func (r *reader) warn(code diag.Code, v *Value, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := r.report(code, v, at, format, args...)
	d.Severity = diag.Warning
	return d
}

// fields holds an object against the members that it may have.
func (r *reader) fields(v *Value, what string, fields []field) {
	if v == nil || v.Kind != Object {
		return
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	meant := map[string]bool{}
	for _, m := range v.Members {
		i := slices.Index(names, m.Key)
		if i < 0 {
			r.unread(v, m, what, fields, meant)
			continue
		}
		f := fields[i]
		switch {
		case f.kinds == nil || slices.Contains(f.kinds, m.Value.Kind):
		case m.Value.Kind == Null && !f.needed && !slices.Contains(f.kinds, Array):
		default:
			want := make([]string, len(f.kinds))
			for i, k := range f.kinds {
				want[i] = k.String()
			}
			d := r.report(diag.FlowField, m.Value, m.Value.Span, "%s: want %s, got %s", m.Key, strings.Join(want, ", "), m.Value.shown())
			switch {
			case m.Value.Kind == Null:
				d.Help = []string{"leave it out"}
			case f.kinds[0] == String && (m.Value.Kind == Number || m.Value.Kind == Bool):
				d.Help = []string{"write it in quotes"}
				d.Fixes = []diag.Fix{{Message: "put it in quotes", Span: m.Value.Span, Replacement: `"` + m.Value.Text + `"`}}
			case f.kinds[0] == Array:
				d.Help = []string{"put it into a list: [...]"}
			default:
				d.Help = []string{"write " + want[0]}
			}
		}
	}
	for _, f := range fields {
		if f.needed && v.Get(f.name) == nil && !meant[f.name] {
			d := r.report(diag.FlowField, v, diag.Span{Pos: v.Span.Pos, Len: 1}, "%s has no %q", what, f.name)
			d.Help = []string{fmt.Sprintf("add %q: …", f.name)}
		}
	}
}

// unread tells of a member that nothing reads.
func (r *reader) unread(v *Value, m Member, what string, fields []field, meant map[string]bool) {
	if m.Key == "description" || m.Key == "$schema" || m.Key == "comment" {
		return
	}
	var free []string
	for _, f := range fields {
		if v.Get(f.name) == nil {
			free = append(free, f.name)
		}
	}
	d := r.warn(diag.FlowIgnored, m.Value, m.Span, "%s has no %q: it is not read", what, m.Key)
	if near, ok := diag.Suggest(m.Key, free); ok {
		meant[near] = true
		d.Help = []string{fmt.Sprintf("did you mean %q?", near)}
		d.Fixes = []diag.Fix{{Message: "write " + near, Span: m.Span, Replacement: `"` + near + `"`}}
		for _, f := range fields {
			if f.name == near && f.needed { // then something lacks that the flow cannot do without
				d.Severity = diag.Error
			}
		}
		return
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	d.Help = []string{"leave it out, or put it into description; " + what + " has " + strings.Join(names, ", ")}
}

// oneOf tells of a word that is none of those that can stand there.
func (r *reader) oneOf(v *Value, what string, words []string) bool {
	if v == nil || v.Kind != String || slices.Contains(words, v.Text) {
		return v != nil && v.Kind == String
	}
	d := r.report(diag.FlowWord, v, v.Span, "there is no %s %q", what, v.Text)
	r.meant(d, v, words)
	return false
}

// meant suggests a word for another one, as a remedy and as a fix.
func (r *reader) meant(d *diag.Diagnostic, v *Value, words []string) {
	near, ok := diag.Suggest(v.Text, words)
	if !ok {
		if len(words) > 0 {
			shown := words
			if len(shown) > 12 {
				shown = append(slices.Clone(words[:12]), "…")
			}
			verb := "there are "
			if len(words) == 1 {
				verb = "there is but "
			}
			d.Help = append(d.Help, verb+strings.Join(shown, ", "))
		}
		return
	}
	d.Help = append(d.Help, fmt.Sprintf("did you mean %q?", near))
	d.Fixes = append(d.Fixes, diag.Fix{Message: "write " + near, Span: v.Span, Replacement: `"` + near + `"`})
}
