package lenient

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// FieldState says how much of a value has arrived.
type FieldState uint8

const (
	Pending    FieldState = iota // nothing that can be shown
	Incomplete                   // some, and it still grows
	Complete
)

// String returns the word that snapshots use.
func (s FieldState) String() string {
	return [...]string{"pending", "incomplete", "complete"}[min(s, Complete)]
}

// StreamKind is the kind of a [StreamEvent].
type StreamKind uint8

const (
	StreamText    StreamKind = iota // a text grew by Text
	StreamField                     // a member of an instance or dict is complete: Value
	StreamItem                      // an item of a list is complete: Value
	StreamVariant                   // the variant of a union is known: Text
	StreamRepair                    // Repair was made; some repairs are known only at the end, and are reported before done
	StreamReset                     // everything shown so far is void; Text says why
	StreamDone                      // the stream was closed: Result
)

// String returns the name of the kind in JSON events.
func (k StreamKind) String() string {
	return [...]string{"text", "field", "item", "variant", "repair", "reset", "done"}[min(k, StreamDone)]
}

// StreamEvent is one thing that happened to the value while its text arrived.
type StreamEvent struct {
	Kind   StreamKind
	Text   string
	Value  generable.Value
	Repair *generable.Repair // copy it to keep it
	Result *Result
	Offset int // bytes of the text read so far, or the place in it that the event belongs to

	path  string
	live  *live
	depth int
}

// Path returns the location in the value that the event belongs to, such as ".plan.steps[2]"; it is empty for the
// root. It is built on demand.
func (e *StreamEvent) Path() string {
	if e.live != nil {
		e.path, e.live = e.live.pathOf(e.depth, e.Kind == StreamItem), nil
	}
	return e.path
}

// StreamOptions configure a [Stream].
type StreamOptions struct {
	generable.Options
	// On receives each event, in order, before Feed returns. The event is valid during the call. During the call the
	// stream answers requests for snapshots and states, but must not be fed or closed. Growing texts are reported
	// once per Feed. Where the text is not JSON, its value may be reported some bytes later. If On is nil, no events
	// are prepared.
	On func(*StreamEvent)
	// Stop is called after each event except the last; if it returns true, the stream accepts no more text.
	Stop func(*StreamEvent) bool
	// MinText is how many bytes a text must grow by before On is called, unless the text is complete; 0 reports each
	// growth.
	MinText int
}

// Stream decodes a text that arrives in pieces and meanwhile reports what is known of the value. What was shown once
// stays, unless a StreamReset follows: texts and lists only grow, members stay, scalars do not change. Its result is
// that of [Decode] on the whole text, however it was cut. A Stream is not safe for concurrent use; the values that it
// shows are.
//
// All pieces together cost a small multiple of Decode, and a snapshot costs one step per open container.
type Stream struct {
	m       *Machine
	o       StreamOptions
	stopped bool
	closed  bool
}

// NewStream returns a stream that reads a value of type t; nil accepts any value.
func NewStream(t *generable.Type, o StreamOptions) *Stream {
	s := &Stream{m: NewMachine(t, o.Options), o: o}
	s.m.live = newLive(s.m, nil)
	if s.m.live.on = o.On; o.Stop != nil {
		s.m.live.on = s.tell
	}
	s.m.live.minText = o.MinText
	return s
}

func (s *Stream) tell(e *StreamEvent) {
	if s.o.On != nil {
		s.o.On(e)
	}
	if s.o.Stop != nil && e.Kind != StreamDone && s.o.Stop(e) {
		s.stopped = true
	}
}

// Feed adds a piece of the text, which may end anywhere, even inside a rune. It reports whether the stream accepts
// more; it does not after Stop returned true or after Close.
func (s *Stream) Feed(chunk string) bool {
	if s.stopped || s.closed || s.m.live.telling {
		return false
	}
	if chunk == "" {
		return true
	}
	l := s.m.live
	if l.on == nil {
		s.m.Feed(chunk)
	} else if s.m.append(chunk); l.wants(chunk) {
		l.advance()
	}
	return !s.stopped
}

// Snapshot returns what is known of the value: growing dicts, lists and texts, scalars once they are complete,
// instances of schemas once all their fields are. What has not arrived is absent, never null; the whole is null as
// long as nothing is known. Snapshots are immutable and share what they have in common.
func (s *Stream) Snapshot() generable.Value { return s.m.Snapshot() }

