package exec

import "github.com/agentscript/agentscript/engine"

// observation hands one answer to the onlooker of its agent. Nil does nothing.
type observation struct {
	engine.StreamObserver
	log  func(text string, err *engine.Error)
	news bool // something was added since the last Partial
	over bool // it failed
}

// observe begins a look at an effect's answer, nil when nobody looks on.
func (b *Branch) observe(e *engine.Effect, path string) *observation {
	if b.Observer == nil || e.Kind != engine.EffectModel {
		return nil
	}
	l := &observation{log: func(text string, err *engine.Error) {
		if b.Wants(engine.EventLog) {
			b.Emit(engine.Event{Kind: engine.EventLog, Path: path, Data: &engine.LogData{Text: text, Err: err}})
		}
	}}
	l.StreamObserver = b.Observer.Observe(func(text string) { l.log(text, nil) })
	return l
}

// wantsParts reports whether what is known of a typed answer is still to be told.
func (l *observation) wantsParts() bool {
	return l != nil && l.StreamObserver.Partial != nil && !l.over
}

func (l *observation) token(t engine.Token) {
	if l != nil && l.StreamObserver.Token != nil && t.Retry == nil && !l.over {
		l.tell(func() error { return l.StreamObserver.Token(t) })
	}
}

// partial tells what is known, when something was added.
func (l *observation) partial(parts *partials) {
	if !l.wantsParts() || !l.news {
		return
	}
	l.news = false
	l.tell(func() error {
		if p, ok := parts.stream.Partial(); ok {
			return l.StreamObserver.Partial(parts.stream.Snapshot(), &p)
		}
		return l.StreamObserver.Partial(parts.stream.Snapshot(), nil)
	})
}

// tell calls the onlooker. What fails in it ends the look.
func (l *observation) tell(f func() error) {
	defer func() {
		if p := recover(); p != nil {
			l.over = true
			l.log("what watches the answer panicked", engine.Panicked("an onlooker", p))
		}
	}()
	if err := f(); err != nil {
		l.over = true
		failed := engine.AsError(err)
		text := "what watches the answer failed: " + failed.Message
		if failed.Pos.IsValid() {
			text += " (" + failed.Pos.String() + ")"
		}
		l.log(text, failed)
	}
}
