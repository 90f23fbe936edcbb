package redact

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
)

// Event returns the data of an event without keys. Requests and outcomes of effects are already free of them.
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
		if err := s.Error(d.Err); err != d.Err {
			own := *d
			own.Err = err
			return &own
		}
	case *event.Effect:
		if err := s.Error(d.Err); err != d.Err {
			own := *d
			own.Err = err
			return &own
		}
	case *event.Tool:
		own := *d
		own.Text, own.Err = text(d.Text), s.Error(d.Err)
		return &own
	case *event.Repair:
		own := *d
		own.Text, own.Err = text(d.Text), s.Error(d.Err)
		if d.Value != nil {
			v, _ := s.Value(*d.Value)
			own.Value = &v
		}
		return &own
	case *event.Budget:
		own := *d
		own.Text, own.Err = text(d.Text), s.Error(d.Err)
		return &own
	case *event.Log:
		return &event.Log{Name: text(d.Name), Text: text(d.Text), Err: s.Error(d.Err)}
	case *event.Phase:
		return &event.Phase{Name: text(d.Name)}
	case *event.Dropped:
		return &event.Dropped{Name: d.Name, Text: text(d.Text), Err: s.Error(d.Err)}
	case *event.Retry:
		own := *d
		own.Err = s.Error(d.Err)
		return &own
	case *event.Escalation:
		own := *d
		own.Text = text(d.Text)
		return &own
	case *event.Skill:
		own := *d
		own.Text = text(d.Text)
		return &own
	case *event.Knowledge:
		own := *d
		own.Name, own.Text, own.Err = text(d.Name), text(d.Text), s.Error(d.Err)
		return &own
	case *event.Policy:
		own := *d
		own.Text, own.Err = text(d.Text), s.Error(d.Err)
		return &own
	case *event.History:
		return &event.History{Name: d.Name, Text: text(d.Text)}
	}
	return d
}
