package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// ApprovalRequest is what a person decides about: a call of a tool, or a question of the script. It contains nothing
// else: no prompt, no conversation, no key.
type ApprovalRequest struct {
	Tool     string // "" if the script asks
	Agent    string // whose model wants the call
	Skill    string
	Question string          // of the script
	Data     generable.Value // the arguments of the tool, a record; or what the question is about
	Why      string          // the rule that requires the decision, as in "the rule ask pay of the host"
	ID       string          // of the decision in its run, like [Effect.ID]: the same in a replay

	Type *generable.Type // of the data, for data that the person edits
}

// Digest implements [Payload]. The wording of a rule does not change what is decided about.
func (r *ApprovalRequest) Digest() [32]byte {
	b := abi.AppendText(abi.AppendText(abi.AppendText(abi.AppendText(nil, r.Tool), r.Agent), r.Skill), r.Question)
	return abi.Hash(generable.AppendCanon(b, r.Data))
}

// MarshalJSON encodes the request for people and programs that watch.
func (r *ApprovalRequest) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Tool     string          `json:"tool,omitempty"`
		Agent    string          `json:"agent,omitempty"`
		Skill    string          `json:"skill,omitempty"`
		Question string          `json:"question,omitempty"`
		Data     json.RawMessage `json:"data"`
		Why      string          `json:"why,omitempty"`
	}{r.Tool, r.Agent, r.Skill, r.Question, generable.AppendJSON(nil, r.Data, nil), r.Why})
}

// Fits decodes data that a person entered in place of the data that was asked about: JSON of the same type and
// nothing else, or the bare text if the type accepts text. Nothing is repaired, and no key may occur twice: half of
// the data would not be what the person decided on.
func (r *ApprovalRequest) Fits(text string) (generable.Value, error) {
	t := cmp.Or(r.Type, generable.AnyT)
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil && !t.AcceptsText() {
		return generable.Value{}, fmt.Errorf("write one JSON value and nothing else: %w", err)
	}
	res := lenient.Decode(t, text, generable.Options{Level: generable.Strict})
	switch {
	case !res.OK:
		return generable.Value{}, res.Errors
	case res.Cost > 0:
		return generable.Value{}, fmt.Errorf("it would need a repair (%s): write it exactly", res.Repairs[0].Kind)
	}
	return res.Value, nil
}

// Decision is what a person, or a host on their behalf, decided. The zero Decision denies.
type Decision struct {
	Approved bool
	Reason   string           // why not, or a remark; the model reads it when the call is denied
	Data     *generable.Value // approved with these arguments instead; they are checked again
}

// Approve lets a call be made as it was asked.
func Approve() Decision { return Decision{Approved: true} }

// ApproveWith lets a call be made with other arguments, a value of the tool's parameters.
func ApproveWith(data generable.Value) Decision { return Decision{Approved: true, Data: &data} }

// Deny refuses a call. The model learns the reason.
func Deny(reason string) Decision { return Decision{Reason: reason} }

// Approvals handles approvals with a function. The function may take as long as it likes, and must end when ctx does.
// It is called concurrently for calls that wait at the same time; they may be answered in any order. If it returns an
// error, the call is not made and the run waits: it fails, and asks again when it is resumed.
type Approvals func(ctx context.Context, r *ApprovalRequest) (Decision, error)

// Do implements [Handler].
func (f Approvals) Do(ctx context.Context, e *Effect, _ Sink) (out Outcome) {
	r, ok := e.Req.(*ApprovalRequest)
	if !ok {
		return Failed(Errorf(KindConfig, diag.NeedsApproval, "the request of approval %q is %T, want *engine.ApprovalRequest", e.Name, e.Req))
	}
	if f == nil {
		return Failed(r.Unhandled(e))
	}
	if r.ID == "" { // it comes from another process
		own := *r
		own.ID = e.ID()
		r = &own
	}
	return r.decidedBy(ctx, f)
}

// Unhandled returns the failure of a question that nothing can bring to a person.
func (r *ApprovalRequest) Unhandled(*Effect) *Error { return r.waits("there is no one to ask") }

// decidedBy asks the function of a host. If it panics, the call is not made.
func (r *ApprovalRequest) decidedBy(ctx context.Context, f Approvals) (out Outcome) {
	defer func() {
		if p := recover(); p != nil { // nothing was decided, and no model may learn of it
			failed := Panicked("the host's approval", p)
			waits := r.waits(failed.Message)
			waits.Raw, waits.Cause = failed.Raw, failed
			out = Failed(waits)
		}
	}()
	d, err := f(ctx, r)
	if err != nil {
		return Failed(r.waits("no one decided: " + err.Error()))
	}
	return Outcome{Value: d.Value(), Attempt: 1}
}

// ApprovalType is the schema of a decision.
var ApprovalType = &generable.Type{Kind: generable.RecordType, Name: "Approval", Doc: "What a person decided", Fields: []generable.Field{
	{Name: "approved", Type: generable.BoolT, Guide: "whether it was approved"},
	{Name: "reason", Type: generable.StrT, Guide: "why not, or a remark; empty when nothing was said"},
	{Name: "edited", Type: generable.BoolT, Guide: "whether the data differs from what was asked about"},
	{Name: "data", Type: generable.AnyT, Guide: "what was asked about, or its replacement"},
}}

func (d Decision) Value() generable.Value {
	data := generable.Value{}
	if d.Data != nil {
		data = *d.Data
	}
	return generable.NewRecord(ApprovalType, []generable.Value{generable.BoolOf(d.Approved), generable.StrOf(d.Reason),
		generable.BoolOf(d.Data != nil), data}).Value()
}

// waits returns the failure of a run that cannot continue without a decision.
func (r *ApprovalRequest) waits(why string) *Error {
	what, forbid := strconv.Quote(r.Question), ""
	if r.Tool != "" {
		forbid = ", or forbid the call with --deny"
		what = "the call " + r.Tool + text.Clip(generable.JSON(r.Data, nil), maxShownArgs) + " of agent " + strconv.Quote(r.Agent)
	}
	return Errorf(KindApproval, diag.NeedsApproval, "%s waits for a person's decision, and %s", what, why).
		WithHelp("run it on a terminal and answer there, or approve everything with --yes%s; a host answers with agentscript.WithApproval", forbid)
}

// maxShownArgs limits what an error shows of the arguments of a call.
const maxShownArgs = 200
