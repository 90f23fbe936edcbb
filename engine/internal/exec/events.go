package exec

import (
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
)

// reading is a position and how it reads.
type reading struct {
	at   *engine.Frame
	path string
}

// nearby is how many segments up two positions look for each other.
const nearby = 3

// eventPath renders the branch's position by what differs from the last event's. Events follow each
// other closely, and to render all of a position for each would make nodes inside each other cost
// more the deeper they stand.
func (b *Branch) eventPath() string {
	if b.last == nil {
		b.last = &reading{}
	}
	path, known := b.last.near(b.At, nearby)
	if !known {
		path = b.At.Path()
	}
	*b.last = reading{b.At, path}
	return path
}

// near reads a frame that is the position, a few segments above it, or below one of these.
func (r *reading) near(f *engine.Frame, most int) (string, bool) {
	path := r.path
	for at, n := r.at, 0; at != nil && n <= nearby; at, n = at.Parent(), n+1 {
		if at == f {
			return path, true
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))] // no segment holds one
	}
	if most == 0 || f.Parent() == nil || r.at == nil {
		return "", false
	}
	up, known := r.near(f.Parent(), most-1)
	if !known {
		return "", false
	}
	return up + "/" + string(f.Segment(make([]byte, 0, 32))), true
}

// emitter numbers events and hands them on in order.
type emitter struct {
	engine.Listener
	run    string
	mu     sync.Mutex
	seq    uint64
	closed bool
	broken *engine.Error
	tokens []event.Token // room for the next tokens
}

func (e *emitter) Wants(k engine.EventKind) bool { return e.Kinds&k != 0 && e.Emit != nil }

func (e *emitter) emit(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hand(ev)
}

// maxTokenChunk bounds how many tokens are allocated at once.
const maxTokenChunk = 64

// token emits a token. A run may stream thousands, and listeners may keep them: tokens are allocated
// in chunks, of which none is used twice.
func (e *emitter) token(ev engine.Event, d event.Token) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := cap(e.tokens); len(e.tokens) == n {
		e.tokens = make([]event.Token, 0, min(max(4, 2*n), maxTokenChunk))
	}
	e.tokens = append(e.tokens, d)
	ev.Kind, ev.Data = engine.EventToken, &e.tokens[len(e.tokens)-1]
	e.hand(ev)
}

// hand numbers an event and calls the listener. The caller holds the lock.
func (e *emitter) hand(ev engine.Event) {
	if e.closed || e.broken != nil { // a handler may have tokens left when its run is over
		return
	}
	defer func() {
		if p := recover(); p != nil {
			e.broken = engine.Panicked("the listener", p)
		}
	}()
	e.seq++
	ev.Run, ev.Seq = e.run, e.seq
	e.Emit(ev)
}

// Err is why the listener is not called any more, nil while it is.
func (e *emitter) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken == nil {
		return nil
	}
	return e.broken
}

func (e *emitter) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// emitEffect emits an effect's event. It is separate, like all that makes events, so that a run that
// waits for a model does not keep room for them on its stack.
func (b *Branch) emitEffect(e *engine.Effect, phase engine.Phase, out *engine.Outcome, replayed bool) {
	if !b.Wants(engine.EventEffect) {
		return
	}
	d := &event.Effect{Phase: phase, Name: e.Name, Replayed: replayed}
	ev := engine.Event{Kind: engine.EventEffect, Path: e.At.Path(), ID: e.ID(), Data: d}
	if phase == engine.PhaseStart {
		d.Request = e.Req
	}
	if out != nil {
		ev.Attempt, d.Err, d.Response = out.Attempt, out.Err, out.Response
		if e.Kind != engine.EffectModel && out.Err == nil {
			d.Value = new(out.Value)
		}
		if out.Usage != (model.Usage{}) {
			u := out.Usage
			d.Usage = &u
		}
	}
	b.Emit(ev)
}

// sink hands an effect's tokens and retries to the listener, nil when nobody listens to either.
func (b *Branch) sink(e *engine.Effect) engine.Sink {
	if r, ok := e.Req.(*engine.ToolRequest); ok {
		return b.notices(e, r)
	}
	if !e.Stream && !b.Wants(engine.EventRetry) {
		return nil
	}
	path, id := "", ""
	if e.Stream { // else retries alone are told, which are few
		if path = b.Run.Secrets.Text(e.At.Path()); b.Wants(engine.EventToken) {
			id = b.Run.Secrets.Text(e.ID())
		}
	}
	look := b.observe(e, path)
	parts := b.partials(e, path, look)
	thinks := b.Dialogue != nil && b.Dialogue.Thinking
	return func(t engine.Token) {
		t.Reasoning = t.Reasoning || thinks && t.Call == nil && t.Retry == nil
		written := t // a reader of the whole joins a character that pieces cut
		t.Valid()
		switch r := t.Retry; {
		case r != nil && b.Wants(engine.EventRetry):
			b.Emit(engine.Event{Kind: engine.EventRetry, Path: e.At.Path(), ID: e.ID(), Attempt: t.Attempt, Data: &event.Retry{From: r.From, To: r.To, Wait: r.Wait, Err: r.Err}})
		case r == nil && e.Stream && b.Wants(engine.EventToken):
			b.Run.Events.token(engine.Event{Path: path, ID: id, Attempt: t.Attempt, At: b.Sched.Now()}, event.Token{Name: e.Name, Text: t.Text, Reasoning: t.Reasoning, Call: t.Call})
		}
		look.token(t)
		parts.add(written)
		look.partial(parts)
	}
}

// notices hands what a server says while it runs a tool to the listener.
func (b *Branch) notices(e *engine.Effect, r *engine.ToolRequest) engine.Sink {
	if r.Server == nil || !b.Wants(engine.EventTool) {
		return nil
	}
	path := e.At.Path()
	return func(t engine.Token) {
		if t.Notice != "" {
			b.Emit(engine.Event{Kind: engine.EventTool, Path: path, ID: e.ID(), Data: &event.Tool{Phase: engine.PhaseProgress, Name: e.Name, Text: t.Notice}})
		}
	}
}
