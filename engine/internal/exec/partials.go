package exec

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// partials reads the text of a model's answer while it arrives and tells what is known of the
// value: see [engine.EventPartial] and [engine.StreamObserver]. It is used by one effect's handler at a time.
type partials struct {
	typ     *generable.Type
	tell    func(attempt int, d *engine.PartialData) // nil when nobody listens
	look    *observation                             // or nil
	attempt int
	stream  *lenient.Stream
}

// partials begins to read the answer of an effect, nil when nobody wants to know of its parts: it is
// read once for all that do.
func (b *Branch) partials(e *engine.Effect, path string, look *observation) *partials {
	req, ok := e.Req.(*model.Request)
	if !ok || !e.Stream || typed(req) == nil {
		return nil
	}
	p := &partials{typ: typed(req), look: look}
	if b.Wants(engine.EventPartial) {
		p.tell = func(attempt int, d *engine.PartialData) {
			b.Emit(engine.Event{Kind: engine.EventPartial, Path: path, ID: e.ID(), Attempt: attempt, Data: d})
		}
	} else if !look.wantsParts() {
		return nil
	}
	return p
}

// typed is the type of the answers that are worth telling in parts, nil when there is none: a text
// is told by its tokens.
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
			p.told(t.Attempt, &engine.PartialData{What: lenient.StreamReset.String(), Text: "another attempt"})
		}
		p.attempt = t.Attempt
		p.stream = lenient.NewStream(p.typ, lenient.StreamOptions{On: p.on})
	}
	p.stream.Feed(t.Text)
}

func (p *partials) on(e *lenient.StreamEvent) {
	d := &engine.PartialData{What: e.Kind.String(), Field: e.Path(), Text: e.Text}
	switch e.Kind {
	case lenient.StreamField, lenient.StreamItem:
		d.Value = &engine.Datum{Value: e.Value}
	case lenient.StreamText, lenient.StreamVariant, lenient.StreamReset:
	default: // repairs are told of the whole answer
		return
	}
	d.Snapshot = p.stream.Snapshot
	p.told(p.attempt, d)
}

func (p *partials) told(attempt int, d *engine.PartialData) {
	if p.tell != nil {
		p.tell(attempt, d)
	}
	if p.look != nil {
		p.look.news = true
	}
}
