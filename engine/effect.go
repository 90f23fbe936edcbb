package engine

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// EffectKind is the first word under which handlers are registered.
type EffectKind string

// The kinds of effects.
const (
	EffectModel EffectKind = "model"
	EffectTool  EffectKind = "tool"

	// EffectBudget asks what the budgets leave. The engine answers it itself.
	EffectBudget EffectKind = "budget"

	// EffectMemory reads and writes what memory and sessions keep. The engine answers it itself.
	EffectMemory EffectKind = "memory"

	// EffectChoice is in journals alone: which branch of a race won, or whether a tool of the script
	// was in time. See [Choice].
	EffectChoice EffectKind = "choice"
)

// Class says what may be done with an effect whose result was lost.
type Class string

// The classes of effects.
const (
	ClassRead       Class = "read"       // changes nothing: run it again
	ClassIdempotent Class = "idempotent" // may run again under the same id
	ClassOnce       Class = "once"       // must never run twice; the default for tools
)

// Payload is the canonical request of an effect: *[model.Request], *[ToolRequest] or *[Choice]. It is data,
// never a closure, so that another process can run the effect.
type Payload interface {
	// Digest hashes all that decides the result: no secret, no time, no attempt.
	Digest() [32]byte
}

// ToolRequest asks for one run of a Go or remote tool.
type ToolRequest struct {
	Args    generable.Value // a record of the tool's parameters
	Version string          // of the tool, so that a changed tool is not answered from a record
	Server  *ServerSpec     // that runs it, nil when none does
	Tool    string          // its name there
}

// Digest implements [Payload].
func (r *ToolRequest) Digest() [32]byte {
	b := generable.AppendCanon([]byte(r.Version+"\x00"), r.Args)
	if r.Server != nil {
		id := r.Server.Digest()
		b = abi.AppendText(append(b, id[:]...), r.Tool)
	}
	return abi.Hash(b)
}

// Effect is one step that touches the world. It is plain data: another process that is handed its
// fields can run it. A handler is found by its Kind and Name.
type Effect struct {
	Kind   EffectKind
	Name   string // the model ("openai/gpt-5") or tool
	Agent  string // the agent on whose behalf it runs
	Run    string // the run's id
	At     *Frame
	Req    Payload
	Class  Class
	Stream bool // somebody listens to tokens

	// Timeout bounds the effect's own time; 0 does not bound it. The engine enforces it, and records
	// the timeout as the effect's outcome.
	Timeout time.Duration

	flight *InFlight // of the process that began it, nil elsewhere; copies share it
}

// ID returns the effect's structural identity: its position and a digest of its kind and
// request, as in `main/then:review#0/agent:critic#1/llm0@4f2a9c…`. The same script and input give
// the same ids in any order of completion. Together with the run's id it is the idempotency key
// of the call.
//
// The run computes the id when it is first asked for, and keeps it. A copy of an effect that a run
// dispatched has the id of the original, whatever was changed in it.
func (e *Effect) ID() string {
	if f := e.flight; f != nil {
		f.once.Do(func() { f.id = f.Effect.identity() })
		return f.id
	}
	return e.identity()
}

func (e *Effect) identity() string {
	d := e.Req.Digest()
	sum := abi.Hash(append([]byte(string(e.Kind)+"\x00"+e.Name+"\x00"), d[:]...))
	return abi.Position(e.At.Path()) + "@" + hex.EncodeToString(sum[:8])
}

// Outcome is what an effect came to. It is recorded as it is.
type Outcome struct {
	Response *model.Response // of a model
	Value    generable.Value // of a tool
	Err      *Error          // non-nil when it failed
	Usage    model.Usage
	Attempt  int // of the attempt that ended it, from 1; 0 when a budget refused it
}

// Sink receives an effect's tokens while it runs, tagged with the attempt (a new attempt
// starts the text anew) and a sequence number within it. It is there when somebody listens to
// tokens, which [Effect].Stream says, or to retries alone.
type Sink func(Token)

// Token is a piece of a streamed answer: of its text, of the model's thoughts, or of a call. Or
// it says that the attempt came to nothing, and that what was streamed of it does not count.
type Token struct {
	Attempt   int
	Seq       int
	Text      string
	Reasoning bool
	Call      *CallDelta // a piece of a call; Text is empty then
	Retry     *Retry     // the attempt failed, and another one follows
	Notice    string     // what the server of a tool says while it runs; nothing else is set then
}

// Retry tells of an attempt that failed and of the one that follows.
type Retry struct {
	Err  *Error        // what the attempt failed by
	Wait time.Duration // until the next one
	From string        // the model that was asked, as the script names it
	To   string        // the one that is asked next, From when it is tried again
}

// CallDelta is a piece of a tool call. The pieces of one call have the same index; id and name
// come with the first that has them.
type CallDelta struct {
	Index int    `json:"index"` // from 0, in the order in which the answer's calls begin
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Args  string `json:"args,omitempty"` // continues the arguments
}

// Handler runs effects. It is the effect side of the engine: it may block and is called from
// many branches and runs at once. It returns a failure inside the outcome, with an error kind
// that says what can be done.
type Handler interface {
	Do(ctx context.Context, e *Effect, sink Sink) Outcome
}

