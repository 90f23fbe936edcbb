package engine

import "time"

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
