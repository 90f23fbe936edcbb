// Package event holds the data of events: one type for each kind of [engine.Event]. An event's Data points to it.
package event

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Run reports the start or the end of a run.
type Run struct {
	Phase engine.Phase
	Err   *engine.Error
	Spent []BudgetChange // at the end: the tokens and the money that were spent, if they are limited
}

// Node reports the start or the end of a node.
type Node struct {
	Phase  engine.Phase
	Name   string
	Status engine.Status // at the end
	Err    *engine.Error
	Of     any // the *[flow.Node]; not in the JSON form
	Items  int // at the start of an each: the number of its items; not in the JSON form
}

// Effect reports the start or the end of an effect.
type Effect struct {
	Phase    engine.Phase
	Name     string           // the model or tool
	Request  engine.Payload   // at the start: *[model.Request], *[engine.ToolRequest], *[engine.ApprovalRequest], ...
	Response *model.Response  // of a model, at the end
	Value    *generable.Value // of a tool, or what remains in the budgets, at the end
	Usage    *model.Usage     // at the end, nil when nothing was used
	Err      *engine.Error
	Replayed bool // answered from the record
}

// Token is a piece of a streamed answer.
type Token struct {
	Name      string // the model
	Text      string
	Reasoning bool              // part of the model's reasoning, not of its answer
	Call      *engine.CallDelta // part of a call; Text is empty then
}

// Tool reports a tool call.
type Tool struct {
	Phase engine.Phase
	Name  string
	Text  string // the arguments, the result, or a message of the server in between
	Err   *engine.Error

	// For a call: the *[agent.Spec] whose model calls, and the MCP server that the tool belongs to. Neither is in the
	// JSON form.
	Of     any
	Server string
	// Made is set at the end of a call that was made or answered by a stand-in: no rule and no person denied it, and
	// its arguments could be read.
	Made bool
}

// Repair reports how an answer was repaired, or that the model is asked again.
type Repair struct {
	Name  string // the kind of repair, or the agent, router or tool that it concerns
	Text  string
	Value *generable.Value // the answer to a tool's failed call
	Err   *engine.Error
}

// Budget reports that a budget refused an effect, with Err, or that a budget changed.
type Budget struct {
	Name     string // the resource, or the effect that was refused
	Text     string
	Change   *BudgetChange // nil when the budget refused
	Err      *engine.Error
	Replayed bool
}

// Log is one line of the log.
type Log struct {
	Name string // the hook that failed
	Text string
	Err  *engine.Error
}

// Phase names the part of its work that the script begins.
type Phase struct{ Name string }

// Handoff reports that one node hands its output to another.
type Handoff struct{ From, To, Type string }

// Dropped reports that a branch failed and is left out. Name is the branch, Text the reason.
type Dropped Log

// Retry reports that an attempt failed and another one follows, see [engine.Retry].
type Retry struct {
	From, To string // the model that failed, and the one asked next
	Wait     time.Duration
	Err      *engine.Error
}

// Partial reports what is known of a typed answer while it arrives.
type Partial struct {
	What  string // field, item, text, variant or reset
	Field string // the position in the value, such as .plan.steps[2]
	Text  string
	Value *generable.Value // of a field or item

	// Snapshot returns everything that is known of the value. It is valid while Emit runs, and nil when another attempt
	// begins.
	Snapshot func() generable.Value
}

// Escalation reports that a tool, or its recovery, asks for a person.
type Escalation struct {
	Name     string // of the tool, "" when the model calls
	Text     string // the reason
	Severity engine.Severity
}

// Left reports a tool that was asked to stop, has not returned, and is abandoned.
type Left struct {
	Name string
	Err  *engine.Error
}

// Skill reports which skill was chosen.
type Skill struct {
	Agent      string
	Name       string   // of the skill
	Text       string   // why
	Confidence *float64 // of a model's choice, from 0 to 1
	Of         any      // the *[agent.Spec]; not in the JSON form
}

// Knowledge reports that a text of a skill was read. Name is its key.
type Knowledge Tool

// Policy reports a decision about a call of a tool.
type Policy Tool

// History reports that a conversation was shortened.
type History struct {
	Name string // the agent
	Text string
}

