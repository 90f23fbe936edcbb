package engine

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// EffectKind is the first word under which handlers are registered.
type EffectKind string

// The kinds of effects.
const (
	EffectModel EffectKind = "model" // asks a model: a *[model.Request]
	EffectTool  EffectKind = "tool"  // calls a tool of the host or of a server: a *[ToolRequest]

	// EffectMCP asks an MCP server for its tools, by a *[remote.ListRequest]. The handler of this kind also
	// runs their calls, which are effects of kind EffectTool whose request names the server.
	EffectMCP EffectKind = "mcp"

	// EffectApproval asks a person. Its request is an *[ApprovalRequest], its value an [ApprovalType].
	EffectApproval EffectKind = "approval"

	// By these a script touches the world outside of its run, as far as the host granted it: see
	// [capability.Grants]. The request is a *[capability.Request].
	EffectExec EffectKind = "exec" // a command, without a shell
	EffectHTTP EffectKind = "http"
	EffectFS   EffectKind = "fs"
	EffectEnv  EffectKind = "env"

	// EffectBudget asks what the budgets leave, EffectMemory reads and writes what memory and sessions keep.
	// The engine answers them itself.
	EffectBudget EffectKind = "budget"
	EffectMemory EffectKind = "memory"

	// EffectSleep waits until a due time, which is its value: a str in RFC 3339. It is recorded before the wait begins,
	// so that a run that is resumed waits for what is left. EffectTime asks for the time, a str in RFC 3339. The engine
	// answers both by the clock of the scheduler; a host may have a handler of EffectTime answer in its place.
	EffectSleep EffectKind = "sleep"
	EffectTime  EffectKind = "time"

	// EffectChoice is in journals alone: which branch of a race won, or whether a tool of the script
	// was in time.
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

// OnUnknown says what is done when it is unknown whether an effect was carried out.
type OnUnknown uint8

// What can be done then. Of a tool, the zero value leaves it to the run; of a run it asks.
const (
	UnknownUnset OnUnknown = iota
	UnknownAsk             // the run waits until somebody says
	UnknownFail            // the effect has failed
	UnknownRetry           // it is carried out again
)

var unknownWords = [...]string{"", "ask", "fail", "retry"}

// String returns the word for it in scripts and on the command line.
func (u OnUnknown) String() string { return unknownWords[u] }

// ParseOnUnknown reads the word for it, and reports whether it is one.
func ParseOnUnknown(word string) (OnUnknown, bool) {
	i := slices.Index(unknownWords[1:], word)
	return OnUnknown(i + 1), i >= 0
}

// Payload is the canonical request of an effect: *[model.Request] or *[ToolRequest], say. It is data,
// never a closure, so that another process can run the effect.
type Payload interface {
	// Digest hashes all that decides the result: no secret, no time, no attempt.
	Digest() [32]byte
}

// ToolRequest asks for one run of a Go or remote tool.
type ToolRequest struct {
	Args    generable.Value // a record of the tool's parameters
	Version string          // of the tool, so that a changed tool is not answered from a record
	Server  ToolServer      // that runs it, nil when none does
	Tool    string          // its name there
}

// ToolServer is the MCP server that runs a tool: a *[remote.Server].
type ToolServer interface {
	Label() string    // as scripts name it
	Digest() [32]byte // of how it is reached
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

// SleepRequest asks to wait for some time.
type SleepRequest struct{ For time.Duration }

// Digest implements [Payload].
func (r *SleepRequest) Digest() [32]byte {
	return abi.Hash(strconv.AppendInt([]byte("sleep "), int64(r.For), 10))
}

// MarshalJSON writes the time in seconds.
func (r *SleepRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Seconds float64 `json:"seconds"`
	}{r.For.Seconds()})
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

	// Short says that the budgets left less than the answer might have had otherwise: one that is cut off
	// at MaxOut is cut off by them.
	Short bool
	// OnUnknown says what is done about an effect of class once whose process ended before it could say what came of
	// it: see [DurableJournal].
	OnUnknown OnUnknown
	// Returns is the type that a result from outside is held to, of an effect of which nobody knows what came of it. nil:
	// anything.
	Returns *generable.Type
	// MaxOut is the most tokens of the answer of a model, its thoughts included: what the budgets of the call
	// reserved for it, and never more than the request's own limit. 0: no budget bounds tokens or money. A
	// handler of models sends it in place of the request's. It is no part of the request, nor of the id.
	MaxOut int32

	// Timeout bounds the effect's own time; 0 does not bound it. The engine enforces it, and records
	// the timeout as the effect's outcome.
	Timeout time.Duration

	flight *flight.Record // of the process that began it, nil elsewhere; copies share it
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
		return f.ID(func(of any) string { return of.(*Effect).identity() })
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

// Valid makes the texts of the token UTF-8, each by itself, as [model.Response.Valid] makes those of an
// answer: a token holds whole characters.
func (t *Token) Valid() {
	t.Text = model.ValidText(t.Text)
	if d := t.Call; d != nil && !(utf8.ValidString(d.ID) && utf8.ValidString(d.Name) && utf8.ValidString(d.Args)) {
		t.Call = &CallDelta{d.Index, model.ValidText(d.ID), model.ValidText(d.Name), model.ValidText(d.Args)}
	}
}

// Retry describes an attempt that failed and the one that follows.
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

// HandlerFunc makes a function a [Handler]. A handler that holds secrets is a type with a method Secrets() []string
// beside it, see docs/seams.md.
type HandlerFunc func(ctx context.Context, e *Effect, sink Sink) Outcome

// Do implements [Handler]. A nil f carries nothing out, see [Unhandled].
func (f HandlerFunc) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
	if f == nil {
		return Unhandled(e)
	}
	return f(ctx, e, sink)
}

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

