// Package redact takes keys out of what a provider or a host's model gave, by value: a text is
// searched for the keys themselves, so that it does not matter how they came into it.
package redact

import (
	"errors"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/spelling"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Marker stands where a key was.
const Marker = "[redacted]"

// shortest is the length from which a key is looked for. Servers without keys are given words
// like "none" or "ollama", which are no secrets and stand in any text.
const shortest = 8

// Set finds keys in texts, in one pass over each. It is immutable and safe for concurrent use;
// the nil Set finds nothing.
type Set struct {
	patterns []string  // longest first
	first    [256]bool // bytes that a pattern begins with
}

// New returns the set of the keys that are long enough to be secrets, nil when there is none.
func New(keys []string) *Set {
	s := &Set{}
	for _, key := range keys {
		if len(key) < shortest {
			continue
		}
		for _, p := range spelling.Of(key) { // whoever decodes one gets the key itself
			if !slices.Contains(s.patterns, p) {
				s.patterns = append(s.patterns, p)
				s.first[p[0]] = true
			}
		}
	}
	if len(s.patterns) == 0 {
		return nil
	}
	slices.SortStableFunc(s.patterns, func(a, b string) int { return len(b) - len(a) })
	return s
}

// String returns the text with the marker in place of every key.
func (s *Set) String(text string) string {
	out, _ := s.scan(text, false)
	return out
}

// Holds reports whether a key stands in the text.
func (s *Set) Holds(text string) bool {
	if s == nil {
		return false
	}
	for i := range len(text) {
		if s.first[text[i]] && s.match(text[i:]) > 0 {
			return true
		}
	}
	return false
}

// scan replaces keys. When more is to come, what may be the beginning of a key is left over.
func (s *Set) scan(text string, more bool) (out, left string) {
	if s == nil {
		return text, ""
	}
	var b strings.Builder
	from := 0 // what is written to b ends here
	for i := 0; i < len(text); i++ {
		if !s.first[text[i]] {
			continue
		}
		if more && s.begins(text[i:]) {
			text, left = text[:i], text[i:]
			break
		}
		if n := s.match(text[i:]); n > 0 {
			b.WriteString(text[from:i])
			b.WriteString(Marker)
			from, i = i+n, i+n-1
		}
	}
	if from == 0 {
		return text, left
	}
	b.WriteString(text[from:])
	return b.String(), left
}

// match returns the length of the longest key that the text begins with.
func (s *Set) match(text string) int {
	for _, p := range s.patterns {
		if strings.HasPrefix(text, p) {
			return len(p)
		}
	}
	return 0
}

// begins reports whether all of the text is the beginning of a longer key.
func (s *Set) begins(text string) bool {
	for _, p := range s.patterns {
		if len(p) > len(text) && strings.HasPrefix(p, text) {
			return true
		}
	}
	return false
}

// Stream redacts a text that comes in pieces. A key that is cut by their ends is found: a tail
// that may be the beginning of one is held back until it is known, never more than a key's length.
type Stream struct {
	Keys *Set
	held string
}

// Add takes a piece and returns what can be shown by now, which may be nothing.
func (s *Stream) Add(piece string) string {
	out, left := s.Keys.scan(s.held+piece, true)
	s.held = left
	return out
}

// End returns what was held back.
func (s *Stream) End() string {
	out := s.Keys.String(s.held)
	s.held = ""
	return out
}

// Response takes keys out of an answer, in place: out of all that is text.
func (s *Set) Response(r *model.Response) {
	if s == nil {
		return
	}
	r.EachText(func(t *string) { s.each(t) })
}

// each takes keys out of texts, and reports whether there were any.
func (s *Set) each(texts ...*string) (found bool) {
	for _, t := range texts {
		if s.Holds(*t) {
			*t, found = s.String(*t), true
		}
	}
	return found
}

// Error returns the error without keys: e itself when it holds none.
func (s *Set) Error(e *engine.Error) *engine.Error {
	if s == nil || e == nil {
		return e
	}
	own := *e
	found := s.each(&own.Message, &own.Help, &own.Path, &own.Raw)
	if e.Model != nil {
		m := *e.Model
		found = s.each(&m.Name, &m.Model, &m.Code, &m.RequestID) || found
		own.Model = &m
	}
	if text := generable.JSON(e.Partial, nil); !e.Partial.IsNull() && s.Holds(text) {
		found = true
		own.Partial = lenient.Decode(generable.AnyT, s.String(text), generable.Options{}).Value
	}
	if s.inCause(e.Cause) {
		found = true
		own.Cause = s.Cause(e.Cause)
	}
	if !found {
		return e
	}
	return &own
}

// Cause returns an error without keys. One that holds none, nor any below it, stays what it is
// to errors.Is and As; of any other the text is left.
func (s *Set) Cause(err error) error {
	if !s.inCause(err) {
		return err
	}
	if e, ok := err.(*engine.Error); ok {
		return s.Error(e)
	}
	return errors.New(s.String(err.Error()))
}

func (s *Set) inCause(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case *engine.Error:
		return s.Error(e) != e
	}
	if s.Holds(err.Error()) {
		return true
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return s.inCause(w.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(w.Unwrap(), s.inCause)
	}
	return false
}
