package generable

import (
	"slices"
	"sync/atomic"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/text"
)

// Partial is an instance of a schema that arrives field by field. It is immutable: adding a field creates a new
// version, and all versions share what they have in common. Several branches may hold and extend versions at the same
// time.
//
// Fields hold what has arrived, unchecked, so that a half-written answer can be shown; only [Partial.ToComplete]
// requires that everything fits.
//
// Nothing is known about a union until its tag arrives; from then on the Partial is an instance of the variant.
type Partial struct {
	typ *Type
	log *partialLog
	n   int // how much of the log belongs to this version
}

// partialLog is the history that versions share. An entry never changes once it is written, and only the version that
// advances used by one may write it.
type partialLog struct {
	entries []partialEntry
	used    atomic.Int64
}

type partialEntry struct {
	field int
	v     Value
}

// NewPartial returns an instance of schema or union t without any fields yet. It fails for other types.
func NewPartial(t *Type) (Partial, error) {
	t = t.Deref()
	if t.Kind != RecordType && t.Kind != UnionType {
		return Partial{}, newFieldError("", "a schema or union", t.String(), "only these arrive field by field")
	}
	return Partial{typ: t}, nil
}

// Type returns the schema, or the union as long as the variant is unknown.
func (p Partial) Type() *Type { return p.typ }

// WithField returns a version in which the field has arrived with value v. It fails for a name that is not a field of
// the schema.
func (p Partial) WithField(name string, v Value) (Partial, error) {
	if p.typ == nil {
		return p, newFieldError(message.KeyPath(name), "a partial value of a schema", "the empty one", "start from NewPartial")
	}
	if p.typ.Kind == UnionType {
		return p.withTag(name, v)
	}
	i := p.typ.FieldIndex(name)
	if i < 0 {
		var c converter
		c.unknownKeys(object(name, v), p.typ, "", nil)
		return p, c.errs[0]
	}
	return p.with(i, v), nil
}

func (p Partial) withTag(name string, v Value) (Partial, error) {
	var c converter
	if name != p.typ.Tag {
		c.fail(&message.Path{Name: name}, "the tag "+p.typ.Tag+" first", "another field", "it says which variant of "+p.typ.String()+" the fields belong to")
		return p, c.errs[0]
	}
	if s, ok := v.AsStr(); ok {
		if variant := p.typ.Variant(s); variant != nil && variant.Kind == RecordType {
			return Partial{typ: variant}, nil
		}
	}
	c.variant(object(name, v), p.typ, nil)
	return p, c.errs[0]
}

func (p Partial) with(field int, v Value) Partial {
	e := partialEntry{field, v}
	if p.log != nil && p.n < len(p.log.entries) && p.log.used.CompareAndSwap(int64(p.n), int64(p.n+1)) {
		p.log.entries[p.n] = e
		return Partial{p.typ, p.log, p.n + 1}
	}
	// The log is full, or another version continued from here: copy the entries that still count. The copy is at most
	// half full, so growing a field token by token costs one copy per doubling.
	live := p.live()
	log := &partialLog{entries: make([]partialEntry, 2*(len(live)+2))}
	n := copy(log.entries, live)
	log.entries[n] = e
	log.used.Store(int64(n + 1))
	return Partial{p.typ, log, n + 1}
}

// live lists the entries that count, in the order in which their fields first arrived, each with its latest value.
func (p Partial) live() []partialEntry {
	var out []partialEntry
	place := make(map[int]int) // field to index in out
	for i := range p.n {
		e := p.log.entries[i]
		if at, ok := place[e.field]; ok {
			out[at].v = e.v
			continue
		}
		place[e.field] = len(out)
		out = append(out, e)
	}
	return out
}

// Get returns the value of a field that has arrived.
func (p Partial) Get(name string) (Value, bool) {
	if p.typ == nil {
		return Value{}, false
	}
	field := p.typ.FieldIndex(name)
	if field < 0 {
		return Value{}, false
	}
	for i := p.n - 1; i >= 0; i-- {
		if e := &p.log.entries[i]; e.field == field {
			return e.v, true
		}
	}
	return Value{}, false
}

// Has reports whether the field has arrived, even as None.
func (p Partial) Has(name string) bool {
	_, ok := p.Get(name)
	return ok
}

