package generable

import (
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// List is an immutable sequence of values.
//
// A list in a snapshot of a stream shares its items with later snapshots. It may have one additional item that is
// still growing: tail.
type List struct {
	items []Value
	tail  *lastItem
	hostCache
}

// lastItem is the last item of a list or dict. It may be wrapped in further lists that each have a single item; these
// are made on demand, because a text of brackets may contain millions.
type lastItem struct {
	v     Value
	lists int
}

//go:noinline
func (l *lastItem) value() Value {
	if l.lists > 0 {
		return nested(l.v, l.lists)
	}
	return l.v
}

// nested wraps v in the given number of lists, at least one, each the only item of the next.
func nested(v Value, lists int) Value {
	return (&List{tail: &lastItem{v, lists - 1}}).Value()
}

// NewList returns a list of items and takes ownership of the slice.
func NewList(items []Value) *List { return &List{items: items} }

// ListOf returns a list value of the given items.
func ListOf(items ...Value) Value { return NewList(items).Value() }

// Value returns l as a value.
func (l *List) Value() Value { return Value{p: unsafe.Pointer(l), kind: ListKind} }

// Len returns the number of items.
func (l *List) Len() int {
	if l.tail != nil {
		return len(l.items) + 1
	}
	return len(l.items)
}

// At returns item i.
func (l *List) At(i int) Value {
	if l.tail != nil && i == len(l.items) {
		return l.tail.value()
	}
	return l.items[i]
}

// Items returns the items; the caller must not change them. If the list has an item that is still growing, as in a
// snapshot, Items copies them: use Len and At.
func (l *List) Items() []Value {
	if l.tail != nil {
		return append(l.items[:len(l.items):len(l.items)], l.tail.value())
	}
	return l.items
}

// Map is a map with string keys in insertion order. Its creator may Set entries until it shares the map; from then on
// it is immutable.
type Map struct {
	keys  []string
	vals  []Value
	tail  *lastItem                      // in a snapshot: the last value, which is still growing and is not in vals
	index atomic.Pointer[map[string]int] // only beyond smallMap entries; made when first needed
	hostCache
}

// smallMap is the size up to which a scan of the keys beats a hash index.
const smallMap = 8

// NewMap returns an empty map with room for n entries.
func NewMap(n int) *Map {
	return &Map{keys: make([]string, 0, n), vals: make([]Value, 0, n)}
}

// Value returns m as a value.
func (m *Map) Value() Value { return Value{p: unsafe.Pointer(m), kind: MapKind} }

// Len returns the number of entries.
func (m *Map) Len() int { return len(m.keys) }

// At returns entry i in insertion order.
func (m *Map) At(i int) (string, Value) { return m.keys[i], m.val(i) }

// All ranges over the entries in insertion order.
func (m *Map) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for i := range m.keys {
			if !yield(m.At(i)) {
				return
			}
		}
	}
}

func (m *Map) val(i int) Value {
	if m.tail != nil && i == len(m.vals) {
		return m.tail.v
	}
	return m.vals[i]
}

// values returns the values; the caller must not change them.
func (m *Map) values() []Value {
	if m.tail != nil {
		return append(m.vals[:len(m.vals):len(m.vals)], m.tail.v)
	}
	return m.vals
}

// Keys returns the keys in insertion order; the caller must not change them.
func (m *Map) Keys() []string { return m.keys }

func (m *Map) find(key string) int {
	if len(m.keys) > smallMap {
		if i, ok := m.indexed()[key]; ok {
			return i
		}
		return -1
	}
	return slices.Index(m.keys, key)
}

// indexed returns the hash index. Several readers may build it at once; all build the same one.
func (m *Map) indexed() map[string]int {
	if p := m.index.Load(); p != nil {
		return *p
	}
	index := make(map[string]int, 2*len(m.keys))
	for i, k := range m.keys {
		index[k] = i
	}
	m.index.Store(&index)
	return index
}

// Get returns the value under key.
func (m *Map) Get(key string) (Value, bool) {
	if i := m.find(key); i >= 0 {
		return m.val(i), true
	}
	return Value{}, false
}

// Set adds an entry or replaces the value of an existing one, which keeps its position.
func (m *Map) Set(key string, v Value) {
	if i := m.find(key); i >= 0 {
		m.vals[i] = v
		return
	}
	m.keys = append(m.keys, key)
	m.vals = append(m.vals, v)
	if p := m.index.Load(); p != nil {
		(*p)[key] = len(m.keys) - 1
	}
}

// Record is an instance of a schema: one value per field, in declared order.
type Record struct {
	typ  *Type
	vals []Value
	hostCache
}

// NewRecord returns an instance of t and takes ownership of vals (one per field, in declared order). It does not
// check them: see [Type.Construct].
func NewRecord(t *Type, vals []Value) *Record {
	if t.Kind != RecordType || len(vals) != len(t.Fields) {
		panic("generable: NewRecord: values do not fit the schema's fields")
	}
	return &Record{typ: t, vals: vals}
}

// Value returns r as a value.
func (r *Record) Value() Value { return Value{p: unsafe.Pointer(r), kind: RecordKind} }

// Type returns the record's schema.
func (r *Record) Type() *Type { return r.typ }

// At returns the value of field i.
func (r *Record) At(i int) Value { return r.vals[i] }

// Get returns the value of the named field.
func (r *Record) Get(name string) (Value, bool) {
	if i := r.typ.FieldIndex(name); i >= 0 {
		return r.vals[i], true
	}
	return Value{}, false
}

// Equal reports whether two values are the same: numbers by numeric value (1 equals 1.0), maps regardless of order,
// records by nominal type and fields.
func Equal(a, b Value) bool {
	if a.kind != b.kind {
		c, ok := Compare(a, b)
		return ok && c == 0
	}
	switch a.kind {
	case Null:
		return true
	case Bool, Int:
		return a.n == b.n
	case Float, Big:
		c, _ := Compare(a, b)
		return c == 0
	case Str:
		x, _ := a.AsStr()
		y, _ := b.AsStr()
		return x == y
	case ListKind:
		x, y := (*List)(a.p), (*List)(b.p)
		return x == y || slices.EqualFunc(x.Items(), y.Items(), Equal)
	case RecordKind:
		x, y := (*Record)(a.p), (*Record)(b.p)
		return x == y || (Same(x.typ, y.typ) && slices.EqualFunc(x.vals, y.vals, Equal))
	case MapKind:
		x, y := (*Map)(a.p), (*Map)(b.p)
		if x == y {
			return true
		}
		if len(x.keys) != len(y.keys) {
			return false
		}
		for i, k := range x.keys {
			w, ok := y.Get(k)
			if !ok || !Equal(x.val(i), w) {
				return false
			}
		}
		return true
	}
	return false
}

// Compare orders two numbers by numeric value, exactly, or two strings by their bytes. It
// reports false for everything else.
func Compare(a, b Value) (int, bool) {
	if a.kind == Str && b.kind == Str {
		x, _ := a.AsStr()
		y, _ := b.AsStr()
		return strings.Compare(x, y), true
	}
	if f, ok := b.AsFloat(); ok {
		return compareToFloat(a, f)
	}
	if f, ok := a.AsFloat(); ok {
		c, ok := compareToFloat(b, f)
		return -c, ok
	}
	x, ok1 := a.AsBig()
	y, ok2 := b.AsBig()
	if !ok1 || !ok2 {
		return 0, false
	}
	return x.Cmp(y), true
}
