package llm

import (
	"context"
	"errors"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
)

// stream passes on the tokens of one attempt, numbered from 0 and without keys. It passes on none after the attempt: a
// host's model may still send some.
type stream struct {
	sink    engine.Sink
	keys    *redact.Set
	attempt int

	mu               sync.Mutex
	n                int // tokens passed on
	over             bool
	answer, thoughts redact.Stream
	calls            []*redact.Stream // of the arguments
}

func newStream(sink engine.Sink, keys *redact.Set, attempt int) *stream {
	return &stream{sink: sink, keys: keys, attempt: attempt, answer: redact.Stream{Keys: keys}, thoughts: redact.Stream{Keys: keys}}
}

// add passes on a piece, as far as it cannot become part of a key.
func (s *stream) add(t engine.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
	case t.Call != nil:
		for len(s.calls) <= t.Call.Index {
			s.calls = append(s.calls, &redact.Stream{Keys: s.keys})
		}
		d := *t.Call
		d.ID, d.Name, d.Args = s.keys.String(d.ID), s.keys.String(d.Name), s.calls[d.Index].Add(d.Args)
		s.call(d)
	case t.Reasoning:
		s.text(s.thoughts.Add(t.Text), true)
	default:
		s.text(s.answer.Add(t.Text), false)
	}
}

// close passes on what was held back because it could have become part of a key, and ends the stream.
func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text(s.thoughts.End(), true)
	s.text(s.answer.End(), false)
	for i, c := range s.calls {
		s.call(engine.CallDelta{Index: i, Args: c.End()})
	}
	s.over = true
}

func (s *stream) text(text string, reasoning bool) {
	if text != "" {
		s.emit(engine.Token{Text: text, Reasoning: reasoning})
	}
}

func (s *stream) call(d engine.CallDelta) {
	if d.ID != "" || d.Name != "" || d.Args != "" {
		s.emit(engine.Token{Call: &d})
	}
}

func (s *stream) emit(t engine.Token) {
	t.Attempt, t.Seq = s.attempt, s.n
	s.n++
	s.sink(t)
}

// passed returns how many tokens were passed on, which is the number of the next one.
func (s *stream) passed() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// errEnough ends a request of which enough has arrived.
var errEnough = errors.New("enough of the answer has arrived")

// until makes the plan's request end once enough of the answer has arrived. The returned function returns that answer,
// nil if that never happened: then the call's own result counts.
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
		if whole != nil { // it had ended before the request could be ended
			r.Usage, r.RequestID, r.Model, r.Citations = whole.Usage, whole.RequestID, whole.Model, whole.Citations
		}
		return r
	}
}
