package exec

import (
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
)

// reading is a position and its text.
type reading struct {
	at   *engine.Frame
	path string
}

// nearby is how many segments apart two positions may be to share their text.
const nearby = 3

// eventPath renders the branch's position by its difference from the last event's position. Events are usually close to
// each other, and rendering each position completely would cost more the deeper nodes are nested.
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

// near returns the text of a frame that is the reading's position, a few segments above it, or below one of these.
func (r *reading) near(f *engine.Frame, most int) (string, bool) {
	path := r.path
	for at, n := r.at, 0; at != nil && n <= nearby; at, n = at.Parent(), n+1 {
		if at == f {
			return path, true
		}
		path = path[:max(0, strings.LastIndexByte(path, '/'))] // no segment contains a slash
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

// emitter numbers events and passes them on in order.
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

// maxTokenChunk bounds how many tokens are allocated together.
const maxTokenChunk = 64

// token emits a token. A run may stream thousands, and listeners may keep them. Tokens are allocated in chunks, and
// none is reused.
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
	if e.closed || e.broken != nil { // a handler may emit tokens after the end of its run
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

// Err returns why the listener is no longer called, nil while it is.
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

// emitEffect emits an effect's event. It is separate, like all code that builds events, so that a run that waits for a
// model does not keep stack space for it.
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

// sink passes an effect's tokens and retries to the listener. It is nil if nobody listens to either.
func (b *Branch) sink(e *engine.Effect) engine.Sink {
	if r, ok := e.Req.(*engine.ToolRequest); ok {
		return b.notices(e, r)
	}
	if !e.Stream && !b.Wants(engine.EventRetry) {
		return nil
	}
	path, id := "", ""
	if e.Stream { // otherwise only retries are reported, which are few
		if path = b.Run.Secrets.Text(e.At.Path()); b.Wants(engine.EventToken) {
			id = b.Run.Secrets.Text(e.ID())
		}
	}
	look := b.observe(e, path)
	parts := b.partials(e, path, look)
	thinks := b.Dialogue != nil && b.Dialogue.Thinking
	return func(t engine.Token) {
		t.Reasoning = t.Reasoning || thinks && t.Call == nil && t.Retry == nil
		written := t // a character that was split between tokens is joined
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

// notices passes a server's messages while it runs a tool to the listener.
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
