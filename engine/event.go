package engine

import (
	"encoding/json"
	"time"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// EventKind is the kind of an event. It is a bit, so that a listener can choose several kinds.
type EventKind uint32

// The kinds of events. Each has its own type of [Event].Data.
const (
	EventRun     EventKind = 1 << iota // start and end of the run: [event.Run]
	EventNode                          // start and end of a node: [event.Node]
	EventEffect                        // start and end of an effect: [event.Effect]
	EventToken                         // streamed text: [event.Token]
	EventTool                          // a tool call and its result: [event.Tool]
	EventRepair                        // a model's answer was repaired, or asked for again: [event.Repair]
	EventBudget                        // a budget refused, or was changed: [event.Budget]
	EventLog                           // print: [event.Log]
	EventPhase                         // the script says which part begins: [event.Phase]
	EventHandoff                       // a node hands its output over: [event.Handoff]
	EventDropped                       // a branch failed and is left out: [event.Dropped]
	EventRetry                         // an attempt at an effect failed, and another one follows: [event.Retry]
	EventPartial                       // what is known of a typed answer while it arrives: [event.Partial]

	EventEscalation // a tool, or the recovery of its call, asks for people: [event.Escalation]
	EventLeft       // a tool has not returned although it must stop, and is left behind: [event.Left]

	EventSkill     // one of several skills was chosen: [event.Skill]
	EventKnowledge // a text that belongs to a skill's knowledge was read, without a tool event: [event.Knowledge]

	EventPolicy // a rule, a person or an interceptor decides about a call: [event.Policy]

	EventHistory // a conversation became too long and was shortened: [event.History]

	EventRoute // a structure or an agent chose one of its routes: [event.Route]

	EventCitation // a model's answer names a source: [event.Citation]

	EventAll = EventRun | EventNode | EventEffect | EventToken | EventTool | EventRepair | EventBudget | EventLog | EventPhase | EventHandoff | EventDropped | EventRetry | EventPartial | EventEscalation | EventLeft | EventSkill | EventKnowledge | EventPolicy | EventHistory | EventRoute | EventCitation
)

var eventNames = map[EventKind]string{EventRun: "run", EventNode: "node", EventEffect: "effect", EventToken: "token",
	EventTool: "tool", EventRepair: "repair", EventBudget: "budget", EventLog: "log", EventPhase: "phase", EventHandoff: "handoff", EventDropped: "dropped", EventRetry: "retry", EventPartial: "partial",
	EventEscalation: "escalation", EventLeft: "left", EventSkill: "skill", EventKnowledge: "knowledge", EventPolicy: "policy", EventHistory: "history", EventRoute: "route", EventCitation: "citation"}

func (k EventKind) String() string { return eventNames[k] }

// MarshalText returns the name of the kind.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Phase says which end of a run, node or effect an event marks.
type Phase string

// The phases of an event.
const (
	PhaseStart Phase = "start"
	PhaseEnd   Phase = "end"

	// PhaseProgress marks what a server reports about a tool while it runs the tool.
	PhaseProgress Phase = "progress"
)

// Event is something that happened in a run. Events are for watching: nothing that the engine does depends on a
// listener. No event carries a secret.
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

// Listener receives a run's events, one at a time and in the order of Seq. None comes after the end of the run. Emit
// must be quick: the run waits for it. A listener that panics is not called again, and its run fails.
type Listener struct {
	Kinds EventKind
	Emit  func(Event)
}

// EventData is what happened: a pointer to the type of package event that belongs to the event's kind,
// such as *[event.Token]. It may be kept, and must not be changed.
type EventData interface {
	// Fields returns the data in the form that all kinds share. Fields that the kind does not have are zero.
	Fields() EventFields
}

// EventFields holds the data of an event of any kind: what its JSON contains in addition to the event's own fields.
type EventFields struct {
	Phase Phase  `json:"-"`
	From  string `json:"-"` // where it comes from
	Name  string `json:"-"` // what it is about

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
	Citation   *model.Citation `json:"citation,omitempty"`

	Value  *generable.Value `json:"-"`
	Err    *Error           `json:"-"`
	Budget any              `json:"-"` // *[event.BudgetChange], or nil
	Spent  any              `json:"-"` // []event.BudgetChange, or nil
}

func (e Event) fields() EventFields {
	if e.Data == nil {
		return EventFields{}
	}
	return e.Data.Fields()
}

// Phase returns which end of a run, node, effect or call the event marks, or "" if it marks none.
func (e Event) Phase() Phase { return e.fields().Phase }

// Name returns what the event is about, the "name" of its JSON: a node, model, tool, ...
func (e Event) Name() string { return e.fields().Name }

// Text returns the event's text, the "text" of its JSON: of a token, a log line, a result, ...
func (e Event) Text() string { return e.fields().Text }

// Err returns the failure, or nil if there is none.
func (e Event) Err() *Error { return e.fields().Err }

// MarshalJSON encodes the event as one flat object with the fields of its data and those that all events have. All
// kinds have the same keys, in this order.
func (e Event) MarshalJSON() ([]byte, error) {
	f := e.fields()
	var value json.RawMessage
	if f.Value != nil {
		value = generable.AppendJSON(nil, *f.Value, nil)
	}
	return json.Marshal(struct {
		Kind    EventKind `json:"kind"`
		Phase   Phase     `json:"phase,omitempty"`
		Run     string    `json:"run"`
		Path    string    `json:"path,omitempty"`
		ID      string    `json:"id,omitempty"`
		From    string    `json:"from,omitempty"`
		Name    string    `json:"name,omitempty"`
		Attempt int       `json:"attempt,omitempty"`
		Seq     uint64    `json:"seq"`
		At      time.Time `json:"at"`
		EventFields
		Value  json.RawMessage `json:"value,omitempty"`
		Err    *Error          `json:"error,omitempty"`
		Budget any             `json:"budget,omitempty"`
		Spent  any             `json:"spent,omitempty"`
	}{e.Kind, f.Phase, e.Run, e.Path, e.ID, f.From, f.Name, e.Attempt, e.Seq, e.At, f, value, f.Err, f.Budget, f.Spent})
}
