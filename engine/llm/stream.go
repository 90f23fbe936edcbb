package llm

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
)

// pieces passes the pieces of an answer to a sink, numbered from 0 within one attempt and
// without keys.
type pieces struct {
	sink             engine.Sink
	keys             *redact.Set
	seq              int
	answer, thoughts redact.Stream
	calls            []*redact.Stream // of the arguments
}

func newPieces(sink engine.Sink, keys *redact.Set) *pieces {
	return &pieces{sink: sink, keys: keys, answer: redact.Stream{Keys: keys}, thoughts: redact.Stream{Keys: keys}}
}

// add passes on a piece, as far as it cannot become a part of a key.
func (p *pieces) add(t engine.Token) {
	switch {
	case t.Call != nil:
		for len(p.calls) <= t.Call.Index {
			p.calls = append(p.calls, &redact.Stream{Keys: p.keys})
		}
		d := *t.Call
		d.ID, d.Name, d.Args = p.keys.String(d.ID), p.keys.String(d.Name), p.calls[d.Index].Add(d.Args)
		p.call(d)
	case t.Reasoning:
		p.text(p.thoughts.Add(t.Text), true)
	default:
		p.text(p.answer.Add(t.Text), false)
	}
}

// end passes on what was held back because it might have become a key.
func (p *pieces) end() {
	p.text(p.thoughts.End(), true)
	p.text(p.answer.End(), false)
	for i, c := range p.calls {
		p.call(engine.CallDelta{Index: i, Args: c.End()})
	}
}

func (p *pieces) text(text string, reasoning bool) {
	if text != "" {
		p.emit(engine.Token{Text: text, Reasoning: reasoning})
	}
}

func (p *pieces) call(d engine.CallDelta) {
	if d.ID != "" || d.Name != "" || d.Args != "" {
		p.emit(engine.Token{Call: &d})
	}
}

func (p *pieces) emit(t engine.Token) {
	t.Seq = p.seq
	p.seq++
	p.sink(t)
}

// errEnough ends a request of which enough has arrived.
var errEnough = errors.New("enough of the answer has arrived")

// until has the plan's request end once there is enough of the answer. The returned function
// gives that answer, nil when there never was: then the call came to what it came to.
func (c *call) until(ctx context.Context, plan *wire.Plan) (context.Context, func(whole *model.Response) *model.Response) {
	w := c.req.Output.Watch()
	if w == nil {
		return ctx, func(*model.Response) *model.Response { return nil }
	}
	ctx, stop := context.WithCancelCause(ctx)
	told := plan.Sink
	plan.Stream = true
	plan.Sink = func(t engine.Token) {
		if told != nil {
			told(t)
		}
		if t.Call == nil && !t.Reasoning && t.Text != "" && !w.Feed(t.Text) && w.Met() {
			stop(errEnough)
		}
	}
	return ctx, func(whole *model.Response) *model.Response {
		stop(nil)
		if !w.Met() || whole != nil && len(whole.Calls()) > 0 {
			return nil
		}
		r := &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: w.Answer()}}, Finish: model.FinishStop, RawFinish: "enough", Model: c.model}
		if whole != nil { // it had ended before the request could
			r.Usage, r.RequestID, r.Model = whole.Usage, whole.RequestID, whole.Model
		}
		return r
	}
}
