package generable

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// NewSchema declares a schema. The name may be empty; such a schema cannot be a variant.
//
// All problems are returned at once, each with the path of the field at fault. The type is usable nevertheless, so
// that checking can continue: its faulty parts are left out. Defaults and examples are converted to their field's
// type and kept in that form.
func NewSchema(name, doc string, fields []Field) (*Type, FieldErrors) {
	return newSchema(name, doc, fields, false)
}

// newSchema implements NewSchema. The fields of a foreign schema, one read from a JSON Schema, may have an empty
// name.
func newSchema(name, doc string, fields []Field, foreign bool) (*Type, FieldErrors) {
	t := &Type{Kind: RecordType, Name: name, Doc: doc, Fields: make([]Field, 0, len(fields))}
	var errs FieldErrors
	taken := make(map[string]bool, len(fields)) // names and aliases
	for i := range fields {
		f := fields[i]
		if f.Name == "" && !foreign || !utf8.ValidString(f.Name) {
			errs = append(errs, newFieldError("["+strconv.Itoa(i)+"]", "a name for the field", message.Quote(f.Name), ""))
			continue
		}
		if taken[f.Name] {
			errs = append(errs, newFieldError(message.KeyPath(f.Name), "a different name for each field", "this name twice", ""))
			continue
		}
		taken[f.Name] = true
		errs = append(errs, f.normalise()...)
		t.Fields = append(t.Fields, f)
		t.depth = max(t.depth, f.Type.depth+1)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		var bad FieldErrors
		f.Alias, bad = ownAliases(f.Alias, taken, message.KeyPath(f.Name), "field")
		errs = append(errs, bad...)
		if f.AliasOnly && len(f.Alias) == 0 {
			errs = append(errs, newFieldError(message.KeyPath(f.Name), "an alias, which rules the name out", "none", "give the field an alias, or leave alias_only out"))
			f.AliasOnly = false
		}
	}
	t.indexFields()
	return t, errs
}

// normalise checks one field in isolation and removes what is wrong with it.
func (f *Field) normalise() FieldErrors {
	at := &message.Path{Name: f.Name}
	var errs FieldErrors
	if f.Type == nil {
		errs = append(errs, newFieldError(at.String(), "a type", "nothing", ""))
		f.Type = ErrorT
	}
	if f.Type.depth >= MaxTypeDepth {
		errs = append(errs, newFieldError(at.String(), "a type nested at most "+strconv.Itoa(MaxTypeDepth-1)+" deep", "a deeper one", ""))
		f.Type = ErrorT
	}
	if f.Dedent && !f.Type.AcceptsText() {
		errs = append(errs, newFieldError(at.String(), "a type of text to dedent", f.Type.String(), ""))
		f.Dedent = false
	}
	if f.Limits != nil {
		limits, bad := f.Limits.validated(f.Type, at)
		f.Limits, errs = limits, append(errs, bad...)
	}
	fit := func(v Value, what string) (Value, bool) {
		c := converter{}
		w, ok := c.convert(v, f.Type, at)
		if ok && f.Limits != nil {
			c.errs = f.Limits.check(w, at, c.errs)
		}
		for _, e := range c.errs {
			if v.IsNull() && e.Path == at.String() {
				e.Hint = "write the type as " + f.Type.String() + " | None"
				continue
			}
			e.Hint = message.Hints(what+" must be a value of the field", e.Hint)
		}
		errs = append(errs, c.errs...)
		return w, len(c.errs) == 0
	}
	if f.Optional {
		if v, ok := fit(f.Default, "the default"); ok {
			f.Default = v
		} else {
			f.Default = Value{}
		}
	}
	var examples []Value
	for _, e := range f.Examples {
		if v, ok := fit(e, "an example"); ok {
			examples = append(examples, v)
		}
	}
	f.Examples = examples
	return errs
}

// NewUnion declares a union whose values carry the name of their variant under the key tag ("" means [DefaultTag]).
// Variants are named schemas, or references to them; [Type.Verify] checks the target of a reference once it is bound.
//
// All problems are returned at once. Invalid variants are left out; a union without any valid variant is the error
// type.
func NewUnion(name, doc, tag string, variants []*Type) (*Type, FieldErrors) {
	if tag == "" {
		tag = DefaultTag
	}
	var errs FieldErrors
	if name == "" {
		errs = append(errs, newFieldError("", "a name for the union", "none", "assign it to a variable or name it with _name"))
	}
	t := &Type{Kind: UnionType, Name: name, Doc: doc, Tag: tag}
	names := make(map[string]bool, len(variants))
	for i, v := range variants {
		at := "[" + strconv.Itoa(i) + "]"
		if v == nil {
			errs = append(errs, newFieldError(at, "a schema", "nothing", ""))
			continue
		}
		bad := variantErrors(v.Deref(), tag, at)
		if bad == nil && v.depth >= MaxTypeDepth {
			bad = FieldErrors{newFieldError(at, "a schema nested at most "+strconv.Itoa(MaxTypeDepth-1)+" deep", "a deeper one", "")}
		}
		variantName := v.Deref().Name
		if bad == nil && names[variantName] {
			bad = FieldErrors{newFieldError(at, "each variant once", "a second "+variantName, "")}
		}
		if bad != nil {
			errs = append(errs, bad...)
			continue
		}
		names[variantName] = true
		t.Variants = append(t.Variants, v)
		t.depth = max(t.depth, v.depth+1)
	}
	if len(variants) == 0 {
		errs = append(errs, newFieldError("", "at least one variant", "none", ""))
	}
	if len(t.Variants) == 0 {
		return ErrorT, errs
	}
	return t, errs
}

