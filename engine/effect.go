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

// EffectKind is the kind of an effect, under which its handler is registered.
type EffectKind string

// The kinds of effects.
const (
	EffectModel EffectKind = "model" // asks a model: a *[model.Request]
	EffectTool  EffectKind = "tool"  // calls a tool of the host or of a server: a *[ToolRequest]

	// EffectMCP asks an MCP server for its tools, with a *[remote.ListRequest]. The handler of this kind also runs
	// the calls of those tools, which are effects of kind EffectTool whose request names the server.
	EffectMCP EffectKind = "mcp"

	// EffectApproval asks a person. Its request is an *[ApprovalRequest], its value an [ApprovalType].
	EffectApproval EffectKind = "approval"

	// With these effects a script touches the world outside of its run, as far as the host granted it: see
	// [capability.Grants]. The request is a *[capability.Request].
	EffectExec EffectKind = "exec" // a command, without a shell
	EffectHTTP EffectKind = "http"
	EffectFS   EffectKind = "fs"
	EffectEnv  EffectKind = "env"

	// EffectBudget asks what the budgets leave. EffectMemory reads and writes what memory and sessions keep. The
	// engine answers both itself.
	EffectBudget EffectKind = "budget"
	EffectMemory EffectKind = "memory"

	// EffectSleep waits until a due time, which is its value: a str in RFC 3339. It is recorded before the wait
	// begins, so that a resumed run only waits for the rest. EffectTime asks for the time, a str in RFC 3339. The
	// engine answers both from the clock of the scheduler; a host may let a handler answer EffectTime instead.
	EffectSleep EffectKind = "sleep"
	EffectTime  EffectKind = "time"

	// EffectChoice occurs only in journals: it records which branch of a race won, or whether a tool of the script
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

// OnUnknown says what to do when it is unknown whether an effect was carried out.
type OnUnknown uint8

// The values of OnUnknown. For a tool, the zero value leaves the decision to the run; for a run, it means to ask.
const (
	UnknownUnset OnUnknown = iota
	UnknownAsk             // the run waits until somebody answers
	UnknownFail            // the effect has failed
	UnknownRetry           // it is carried out again
)

var unknownWords = [...]string{"", "ask", "fail", "retry"}

// String returns the word for u in scripts and on the command line.
func (u OnUnknown) String() string { return unknownWords[u] }

// ParseOnUnknown returns the value for a word, and reports whether there is one.
func ParseOnUnknown(word string) (OnUnknown, bool) {
	i := slices.Index(unknownWords[1:], word)
	return OnUnknown(i + 1), i >= 0
}

// Payload is the canonical request of an effect, for example a *[model.Request] or *[ToolRequest]. It is data, never
// a closure, so that another process can run the effect.
type Payload interface {
	// Digest hashes everything that determines the result: no secret, no time, no attempt.
	Digest() [32]byte
}

// ToolRequest asks for one run of a Go or remote tool.
type ToolRequest struct {
	Args    generable.Value // a record of the tool's parameters
	Version string          // of the tool, so that a changed tool is not answered from a record
	Server  ToolServer      // the server that runs it; nil if none does
	Tool    string          // its name on the server
}

// ToolServer is the MCP server that runs a tool: a *[remote.Server].
type ToolServer interface {
	Label() string    // its name in scripts
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

// MarshalJSON writes the duration in seconds.
func (r *SleepRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Seconds float64 `json:"seconds"`
	}{r.For.Seconds()})
}

// Effect is one step that touches the world. It is plain data: another process that receives its fields can run it.
// Its Kind and Name determine its handler.
type Effect struct {
	Kind   EffectKind
	Name   string // the model ("openai/gpt-5") or tool
	Agent  string // the agent on whose behalf it runs
	Run    string // the run's id
	At     *Frame
	Req    Payload
	Class  Class
	Stream bool // somebody listens to tokens

	// Short says that the budgets left less for the answer than it might have had otherwise. If the answer is cut off
	// at MaxOut, the budgets cut it off.
	Short bool
	// OnUnknown says what to do about an effect of class once whose process ended before its outcome was known: see
	// [DurableJournal].
	OnUnknown OnUnknown
	// Returns is the type that a result from outside must have, for an effect whose outcome is unknown. nil means any
	// type.
	Returns *generable.Type
	// MaxOut is the maximum number of tokens of a model's answer, including its thoughts: what the budgets of the
	// call reserved for it, and never more than the request's own limit. 0 means that no budget bounds tokens or
	// money. A handler of models sends MaxOut in place of the request's limit. It is part of neither the request nor
	// the id.
	MaxOut int32

	// Timeout bounds the effect's own time; 0 means no bound. The engine enforces it, and records the timeout as the
	// effect's outcome.
	Timeout time.Duration

	flight *flight.Record // kept by the process that began the effect, nil elsewhere; copies share it
}

