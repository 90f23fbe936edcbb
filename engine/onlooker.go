package engine

import "github.com/agentscript/agentscript/generable"

// An Onlooker is told of an agent's answers while they arrive. It stands beside the run: nothing
// of the run depends on it, an answer from a record has no tokens to tell of, and what fails in it
// is said in the log and ends that look, not the run. It is called from the effect side, where
// many answers may arrive at once.
type Onlooker interface {
	// Look begins with an answer. say writes to the run's log, at the place of the call.
	Look(say func(text string)) Look
}

// Look is told of one answer, by one goroutine at a time. Both functions may be nil.
type Look struct {
	Token func(Token) error // each piece: of the text, of thoughts, of calls; not of retries

	// Partial is told what is known of a typed answer, each time that something is added. It is
	// told field by field where the type has fields, and partial is nil where it has not.
	// Another attempt begins with nothing known.
	Partial func(known generable.Value, partial *generable.Partial) error
}

// looking hands one answer to the onlooker of its agent. Nil does nothing.
type looking struct {
	Look
	log  func(text string, err *Error)
	news bool // something was added since the last Partial
	over bool // it failed
}

// looks begins a look at an effect's answer, nil when nobody looks on.
func (b *branch) looks(e *Effect, path string) *looking {
	if b.onlooker == nil || e.Kind != EffectModel {
		return nil
	}
	l := &looking{log: func(text string, err *Error) {
		if b.Wants(EventLog) {
			b.emit(Event{Kind: EventLog, Path: path, Data: &LogData{Text: text, Err: err}})
		}
	}}
	l.Look = b.onlooker.Look(func(text string) { l.log(text, nil) })
	return l
}

// wantsParts reports whether what is known of a typed answer is still to be told.
func (l *looking) wantsParts() bool { return l != nil && l.Look.Partial != nil && !l.over }

func (l *looking) token(t Token) {
	if l != nil && l.Look.Token != nil && t.Retry == nil && !l.over {
		l.tell(func() error { return l.Look.Token(t) })
	}
}

// partial tells what is known, when something was added.
func (l *looking) partial(parts *partials) {
	if !l.wantsParts() || !l.news {
		return
	}
	l.news = false
	l.tell(func() error {
		if p, ok := parts.stream.Partial(); ok {
			return l.Look.Partial(parts.stream.Snapshot(), &p)
		}
		return l.Look.Partial(parts.stream.Snapshot(), nil)
	})
}

// tell calls the onlooker. What fails in it ends the look.
func (l *looking) tell(f func() error) {
	defer func() {
		if p := recover(); p != nil {
			l.over = true
			l.log("what watches the answer panicked", panicked("an onlooker", p))
		}
	}()
	if err := f(); err != nil {
		l.over = true
		failed := asError(err)
		text := "what watches the answer failed: " + failed.Message
		if failed.Pos.IsValid() {
			text += " (" + failed.Pos.String() + ")"
		}
		l.log(text, failed)
	}
}
