// Package wire is the HTTP round tripper under the provider clients. It takes the plan of a
// call from the request's context, writes the body in the provider's dialect and decodes the
// answer itself (streams, calls, usage, errors). The client above chooses the address and the
// headers, and gets no answer: the result of the call is left in the [Exchange].
//
// A request without an exchange in its context passes through untouched.
package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/model"
)

// Plan is one model call as the transport has to make it.
type Plan struct {
	Provider string // "openai"
	Model    string // as the provider knows it
	Origin   string // scheme://host[:port]: the only place that this call may reach
	Dialect  Dialect
	Request  *model.Request
	Tools    []Tool             // as they are sent to the provider
	Output   *Output            // nil when the prompt alone holds the model to its type
	Stream   bool               // ask for a stream
	Sink     func(engine.Token) // gets pieces of the answer without number or attempt; may be nil
	Bearer   string             // the key, sent as Authorization; "" sends none
	// FirstByte and Idle bound the waits of a call: from sending the request to the first byte of the answer,
	// and between two pieces of it. Zero waits for ever.
	FirstByte, Idle time.Duration
	Keys            *redact.Set // what nothing that leaves the call may show
	Hints           Hints
	Form            Form // of a recorded answer, where it is not the dialect's
	// MaxOut is the most tokens that budgets leave for the answer, 0 when none bounds it. It is sent in place of
	// the request's own limit. Short says that the answer might have had more otherwise.
	MaxOut int
	Short  bool
	Call   string // the run and the id of the call, for the provider's idempotency key; "" sends none

	refusal string // why the model refused, where the text of the answer does not say it
}

// Tool is a tool as it is sent to a provider.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of its arguments, an object's
	Strict            bool            // calls are held to the schema
}

// Output is the provider's own constraint on the answer.
type Output struct {
	Name   string          // what the provider calls the schema: letters, digits, _ and -
	Schema json.RawMessage // nil for JSON mode: any object
	Strict bool            // the schema keeps the rules of the provider's strict mode
}

// Hints are what a remedy names.
type Hints struct {
	KeyEnv  string // the variable of the key, "" when the provider takes none
	BaseEnv string // the variable of the base URL
	Local   bool   // a server on the user's own machine
}

// Exchange is a call's plan and its outcome: a response or an error once it was
// sent, neither when it never was.
type Exchange struct {
	Plan
	Response *model.Response
	Err      *engine.Error
}

// Dialect is a provider's way to write requests and answers.
type Dialect interface {
	// write returns the body of the request, all but the host's own members.
	write(p *Plan) (*Body, error)

	// limit returns where the limit of the answer is: the object that it is a member of, "" for the body, and
	// its names there, of which the first is written.
	limit() (object string, names []string)

	Form
}

// Form is a provider's way to write answers.
type Form interface {
	// document takes a whole answer of one JSON text, event one piece of a stream.
	document(data []byte, a *answer) error
	event(data []byte, a *answer) error
}

// addressed is a dialect that says more than the body: where a request goes, and the key in
// its own header.
type addressed interface {
	address(req *http.Request, p *Plan)
}

// Unsupported is the error of a [Dialect] that has no way to say what a request asks for.
// Leaving it out would be a silent failure.
type Unsupported struct {
	What string // as in "takes no images": the provider's name is put before it
	Help string
}

func (u *Unsupported) Error() string { return u.What }

type exchangeKey struct{}

// With returns a context that carries x to the transport.
func With(ctx context.Context, x *Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func from(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}
