package engine

import "context"

// RunSession names a session for a run to take.
type RunSession struct {
	Store  SessionStore
	ID     string
	Script string // what the session belongs to: the name of the script's file

	// Keep is asked when the run went well, before its conversation is kept: what the host finds
	// wrong with the run leaves the session's as it was. nil keeps it.
	Keep func() bool
}

// MemoryJournal is a [Journal] that tells which memory effects it holds. A run that is resumed on
// one goes on from the notes as they were when it ended; on any other from those that it has met so
// far in its replay.
type MemoryJournal interface {
	Journal
	// Memories gives the recorded outcomes of all effects of [EffectMemory].
	Memories() []Outcome
}

// Journal remembers the effects of one run. It is used by many branches at once.
type Journal interface {
	// Answer gives the recorded outcome of an effect. It is asked on the composition side
	// and must not block for long.
	Answer(id string) (Outcome, bool)

	// Commit records an outcome and returns when that is as durable as the store makes it.
	// It is called on the effect side. What was done is to be recorded even when ctx is
	// cancelled by now: an answer was paid for. The first outcome of an id stays.
	Commit(ctx context.Context, id string, e *Effect, out Outcome) error
}