// ArrivedFieldNames lists the fields that have arrived, in order of arrival.
func (p Partial) ArrivedFieldNames() []string {
	return text.Each(p.live(), func(e partialEntry) string { return p.typ.Fields[e.field].Name })
}

// ToComplete makes an instance from the fields that have arrived, by the rules of [Type.Construct], or reports what
// is missing or wrong.
func (p Partial) ToComplete() (*Record, FieldErrors) {
	if p.typ == nil {
		return nil, FieldErrors{newFieldError("", "a partial value of a schema", "the empty one", "start from NewPartial")}
	}
	if p.typ.Kind == UnionType {
		var c converter
		c.variant(NewMap(0), p.typ, nil)
		return nil, c.result()
	}
	live := p.live()
	m := NewMap(len(live))
	for _, e := range live {
		m.Set(p.typ.Fields[e.field].Name, e.v)
	}
	return p.typ.Construct(m)
}

// StreamPolicy sets how a value appears while it arrives: a field, each instance of a schema or union, each item of a
// list or dict. Policies combine.
type StreamPolicy uint8

const (
	// StreamAtomic shows the value when it is complete, not while it grows.
	StreamAtomic StreamPolicy = 1 << iota
	// StreamFirst holds back the instance that the field belongs to until the field has arrived; on a schema, it
	// holds back an instance until all its required fields have arrived.
	StreamFirst
	// StreamState shows the value as {"value": …, "state": "pending"|"incomplete"|"complete"} in snapshots as long as
	// the enclosing value is incomplete; a field from the beginning.
	StreamState
)

// streamWords are the words for the policies, in the order of their bits: this package's words, then those of BAML.
var streamWords = []string{"atomic", "first", "state", "done", "not_null", "with_state"}

// StreamWords lists the words that [StreamPolicyOf] accepts.
func StreamWords() []string { return slices.Clone(streamWords) }

// StreamPolicyOf returns the policy for a word: atomic or done, first or not_null, state or with_state.
func StreamPolicyOf(word string) (StreamPolicy, bool) {
	i := slices.Index(streamWords, word)
	if i < 0 {
		return 0, false
	}
	return 1 << (i % 3), true
}

// Streamed returns schema or union t with policy p for its instances. StreamFirst requires a schema with a required
// field.
func Streamed(t *Type, p StreamPolicy) (*Type, *FieldError) {
	d := t.resolved()
	first := p&StreamFirst != 0 && !slices.ContainsFunc(d.Fields, func(f Field) bool { return f.Required() })
	switch {
	case p == 0 || d.Kind == ErrorType:
		return t, nil
	case d.Kind != RecordType && d.Kind != UnionType:
		return t, newFieldError("", "a schema or union", t.String(), "")
	case first:
		return t, newFieldError("", "a schema with a field that has to be there", t.String(), "first waits for such fields")
	}
	return d.streamed(p), nil
}

// StreamedItems returns t, a list or dict or such a type | None, with policy p for its items. StreamFirst is not
// allowed.
func StreamedItems(t *Type, p StreamPolicy) (*Type, *FieldError) {
	d := t.resolved()
	switch inner := d.nonNone(); {
	case p == 0 || d.Kind == ErrorType:
		return t, nil
	case p&StreamFirst != 0:
		return t, newFieldError("", "atomic or state", "first", "items come in their order; first is for fields and schemas")
	case inner != nil:
		inner, err := StreamedItems(inner, p)
		return OneOf(inner, NoneT), err
	case d.Kind == ListType || d.Kind == DictType:
		return d.streamed(p), nil
	}
	return t, newFieldError("", "a list or a dict", t.String(), "only these have items")
}

func (t *Type) streamed(p StreamPolicy) *Type {
	out := &Type{Kind: t.Kind, Name: t.Name, Doc: t.Doc, Description: t.Description, Fields: t.Fields, Elem: t.Elem, Variants: t.Variants, Limits: t.Limits, Tag: t.Tag,
		Values: t.Values, Notes: t.Notes, Stream: t.Stream | p, foreign: t.foreign, open: t.open, depth: t.depth, index: t.index}
	out.union.Store(t.union.Load())
	return out
}
