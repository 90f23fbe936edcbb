package grant

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/spelling"
)

// secrets replaces values by the names of what they are the values of.
type secrets struct {
	names map[string]string // by a form in which the value may come back
}

// leastSecret is the length of a value from which on it can be told from other text.
const leastSecret = 4

// add remembers a value as it is, and as URLs, forms, JSON and base64 write it. Of several names of one
// value the first in the alphabet stands for it.
func (s *secrets) add(name, text string) {
	if len(text) < leastSecret {
		return
	}
	if s.names == nil {
		s.names = map[string]string{}
	}
	for _, form := range spelling.Of(text) {
		if was, known := s.names[form]; !known || name < was {
			s.names[form] = name
		}
	}
}

// scrub puts names in the places of values: where one begins with another, that of the longer.
func (s *secrets) scrub(text string) string {
	if len(s.names) == 0 {
		return text
	}
	var pairs []string
	for _, form := range s.forms() {
		pairs = append(pairs, form, "<secret "+s.names[form]+">")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// forms are all forms of the values, longest first.
func (s *secrets) forms() []string {
	return slices.SortedFunc(maps.Keys(s.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

// longest is the length of the longest form of a value.
func (s *secrets) longest() int {
	n := 0
	for form := range s.names {
		n = max(n, len(form))
	}
	return n
}

// whole is a text that was broken off without the beginning of a value at its end.
func (s *secrets) whole(text string) string {
	end := len(text)
	for form := range s.names {
		for n := min(len(form)-1, len(text)); n > 0 && len(text)-n < end; n-- {
			if strings.HasSuffix(text, form[:n]) {
				end = len(text) - n
			}
		}
	}
	return text[:end]
}
