package engine

import (
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Datum is a value that encodes as JSON.
type Datum struct{ generable.Value }

// MarshalJSON encodes the value in declared order.
func (d Datum) MarshalJSON() ([]byte, error) { return generable.AppendJSON(nil, d.Value, nil), nil }

// flatEvent is the JSON form of an event: the same keys for all kinds, in this order.
type flatEvent struct {
	Kind       EventKind       `json:"kind"`
	Phase      Phase           `json:"phase,omitempty"`
	Run        string          `json:"run"`
	Path       string          `json:"path,omitempty"`
	ID         string          `json:"id,omitempty"`
	From       string          `json:"from,omitempty"`
	Name       string          `json:"name,omitempty"`
	Attempt    int             `json:"attempt,omitempty"`
	Seq        uint64          `json:"seq"`
	At         time.Time       `json:"at"`
	Text       string          `json:"text,omitempty"`
	Reasoning  bool            `json:"reasoning,omitempty"`
	Field      string          `json:"field,omitempty"`
	Call       *CallDelta      `json:"call,omitempty"`
	Replayed   bool            `json:"replayed,omitempty"`
	Status     Status          `json:"status,omitempty"`
	Severity   Severity        `json:"severity,omitempty"`
	Usage      *model.Usage    `json:"usage,omitempty"`
	Confidence *float64        `json:"confidence,omitempty"`
	Wait       time.Duration   `json:"wait,omitempty"`
	Request    Payload         `json:"request,omitempty"`
	Response   *model.Response `json:"response,omitempty"`
	Value      *Datum          `json:"value,omitempty"`
	Err        *Error          `json:"error,omitempty"`
	Budget     *BudgetEvent    `json:"budget,omitempty"`
	Spent      []BudgetEvent   `json:"spent,omitempty"`
}

// MarshalJSON encodes the event flat: what its data holds stands beside what all events have.
func (e Event) MarshalJSON() ([]byte, error) {
	s := e.summary()
	f := flatEvent{Kind: e.Kind, Phase: s.phase, Run: e.Run, Path: e.Path, ID: e.ID, Name: s.name, Attempt: e.Attempt, Seq: e.Seq, At: e.At, Text: s.text, Err: s.err}
	switch d := e.Data.(type) {
	case *RunData:
		f.Spent = d.Spent
	case *NodeData:
		f.Status = d.Status
	case *EffectData:
		f.Request, f.Response, f.Value, f.Usage, f.Replayed = d.Request, d.Response, d.Value, d.Usage, d.Replayed
	case *TokenData:
		f.Reasoning, f.Call = d.Reasoning, d.Call
	case *RepairData:
		f.Value = d.Value
	case *BudgetData:
		f.Budget, f.Replayed = d.Change, d.Replayed
	case *HandoffData:
		f.From = d.From
	case *RetryData:
		f.From, f.Wait = d.From, d.Wait
	case *PartialData:
		f.Field, f.Value = d.Field, d.Value
	case *EscalationData:
		f.Severity = d.Severity
	case *SkillData:
		f.From, f.Confidence = d.Agent, d.Confidence
	}
	return json.Marshal(f)
}
