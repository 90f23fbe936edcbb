package engine

import (
	"sync"
	"time"
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

// emitter numbers events and hands them on in order.
type emitter struct {
	Listener
	run    string
	mu     sync.Mutex
	seq    uint64
	closed bool
	broken *Error
	tokens *tokenChunk // what the next tokens take, nil before the first
}

func (e *emitter) wants(k EventKind) bool { return e.Kinds&k != 0 && e.Emit != nil }

func (e *emitter) emit(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hand(ev)
}

// tokenChunk is the data of tokens, allocated at once.
type tokenChunk struct{ all []TokenData }

// maxTokenChunk bounds how many there are.
const maxTokenChunk = 64

// token emits a token. A run may stream thousands, and listeners may keep them: tokens are allocated
// in chunks, of which none is used twice.
func (e *emitter) token(ev Event, d TokenData) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.tokens
	if c == nil {
		c = &tokenChunk{}
		e.tokens = c
	}
	if n := cap(c.all); len(c.all) == n {
		c.all = make([]TokenData, 0, min(max(4, 2*n), maxTokenChunk))
	}
	c.all = append(c.all, d)
	ev.Kind, ev.Data = EventToken, &c.all[len(c.all)-1]
	e.hand(ev)
}

// hand numbers an event and calls the listener. The caller holds the lock.
func (e *emitter) hand(ev Event) {
	if e.closed || e.broken != nil { // a handler may have tokens left when its run is over
		return
	}
	defer func() {
		if p := recover(); p != nil {
			e.broken = panicked("the listener", p)
		}
	}()
	e.seq++
	ev.Run, ev.Seq = e.run, e.seq
	e.Emit(ev)
}

// err is why the listener is not called any more, nil while it is.
func (e *emitter) err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.broken == nil {
		return nil
	}
	return e.broken
}

func (e *emitter) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}
