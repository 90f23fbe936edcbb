// Package lenient reads what language models write as values of a type.
//
// [Decode] reads a whole answer. The value may be in prose, in fences or behind reasoning, and be
// broken in the ways models break JSON; valid JSON is read exactly. The [Result] holds the value, or
// says all that is wrong with the answer, and records every change as a repair with a cost:
//
//	r := lenient.Decode(ticket, answer, generable.Options{})
//	if !r.OK {
//		return r.Complaint() // what to send the model
//	}
//	record, _ := r.Value.AsRecord()
//	title, _ := record.Get("title")
//
// [Stream] reads an answer while it arrives, and yields the same result in the end. Until then it reports
// texts that grow and members that are complete, and [Stream.Snapshot] returns what is known so far.
// [Machine] is a Stream without events.
//
// How far the decoder goes is a matter of [generable.Options]: the syntax is repaired at every level but
// Strict; what the repaired text is read as depends on the level.
//
// A text passes through three layers. The scanner (internal/tape) turns it into a tape of nodes and
// repairs the syntax. The coercer (internal/coerce) turns a tape into a value of a type. This package
// chooses among the values that a text holds, and follows the tape while it grows. Each takes time and
// memory linear in the text, whatever a model writes.
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
	Value   generable.Value       // meaningful when OK
	OK      bool                  // the value fits the type
	Repairs []generable.Repair    // all that was changed to get there, in order of discovery
	Errors  generable.FieldErrors // why there is no value
	Partial generable.Value       // without a value: what of it fits, as [Machine.Snapshot] shows it; else null
	Cost    int                   // of all repairs
	Start   int                   // where in the text the value stands, or what came nearest to one: its first byte,
	End     int                   // and the one behind it; both 0 when there is none
	Visits  int                   // bytes looked at; stays within a small multiple of the text's length
}

// Decode reads a value of type t from a model's answer. The value may be in fences, in prose
// or behind reasoning, and be broken in the ways models break JSON; what is valid JSON is
// read exactly. A nil t accepts any value.
//
// Decode never panics, and takes time and memory linear in the text.
func Decode(t *generable.Type, text string, o generable.Options) Result {
	s := scratches.Get().(*scratch)
	r := s.decode(t, text, o)
	s.clear()
	scratches.Put(s)
	return r
}

// contextStep is how many bytes are read between two looks at the context.
const contextStep = 64 << 10

// DecodeContext is [Decode] for texts too long to wait for: it looks at ctx every 64 KiB and
// gives up with its cause. What is left to do after the last look takes time linear in the
// text.
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

// scratch is the memory that decoding a text takes besides its result: the tape, the
// stacks, the automata themselves. None of it is part of a result.
type scratch struct {
	machine Machine
	scanner tape.Scanner
	coercer coerce.Coercer
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

func (s *scratch) decode(t *generable.Type, text string, o generable.Options) Result {
	s.begin(t, text, o)
	return s.machine.Close()
}

// begin reads a text as far as its signs go. It is separate, so that what it clears does not lie on
// the stack below what makes a value of them: much is decoded on the small stacks of runs that wait.
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

// clear drops all that refers to the text or to its value, and what is too large to keep.
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
