package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// ErrKind is the class of a run's error: what a caller decides by.
type ErrKind string

// The kinds of errors.
const (
	KindScript    ErrKind = "script"    // a callback raised, or the script used the engine wrongly
	KindType      ErrKind = "type"      // a value of the wrong type at a boundary
	KindInput     ErrKind = "input"     // the input of main
	KindConfig    ErrKind = "config"    // no model, unknown provider, missing key
	KindSchema    ErrKind = "schema"    // a model's answer does not fit its output type
	KindTool      ErrKind = "tool"      // a tool failed
	KindBudget    ErrKind = "budget"    // a limit was reached
	KindTimeout   ErrKind = "timeout"   // too slow: connect, first byte, idle or in all
	KindCancelled ErrKind = "cancelled" // the caller gave up
	KindPanic     ErrKind = "panic"     // a bug in host or engine code, caught

	KindAuth          ErrKind = "auth"
	KindRateLimit     ErrKind = "rate_limit"
	KindQuota         ErrKind = "quota"
	KindContextLength ErrKind = "context_length"
	KindRefused       ErrKind = "refused" // refusal or content filter
	KindNotFound      ErrKind = "not_found"
	KindBadRequest    ErrKind = "invalid_request"
	KindUnsupported   ErrKind = "unsupported"
	KindOverloaded    ErrKind = "overloaded"
	KindServer        ErrKind = "server"
	KindNetwork       ErrKind = "network"
	KindTruncated     ErrKind = "truncated" // the answer was cut off in transit or by the token limit
	KindBadResponse   ErrKind = "bad_response"
	KindReplay        ErrKind = "replay" // a recorded run does not hold this effect
	KindStore         ErrKind = "store"  // the journal failed
)

// Provider tells which model call an error is about.
type Provider struct {
	Name       string        `json:"name"`  // "openai"
	Model      string        `json:"model"` // without the provider
	Status     int           `json:"status,omitempty"`
	Code       string        `json:"code,omitempty"` // the provider's own
	RequestID  string        `json:"request_id,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"` // 0 when the provider did not say
	Retryable  bool          `json:"retryable,omitempty"`
}

// Error is a failure of a run as data: it can be recorded and replays to the same
// [errors.Is]. The zero Message with a Kind is a sentinel: errors.Is(err, engine.ErrBudget).
type Error struct {
	Kind    ErrKind         `json:"kind"`
	Code    diag.Code       `json:"code"`
	Message string          `json:"message"`
	Help    string          `json:"help,omitempty"` // the remedy
	Path    string          `json:"path,omitempty"` // of the node, see [Frame]
	Pos     diag.Pos        `json:"-"`              // of the node, or of the failing callback
	Trace   []diag.Pos      `json:"-"`              // script positions, outermost first
	Attempt int             `json:"attempt,omitempty"`
	Raw     string          `json:"raw,omitempty"` // a model's text that could not be used
	Partial generable.Value `json:"-"`             // what could be made of it
	Usage   Usage           `json:"usage"`
	Model   *Provider       `json:"model,omitempty"`
	Cause   error           `json:"-"`
}

// Sentinels for errors.Is, one per kind that callers commonly decide by.
var (
	ErrBudget        = &Error{Kind: KindBudget}
	ErrTimeout       = &Error{Kind: KindTimeout}
	ErrCancelled     = &Error{Kind: KindCancelled}
	ErrSchema        = &Error{Kind: KindSchema}
	ErrAuth          = &Error{Kind: KindAuth}
	ErrRateLimit     = &Error{Kind: KindRateLimit}
	ErrContextLength = &Error{Kind: KindContextLength}
	ErrRefused       = &Error{Kind: KindRefused}
	ErrTool          = &Error{Kind: KindTool}
	ErrConfig        = &Error{Kind: KindConfig}
	ErrInput         = &Error{Kind: KindInput}
)

func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	if e.Message == "" {
		b.WriteString(string(e.Kind))
	}
	b.WriteString(e.Message)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is the sentinel of e's kind.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Kind == e.Kind
}

// Errorf returns an error of a kind and code with a formatted message; a %w operand becomes
// the cause.
func Errorf(kind ErrKind, code diag.Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Code: code, Message: wrapped.Error(), Cause: errors.Unwrap(wrapped)}
}

// WithHelp sets the remedy and returns e.
func (e *Error) WithHelp(format string, args ...any) *Error {
	e.Help = fmt.Sprintf(format, args...)
	return e
}

// control marks outcomes that are no failures: a branch stopped because a sibling failed or
// won. attempt, retry, fallback and on_error let them through.
type control struct{ why string }

func (c *control) Error() string { return c.why }

var errSibling = &control{"stopped because a sibling branch ended"}

// IsControl reports whether err is a control outcome rather than a failure.
func IsControl(err error) bool {
	var c *control
	return errors.As(err, &c)
}
