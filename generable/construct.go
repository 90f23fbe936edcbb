package generable

import "slices"

// Construct makes an instance of schema t from the given fields, as T(a = 1) does: defaults
// are filled in, values converted as [Type.Convert] does, limits checked. All that is wrong
// is told at once.
func (t *Type) Construct(fields *Map) (*Record, FieldErrors) {
	t = t.Deref()
	if t.Kind != RecordType {
		return nil, FieldErrors{newFieldError("", "a schema to make an instance of", t.String(), "")}
	}
	var c converter
	v, ok := c.record(fields, t, "", nil)
	if !ok {
		return nil, c.result()
	}
	r, _ := v.AsRecord()
	return r, nil
}

// Replace makes an instance like r with some fields changed. The changes are held to the
// same rules as in [Type.Construct].
func Replace(r *Record, changes *Map) (*Record, FieldErrors) {
	var c converter
	t := r.typ
	vals := slices.Clone(r.vals)
	good, same, unknown := true, true, false
	var step path
	for n, name := range changes.keys {
		i := t.FieldIndex(name)
		if i < 0 {
			good, unknown = false, true
			continue
		}
		step.name = name
		w, ok := c.field(&t.Fields[i], changes.val(n), &step)
		good = good && ok
		same = same && !changed(vals[i], w)
		vals[i] = w
	}
	if unknown {
		c.unknownKeys(changes, t, "", nil)
	}
	switch {
	case !good:
		return nil, c.result()
	case same:
		return r, nil
	}
	return NewRecord(t, vals), nil
}
