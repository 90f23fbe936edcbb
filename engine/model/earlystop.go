package model

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// EarlyStop reads an answer while it arrives, until there is enough of it. It is for handlers of models that can end a
// request early: they call Feed with each piece of text and answer with [EarlyStop.Answer]. An EarlyStop is not safe
// for concurrent use.
type EarlyStop struct {
	enough   *predicate.Predicate
	subjects []string
	of       *generable.Type
	stream   *lenient.Stream
	met      bool
}

// Watch returns an EarlyStop for one answer, nil if all of the answer is wanted.
func (o *Output) Watch() *EarlyStop {
	if o == nil || o.Enough == nil || o.Type == nil {
		return nil
	}
	w := &EarlyStop{enough: o.Enough, of: o.Type, subjects: o.Enough.Subjects()}
	w.stream = lenient.NewStream(o.Type, lenient.StreamOptions{Stop: func(e *lenient.StreamEvent) bool {
		switch e.Kind {
		case lenient.StreamField, lenient.StreamItem, lenient.StreamVariant:
			w.met = w.met || w.holds()
		}
		return w.met
	}})
	return w
}

// holds only considers fields that have arrived completely: a text that still grows may change its meaning.
func (w *EarlyStop) holds() bool {
	for _, s := range w.subjects {
		if s == "" || w.stream.State("."+s) != lenient.Complete {
			return false
		}
	}
	return w.enough.Holds(w.stream.Snapshot())
}

// Feed takes a piece of the answer's text and reports whether more is needed.
func (w *EarlyStop) Feed(text string) bool { return w.stream.Feed(text) && !w.met }

// Met reports whether there is enough.
func (w *EarlyStop) Met() bool { return w.met }

// Answer returns, as JSON, what has arrived completely, without unfinished values.
func (w *EarlyStop) Answer() string {
	v := w.stream.Snapshot()
	m, ok := v.AsMap()
	if !ok { // a record, when the last field has just arrived
		return generable.JSON(generable.Answer(v, w.of), nil)
	}
	out := generable.NewMap(m.Len())
	for i := range m.Len() {
		if key, item := m.At(i); w.stream.State("."+key) == lenient.Complete {
			key, of := answerKey(w.of, m, key)
			out.Set(key, generable.Answer(item, of))
		}
	}
	return generable.JSON(out.Value(), nil)
}

// answerKey returns the key that a model writes for a key of a partial value of type t, and the type of the key's value
// if it is known.
func answerKey(t *generable.Type, m *generable.Map, key string) (string, *generable.Type) {
	if t = t.Deref(); t.Kind == generable.UnionType {
		tag, _ := m.Get(t.Tag)
		variant, _ := tag.AsStr()
		t = t.Variant(variant)
	}
	if t == nil || t.FieldIndex(key) < 0 {
		return key, nil
	}
	f := &t.Fields[t.FieldIndex(key)]
	return f.Key(), f.Type
}

// appendCanon writes what an output requests. Members that were added later are written only when they are set, so that
// older digests stay the same.
func (o *Output) appendCanon(b []byte) []byte {
	b = append(append(b, 'o'), o.Type.ID()...)
	b = append(b, o.Structured...)
	if o.Enough != nil {
		b = append(append(b, 'n'), o.Enough.String()...)
	}
	return b
}
