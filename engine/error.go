package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// ErrKind is the class of a run's error, on which callers base decisions.
type ErrKind string

// The kinds of errors.
const (
	KindScript    ErrKind = "script"    // a callback raised, or the script used the engine wrongly
	KindType      ErrKind = "type"      // a value of the wrong type at a boundary
	KindInput     ErrKind = "input"     // the input of main
	KindConfig    ErrKind = "config"    // no model, unknown provider, missing key
	KindSchema    ErrKind = "schema"    // a model's answer does not fit its output type
	KindTool      ErrKind = "tool"      // a tool failed
	KindSkill     ErrKind = "skill"     // none of an agent's skills could be chosen
	KindBudget    ErrKind = "budget"    // a limit was reached
	KindTimeout   ErrKind = "timeout"   // too slow: connect, first byte, idle or in total
	KindCancelled ErrKind = "cancelled" // the caller gave up
	KindPolicy    ErrKind = "policy"    // a rule, a person or an interceptor does not allow it
	KindApproval  ErrKind = "approval"  // a person has to decide, and nobody can be asked
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
	KindReplay        ErrKind = "replay" // a recorded run, or a scripted model, does not hold this effect
	KindStore         ErrKind = "store"  // the journal failed
	KindTest          ErrKind = "test"   // an assertion of a test failed, or the test lacks an answer
)

// Provider says which model call an error is about.
type Provider struct {
	Name       string        `json:"name"`  // "openai"
	Model      string        `json:"model"` // without the provider
	Status     int           `json:"status,omitempty"`
	Code       string        `json:"code,omitempty"` // the provider's own code
	RequestID  string        `json:"request_id,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"` // 0 if the provider did not say
	Retryable  bool          `json:"retryable,omitempty"`
}

// FailedCall says which tool call an error is about.
type FailedCall struct {
	Agent   string `json:"agent"`
	Skill   string `json:"skill"`
	Name    string `json:"name"`              // of the tool, as the model wrote it
	Attempt int    `json:"attempt,omitempty"` // how often the tool was executed; 0 if it never was
}

// Error is a failure of a run as data: all of it is encoded as JSON, and a decoded error says the same and is the
// same to [errors.Is].
//
// As the target of errors.Is, an Error is a pattern: an empty Kind, Code or Message matches anything. For example,
// errors.Is(err, engine.ErrBudget) compares only the kind.
type Error struct {
	Kind    ErrKind
	Code    diag.Code
	Message string
	Help    string       // the remedy
	Notes   []string     // what else was tried and failed
	Path    string       // of the node, see [Frame]
	Pos     diag.Pos     // of the node, or of the failing callback
	Trace   []diag.Frame // calls of the script, outermost first
	Attempt int
	Raw     string          // a model's text that could not be used, or the stack of a panic
	Partial generable.Value // what could be decoded of Raw
	Usage   model.Usage
	OfRun   bool   // a limit of the whole run: nothing may continue after it
	Scope   string // of a budget that is used up: the path of what it bounds
	Model   *Provider
	Tool    *FailedCall // of a tool that a model called
	Cause   error
	Verdict *Verdict // the decision that the failure carries out; nil if there was none

	status Status // how the failed part ended, set when it was caught
	effect string // the id of the effect that failed, if the run is kept
}

// Verdict is a decision of a model or a function that ends the recovery of a call, or ends the agent.
type Verdict struct {
	Escalate bool // people take over; otherwise it is abandoned
	Reason   string
	Severity Severity // of an escalation
}

// Sentinels for errors.Is, one for each kind that commonly matters to callers.
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
	ErrSkill         = &Error{Kind: KindSkill}
	ErrPolicy        = &Error{Kind: KindPolicy}
	ErrApproval      = &Error{Kind: KindApproval}
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

// Unwrap returns the cause. A nil *Error, which a host may have wrapped, has none.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}

// Is reports whether e matches the pattern target.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok || e == nil || t == nil || t.Kind == "" && t.Code == "" && t.Message == "" {
		return false
	}
	return (t.Kind == "" || t.Kind == e.Kind) && (t.Code == "" || t.Code == e.Code) && (t.Message == "" || t.Message == e.Message)
}

// Errorf returns an error of a kind and code with a formatted message. The operand of a %w verb becomes the cause.
func Errorf(kind ErrKind, code diag.Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Code: code, Message: wrapped.Error(), Cause: errors.Unwrap(wrapped)}
}

// WithHelp sets the remedy and returns e.
//
//go:noinline
func (e *Error) WithHelp(format string, args ...any) *Error {
	e.Help = fmt.Sprintf(format, args...)
	return e
}

