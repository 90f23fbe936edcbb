// Package event holds the data of events: one type for each kind of [engine.Event], whose Data points to it.
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
	Spent []BudgetChange // at the end: the tokens and the money that were spent, of those that are bounded
}

// Node reports the start or the end of a node.
type Node struct {
	Phase  engine.Phase
	Name   string
	Status engine.Status // at the end
	Err    *engine.Error
	Of     any // the *[flow.Node], which no JSON holds
	Items  int // at the start of an each: how many it goes through; no JSON holds it either
}

// Effect reports the start or the end of an effect.
type Effect struct {
	Phase    engine.Phase
	Name     string           // the model or tool
	Request  engine.Payload   // at the start: *[model.Request], *[engine.ToolRequest], *[engine.ApprovalRequest], ...
	Response *model.Response  // of a model, at the end
	Value    *generable.Value // of a tool, or of what the budgets leave, at the end
	Usage    *model.Usage     // at the end, nil when nothing was used
	Err      *engine.Error
	Replayed bool // it was answered from the record
}

// Token is a piece of a streamed answer.
type Token struct {
	Name      string // the model
	Text      string
	Reasoning bool              // of the model's thoughts, not of its answer
	Call      *engine.CallDelta // of a call; Text is empty then
}

// Tool reports a tool call.
type Tool struct {
	Phase engine.Phase
	Name  string
	Text  string // the arguments, the result, or a message of the server in between
	Err   *engine.Error

	// Of a call, and in no JSON: the *[agent.Spec] whose model calls, and the MCP server whose tool it is.
	Of     any
	Server string
	// Made is set at the end of a call that was made, or stood in for: no rule and no person denied it, and its
	// arguments could be read.
	Made bool
}

// Repair reports how an answer was repaired, or that the model was asked again.
type Repair struct {
	Name  string // the kind of repair, or who is asked again
	Text  string
	Value *generable.Value // the answer to a tool's failed call
	Err   *engine.Error
}

// Budget reports that a budget refused something, with Err, or that a budget changed.
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

// Dropped reports that a branch failed and is left out: its name, and why.
type Dropped Log

// Retry reports that an attempt failed and another follows, see [engine.Retry].
type Retry struct {
	From, To string // the models that were asked and will be asked
	Wait     time.Duration
	Err      *engine.Error
}

// Partial reports what is known of a typed answer while it arrives.
type Partial struct {
	What  string // field, item, text, variant or reset
	Field string // where in the value, as .plan.steps[2]
	Text  string
	Value *generable.Value // of a field or item

	// Snapshot returns all that is known of the value. It is valid while Emit runs, and nil when
	// another attempt begins.
	Snapshot func() generable.Value
}

// Escalation reports that a tool, or its recovery, asks for people.
type Escalation struct {
	Name     string // of the tool, "" when the model calls
	Text     string // the reason
	Severity engine.Severity
}

// Left reports a tool that was told to stop, has not returned, and is left behind.
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
	Of         any      // the *[agent.Spec], which no JSON holds
}

// Knowledge reports that a text of a skill was read. Its name is the key.
type Knowledge Tool

// Policy reports a decision about a call of a tool.
type Policy Tool

// History reports that a conversation was shortened.
type History struct {
	Name string // the agent
	Text string
}

// Route reports which of its ways a structure took: the route of a branch, the edge of a graph, the alternative
// of a fallback, whether a loop ended or was ended; or that an agent took a remedy.
type Route struct {
	Of    any    // the *[flow.Node] or *[agent.Spec], which no JSON holds
	From  string // its name
	Way   string
	Index int    // of the way, of a node
	Case  string // of a branch or graph: which variant, enum value or other case of its type came
}

// Citation reports a source that a model's answer names.
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

// BudgetChange is what an event says about a budget.
type BudgetChange struct {
	What     BudgetWhat `json:"what"`
	Budget   string     `json:"budget"`          // as messages call it: "the budget of agent \"a\""
	Scope    string     `json:"scope,omitempty"` // where it is written
	Resource string     `json:"resource"`        // as budget(...) names it: "tokens", "usd"
	Used     float64    `json:"used"`            // of money in US dollars
	Limit    float64    `json:"limit"`
	At       float64    `json:"at,omitempty"` // of a threshold: the part of the limit that is passed

	// Of an overrun: why, and of the call that it was seen at what it might have taken at most, what was
	// held for it and what it used. Of a cut: what the call might have taken and what it was held to, in tokens.
	Cause     OverrunCause `json:"cause,omitempty"`
	Requested float64      `json:"requested,omitempty"`
	Reserved  float64      `json:"reserved,omitempty"`
	Spent     float64      `json:"spent,omitempty"`
}

// OverrunCause says why a budget was overrun.
type OverrunCause string

// The causes of overruns. A call in flight may have strayed in several ways: those that say most are named.
const (
	OverrunInput         OverrunCause = "input"           // calls read more tokens than were reckoned
	OverrunLimit         OverrunCause = "limit"           // servers wrote more than the limit that they were sent
	OverrunInputAndLimit OverrunCause = "input and limit" // both
	OverrunPrice         OverrunCause = "price"           // providers ask for more than the known prices
	OverrunInside        OverrunCause = "inside"          // tools or their servers asked models by themselves
	OverrunRecord        OverrunCause = "record"          // what is recorded is more than is allowed now
)

var overrunCauses = map[OverrunCause]string{
	OverrunInput: "calls read more than was reckoned", OverrunLimit: "a server wrote more than the limit that it was sent",
	OverrunInputAndLimit: "calls read more than was reckoned, and a server wrote more than the limit that it was sent",
	OverrunPrice:         "a provider asks for more than the known prices", OverrunInside: "a tool asked a model by itself",
	OverrunRecord: "what is recorded is more than is allowed now",
}

// BudgetWhat is a kind of news.
type BudgetWhat string

// The news of budgets. Refusals are told by an event with the error.
const (
	BudgetThreshold  BudgetWhat = "budget.threshold"   // a part of the limit is used; once for each budget, resource and part
	BudgetOverrun    BudgetWhat = "budget.overrun"     // a call in flight used more than was reckoned, or a record more than is allowed now
	BudgetExtended   BudgetWhat = "budget.extended"    // the host allowed more: Limit is the new bound
	BudgetLastAnswer BudgetWhat = "budget.last_answer" // an agent is asked to answer with what it has
	BudgetSpent      BudgetWhat = "budget.spent"       // what was used in the end, which the event of a run's end says too
)

// Of says how much of the limit is used, as in "60 of 200 tokens" and "$0.06 of $0.50".
func (n *BudgetChange) Of() string {
	r := units.Resource(slices.Index(units.Args[:], n.Resource))
	if r < 0 {
		return ""
	}
	return units.AmountIn(n.Used, r) + " of " + units.Of(units.InCount(n.Limit, r), r)
}

// String says the news in a sentence.
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