// ID returns the effect's structural identity: its position and a digest of its kind, name and request, as in
// `main/then:review#0/agent:critic#1/llm0@4f2a9c…`. The same script and input produce the same ids in any order of
// completion. Together with the run's id, it is the idempotency key of the call.
//
// The run computes the id when it is first needed, and keeps it. A copy of an effect that a run dispatched has the id
// of the original, whatever was changed in the copy.
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

// Outcome is the result of an effect, recorded verbatim.
type Outcome struct {
	Response *model.Response // of a model
	Value    generable.Value // of a tool
	Err      *Error          // non-nil if it failed
	Usage    model.Usage
	Attempt  int // the attempt that ended it, from 1; 0 if a budget refused it
}

// Sink receives an effect's tokens while it runs, tagged with the attempt (each attempt starts the text again) and a
// sequence number within it. There is a sink if somebody listens to tokens, which [Effect].Stream says, or only to
// retries.
type Sink func(Token)

// Token is a piece of a streamed answer: of its text, of the model's thoughts, or of a call. It can also report that
// the attempt failed, so that what was streamed of it does not count.
type Token struct {
	Attempt   int
	Seq       int
	Text      string
	Reasoning bool
	Call      *CallDelta // a piece of a call; Text is empty then
	Retry     *Retry     // the attempt failed, and another one follows
	Notice    string     // what the server of a tool reports while it runs; nothing else is set then
}

// Valid makes each text of the token valid UTF-8 by itself, as [model.Response.Valid] does for an answer: a token
// holds whole characters.
func (t *Token) Valid() {
	t.Text = model.ValidText(t.Text)
	if d := t.Call; d != nil && !(utf8.ValidString(d.ID) && utf8.ValidString(d.Name) && utf8.ValidString(d.Args)) {
		t.Call = &CallDelta{d.Index, model.ValidText(d.ID), model.ValidText(d.Name), model.ValidText(d.Args)}
	}
}

// Retry describes an attempt that failed and the one that follows.
type Retry struct {
	Err  *Error        // why the attempt failed
	Wait time.Duration // until the next attempt
	From string        // the model that was asked, as the script names it
	To   string        // the model that is asked next; From if it is tried again
}

// CallDelta is a piece of a tool call. The pieces of one call have the same index. The id and the name come with the
// first piece that has them.
type CallDelta struct {
	Index int    `json:"index"` // from 0, in the order in which the answer's calls begin
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Args  string `json:"args,omitempty"` // continues the arguments
}

// Handler runs effects. It is the effect side of the engine: it may block, and many branches and runs call it at
// once. It returns a failure inside the outcome, with an error kind that says what can be done.
type Handler interface {
	Do(ctx context.Context, e *Effect, sink Sink) Outcome
}

// HandlerFunc turns a function into a [Handler]. A handler that holds secrets is a type that also has a method
// Secrets() []string; see docs/seams.md.
type HandlerFunc func(ctx context.Context, e *Effect, sink Sink) Outcome

// Do implements [Handler]. A nil f carries nothing out; see [Unhandled].
func (f HandlerFunc) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
	if f == nil {
		return Unhandled(e)
	}
	return f(ctx, e, sink)
}

// Middleware wraps a handler. The order matters. From the outside in, it is limiter, retry and fallback, cassette or
// faults, driver.
type Middleware func(Handler) Handler

// Chain wraps h so that the first middleware is outermost. It skips nil ones.
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

// ByServer returns the kind whose handler runs the effect: calls of a server's tools are run by the handler that
// reaches the server.
func (e *Effect) ByServer() EffectKind {
	if r, ok := e.Req.(*ToolRequest); ok && r.Server != nil && e.Kind == EffectTool {
		return EffectMCP
	}
	return e.Kind
}

// Rank orders classes by how much an effect may do; "" has the lowest rank.
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

// Stronger returns the class with the higher rank.
func (c Class) Stronger(than Class) Class {
	if than.Rank() > c.Rank() {
		return than
	}
	return c
}

// Believable replaces implausible usage reported by a handler with an estimate.
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

// Begin attaches the record that the process keeps of a dispatched effect. All copies share the record.
func (e *Effect) Begin(f *flight.Record) {
	f.Of, e.flight = e, f
}

// Flight returns the record that the process keeps, or nil if the effect came from another process.
func (e *Effect) Flight() *flight.Record { return e.flight }

// Abandon lets a scheduler decide not to wait for the effect's handler any longer. It reports false if the handler
// has returned: its outcome is being recorded, and must be waited for.
func (e *Effect) Abandon() bool { return e.flight.Abandon() }
