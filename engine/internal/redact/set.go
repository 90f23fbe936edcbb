// Package redact takes keys out of what a provider or a host's model gave, by value: a text is
// searched for the keys themselves, so that it does not matter how they came into it.
package redact

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/spelling"
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
