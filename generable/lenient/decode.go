// Package lenient reads the text that language models write as values of a type.
//
// [Decode] reads a whole answer. The value may be inside prose, in fences or behind reasoning, and may be broken in
// the ways in which models break JSON; valid JSON is read exactly. The [Result] holds the value, or says everything
// that is wrong with the answer, and records every change as a repair with a cost:
//
//	r := lenient.Decode(ticket, answer, generable.Options{})
//	if !r.OK {
//		return r.Complaint() // what to send the model
//	}
//	record, _ := r.Value.AsRecord()
//	title, _ := record.Get("title")
//
// [Stream] reads an answer as it arrives and finally returns the same result. Until then it reports growing texts and
// complete members, and [Stream.Snapshot] returns what is known so far. [Machine] is a Stream without events.
//
// [generable.Options] set how far the decoder goes: the syntax is repaired at every level except Strict, and the
// level decides what the repaired text is read as.
//
// A text passes through three layers. The scanner (internal/tape) turns it into a tape of nodes and repairs the
// syntax. The coercer (internal/coerce) turns a tape into a value of a type. This package chooses among the values in
// a text, and follows the tape as it grows. Each layer takes time and memory linear in the text, whatever a model
// writes.
package lenient

import (
	"context"
	"sync"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

var in = generable.Internal(access.Key{})

// Result is the outcome of decoding a text.
type Result struct {
	Value   generable.Value       // valid if OK
	OK      bool                  // the value fits the type
	Repairs []generable.Repair    // everything that was changed to get there, in order of discovery
	Errors  generable.FieldErrors // why there is no value
	Partial generable.Value       // without a value: the parts that fit, as [Machine.Snapshot] shows them; else null
	Cost    int                   // of all repairs together
	Start   int                   // offset in the text of the value, or of what came nearest to one: its first byte,
	End     int                   // and the byte after its last; both are 0 without either
	Visits  int                   // bytes visited; stays within a small multiple of the text's length
}

// Decode reads a value of type t from a model's answer. The value may be in fences, inside prose or behind reasoning,
// and may be broken in the ways in which models break JSON; valid JSON is read exactly. A nil t accepts any value.
//
// Decode never panics, and takes time and memory linear in the text.
func Decode(t *generable.Type, text string, o generable.Options) Result {
	s := scratches.Get().(*scratch)
	r := s.decode(t, text, o)
	s.clear()
	scratches.Put(s)
	return r
}

// contextStep is how many bytes are read between two checks of the context.
const contextStep = 64 << 10

// DecodeContext is [Decode] for texts that take long to read: it checks ctx every 64 KiB and returns its cause when
// it is done. The work after the last check takes time linear in the text.
func DecodeContext(ctx context.Context, t *generable.Type, text string, o generable.Options) (Result, error) {
	m := NewMachine(t, o)
	for n := 0; n < len(text) && len(text) <= tape.MaxText; {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		n = min(n+contextStep, len(text))
		m.src = text[:n]
		m.open().Feed(m.src)
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	m.src = text
	return m.Close(), nil
}

// scratch is the memory that decoding a text needs besides its result: the tape, the stacks, the automata themselves.
// No result refers to it.
type scratch struct {
	machine Machine
	scanner tape.Scanner
	coercer coerce.Coercer
}

// scratches are kept for the next text. They hold no text and no value, so which of them is taken affects only the
// time.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Bounds of the memory that is kept.
const (
	keptNodes   = 1 << 16
	keptRepairs = 1 << 13
	keptValues  = 1 << 10
	keptFrames  = 1 << 6
)

func (s *scratch) decode(t *generable.Type, text string, o generable.Options) Result {
	s.begin(t, text, o)
	return s.machine.Close()
}

// begin scans the text. It is a separate function so that its stack frame is gone while the value is made: much is
// decoded on the small stacks of waiting runs.
func (s *scratch) begin(t *generable.Type, text string, o generable.Options) {
	if t == nil {
		t = generable.AnyT
	}
	s.scanner.Reset(o.MaxDepth)
	s.scanner.Whole = true
	if nodes := 16 + min(len(text)/10, 1<<20); cap(s.scanner.Tape) < nodes {
		s.scanner.Tape = make([]tape.Node, 0, nodes)
	}
	s.machine = Machine{typ: t, o: o, scan: &s.scanner, src: text, spare: &s.coercer}
	s.scanner.Names = &s.machine
	if len(text) <= tape.MaxText {
		s.scanner.Feed(text)
	}
}

// clear drops everything that refers to the text or its value, and buffers that are too large to keep.
func (s *scratch) clear() {
	s.machine = Machine{}
	if cap(s.scanner.Tape) > keptNodes {
		s.scanner.Tape = nil
	}
	if cap(s.scanner.Repairs)+cap(s.scanner.Cands)+cap(s.scanner.Fences)+cap(s.scanner.Thinks)+cap(s.scanner.Stack) > keptRepairs {
		s.scanner = tape.Scanner{Tape: s.scanner.Tape}
	}
	s.scanner.Reset(0)
	c := &s.coercer
	kept := coerce.Coercer{Docs: c.Docs, Base: c.Base, Depths: c.Depths}
	clear(kept.Docs)
	if cap(c.Stack) <= keptFrames {
		kept.Stack = c.Stack[:0]
		for _, f := range c.Stack[:cap(c.Stack)] {
			if f != nil {
				*f = coerce.CoerceFrame{}
			}
		}
	}
	if cap(c.Pending) <= keptValues {
		kept.Pending = c.Pending[:0]
		clear(c.Pending[:cap(c.Pending)])
	}
	*c = kept
}
