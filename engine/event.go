package engine

import (
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// EventKind is a bit, so that a listener can say what it wants.
type EventKind uint32

// The kinds of events. Each has its own type of [Event].Data.
const (
	EventRun     EventKind = 1 << iota // start and end of the run: [RunData]
	EventNode                          // start and end of a node: [NodeData]
	EventEffect                        // start and end of an effect: [EffectData]
	EventToken                         // streamed text: [TokenData]
	EventTool                          // a tool call and its result: [ToolData]
	EventRepair                        // a model's answer was repaired, or asked for again: [RepairData]
	EventBudget                        // a budget refused, or changed hands: [BudgetData]
	EventLog                           // print: [LogData]
	EventPhase                         // the script says what it comes to: [PhaseData]
	EventHandoff                       // a node hands its output over: [HandoffData]
	EventDropped                       // a branch failed and is left out: [DroppedData]
	EventRetry                         // an attempt at an effect failed, and another one follows: [RetryData]
	EventPartial                       // what is known of a typed answer while it arrives: [PartialData]

	EventEscalation // a tool or its mending calls for people: [EscalationData]
	EventLeft       // a tool has not returned since it was to stop, and is left behind: [LeftData]

	EventSkill     // one of several skills was chosen: [SkillData]
	EventKnowledge // a text that a skill knows was read, which is no tool event: [KnowledgeData]

	EventPolicy // a rule, a person or an interceptor decides about a call: [PolicyData]

	EventHistory // a conversation has become too long and was made shorter: [HistoryData]

	EventAll = EventRun | EventNode | EventEffect | EventToken | EventTool | EventRepair | EventBudget | EventLog | EventPhase | EventHandoff | EventDropped | EventRetry | EventPartial | EventEscalation | EventLeft | EventSkill | EventKnowledge | EventPolicy | EventHistory
)

var eventNames = map[EventKind]string{EventRun: "run", EventNode: "node", EventEffect: "effect", EventToken: "token",
	EventTool: "tool", EventRepair: "repair", EventBudget: "budget", EventLog: "log", EventPhase: "phase", EventHandoff: "handoff", EventDropped: "dropped", EventRetry: "retry", EventPartial: "partial",
	EventEscalation: "escalation", EventLeft: "left", EventSkill: "skill", EventKnowledge: "knowledge", EventPolicy: "policy", EventHistory: "history"}

func (k EventKind) String() string { return eventNames[k] }

// MarshalText gives the kind's word.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Phase says which end of a run, node or effect an event is.
type Phase string

// The phases of an event.
const (
	PhaseStart Phase = "start"
	PhaseEnd   Phase = "end"

	// PhaseProgress is of a tool that a server runs: what the server says of it meanwhile.
	PhaseProgress Phase = "progress"
)

// Event is something that happened in a run. Events are for watching: nothing that the
// engine does depends on a listener. No event carries a secret.
type Event struct {
	Kind    EventKind
	Run     string
	Path    string // the position, see [Frame]
	ID      string // of an effect
	Attempt int
	Seq     uint64 // total order within the run
	At      time.Time
	Data    EventData // what happened, one type for each kind
}

// Listener receives a run's events, one at a time and in the order of Seq; none comes after the
// end of the run. It must be quick: the run waits for it. A listener that panics is not called
// again, and its run fails.
type Listener struct {
	Kinds EventKind
	Emit  func(Event)
}

// TokenChunk is the data of tokens, allocated at once.
type TokenChunk struct{ All []TokenData }

// MaxTokenChunk bounds how many there are.
const MaxTokenChunk = 64

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
