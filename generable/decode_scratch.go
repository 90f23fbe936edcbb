package generable

import "sync"

// scratch is the memory that decoding a text takes beside its result: the tape, the stacks,
// the automata themselves. None of it is part of a result.
type scratch struct {
	machine Machine
	scanner scanner
	coercer coercer
}

// scratches are kept for the next text. They hold no text and no value, so that which of them
// is taken changes nothing but the time.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Bounds of what is kept.
const (
	keptNodes   = 1 << 16
	keptRepairs = 1 << 13
	keptValues  = 1 << 10
	keptFrames  = 1 << 6
)

func (s *scratch) decode(t *Type, text string, o Options) Result {
	s.begin(t, text, o)
	return s.machine.Close()
}

// begin reads a text as far as its signs go. It stands apart, so that what it clears does not lie on
// the stack below what makes a value of them: much is decoded on the small stacks of runs that wait.
func (s *scratch) begin(t *Type, text string, o Options) {
	if t == nil {
		t = AnyT
	}
	s.scanner.reset(o.MaxDepth)
	s.scanner.whole = true
	if room := 16 + min(len(text)/10, 1<<20); cap(s.scanner.tape) < room {
		s.scanner.tape = make([]node, 0, room)
	}
	s.machine = Machine{typ: t, o: o, scan: &s.scanner, src: text, spare: &s.coercer}
	if len(text) <= maxText {
		s.scanner.feed(text)
	}
}

// clear drops all that refers to the text or to its value, and what is too large to keep.
func (s *scratch) clear() {
	s.machine = Machine{}
	if cap(s.scanner.tape) > keptNodes {
		s.scanner.tape = nil
	}
	if cap(s.scanner.repairs)+cap(s.scanner.cands)+cap(s.scanner.fences)+cap(s.scanner.thinks)+cap(s.scanner.stack) > keptRepairs {
		s.scanner = scanner{tape: s.scanner.tape}
	}
	s.scanner.reset(0)
	c := &s.coercer
	kept := coercer{docs: c.docs, base: c.base, depths: c.depths}
	clear(kept.docs)
	if cap(c.stack) <= keptFrames {
		kept.stack, kept.frames = c.stack[:0], c.frames
		for _, f := range c.stack[:cap(c.stack)] {
			if f != nil {
				*f = coerceFrame{}
			}
		}
	}
	if cap(c.pending) <= keptValues {
		kept.pending = c.pending[:0]
		clear(c.pending[:cap(c.pending)])
	}
	*c = kept
}
