package exec

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// observation passes one answer to the observer of its agent. A nil observation does nothing.
type observation struct {
	agent.StreamObserver
	log  func(text string, err *engine.Error)
	news bool // something was added since the last Partial
	over bool // it failed
}

// observe begins to observe an effect's answer. It returns nil if there is no observer.
func (b *Branch) observe(e *engine.Effect, path string) *observation {
	if b.Observer == nil || e.Kind != engine.EffectModel {
		return nil
	}
	l := &observation{log: func(text string, err *engine.Error) {
		if b.Wants(engine.EventLog) {
			b.Emit(engine.Event{Kind: engine.EventLog, Path: path, Data: &event.Log{Text: text, Err: err}})
		}
	}}
	l.StreamObserver = b.Observer.Observe(func(text string) { l.log(text, nil) })
	return l
}

// wantsParts reports whether the observer wants partial values of a typed answer.
func (l *observation) wantsParts() bool {
	return l != nil && l.StreamObserver.Partial != nil && !l.over
}

func (l *observation) token(t engine.Token) {
	if l != nil && l.StreamObserver.Token != nil && t.Retry == nil && !l.over {
		l.tell(func() error { return l.StreamObserver.Token(t) })
	}
}

// partial reports the partial value if something was added.
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

// tell calls the observer. A failure in it ends the observation.
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

// partials reads a model's answer while it arrives and reports the partial value: see [engine.EventPartial] and
// [agent.StreamObserver]. It is used by one effect's handler at a time.
type partials struct {
	typ     *generable.Type
	tell    func(attempt int, d *event.Partial) // nil if nobody listens
	look    *observation                        // or nil
	attempt int
	stream  *lenient.Stream
}

// partials begins to read the answer of an effect for all that want its parts. It returns nil if nobody does.
func (b *Branch) partials(e *engine.Effect, path string, look *observation) *partials {
	req, ok := e.Req.(*model.Request)
	if !ok || !e.Stream || typed(req) == nil {
		return nil
	}
	p := &partials{typ: typed(req), look: look}
	if b.Wants(engine.EventPartial) {
		p.tell = func(attempt int, d *event.Partial) {
			b.Emit(engine.Event{Kind: engine.EventPartial, Path: path, ID: e.ID(), Attempt: attempt, Data: d})
		}
	} else if !look.wantsParts() {
		return nil
	}
	return p
}

// typed returns the type of answers that are reported in parts, else nil: a text is reported by its tokens.
func typed(req *model.Request) *generable.Type {
	if req.Output == nil || req.Output.Type == nil || !req.Output.Type.HasSchema() {
		return nil
	}
	return req.Output.Type
}

// add takes a token. Another attempt begins another value.
func (p *partials) add(t engine.Token) {
	if p == nil || p.tell == nil && !p.look.wantsParts() || t.Retry != nil || t.Reasoning || t.Call != nil {
		return
	}
	if p.stream == nil || t.Attempt != p.attempt {
		if p.stream != nil {
			p.told(t.Attempt, &event.Partial{What: lenient.StreamReset.String(), Text: "another attempt"})
		}
		p.attempt = t.Attempt
		p.stream = lenient.NewStream(p.typ, lenient.StreamOptions{On: p.on})
	}
	p.stream.Feed(t.Text)
}

func (p *partials) on(e *lenient.StreamEvent) {
	d := &event.Partial{What: e.Kind.String(), Field: e.Path(), Text: e.Text}
	switch e.Kind {
	case lenient.StreamField, lenient.StreamItem:
		d.Value = new(e.Value)
	case lenient.StreamText, lenient.StreamVariant, lenient.StreamReset:
	default: // repairs are reported for the whole answer
		return
	}
	d.Snapshot = p.stream.Snapshot
	p.told(p.attempt, d)
}

func (p *partials) told(attempt int, d *event.Partial) {
	if p.tell != nil {
		p.tell(attempt, d)
	}
	if p.look != nil {
		p.look.news = true
	}
}
