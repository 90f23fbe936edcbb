package engine

import (
	"time"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// RunData is of the start or end of a run.
type RunData struct {
	Phase Phase
	Err   *Error
	Spent []BudgetEvent // at the end: of the tokens and the money that bound the run
}

// NodeData is of the start or end of a node.
type NodeData struct {
	Phase  Phase
	Name   string
	Status Status // at the end
	Err    *Error
}

// EffectData is of the start or end of an effect.
type EffectData struct {
	Phase    Phase
	Name     string           // the model or tool
	Request  Payload          // at the start: *[model.Request], *[ToolRequest], *[ApprovalRequest], ...
	Response *model.Response  // of a model, at the end
	Value    *generable.Value // of a tool, or of what the budgets leave, at the end
	Usage    *model.Usage     // at the end, nil when nothing was used
	Err      *Error
	Replayed bool // it was answered from the record
}

// TokenData is a piece of a streamed answer.
type TokenData struct {
	Name      string // the model
	Text      string
	Reasoning bool       // of the model's thoughts, not of its answer
	Call      *CallDelta // of a call; Text is empty then
}

// ToolData is of a tool call.
type ToolData struct {
	Phase Phase
	Name  string
	Text  string // the arguments, the result, or what a server says meanwhile
	Err   *Error
}

// RepairData says how an answer was repaired, or that it was asked for again.
type RepairData struct {
	Name  string // the kind of repair, or who is asked again
	Text  string
	Value *generable.Value // what a tool's failed call was answered with
	Err   *Error
}

// BudgetData is of a budget that refused, with Err, or that something happened to.
type BudgetData struct {
	Name     string // the resource, or the effect that was refused
	Text     string
	Change   *BudgetEvent // nil when the budget refused
	Err      *Error
	Replayed bool
}

// LogData is a line of the log.
type LogData struct {
	Name string // the hook that failed
	Text string
	Err  *Error
}

// PhaseData names what the script comes to.
type PhaseData struct{ Name string }

// HandoffData is of a node that hands its output over.
type HandoffData struct{ From, To, Type string }

// DroppedData is of a branch that failed and is left out.
type DroppedData struct {
	Name string
	Text string
	Err  *Error
}

// RetryData is of an attempt that failed and is followed by another, see [Retry].
type RetryData struct {
	From, To string // the models that were asked and will be asked
	Wait     time.Duration
	Err      *Error
}

// PartialData is what is known of a typed answer while it arrives.
type PartialData struct {
	What  string // field, item, text, variant or reset
	Field string // where in the value, as .plan.steps[2]
	Text  string
	Value *generable.Value // of a field or item

	// Snapshot returns all that is known of the value. It is valid while Emit runs, and nil when
	// another attempt begins.
	Snapshot func() generable.Value
}

// EscalationData is of a tool, or its recovery, that calls for people.
type EscalationData struct {
	Name     string // of the tool, "" when the model calls
	Text     string // the reason
	Severity Severity
}

// LeftData is of a tool that has not returned since it was to stop, and is left behind.
type LeftData struct {
	Name string
	Err  *Error
}

// SkillData is of a skill that was chosen.
type SkillData struct {
	Agent      string
	Name       string   // of the skill
	Text       string   // why
	Confidence *float64 // of a model's choice, from 0 to 1
}

// KnowledgeData is of a text that a skill knows and that was read.
type KnowledgeData struct {
	Phase Phase
	Name  string // its key
	Text  string
	Err   *Error
}

// PolicyData is of a decision about a call.
type PolicyData struct {
	Phase Phase
	Name  string // the tool
	Text  string
	Err   *Error
}

// HistoryData is of a conversation that was made shorter.
type HistoryData struct {
	Name string // the agent
	Text string
}

// Fields implements [engine.EventData].
func (d *RunData) Fields() EventFields {
	f := EventFields{Phase: d.Phase, Err: d.Err}
	if len(d.Spent) > 0 {
		f.Spent = d.Spent
	}
	return f
}

// Fields implements [engine.EventData].
func (d *NodeData) Fields() EventFields {
	return EventFields{Phase: d.Phase, Name: d.Name, Status: d.Status, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *EffectData) Fields() EventFields {
	return EventFields{Phase: d.Phase, Name: d.Name, Request: d.Request, Response: d.Response, Value: d.Value, Usage: d.Usage, Replayed: d.Replayed, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *TokenData) Fields() EventFields {
	return EventFields{Name: d.Name, Text: d.Text, Reasoning: d.Reasoning, Call: d.Call}
}

// Fields implements [engine.EventData].
func (d *ToolData) Fields() EventFields {
	return EventFields{Phase: d.Phase, Name: d.Name, Text: d.Text, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *RepairData) Fields() EventFields {
	return EventFields{Name: d.Name, Text: d.Text, Value: d.Value, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *BudgetData) Fields() EventFields {
	f := EventFields{Name: d.Name, Text: d.Text, Replayed: d.Replayed, Err: d.Err}
	if d.Change != nil {
		f.Budget = d.Change
	}
	return f
}

// Fields implements [engine.EventData].
func (d *LogData) Fields() EventFields {
	return EventFields{Name: d.Name, Text: d.Text, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *PhaseData) Fields() EventFields { return EventFields{Name: d.Name} }

// Fields implements [engine.EventData].
func (d *HandoffData) Fields() EventFields {
	return EventFields{From: d.From, Name: d.To, Text: d.Type}
}

// Fields implements [engine.EventData].
func (d *DroppedData) Fields() EventFields {
	return EventFields{Name: d.Name, Text: d.Text, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *RetryData) Fields() EventFields {
	return EventFields{From: d.From, Name: d.To, Wait: d.Wait, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *PartialData) Fields() EventFields {
	return EventFields{Name: d.What, Field: d.Field, Text: d.Text, Value: d.Value}
}

// Fields implements [engine.EventData].
func (d *EscalationData) Fields() EventFields {
	return EventFields{Name: d.Name, Text: d.Text, Severity: d.Severity}
}

// Fields implements [engine.EventData].
func (d *LeftData) Fields() EventFields { return EventFields{Name: d.Name, Err: d.Err} }

// Fields implements [engine.EventData].
func (d *SkillData) Fields() EventFields {
	return EventFields{From: d.Agent, Name: d.Name, Text: d.Text, Confidence: d.Confidence}
}

// Fields implements [engine.EventData].
func (d *KnowledgeData) Fields() EventFields {
	return EventFields{Phase: d.Phase, Name: d.Name, Text: d.Text, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *PolicyData) Fields() EventFields {
	return EventFields{Phase: d.Phase, Name: d.Name, Text: d.Text, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *HistoryData) Fields() EventFields { return EventFields{Name: d.Name, Text: d.Text} }