// HandlerFunc makes a function a [Handler].
type HandlerFunc func(ctx context.Context, e *Effect, sink Sink) Outcome

// Do implements [Handler].
func (f HandlerFunc) Do(ctx context.Context, e *Effect, sink Sink) Outcome { return f(ctx, e, sink) }

// Middleware wraps a handler. Order matters: limiter, retry and fallback, cassette or
// faults, driver, from the outside in.
type Middleware func(Handler) Handler

// Chain wraps h so that the first middleware is outermost. A nil one is passed over.
func Chain(h Handler, mw ...Middleware) Handler {
	for i := len(mw) - 1; i >= 0; i-- {
		if mw[i] != nil {
			h = mw[i](h)
		}
	}
	return h
}

// Failed returns the outcome of a failure.
func Failed(err *Error) Outcome { return Outcome{Err: err, Usage: err.Usage, Attempt: 1} }

// Choice is the request of an [EffectChoice]: which of several branches won. Nothing handles it;
// it stands in the journal with a list as its value: the index of the branch, and the model calls,
// tool calls, tokens, script steps, turns and money in billionths of a dollar that the others had
// used. A list that ends earlier is of a record from before these were counted.
type Choice struct {
	Of    int             // branches
	Input generable.Value // what they ran on
}

// Digest implements [Payload].
func (c *Choice) Digest() [32]byte {
	return abi.Hash(generable.AppendCanon(binary.AppendUvarint(nil, uint64(c.Of)), c.Input))
}

// MarshalJSON encodes the arguments in declared order.
func (r *ToolRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Args   json.RawMessage `json:"args"`
		Server string          `json:"server,omitempty"`
	}{generable.AppendJSON(nil, r.Args, nil), r.Server.Label()})
}

// ByServer is the kind whose handler runs the effect: calls of a server's tools are run by what
// reaches the server.
func (e *Effect) ByServer() EffectKind {
	if r, ok := e.Req.(*ToolRequest); ok && r.Server != nil && e.Kind == EffectTool {
		return EffectMCP
	}
	return e.Kind
}

// Rank orders classes by how much they are; "" is the least.
func (c Class) Rank() uint8 {
	switch c {
	case ClassRead:
		return 1
	case ClassIdempotent:
		return 2
	case ClassOnce:
		return 3
	}
	return 0
}

// Stronger is the class of what may do either.
func (c Class) Stronger(than Class) Class {
	if than.Rank() > c.Rank() {
		return than
	}
	return c
}

// Believable replaces usage that a handler cannot mean by an estimate.
func (o *Outcome) Believable(e *Effect) {
	req, _ := e.Req.(*model.Request)
	if !o.Usage.Plausible() {
		o.Usage = model.EstimateUsage(req, o.Response)
	}
	if r := o.Response; r != nil && !r.Usage.Plausible() {
		own := *r
		own.Usage = model.EstimateUsage(req, r)
		o.Response = &own
	}
	if o.Err != nil && !o.Err.Usage.Plausible() {
		own := *o.Err
		own.Usage = model.EstimateUsage(req, nil)
		o.Err = &own
	}
}

// InFlight is what the side that runs an effect keeps of it. It holds the effect itself, so that
// both cost one allocation.
type InFlight struct {
	Effect Effect

	once    sync.Once    // hedged handlers may ask for the id at the same time
	decided atomic.Int32 // who decides the outcome: handled or abandoned, 0 while nobody has
	id      string

	before, after *InFlight // in the list of pending
}

const (
	handled   = 1 // the handler, which has returned
	abandoned = 2 // the scheduler, which does not wait for the handler any longer
)

// Begin returns the effect, which knows its record from now on.
func (f *InFlight) Begin() *Effect {
	f.Effect.flight = f
	return &f.Effect
}

// Abandon has a scheduler decide that it does not wait for the effect's handler any longer. It
// reports false when the handler has returned: its outcome is being recorded, and must be waited for.
func (e *Effect) Abandon() bool {
	return e.flight == nil || e.flight.decided.CompareAndSwap(0, abandoned)
}

// Handled has the handler decide the outcome. It reports false when the effect was abandoned.
func (e *Effect) Handled() bool {
	return e.flight == nil || e.flight.decided.CompareAndSwap(0, handled)
}

// Abandoned reports whether nobody waits for the effect's handler any longer.
func (e *Effect) Abandoned() bool { return e.flight.decided.Load() == abandoned }

// Pending are the effects of a run that were dispatched and have not returned, oldest first. They
// link themselves, so that keeping the list allocates nothing.
type Pending struct {
	mu          sync.Mutex
	first, last *InFlight
}

func (p *Pending) Add(e *Effect) {
	f := e.flight
	p.mu.Lock()
	defer p.mu.Unlock()
	f.before = p.last
	if p.last == nil {
		p.first = f
	} else {
		p.last.after = f
	}
	p.last = f
}

func (p *Pending) Remove(e *Effect) {
	f := e.flight
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.before == nil {
		p.first = f.after
	} else {
		f.before.after = f.after
	}
	if f.after == nil {
		p.last = f.before
	} else {
		f.after.before = f.before
	}
	f.before, f.after = nil, nil
}

func (p *Pending) List() (all []*Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := p.first; f != nil; f = f.after {
		all = append(all, &f.Effect)
	}
	return all
}
