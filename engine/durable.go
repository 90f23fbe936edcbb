package engine

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// DurableJournal is a [Journal] of a run that outlives its process, and to which others may send answers. Many
// branches call its methods at once.
type DurableJournal interface {
	MemoryJournal

	// Begins records that an effect begins now, so that its record says how long it took. It is called on the effect
	// side, before Intend.
	Begins(e *Effect)

	// Took returns when an effect that an earlier process recorded began and ended. The times are zero for an effect
	// that waited for an answer from outside, and for one that this process carried out.
	Took(id string) (begun, ended time.Time)

	// Intend records that an effect of class once is about to begin, and returns when that is durable. It is called
	// on the effect side. If it fails, the effect does not begin.
	Intend(ctx context.Context, e *Effect) error

	// Unknown reports whether an earlier process recorded that it began an effect, and no outcome was recorded. why
	// is the failure that was recorded instead, or nil if none could be.
	Unknown(id string) (why *Error, unknown bool)

	// Asks records that an effect needs an answer from outside, and what it asks. failed is the error with which the
	// run ends if nobody answers. Asks returns when that is durable. It is called on the effect side.
	Asks(ctx context.Context, e *Effect, failed *Error) error

	// Answered returns the answer that was sent for an effect, and whether there is one. It must not block for long.
	Answered(e *Effect) (Answer, bool)

	// Refuse drops the answer of an effect because it does not fit. The effect then waits for the next one.
	Refuse(e *Effect)

	// Leave records that the branch which needs the answer of an effect has ended. If the run continues without the
	// answer, nobody is asked any more. Leave does not wait for the store.
	Leave(e *Effect)

	// OnAnswer registers f to be called, from any goroutine, after answers have arrived. There is only one f at a
	// time.
	OnAnswer(f func())

	// Acted reports whether an earlier process of the run recorded effects below a position, other than questions
	// about the effect at that position. Recorded reports whether it recorded an effect at a position.
	Acted(position string) bool
	Recorded(position string) bool

	// Caught records that the script continued after the failure of an effect. A resumed run takes such a failure as
	// the effect's outcome; an effect whose failure nobody caught is asked for again. Caught does not wait for the
	// store.
	Caught(id string)
}

// Answer is what was sent to an effect that waits. One of its fields is set. Its JSON form is the value of a
// [Signal].
type Answer struct {
	Result   json.RawMessage `json:"result,omitempty"`   // the awaited value, the result of an effect, or the data that is approved instead
	Failed   *string         `json:"failed,omitempty"`   // why the effect failed or is denied
	Again    bool            `json:"again,omitempty"`    // the effect was not carried out: carry it out
	Approved bool            `json:"approved,omitempty"` // approved as asked
}

// EffectWait waits for a value from outside. Its request is a *[WaitRequest].
const EffectWait EffectKind = "wait"

// WaitRequest asks for a value that somebody sends to the run under a name.
type WaitRequest struct {
	Name string
	Type *generable.Type
}

// Digest implements [Payload].
func (r *WaitRequest) Digest() [32]byte {
	return abi.Hash(abi.AppendText(abi.AppendText(nil, r.Name), r.Type.ID()))
}

// MarshalJSON encodes the request for people and programs that answer it.
func (r *WaitRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}{r.Name, r.Type.String()})
}

// Unhandled returns the failure of a wait that nothing answers.
func (r *WaitRequest) Unhandled(*Effect) *Error {
	return Errorf(KindApproval, diag.WaitsForValue, "the run waits for %s, a value of type %s", strconv.Quote(r.Name), r.Type).
		WithHelp("a run that is kept in a store takes it from outside: agentscript runs answer RUN %s --result JSON; a host sends it with Engine.Signal", r.Name)
}

