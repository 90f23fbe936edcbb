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
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/access"
)

var in = generable.Internal(access.Key{})
