package engine

import (
	"time"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// EventData is what happened: a pointer to the type that belongs to the event's kind, such as
// *[TokenData]. It may be kept, and must not be changed.
type EventData interface {
	// summary returns what most kinds have, zero where this one has it not.
	summary() summary
}

type summary struct {
	phase      Phase
	name, text string
	err        *Error
}

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
	Name     string          // the model or tool
	Request  Payload         // at the start: *[model.Request], *[ToolRequest], *[ApprovalRequest], ...
	Response *model.Response // of a model, at the end
	Value    *Datum          // of a tool, or of what the budgets leave, at the end
	Usage    *model.Usage    // at the end, nil when nothing was used
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
	Value *Datum // what a tool's failed call was answered with
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
	Value *Datum // of a field or item

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

func (d *RunData) summary() summary { return summary{phase: d.Phase, err: d.Err} }

func (d *NodeData) summary() summary { return summary{phase: d.Phase, name: d.Name, err: d.Err} }

func (d *EffectData) summary() summary { return summary{phase: d.Phase, name: d.Name, err: d.Err} }

func (d *TokenData) summary() summary { return summary{name: d.Name, text: d.Text} }

func (d *ToolData) summary() summary { return summary{d.Phase, d.Name, d.Text, d.Err} }

func (d *RepairData) summary() summary { return summary{name: d.Name, text: d.Text, err: d.Err} }

func (d *BudgetData) summary() summary { return summary{name: d.Name, text: d.Text, err: d.Err} }

func (d *LogData) summary() summary { return summary{name: d.Name, text: d.Text, err: d.Err} }

func (d *PhaseData) summary() summary { return summary{name: d.Name} }

func (d *HandoffData) summary() summary { return summary{name: d.To, text: d.Type} }

func (d *DroppedData) summary() summary { return summary{name: d.Name, text: d.Text, err: d.Err} }

func (d *RetryData) summary() summary { return summary{name: d.To, err: d.Err} }

func (d *PartialData) summary() summary { return summary{name: d.What, text: d.Text} }

func (d *EscalationData) summary() summary { return summary{name: d.Name, text: d.Text} }

func (d *LeftData) summary() summary { return summary{name: d.Name, err: d.Err} }

func (d *SkillData) summary() summary { return summary{name: d.Name, text: d.Text} }

func (d *KnowledgeData) summary() summary { return summary{d.Phase, d.Name, d.Text, d.Err} }

func (d *PolicyData) summary() summary { return summary{d.Phase, d.Name, d.Text, d.Err} }

func (d *HistoryData) summary() summary { return summary{name: d.Name, text: d.Text} }

func (e Event) summary() summary {
	if e.Data == nil {
		return summary{}
	}
	return e.Data.summary()
}

// Phase returns which end of a run, node, effect or call the event is, "" where that is no question.
func (e Event) Phase() Phase { return e.summary().phase }

// Name returns what the event is about, the "name" of its JSON: a node, model, tool, ...
func (e Event) Name() string { return e.summary().name }

// Text returns the event's text, the "text" of its JSON: of a token, a log line, a result, ...
func (e Event) Text() string { return e.summary().text }

// Err returns what failed, nil when nothing did.
func (e Event) Err() *Error { return e.summary().err }