// Unsure returns the failure of an effect for which it is unknown whether it was carried out. why is the failure that
// was recorded, or nil if none could be.
func Unsure(e *Effect, why *Error) *Error {
	said := "its process ended before it could say"
	switch {
	case why == nil:
	case why.Code == diag.UnknownEffect: // it was asked about before
		return Errorf(KindApproval, diag.UnknownEffect, "%s", why.Message).WithHelp("%s", unsureHelp)
	case why.Kind == KindTimeout:
		said = "it had not finished when its time ran out"
	case why.Kind == KindCancelled:
		said = "it had not finished when it was cancelled"
	default:
		said = "it failed, and may have acted before: " + why.Message
	}
	return Errorf(KindApproval, diag.UnknownEffect, "it is unknown whether %s %s was carried out: %s", e.Kind, strconv.Quote(e.Name), said).WithHelp("%s", unsureHelp)
}

const unsureHelp = `see at the other side, then answer with --result JSON, --failed TEXT, or --again if it did not happen; a tool that may be repeated says effect = "idempotent"`

// Outcome returns the outcome of an effect that the answer determines. The answer must not be Again. An answer that
// does not fit what the effect asks for is an error.
func (a Answer) Outcome(e *Effect) (Outcome, *Error) {
	switch r := e.Req.(type) {
	case *ApprovalRequest:
		d, err := a.decision(r)
		return Outcome{Value: d.Value(), Attempt: 1}, err
	case *WaitRequest:
		if a.Result == nil {
			return Outcome{}, Errorf(KindInput, diag.BadSignal, "%q takes a value of type %s", r.Name, r.Type).WithHelp("send one with --result JSON")
		}
		v, err := exactly(string(a.Result), r.Type)
		if err != nil {
			return Outcome{}, Errorf(KindInput, diag.BadSignal, "what was sent to %q is no %s: %w", r.Name, r.Type, err)
		}
		return Outcome{Value: v, Attempt: 1}, nil
	}
	if a.Failed != nil {
		return Outcome{Err: Errorf(KindTool, diag.ToolFailed, "%s", *a.Failed), Attempt: 1}, nil
	}
	if a.Result == nil {
		return Outcome{}, Errorf(KindInput, diag.BadSignal, "%s %q is answered with a result, a failure, or that it is to be carried out again", e.Kind, e.Name)
	}
	v, err := exactly(string(a.Result), generable.AnyT)
	if err != nil {
		return Outcome{}, Errorf(KindInput, diag.BadSignal, "the result that was sent for %s %q cannot be read: %w", e.Kind, e.Name, err)
	}
	if err := e.unfit(v); err != nil {
		return Outcome{}, Errorf(KindInput, diag.BadSignal, "the result that was sent for %s %q is no %s: %w", e.Kind, e.Name, e.Returns, err)
	}
	return Outcome{Value: v, Attempt: 1}, nil
}

// unfit returns why a result is not of the effect's type, or nil if it is. A server may answer with a text, whatever
// its schema says.
func (e *Effect) unfit(v generable.Value) error {
	if e.Returns == nil || e.Returns.Kind == generable.AnyType {
		return nil
	}
	if _, text := v.AsStr(); text && e.ByServer() == EffectMCP {
		return nil
	}
	if _, errs := e.Returns.Convert(v); errs != nil {
		return errs
	}
	return nil
}

// decision returns the decision that answers a question.
func (a Answer) decision(r *ApprovalRequest) (Decision, *Error) {
	switch {
	case a.Approved:
		return Approve(), nil
	case a.Failed != nil:
		return Deny(*a.Failed), nil
	case a.Result == nil:
		return Decision{}, Errorf(KindInput, diag.BadSignal, "a question is approved, denied, or answered with other data")
	}
	v, err := r.Fits(string(a.Result))
	if err != nil {
		return Decision{}, Errorf(KindInput, diag.BadSignal, "the data that was sent does not fit: %w", err)
	}
	return ApproveWith(v), nil
}

// exactly decodes a value without repairs.
func exactly(text string, t *generable.Type) (generable.Value, error) {
	r := lenient.Decode(t, text, generable.Options{Level: generable.Strict})
	if !r.OK {
		return generable.Value{}, r.Errors
	}
	return r.Value, nil
}
