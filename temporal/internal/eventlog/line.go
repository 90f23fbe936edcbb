// Package eventlog holds the events of a run on Temporal while the run is under way, and delivers them to those that
// follow it.
package eventlog

import (
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/text"
)

// Kinds are the kinds of events that a run reports. What models write takes another way, and partial values derive from
// it.
const Kinds = engine.EventAll &^ (engine.EventToken | engine.EventPartial)

// maxText bounds the text of one event. The steps of the run hold all that a tool returned.
const maxText = 16 << 10

// line is the encoded form of an event. It omits the request and the response of an effect, which are in the steps of
// the run.
type line struct {
	Bit        uint32               `json:"kind"`
	Phase      engine.Phase         `json:"phase,omitempty"`
	Run        string               `json:"run"`
	Path       string               `json:"path,omitempty"`
	ID         string               `json:"id,omitempty"`
	From       string               `json:"from,omitempty"`
	Name       string               `json:"name,omitempty"`
	Attempt    int                  `json:"attempt,omitempty"`
	Seq        uint64               `json:"seq"`
	At         time.Time            `json:"at"`
	Text       string               `json:"text,omitempty"`
	Replayed   bool                 `json:"replayed,omitempty"`
	Status     engine.Status        `json:"status,omitempty"`
	Severity   engine.Severity      `json:"severity,omitempty"`
	Usage      *model.Usage         `json:"usage,omitempty"`
	Confidence *float64             `json:"confidence,omitempty"`
	Wait       time.Duration        `json:"wait,omitempty"`
	Citation   *model.Citation      `json:"citation,omitempty"`
	Err        *engine.Error        `json:"error,omitempty"`
	Budget     *event.BudgetChange  `json:"budget,omitempty"`
	Spent      []event.BudgetChange `json:"spent,omitempty"`
	Items      int                  `json:"items,omitempty"`
	Server     string               `json:"server,omitempty"`
	Made       bool                 `json:"made,omitempty"`
	Index      int                  `json:"index,omitempty"`
	Sleep      time.Duration        `json:"sleep,omitempty"` // of an effect that sleeps
	Lists      bool                 `json:"lists,omitempty"` // an effect lists the tools of a server
}

// encode returns an event as a line of JSON.
func encode(e engine.Event) ([]byte, error) {
	l := line{Bit: uint32(e.Kind), Run: e.Run, Path: e.Path, ID: e.ID, Attempt: e.Attempt, Seq: e.Seq, At: e.At}
	if e.Data != nil {
		f := e.Data.Fields()
		l.Phase, l.From, l.Name, l.Text = f.Phase, f.From, f.Name, clip(f.Text)
		l.Replayed, l.Status, l.Severity, l.Usage, l.Confidence, l.Wait, l.Citation, l.Err = f.Replayed, f.Status, f.Severity, f.Usage, f.Confidence, f.Wait, f.Citation, f.Err
	}
	switch d := e.Data.(type) {
	case *event.Run:
		l.Spent = d.Spent
	case *event.Node:
		l.Items = d.Items
	case *event.Effect:
		l.Name = answeringModel(e, d)
		switch r := d.Request.(type) {
		case *engine.SleepRequest:
			l.Sleep = r.For
		case *remote.ListRequest:
			l.Lists = true
		}
	case *event.Tool:
		l.Server, l.Made = d.Server, d.Made
	case *event.Budget:
		l.Budget = d.Change
	case *event.Route:
		l.Index = d.Index
	}
	return json.Marshal(l)
}

// answeringModel returns the model that answers. If the script names none, only the worker knows which one it is.
func answeringModel(e engine.Event, d *event.Effect) string {
	switch {
	case d.Name != "" || !strings.HasPrefix(path.Base(e.Path), "llm") || d.Err != nil:
		return d.Name
	case d.Response != nil:
		return d.Response.Model
	}
	return "the worker's model"
}

func clip(s string) string { return text.ClipBytes(strings.ToValidUTF8(s, "\uFFFD"), maxText) }

// Decode returns the event that a line encodes.
func Decode(data []byte) (e engine.Event, err error) {
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return e, err
	}
	return engine.Event{Kind: engine.EventKind(l.Bit), Run: l.Run, Path: l.Path, ID: l.ID, Attempt: l.Attempt, Seq: l.Seq, At: l.At, Data: l.data()}, nil
}

// data returns the data of the event, or nil for an unknown kind.
func (l *line) data() engine.EventData {
	log := event.Log{Name: l.Name, Text: l.Text, Err: l.Err}
	call := event.Tool{Phase: l.Phase, Name: l.Name, Text: l.Text, Err: l.Err, Server: l.Server, Made: l.Made}
	switch engine.EventKind(l.Bit) {
	case engine.EventRun:
		return &event.Run{Phase: l.Phase, Err: l.Err, Spent: l.Spent}
	case engine.EventNode:
		return &event.Node{Phase: l.Phase, Name: l.Name, Status: l.Status, Err: l.Err, Items: l.Items}
	case engine.EventEffect:
		return &event.Effect{Phase: l.Phase, Name: l.Name, Request: l.request(), Usage: l.Usage, Err: l.Err, Replayed: l.Replayed}
	case engine.EventTool:
		return &call
	case engine.EventKnowledge:
		return (*event.Knowledge)(&call)
	case engine.EventPolicy:
		return (*event.Policy)(&call)
	case engine.EventRepair:
		return &event.Repair{Name: l.Name, Text: l.Text, Err: l.Err}
	case engine.EventBudget:
		return &event.Budget{Name: l.Name, Text: l.Text, Change: l.Budget, Err: l.Err, Replayed: l.Replayed}
	case engine.EventLog:
		return &log
	case engine.EventDropped:
		return (*event.Dropped)(&log)
	case engine.EventPhase:
		return &event.Phase{Name: l.Name}
	case engine.EventHandoff:
		return &event.Handoff{From: l.From, To: l.Name, Type: l.Text}
	case engine.EventRetry:
		return &event.Retry{From: l.From, To: l.Name, Wait: l.Wait, Err: l.Err}
	case engine.EventEscalation:
		return &event.Escalation{Name: l.Name, Text: l.Text, Severity: l.Severity}
	case engine.EventLeft:
		return &event.Left{Name: l.Name, Err: l.Err}
	case engine.EventSkill:
		return &event.Skill{Agent: l.From, Name: l.Name, Text: l.Text, Confidence: l.Confidence}
	case engine.EventHistory:
		return &event.History{Name: l.Name, Text: l.Text}
	case engine.EventRoute:
		return &event.Route{From: l.From, Way: l.Name, Case: l.Text, Index: l.Index}
	case engine.EventCitation:
		return &event.Citation{Name: l.Name, Citation: l.Citation}
	}
	return nil
}

// request returns the part of an effect's request that the line holds.
func (l *line) request() engine.Payload {
	switch {
	case l.Sleep > 0:
		return &engine.SleepRequest{For: l.Sleep}
	case l.Lists:
		return &remote.ListRequest{}
	}
	return nil
}
