// Package wire is the HTTP round tripper below the provider clients. It takes the plan of a call from the request's
// context, writes the body in the provider's dialect and decodes the answer itself (streams, calls, usage, errors). The
// client above chooses the address and the headers, and receives no answer: the result of the call is stored in the
// [Exchange].
//
// A request without an exchange in its context is passed through unchanged.
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

// Plan is one model call for the transport to make.
type Plan struct {
	Provider string // "openai"
	Model    string // the provider's name for it
	Origin   string // scheme://host[:port]: the only server that this call may contact
	Dialect  Dialect
	Request  *model.Request
	Tools    []Tool             // in the form sent to the provider
	Output   *Output            // nil if only the prompt holds the model to its type
	Stream   bool               // request a stream
	Sink     func(engine.Token) // receives pieces of the answer without number or attempt; may be nil
	Bearer   string             // the key, sent as Authorization; "" sends none
	// FirstByte and Idle limit the waits of a call: from sending the request to the first byte of the answer, and
	// between two pieces of it. Zero waits forever.
	FirstByte, Idle time.Duration
	Keys            *redact.Set // removed from everything that leaves the call
	Hints           Hints
	Form            Form // of a recorded answer, if not the dialect's
	// MaxOut is the number of tokens that budgets leave for the answer, 0 without a limit. It is sent instead of the
	// request's own limit. Short says that the answer could be longer without it.
	MaxOut int
	Short  bool
	Call   string // the run and the id of the call, for the provider's idempotency key; "" sends none

	refusal string // why the model refused, if the text of the answer does not say it
}

// Tool is a tool in the form sent to a provider.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of its arguments, which are an object
	Strict            bool            // calls are constrained by the schema
}

// Output is the provider's own constraint on the answer.
type Output struct {
	Name   string          // the name sent for the schema: letters, digits, _ and -
	Schema json.RawMessage // nil for JSON mode: any object
	Strict bool            // the schema follows the rules of the provider's strict mode
}

// Hints are names used in remedies.
type Hints struct {
	KeyEnv  string // the variable of the key, "" if the provider needs none
	BaseEnv string // the variable of the base URL
	Local   bool   // a server on the user's own machine
}

// Exchange is a call's plan and its outcome: a response or an error after it was sent, neither if it was not sent.
type Exchange struct {
	Plan
	Response *model.Response
	Err      *engine.Error
}

// Dialect is a provider's format of requests and answers.
type Dialect interface {
	// write returns the body of the request, without the host's own members.
	write(p *Plan) (*Body, error)

	// limit returns where the limit of the answer is: the object that contains it, "" for the body, and its names
	// there, of which the first is written.
	limit() (object string, names []string)

	Form
}

// Form is a provider's format of answers.
type Form interface {
	// document takes a whole answer in one JSON text, event one piece of a stream.
	document(data []byte, a *answer) error
	event(data []byte, a *answer) error
}

// addressed is a dialect that also sets the address of a request and the header of the key.
type addressed interface {
	address(req *http.Request, p *Plan)
}

// Unsupported is the error of a [Dialect] that cannot express a part of a request. Leaving it out would be a silent
// failure.
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