// variantErrors reports why v cannot be a variant of a union with the given tag.
func variantErrors(v *Type, tag, at string) FieldErrors {
	switch v.Kind {
	case ErrorType:
		return nil // reported where it was declared
	case RefType:
		return nil // see Verify
	case RecordType:
	default:
		hint := "a union holds schemas; write " + v.String() + " into a schema's field, or join types with |"
		return FieldErrors{newFieldError(at, "a schema", v.String(), hint)}
	}
	var errs FieldErrors
	if v.Name == "" {
		errs = append(errs, newFieldError(at, "a named schema", "one without name", "assign it to a variable or name it with _name"))
	}
	for i := range v.Fields {
		if f := &v.Fields[i]; f.Name == tag || slices.Contains(f.Alias, tag) {
			errs = append(errs, newFieldError(at+message.KeyPath(f.Name), "no field under the union's tag "+message.Quote(tag),
				fmt.Sprintf("%s.%s", v.Name, f.Name), "rename the field, or give the union another _tag"))
		}
	}
	return errs
}

// NewEnum declares a closed set of strings. All problems are returned at once; invalid values are left out, and an
// enum without any valid value is the error type.
func NewEnum(name, doc string, values []string) (*Type, FieldErrors) {
	return NewNotedEnum(name, doc, values, nil)
}

// NewNotedEnum is like [NewEnum] and adds notes on the values, in the same order; there may be fewer notes than
// values. An alias that is already the name or alias of another value is left out.
func NewNotedEnum(name, doc string, values []string, notes []ValueNote) (*Type, FieldErrors) {
	var errs FieldErrors
	if len(notes) > len(values) {
		errs = append(errs, newFieldError("", "at most one note for each value", text.Count(len(notes), "note"), ""))
	}
	t := &Type{Kind: EnumType, Name: name, Doc: doc}
	listed := make(map[string]bool, len(values))
	for i, v := range values {
		switch {
		case v == "" || !utf8.ValidString(v):
			errs = append(errs, newFieldError("["+strconv.Itoa(i)+"]", "a text that is not empty", message.Quote(v), ""))
		case listed[v]:
			errs = append(errs, newFieldError("["+strconv.Itoa(i)+"]", "each value once", "a second "+message.Quote(v), ""))
		default:
			listed[v] = true
			t.Values = append(t.Values, v)
			if i < len(notes) && (notes[i].Doc != "" || len(notes[i].Alias) > 0) {
				t.Notes = append(t.Notes, make([]ValueNote, len(t.Values)-len(t.Notes))...)
				t.Notes[len(t.Values)-1] = notes[i]
			}
		}
	}
	for i := range t.Notes {
		var bad FieldErrors
		t.Notes[i].Alias, bad = ownAliases(t.Notes[i].Alias, listed, "["+strconv.Itoa(i)+"]", "value")
		errs = append(errs, bad...)
	}
	if len(values) == 0 {
		errs = append(errs, newFieldError("", "at least one value", "none", ""))
	}
	if len(t.Values) == 0 {
		return ErrorT, errs
	}
	return t, errs
}

// ownAliases returns the aliases of a part that are not taken as a name or alias of another part, and marks them as
// taken.
func ownAliases(aliases []string, taken map[string]bool, at, part string) (own []string, errs FieldErrors) {
	for _, alias := range aliases {
		if alias == "" || taken[alias] {
			errs = append(errs, newFieldError(at, "an alias that no other "+part+" uses", message.Quote(alias), ""))
			continue
		}
		taken[alias] = true
		own = append(own, alias)
	}
	return own, errs
}

// Construct makes an instance of schema t from the given fields, as T(a = 1) does: it fills in defaults, converts
// values as [Type.Convert] does and checks limits. All errors are reported at once.
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

// Replace makes an instance like r with some fields changed. The changes follow the same rules as in
// [Type.Construct].
func Replace(r *Record, changes *Map) (*Record, FieldErrors) {
	var c converter
	t := r.typ
	vals := slices.Clone(r.vals)
	good, same, unknown := true, true, false
	var step message.Path
	for n, name := range changes.keys {
		i := t.FieldIndex(name)
		if i < 0 {
			good, unknown = false, true
			continue
		}
		step.Name = name
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