// Route reports which of its ways a structure took: the route of a branch, the edge of a graph, the alternative of a
// fallback, whether a loop ended by itself or reached its limit. It also reports that an agent took a remedy.
type Route struct {
	Of    any    // the *[flow.Node] or *[agent.Spec]; not in the JSON form
	From  string // the name of Of
	Way   string
	Index int    // of the way, for a node
	Case  string // for a branch or graph: the variant, enum value or other case of the type that it chose by
}

// Citation reports a source that a model's answer cites.
type Citation struct {
	Name     string // the agent
	Citation *model.Citation
}

// Fields implements [engine.EventData].
func (d *Citation) Fields() engine.EventFields {
	return engine.EventFields{Name: d.Name, Citation: d.Citation}
}

// Fields implements [engine.EventData].
func (d *Run) Fields() engine.EventFields {
	f := engine.EventFields{Phase: d.Phase, Err: d.Err}
	if len(d.Spent) > 0 {
		f.Spent = d.Spent
	}
	return f
}

// Fields implements [engine.EventData].
func (d *Node) Fields() engine.EventFields {
	return engine.EventFields{Phase: d.Phase, Name: d.Name, Status: d.Status, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *Effect) Fields() engine.EventFields {
	return engine.EventFields{Phase: d.Phase, Name: d.Name, Request: d.Request, Response: d.Response, Value: d.Value, Usage: d.Usage, Replayed: d.Replayed, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *Token) Fields() engine.EventFields {
	return engine.EventFields{Name: d.Name, Text: d.Text, Reasoning: d.Reasoning, Call: d.Call}
}

// Fields implements [engine.EventData].
func (d *Tool) Fields() engine.EventFields {
	return engine.EventFields{Phase: d.Phase, Name: d.Name, Text: d.Text, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *Repair) Fields() engine.EventFields {
	return engine.EventFields{Name: d.Name, Text: d.Text, Value: d.Value, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *Budget) Fields() engine.EventFields {
	f := engine.EventFields{Name: d.Name, Text: d.Text, Replayed: d.Replayed, Err: d.Err}
	if d.Change != nil {
		f.Budget = d.Change
	}
	return f
}

// Fields implements [engine.EventData].
func (d *Log) Fields() engine.EventFields {
	return engine.EventFields{Name: d.Name, Text: d.Text, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *Phase) Fields() engine.EventFields { return engine.EventFields{Name: d.Name} }

// Fields implements [engine.EventData].
func (d *Handoff) Fields() engine.EventFields {
	return engine.EventFields{From: d.From, Name: d.To, Text: d.Type}
}

// Fields implements [engine.EventData].
func (d *Dropped) Fields() engine.EventFields { return (*Log)(d).Fields() }

// Fields implements [engine.EventData].
func (d *Retry) Fields() engine.EventFields {
	return engine.EventFields{From: d.From, Name: d.To, Wait: d.Wait, Err: d.Err}
}

// Fields implements [engine.EventData].
func (d *Partial) Fields() engine.EventFields {
	return engine.EventFields{Name: d.What, Field: d.Field, Text: d.Text, Value: d.Value}
}

// Fields implements [engine.EventData].
func (d *Escalation) Fields() engine.EventFields {
	return engine.EventFields{Name: d.Name, Text: d.Text, Severity: d.Severity}
}

// Fields implements [engine.EventData].
func (d *Left) Fields() engine.EventFields { return engine.EventFields{Name: d.Name, Err: d.Err} }

// Fields implements [engine.EventData].
func (d *Skill) Fields() engine.EventFields {
	return engine.EventFields{From: d.Agent, Name: d.Name, Text: d.Text, Confidence: d.Confidence}
}

// Fields implements [engine.EventData].
func (d *Knowledge) Fields() engine.EventFields { return (*Tool)(d).Fields() }

// Fields implements [engine.EventData].
func (d *Policy) Fields() engine.EventFields { return (*Tool)(d).Fields() }

// Fields implements [engine.EventData].
func (d *History) Fields() engine.EventFields { return engine.EventFields{Name: d.Name, Text: d.Text} }

// Fields implements [engine.EventData].
func (d *Route) Fields() engine.EventFields {
	return engine.EventFields{From: d.From, Name: d.Way, Text: d.Case}
}

// BudgetChange describes a change of a budget.
type BudgetChange struct {
	What     BudgetWhat `json:"what"`
	Budget   string     `json:"budget"`          // as messages name it: "the budget of agent \"a\""
	Scope    string     `json:"scope,omitempty"` // where it is written
	Resource string     `json:"resource"`        // as in budget(...): "tokens", "usd"
	Used     float64    `json:"used"`            // money in US dollars
	Limit    float64    `json:"limit"`
	At       float64    `json:"at,omitempty"` // for a threshold: the fraction of the limit that is passed

	// For an overrun: its cause, and amounts of the call at which it was noticed: the most that it could have used,
	// what was reserved for it, and what it used.
	Cause     OverrunCause `json:"cause,omitempty"`
	Requested float64      `json:"requested,omitempty"`
	Reserved  float64      `json:"reserved,omitempty"`
	Spent     float64      `json:"spent,omitempty"`
}

// OverrunCause is the reason why a budget was overrun.
type OverrunCause string

// The causes of overruns. If the calls in flight exceeded their estimates in several ways, the most telling causes are
// named.
const (
	OverrunInput         OverrunCause = "input"           // calls read more tokens than estimated
	OverrunLimit         OverrunCause = "limit"           // servers wrote more than the limit in the request
	OverrunInputAndLimit OverrunCause = "input and limit" // both
	OverrunPrice         OverrunCause = "price"           // providers charge more than the known prices
	OverrunInside        OverrunCause = "inside"          // tools or their servers called models themselves
	OverrunRecord        OverrunCause = "record"          // the recorded use exceeds what is allowed now
)

var overrunCauses = map[OverrunCause]string{
	OverrunInput: "calls read more than was reckoned", OverrunLimit: "a server wrote more than the limit that it was sent",
	OverrunInputAndLimit: "calls read more than was reckoned, and a server wrote more than the limit that it was sent",
	OverrunPrice:         "a provider asks for more than the known prices", OverrunInside: "a tool called a model on its own",
	OverrunRecord: "what is recorded is more than is allowed now",
}

// BudgetWhat is a kind of change.
type BudgetWhat string

// The kinds of changes. Refusals are reported by an event with the error.
const (
	BudgetThreshold  BudgetWhat = "budget.threshold"   // a fraction of the limit is used; once for each budget, resource and fraction
	BudgetOverrun    BudgetWhat = "budget.overrun"     // a call in flight used more than estimated, or a record more than is allowed now
	BudgetExtended   BudgetWhat = "budget.extended"    // the host allowed more: Limit is the new limit
	BudgetLastAnswer BudgetWhat = "budget.last_answer" // an agent is asked to answer with what it has
	BudgetSpent      BudgetWhat = "budget.spent"       // the total use, which the event at the end of a run contains too
)

// Of returns how much of the limit is used, as in "60 of 200 tokens" and "$0.06 of $0.50".
func (n *BudgetChange) Of() string {
	r := units.Resource(slices.Index(units.Args[:], n.Resource))
	if r < 0 {
		return ""
	}
	return units.AmountIn(n.Used, r) + " of " + units.Of(units.InCount(n.Limit, r), r)
}

// String returns the change as a sentence.
func (n *BudgetChange) String() string {
	r := units.Resource(slices.Index(units.Args[:], n.Resource))
	if r < 0 {
		return fmt.Sprintf("%s: %s", n.Budget, n.What)
	}
	switch n.What {
	case BudgetThreshold:
		return fmt.Sprintf("%s: %s used (past %.0f%%)", n.Budget, n.Of(), 100*n.At)
	case BudgetOverrun:
		text := fmt.Sprintf("%s is overrun: %s used; no further call begins", n.Budget, n.Of())
		if why := overrunCauses[n.Cause]; why != "" {
			text += " (" + why + ")"
		}
		return text
	case BudgetSpent:
		return fmt.Sprintf("%s: %s used", n.Budget, n.Of())
	case BudgetExtended:
		return fmt.Sprintf("%s was extended to %s", n.Budget, units.Of(units.InCount(n.Limit, r), r))
	}
	return "a bound is reached: a last answer is asked for, without tools"
}