// Partial returns the snapshot of a schema or union field by field, and false for other types.
func (s *Stream) Partial() (generable.Partial, bool) {
	p, err := generable.NewPartial(s.m.typ)
	if err != nil {
		return p, false
	}
	v := s.m.result.Value
	if !s.closed {
		s.m.live.advance()
		v = s.m.live.build(false)
	}
	if r, ok := v.AsRecord(); ok {
		p, _ = generable.NewPartial(r.Type())
		for i := range r.Type().Fields {
			p, _ = p.WithField(r.Type().Fields[i].Name, r.At(i))
		}
		return p, true
	}
	m, ok := v.AsMap()
	if !ok {
		return p, true
	}
	if t := p.Type(); t.Kind == generable.UnionType {
		tag, _ := m.Get(t.Tag)
		if p, err = p.WithField(t.Tag, tag); err != nil {
			return p, true
		}
	}
	var order []string // order of arrival
	if l := s.m.live; !s.closed && len(l.frames) > 0 {
		order = l.frames[0].names(len(l.frames[0].vals))
	}
	for _, k := range slices.Concat(order, m.Keys()) {
		if v, ok := m.Get(k); ok && p.Type().FieldIndex(k) >= 0 && !p.Has(k) {
			p, _ = p.WithField(k, v)
		}
	}
	return p, true
}

// State returns how much has arrived of the value at a path such as ".plan.steps[2]". A path that the type does not
// have stays pending; [generable.Type.CheckPath] reports it.
func (s *Stream) State(path string) FieldState {
	if s.closed {
		if _, ok := lookup(s.m.result.Value, path); ok && s.m.result.OK {
			return Complete
		}
		return Pending
	}
	s.m.live.advance()
	return s.m.live.state(path)
}

// CloseCut ends a text that was cut off: the result holds what is known of the value, see
// [generable.Options.Partial].
func (s *Stream) CloseCut() Result {
	s.stopped = true
	return s.Close()
}

// exact reports whether the text is one value of the type, read without any change, that is known to its end.
func (s *Stream) exact() bool {
	l, sc := s.m.live, s.m.scan
	if !l.exact || !l.known || len(l.frames) > 0 || l.cand != 0 || l.next != 1 || s.stopped || len(s.m.src) > tape.MaxText ||
		len(sc.Cands) != 1 || len(sc.Repairs) > 0 || len(sc.Fences) > 0 || len(sc.Thinks) > 0 || sc.St != tape.StProse {
		return false
	}
	c := &sc.Cands[0]
	start, end := trimSpan(s.m.src, 0, len(s.m.src))
	return !c.Broken && !c.Think && !c.TooDeep && c.Start == start && c.End == end
}

// Close ends the text and returns the value found in it. Further calls return the same. A stream that was stopped is
// read like a text that was cut off: see [generable.Options.Partial].
func (s *Stream) Close() Result {
	if s.closed {
		return s.m.result
	}
	l := s.m.live
	if l.telling {
		return Result{Errors: generable.FieldErrors{in.Error("", "the end of an event", "a stream that is telling it", "close the stream when Feed has returned")}}
	}
	s.closed = true
	l.advance()
	shown := l.build(false)
	s.m.o.Partial = s.m.o.Partial || s.stopped
	if s.m.open(); len(s.m.src) <= tape.MaxText && !s.m.o.Partial {
		s.m.scan.Close()
	}
	if !s.m.o.Partial && s.exact() {
		// All of the text has been decoded, to the byte, and need not be decoded again.
		start, end := trimSpan(s.m.src, 0, len(s.m.src))
		s.m.closed, s.m.result = true, Result{Value: l.root, OK: true, Visits: s.m.scan.Visits() + l.c.Visits, Start: start, End: end}
	} else {
		s.m.close()
	}
	r := s.m.result
	if l.on != nil {
		if r.OK && l.ends(shown, r.Value) {
			if l.known && len(l.frames) > 0 || l.text.node >= 0 {
				l.tellRest(r.Value, 0)
			}
		} else if r.OK {
			l.tell(&StreamEvent{Kind: StreamReset, Text: "the text was read as another value in the end", Offset: len(s.m.src)})
		}
		l.tellMissing(r.Repairs)
		l.tell(&StreamEvent{Kind: StreamDone, Result: &r, Value: r.Value, Offset: len(s.m.src)})
	}
	s.m.release()
	return r
}