// Control marks outcomes that are not failures: a branch stopped because a sibling failed or won. attempt, retry,
// fallback and on_error pass them on.
type Control struct{ Why string }

func (c *Control) Error() string { return c.Why }

// IsControl reports whether err is a control outcome rather than a failure. No run ends with one: they belong to the
// branches inside it.
func IsControl(err error) bool {
	var c *Control
	return errors.As(err, &c)
}

// AsError converts any error to an *Error. If a host wrapped an *Error in other text, the text remains in the
// message; the kind and everything else are those of the inner *Error.
func AsError(err error) *Error {
	if e, ok := err.(*Error); ok {
		return e
	}
	var inner *Error
	switch {
	case IsControl(err):
		return &Error{Kind: KindCancelled, Code: diag.Cancelled, Message: err.Error(), Cause: err}
	case errors.As(err, &inner) && inner != nil:
		own := *inner
		own.Message, own.Cause = err.Error(), err
		if said := inner.Error(); said != "" { // the path is not part of the message
			own.Message = strings.Replace(own.Message, said, inner.Message, 1)
		}
		return &own
	}
	return &Error{Kind: KindScript, Code: diag.CallbackFailed, Message: err.Error(), Cause: err}
}

// Panicked turns a recovered panic into an error that keeps its stack.
func Panicked(where string, p any) *Error {
	cause, ok := p.(error)
	if !ok {
		cause = fmt.Errorf("%v", p)
	}
	return &Error{Kind: KindPanic, Code: diag.Panic, Message: fmt.Sprintf("%s panicked: %v", where, p), Raw: string(debug.Stack()), Cause: cause,
		Help: "this is a bug in the host's code or in the engine, not in the script"}
}

// Status returns how the failed part ended: failed, or else skipped or cancelled by a budget that was used up and is
// not its own. [exec.Branch.Catch] determines that.
func (e *Error) Status() Status {
	if e.status == "" {
		return StatusFailed
	}
	return e.status
}

// WithStatus returns a copy of the error with a status.
func (e *Error) WithStatus(s Status) *Error {
	own := *e
	own.status = s
	return &own
}

// Effect returns the id of the effect whose failure caused the error, or "" if it is not known. It is known in runs
// that are kept in a store.
func (e *Error) Effect() string {
	for e != nil && e.effect == "" {
		var inner *Error
		if !errors.As(e.Cause, &inner) {
			return ""
		}
		e = inner
	}
	if e == nil {
		return ""
	}
	return e.effect
}

// OfEffect returns a copy of the error with the id of the effect that failed.
func (e *Error) OfEffect(id string) *Error {
	own := *e
	own.effect = id
	return &own
}

// Decides reports whether the error ends the agent whose call failed with it. Once it has ended an agent, it is a
// failure like any other and has the path of that agent.
func (e *Error) Decides() bool { return e.Verdict != nil && e.Path == "" }

// Status is how a branch ended, the value of an Attempt's field of that name.
type Status string

// The ways in which a branch ends.
const (
	StatusOK        Status = "ok"
	StatusFailed    Status = "failed"
	StatusSkipped   Status = "skipped"   // a budget around it was used up before its first call
	StatusCancelled Status = "cancelled" // it was stopped while it ran: by a sibling, or by a budget around it
)

// FailureType is the schema of the failure of a call. A failure is a value, so that it can also be the input of an
// agent.
var FailureType = &generable.Type{Kind: generable.RecordType, Name: "Failure", Doc: "Why a call failed", Fields: []generable.Field{
	{Name: "kind", Type: generable.StrT, Guide: "the class of the failure: script, type, schema, tool, budget, refused, rate_limit, ..."},
	{Name: "code", Type: generable.StrT, Guide: "the code of the diagnostic, such as AS706"},
	{Name: "message", Type: generable.StrT, Guide: "what happened"},
	{Name: "path", Type: generable.StrT, Guide: "where in the run it happened"},
	{Name: "raw", Type: generable.StrT, Guide: "the text of a model that could not be used, else empty"},
}}

// Value returns the error as a value of [FailureType].
func (e *Error) Value() generable.Value {
	return generable.NewRecord(FailureType, []generable.Value{
		generable.StrOf(string(e.Kind)), generable.StrOf(string(e.Code)), generable.StrOf(e.Message),
		generable.StrOf(e.Path), generable.StrOf(e.Raw),
	}).Value()
}

// Severity says how much an escalation matters.
type Severity string

// The severities of escalations.
const (
	SeverityLow      Severity = "LOW"
	SeverityMedium   Severity = "MEDIUM"
	SeverityHigh     Severity = "HIGH" // the default
	SeverityCritical Severity = "CRITICAL"
)

// maxShown limits how much of a value an error shows, in runes.
const maxShown = 60