// MarshalJSON encodes the arguments in declared order.
func (r *ToolRequest) MarshalJSON() ([]byte, error) {
	out := struct {
		Args   json.RawMessage `json:"args"`
		Server string          `json:"server,omitempty"`
	}{Args: generable.AppendJSON(nil, r.Args, nil)}
	if r.Server != nil {
		out.Server = r.Server.Label()
	}
	return json.Marshal(out)
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

// Flaw describes why o cannot be the outcome of e, or returns "" if it can: a negative usage would lift
// budgets, and the engine relies on each part of an answer to hold what its kind says. If e is nil, only
// the rules that all kinds of effects share are checked.
func (o *Outcome) Flaw(e *Effect) string {
	r := o.Response
	switch {
	case e != nil && e.Kind == EffectModel && o.Err == nil && r == nil:
		return "neither an answer nor an error"
	case negative(o.Usage) || r != nil && negative(r.Usage) || o.Err != nil && negative(o.Err.Usage):
		return "a usage below 0, which would lift budgets"
	case o.Attempt < 0:
		return "an attempt below 0"
	case r == nil:
		return ""
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Kind == model.PartCall && p.Call == nil || p.Kind == model.PartResult && p.Result == nil || p.Kind == model.PartImage && p.Image == nil || p.Kind == model.PartAudio && p.Audio == nil {
			return "a part of kind " + string(p.Kind) + " that holds none"
		}
	}
	return ""
}

func negative(u model.Usage) bool {
	return min(u.In, u.Out, u.Reasoning, u.CacheRead, u.CacheWrite, u.Unpriced) < 0 || !(u.CostUSD >= 0)
}

// Begin attaches to a dispatched effect the record that its process keeps of it, which all copies share.
func (e *Effect) Begin(f *flight.Record) {
	f.Of, e.flight = e, f
}

// Flight returns the record that the process keeps, nil when the effect came from another one.
func (e *Effect) Flight() *flight.Record { return e.flight }

// Abandon has a scheduler decide that it does not wait for the effect's handler any longer. It
// reports false when the handler has returned: its outcome is being recorded, and must be waited for.
func (e *Effect) Abandon() bool { return e.flight.Abandon() }
