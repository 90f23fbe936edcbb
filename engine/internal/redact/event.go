package redact

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
)

// Rewritten is a request with parts that a script or host has written: the names of a memory, a server's command line.
type Rewritten interface {
	engine.Payload
	// Rewritten returns the request with its texts rewritten by f.
	Rewritten(f func(string) string) engine.Payload
}

// Event returns the data of an event without keys. Requests and outcomes of effects are already free of them, except
// for requests that are executed as written, see [Rewritten].
func (s *Set) Event(d engine.EventData) engine.EventData {
	text := s.String
	switch d := d.(type) {
	case *event.Run:
		if err := s.Error(d.Err); err != d.Err {
			own := *d
			own.Err = err
			return &own
		}
	case *event.Node:
		if err := s.Error(d.Err); err != d.Err || s.Holds(d.Name) {
			own := *d
			own.Name, own.Err = text(d.Name), err
			return &own
		}
	case *event.Effect:
		request, rewritten := d.Request.(Rewritten)
		if err := s.Error(d.Err); err != d.Err || rewritten || s.Holds(d.Name) {
			own := *d
			if own.Name, own.Err = text(d.Name), err; rewritten {
				own.Request = request.Rewritten(text)
			}
			return &own
		}
	case *event.Tool:
		own := *d
		own.Name, own.Text, own.Err = text(d.Name), text(d.Text), s.Error(d.Err)
		return &own
	case *event.Repair:
		own := *d
		own.Name, own.Text, own.Err = text(d.Name), text(d.Text), s.Error(d.Err)
		if d.Value != nil {
			v, _ := s.Value(*d.Value)
			own.Value = &v
		}
		return &own
	case *event.Budget:
		own := *d
		own.Name, own.Text, own.Err = text(d.Name), text(d.Text), s.Error(d.Err)
		if d.Change != nil {
			change := *d.Change
			change.Budget, change.Scope = text(change.Budget), text(change.Scope)
			own.Change = &change
		}
		return &own
	case *event.Log:
		return &event.Log{Name: text(d.Name), Text: text(d.Text), Err: s.Error(d.Err)}
	case *event.Phase:
		return &event.Phase{Name: text(d.Name)}
	case *event.Handoff:
		return &event.Handoff{From: text(d.From), To: text(d.To), Type: text(d.Type)}
	case *event.Route:
		own := *d
		own.From, own.Way, own.Case = text(d.From), text(d.Way), text(d.Case)
		return &own
	case *event.Dropped:
		return &event.Dropped{Name: text(d.Name), Text: text(d.Text), Err: s.Error(d.Err)}
	case *event.Retry:
		own := *d
		own.Err = s.Error(d.Err)
		return &own
	case *event.Escalation:
		own := *d
		own.Name, own.Text = text(d.Name), text(d.Text)
		return &own
	case *event.Left:
		return &event.Left{Name: text(d.Name), Err: s.Error(d.Err)}
	case *event.Skill:
		own := *d
		own.Agent, own.Name, own.Text = text(d.Agent), text(d.Name), text(d.Text)
		return &own
	case *event.Knowledge:
		own := *d
		own.Name, own.Text, own.Err = text(d.Name), text(d.Text), s.Error(d.Err)
		return &own
	case *event.Policy:
		own := *d
		own.Name, own.Text, own.Err = text(d.Name), text(d.Text), s.Error(d.Err)
		return &own
	case *event.Citation:
		c := *d.Citation
		c.EachText(func(t *string) { *t = text(*t) })
		return &event.Citation{Name: text(d.Name), Citation: &c}
	case *event.History:
		return &event.History{Name: text(d.Name), Text: text(d.Text)}
	}
	return d
}
