// Package redact removes secrets from texts by value: it searches for the secrets themselves and for the forms
// in which programs write them, so it does not matter how they got there.
package redact

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine/internal/secretforms"
	"github.com/agentscript/agentscript/generable"
)

// Marker replaces a key.
const Marker = "[redacted]"

// Shortest is the minimum length of a key that is searched for. Servers without keys get placeholders like
// "none" or "ollama", which are not secret and occur in any text.
const Shortest = 8

// Set finds keys in texts, in one pass over each. It is immutable and safe for concurrent use; the nil Set
// finds nothing.
type Set struct {
	m      *matcher
	number uint32 // identifies the set
}

var sets atomic.Uint32

// newest caches the sets created last: all runs of a host have the same keys until those change.
var newest struct {
	sync.Mutex
	sets [4]made
	next int
}

type made struct {
	keys []string
	set  *Set
}

// New returns the set of the keys that are long enough to be secrets, nil if there are none.
func New(keys []string) *Set {
	if !slices.ContainsFunc(keys, func(key string) bool { return len(key) >= Shortest }) {
		return nil
	}
	newest.Lock()
	defer newest.Unlock()
	for _, known := range newest.sets {
		if known.set != nil && slices.Equal(known.keys, keys) {
			return known.set
		}
	}
	var words []word
	for _, key := range keys {
		if len(key) < Shortest {
			continue
		}
		for _, form := range secretforms.Of(key) { // anyone who decodes a form has the key itself
			words = append(words, word{form, Marker})
		}
	}
	s := &Set{newMatcher(words), sets.Add(1)}
	newest.sets[newest.next] = made{slices.Clone(keys), s}
	newest.next = (newest.next + 1) % len(newest.sets)
	return s
}

// String returns the text with the marker in place of every key.
func (s *Set) String(text string) string {
	if s == nil {
		return text
	}
	return s.m.replace(text)
}

// Margin returns how much of a text beyond a cut must be searched: the length of the longest form, with the
// line breaks that may split it.
func (s *Set) Margin() int {
	if s == nil {
		return 0
	}
	n := len(s.m.words[0].text)
	return n + n/8 + softRun
}

// Holds reports whether the text contains a key.
func (s *Set) Holds(text string) bool { return s != nil && s.m.holds(text) }

// Value returns the value without keys, and reports whether there were any; if not, it returns the value
// itself.
func (s *Set) Value(v generable.Value) (generable.Value, bool) {
	if s == nil {
		return v, false
	}
	return s.m.value(v)
}

// Stream redacts a text that arrives in pieces, including keys split between them: a tail that may be the
// start of a key is held back until more is known, never more than the length of a key. The end of a long code
// is held back too, since it may continue in the next line.
type Stream struct {
	Keys   *Set
	held   string
	behind string // the end of what was emitted: the line of a code may start there
}

// Add takes a piece and returns what can be emitted now, which may be empty.
func (s *Stream) Add(piece string) string {
	if s.Keys == nil {
		return piece
	}
	m := s.Keys.m
	out, left := m.scan(s.held+piece, true)
	from := len(s.behind)
	out = s.behind + out
	if m.code(out, left) < len(out) {
		if whole := m.unfolded(out); strings.HasPrefix(whole, s.behind) {
			out = whole
		}
	}
	shown := max(from, m.code(out, left))
	s.held = out[shown:] + left
	s.behind = out[max(0, shown-softRun):shown]
	return out[from:shown]
}

// End returns what was held back.
func (s *Stream) End() string {
	out := strings.TrimPrefix(s.Keys.String(s.behind+s.held), s.behind)
	s.held, s.behind = "", ""
	return out
}
