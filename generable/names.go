package generable

import "slices"

// partNames is the table of the names of a nominal type's parts: the fields of a schema, the values
// of an enum, the variants of a union. It is made once per type.
func (t *Type) partNames() *nameTable {
	return kept(t, &t.made.names, func() *nameTable { return tableOf(t) })
}

func tableOf(t *Type) *nameTable {
	if t.Kind == RecordType {
		n := newNameTable(foldKey, false)
		for i := range t.Fields {
			n.add(i, t.Fields[i].Name, t.Fields[i].Alias)
		}
		return n
	}
	n := newNameTable(foldValue, t.Kind == EnumType && t.hasSigns())
	for i, v := range t.Values {
		note := t.Note(i)
		n.add(i, v, note.Alias)
		n.describe(i, v, note.Alias, note.Doc)
	}
	if t.Kind == UnionType {
		for i, name := range t.variantNames() {
			n.add(i, name, nil)
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

// hasSigns reports whether signs tell the values of an enum apart from other texts.
func (t *Type) hasSigns() bool {
	for i, v := range t.Values {
		if hasSigns(v) || slices.ContainsFunc(t.Note(i).Alias, hasSigns) {
			return true
		}
	}
	return false
}
