package generable

import (
	"sync/atomic"

	"github.com/agentscript/agentscript/generable/internal/access"
	"github.com/agentscript/agentscript/generable/internal/naming"
)

// Internal returns the access to types and values that the packages below this directory need and hosts do not. Its
// argument cannot be named elsewhere.
func Internal(access.Key) internals { return internals{} }

// internals are methods without state, so calling one costs no more than calling a function.
type internals struct{}

// Error makes an error about a value that was not read from a text.
func (internals) Error(path, want, got, hint string) *FieldError {
	return newFieldError(path, want, got, hint)
}

// Wanted describes in words what t accepts.
func (internals) Wanted(t *Type) (want, hint string) { return wanted(t) }

// Resolved follows bound references and stops at limits.
func (internals) Resolved(t *Type) *Type { return t.resolved() }

// Item returns the type of item i of a list.
func (internals) Item(t *Type, i int) *Type { return t.item(i) }

// Parts calls visit for each type that t is directly made of.
func (internals) Parts(t *Type, visit func(*Type)) { t.parts(visit) }

// NonNone returns T when t is T | None, else nil.
func (internals) NonNone(t *Type) *Type { return t.nonNone() }

// IsNumber reports whether t is int | float, with or without None.
func (internals) IsNumber(t *Type) bool { return t.isNumber() }

// VariantNames lists the names of a union's variants.
func (internals) VariantNames(t *Type) []string { return t.variantNames() }

// HasValue reports whether a text is one of the values of an enum.
func (internals) HasValue(t *Type, s string) bool { return t.hasValue(s) }

// Names returns the table of the names of a nominal type's parts.
func (internals) Names(t *Type) *naming.Table { return t.partNames() }

// Foreign reports whether a schema was read from a JSON Schema, and whether it accepts keys that are not fields.
func (internals) Foreign(t *Type) (foreign, open bool) { return t.foreign, t.open }

// NewForeign declares the schema of a JSON Schema, as [NewSchema] does. Its fields may have an empty name.
func (internals) NewForeign(name, doc string, fields []Field, open bool) (*Type, FieldErrors) {
	t, errs := newSchema(name, doc, fields, true)
	t.foreign, t.open = true, open
	return t, errs
}

// Unlimited removes the limits from a type that a field will carry itself.
func (internals) Unlimited(t *Type) (*Type, *Limits) { return unlimited(t) }

// NullMeansAbsent reports whether None for a field means an absent value.
func (internals) NullMeansAbsent(f *Field) bool { return f.nullMeansAbsent() }

// Shown returns the type of a field for writers of its values.
func (internals) Shown(f *Field) *Type { return f.shown() }

// Mismatch reports what is wrong with a field in isolation, its default and its examples.
func (internals) Mismatch(f Field) FieldErrors { return f.normalise() }

// Breaks reports how v breaks limits.
func (internals) Breaks(l *Limits, v Value) FieldErrors { return l.check(v, nil, nil) }

// Bounds returns the four bounds that a number can have, in the order of schemas and texts.
func (internals) Bounds() []bound { return bounds[:] }

// Object returns a dict with one entry, to which more may be added.
func (internals) Object(key string, v Value) *Map { return object(key, v) }

// Indented returns a value without records as JSON, indented by two spaces.
func (internals) Indented(v Value) string { return string(appendIndented(nil, v, "")) }

// LimitSchema writes limits into the schema of a type.
func (internals) LimitSchema(m *Map, t *Type, l *Limits) { limitSchema(m, t, l) }

// Texts returns a list of texts.
func (internals) Texts(list []string) Value { return texts(list) }

// Absent returns the value of a field that was not given and has no default.
func (internals) Absent() Value { return absent }

// IsAbsent reports whether v is the value that Absent returns.
func (internals) IsAbsent(v Value) bool { return isAbsent(v) }

// Whole returns a whole float as an integer.
func (internals) Whole(v Value) (Value, bool) { return exactInt(v) }

// ExactFloat returns an integer as a float if no digit is lost.
func (internals) ExactFloat(v Value) (Value, bool) { return exactFloat(v) }

// SetList makes l, which must not be shared yet, a list of items.
func (internals) SetList(l *List, items []Value) { l.items = items }

// SetMap makes m, which must not be shared yet, a map of these entries, whose keys must differ.
func (internals) SetMap(m *Map, keys []string, vals []Value) { m.keys, m.vals = keys, vals }

// SetRecord makes r, which must not be shared yet, an instance of t.
func (internals) SetRecord(r *Record, t *Type, vals []Value) { r.typ, r.vals = t, vals }

// Nested wraps v in the given number of lists, at least one, each the only item of the next.
func (internals) Nested(v Value, lists int) Value { return nested(v, lists) }

// GrowingList returns a list of items followed by last, which is still growing.
func (internals) GrowingList(items []Value, last Value) Value {
	return (&List{items: items, tail: &lastItem{v: last}}).Value()
}

// GrowingMap returns a map whose last value is still growing: keys has one more element than vals.
func (internals) GrowingMap(keys []string, vals []Value, last Value) Value {
	return (&Map{keys: keys, vals: vals, tail: &lastItem{v: last}}).Value()
}

// Hidden returns what only constructors set: the nesting depth of t, and the union whose tag its instances show.
func (internals) Hidden(t *Type) (depth *int, union *atomic.Pointer[Type]) { return &t.depth, &t.union }
