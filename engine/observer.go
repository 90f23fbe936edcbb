package engine

import "github.com/agentscript/agentscript/generable"

// An Onlooker is told of an agent's answers while they arrive. It stands beside the run: nothing
// of the run depends on it, an answer from a record has no tokens to tell of, and what fails in it
// is said in the log and ends that look, not the run. It is called from the effect side, where
// many answers may arrive at once.
type Observer interface {
	// Look begins with an answer. say writes to the run's log, at the place of the call.
	Observe(say func(text string)) StreamObserver
}

// StreamObserver is told of one answer, by one goroutine at a time. Both functions may be nil.
type StreamObserver struct {
	Token func(Token) error // each piece: of the text, of thoughts, of calls; not of retries

	// Partial is told what is known of a typed answer, each time that something is added. It is
	// told field by field where the type has fields, and partial is nil where it has not.
	// Another attempt begins with nothing known.
	Partial func(known generable.Value, partial *generable.Partial) error
}
