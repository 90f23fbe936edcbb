package generable

import (
	"slices"

	"github.com/agentscript/agentscript/generable/internal/naming"
)

// partNames is the table of the names of a nominal type's parts: the fields of a schema, the values
// of an enum, the variants of a union. It is made once per type.
func (t *Type) partNames() *naming.Table {
	return kept(t, &t.made.names, func() *naming.Table { return tableOf(t) })
}

func tableOf(t *Type) *naming.Table {
	if t.Kind == RecordType {
		n := naming.NewTable(naming.Keys, false)
		for i := range t.Fields {
			n.Add(i, t.Fields[i].Name, t.Fields[i].Alias)
		}
		return n
	}
	n := naming.NewTable(naming.Values, t.Kind == EnumType && t.hasSigns())
	for i, v := range t.Values {
		note := t.Note(i)
		n.Add(i, v, note.Alias)
		n.Describe(i, v, note.Alias, note.Doc)
	}
	if t.Kind == UnionType {
		for i, name := range t.variantNames() {
			n.Add(i, name, nil)
		}
	}
	return n
}

// fewValues is how many values of an enum are compared with one by one.
const fewValues = 16

// hasValue reports whether a text is one of the values of an enum.
func (t *Type) hasValue(s string) bool {
	if len(t.Values) > fewValues {
		return t.valueSet()[s]
	}
	return slices.Contains(t.Values, s)
}

// valueSet holds the values of an enum that has many.
func (t *Type) valueSet() map[string]bool {
	return kept(t, &t.made.values, func() map[string]bool {
		set := make(map[string]bool, len(t.Values))
		for _, v := range t.Values {
			set[v] = true
		}
		return set
	})
}

// HasSigns reports whether signs tell the values of an enum apart from other texts.
func (t *Type) hasSigns() bool {
	for i, v := range t.Values {
		if naming.HasSigns(v) || slices.ContainsFunc(t.Note(i).Alias, naming.HasSigns) {
			return true
		}
	}
	return false
}
