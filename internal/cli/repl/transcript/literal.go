package transcript

import (
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Literal returns a value as scripts write it, and whether a script can. types maps the types of records to names; a
// nil map means that each type has its own name.
func Literal(v generable.Value, types map[*generable.Type]string) (written string, ok bool) {
	var parts []string
	ok = true
	add := func(before string, v generable.Value) {
		part, can := Literal(v, types)
		parts, ok = append(parts, before+part), ok && can
	}
	switch v.Kind() {
	case generable.Null:
		return "None", true
	case generable.Bool:
		if b, _ := v.AsBool(); b {
			return "True", true
		}
		return "False", true
	case generable.RecordKind:
		r, _ := v.AsRecord()
		name := r.Type().Name
		if types != nil {
			if name = types[r.Type()]; name == "" {
				return "", false
			}
		}
		for i, f := range r.Type().Fields {
			add(f.Name+" = ", r.At(i))
		}
		return name + "(" + strings.Join(parts, ", ") + ")", ok
	case generable.ListKind:
		l, _ := v.AsList()
		for _, item := range l.Items() {
			add("", item)
		}
		return "[" + strings.Join(parts, ", ") + "]", ok
	case generable.MapKind:
		m, _ := v.AsMap()
		for i := range m.Len() {
			key, item := m.At(i)
			add(text.Quote(key)+": ", item)
		}
		return "{" + strings.Join(parts, ", ") + "}", ok
	}
	return generable.JSON(v, nil), true
}
