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

// looks gives what hands an effect's tokens to the agent's onlooker, nil when it has none.
func (b *Branch) looks(e *Effect) func(Token) {
	if b.onlooker == nil || e.Kind != EffectModel {
		return nil
	}
	path := e.At.Path()
	log := func(text string, err *Error) {
		if b.Wants(EventLog) {
			b.emit(Event{Kind: EventLog, Path: path, Text: text, Err: err})
		}
	}
	look := b.onlooker.Look(func(text string) { log(text, nil) })
	over := false
	told := func(f func() error) {
		defer func() {
			if p := recover(); p != nil {
				over = true
				log("what watches the answer panicked", panicked("an onlooker", p))
			}
		}()
		if err := f(); err != nil {
			over = true
			failed := asError(err)
			text := "what watches the answer failed: " + failed.Message
			if failed.Pos.IsValid() {
				text += " (" + failed.Pos.String() + ")"
			}
			log(text, failed)
		}
	}
	req, _ := e.Req.(*Request)
	if look.Partial == nil || req == nil || typed(req) == nil {
		return func(t Token) {
			if t.Retry == nil && look.Token != nil && !over {
				told(func() error { return look.Token(t) })
			}
		}
	}
	news := false
	parts := &partials{typ: typed(req), tell: func(Event) { news = true }}
	return func(t Token) {
		if t.Retry == nil && look.Token != nil && !over {
			told(func() error { return look.Token(t) })
		}
		if over {
			return
		}
		if parts.add(t); !news {
			return
		}
		news = false
		told(func() error {
			if p, ok := parts.stream.Partial(); ok {
				return look.Partial(parts.stream.Snapshot(), &p)
			}
			return look.Partial(parts.stream.Snapshot(), nil)
		})
	}
}
