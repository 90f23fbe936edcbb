package redact

import (
	"sync"

	"github.com/agentscript/agentscript/engine"
)

// Tokens forwards the tokens of an answer without keys, however they are split.
type Tokens struct {
	Keys *Set
	Sink engine.Sink

	mu               sync.Mutex
	last             engine.Token
	answer, thoughts Stream
	calls            []*Stream // for the arguments
}

// Add forwards a piece, as far as it cannot become part of a key.
func (s *Tokens) Add(t engine.Token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer.Keys, s.thoughts.Keys = s.Keys, s.Keys
	if t.Retry != nil || t.Attempt != s.last.Attempt { // another text starts
		s.flush()
	}
	s.last = engine.Token{Attempt: t.Attempt, Seq: t.Seq}
	switch {
	case t.Retry != nil:
		r := *t.Retry
		r.Err = s.Keys.Error(r.Err)
		t.Retry = &r
		s.Sink(t)
	case t.Call != nil:
		for len(s.calls) <= t.Call.Index {
			s.calls = append(s.calls, &Stream{Keys: s.Keys})
		}
		d := *t.Call
		d.ID, d.Name, d.Args = s.Keys.String(d.ID), s.Keys.String(d.Name), s.calls[d.Index].Add(d.Args)
		if d.ID != "" || d.Name != "" || d.Args != "" {
			t.Call = &d
			s.Sink(t)
		}
	case t.Notice != "":
		t.Notice = s.Keys.String(t.Notice)
		s.Sink(t)
	case t.Reasoning:
		s.text(t, s.thoughts.Add(t.Text))
	default:
		s.text(t, s.answer.Add(t.Text))
	}
}

// Close forwards what was held back because it could have become a key.
func (s *Tokens) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
}

func (s *Tokens) flush() {
	t := s.last
	t.Reasoning = true
	s.text(t, s.thoughts.End())
	t.Reasoning = false
	s.text(t, s.answer.End())
	for i, c := range s.calls {
		if args := c.End(); args != "" {
			t.Call = &engine.CallDelta{Index: i, Args: args}
			s.Sink(t)
		}
	}
	s.calls = nil
}

func (s *Tokens) text(t engine.Token, text string) {
	if text != "" {
		t.Text = text
		s.Sink(t)
	}
}
