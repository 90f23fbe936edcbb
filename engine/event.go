package engine

import (
	"sync"
	"time"

	"github.com/agentscript/agentscript/generable"
)

// EventKind is a bit, so that a listener can say what it wants.
type EventKind uint32

// The kinds of events.
const (
	EventRun     EventKind = 1 << iota // start and end of the run
	EventNode                          // start and end of a node
	EventEffect                        // start and end of an effect
	EventToken                         // streamed text
	EventTool                          // a tool call and its result
	EventRepair                        // a model's answer was repaired, or asked for again
	EventBudget                        // a budget refused, or changed hands
	EventLog                           // print
	EventPhase                         // the script says what it comes to
	EventHandoff                       // a node hands its output over: From, Name (to) and Text (its type)
	EventDropped                       // a branch failed and is left out: Name, Text and Err
	EventRetry                         // an attempt at an effect failed, and another one follows: see [Retry]
	EventPartial                       // what is known of a typed answer while it arrives: Name (field, item, text, variant, reset), Field, Value or Text

	EventEscalation // a tool or its mending calls for people: Name (of the tool, "" when the model does), Text (the reason) and Severity
	EventLeft       // a tool has not returned since it was to stop, and is left behind: Name and Err

	EventSkill     // one of several skills was chosen: From (the agent), Name, Confidence and Text (why)
	EventKnowledge // a text that a skill knows was read, which is no tool event: Name (its key), Text or Err

	EventPolicy // a rule, a person or an interceptor decides about a call: Name (the tool), Text and Err

	EventHistory // a conversation has become too long and was made shorter: Name (of the agent) and Text

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
	Kind      EventKind  `json:"kind"`
	Phase     Phase      `json:"phase,omitempty"`
	Run       string     `json:"run"`
	Path      string     `json:"path,omitempty"`
	ID        string     `json:"id,omitempty"`   // of an effect
	From      string     `json:"from,omitempty"` // of a handoff; of a retry what failed, as Name is what is asked next
	Name      string     `json:"name,omitempty"`
	Attempt   int        `json:"attempt,omitempty"`
	Seq       uint64     `json:"seq"` // total order within the run
	At        time.Time  `json:"at"`
	Text      string     `json:"text,omitempty"`      // token, log line, or what was repaired
	Reasoning bool       `json:"reasoning,omitempty"` // the token is of the model's thoughts, not of its answer
	Field     string     `json:"field,omitempty"`     // where in the value a partial belongs, as .plan.steps[2]
	Call      *CallDelta `json:"call,omitempty"`      // of a token that belongs to a call
	Replayed  bool       `json:"replayed,omitempty"`
	Status    Status     `json:"status,omitempty"`   // of a node at its end
	Severity  Severity   `json:"severity,omitempty"` // of an escalation
	Usage     *Usage     `json:"usage,omitempty"`

	Confidence *float64 `json:"confidence,omitempty"` // of a skill that a model chose, from 0 to 1

	Wait time.Duration `json:"wait,omitempty"` // until a retry is made

	Request  Payload   `json:"request,omitempty"`  // of an effect at its start: *[Request], *[ToolRequest] or *[ApprovalRequest]
	Response *Response `json:"response,omitempty"` // of a model at the end of its effect
	Value    *Datum    `json:"value,omitempty"`    // of a tool, or of what the budgets leave, at the end of its effect
	Err      *Error    `json:"error,omitempty"`

	Budget *BudgetNews  `json:"budget,omitempty"` // of a budget that did not refuse
	Spent  []BudgetNews `json:"spent,omitempty"`  // of the run at its end: of the tokens and the money that bound it

	// Snapshot is, of a partial, all that is known of the value; it is valid while Emit runs.
	Snapshot func() generable.Value `json:"-"`
}

// Datum is a value that encodes as JSON.
type Datum struct{ generable.Value }

// MarshalJSON encodes the value in declared order.
func (d Datum) MarshalJSON() ([]byte, error) { return generable.AppendJSON(nil, d.Value, nil), nil }

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
}

func (e *emitter) wants(k EventKind) bool { return e.Kinds&k != 0 && e.Emit != nil }

func (e *emitter) emit(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
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
