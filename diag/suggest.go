package diag

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/internal/text"
)

// longestName bounds the quadratic distance; nobody mistypes a longer name.
const longestName = 128

// Suggest gives the name of among that somebody who wrote name most likely
// meant. In this order: the same name in another spelling (case, underscores),
// the least Damerau-Levenshtein distance, a name that begins with it. The
// distance may be 1 for names of up to two runes, else 2 or a third of the
// length. Ties go to the same first rune, also in its case, then to the alphabet, so the order of
// among does not matter.
func Suggest(name string, among []string) (string, bool) {
	if name == "" || utf8.RuneCountInString(name) > longestName {
		return "", false
	}
	best, found := "", false
	var bestRank rank
	for _, c := range among {
		if c == "" || c == name {
			continue
		}
		r, ok := rankOf(name, c)
		if ok && (!found || r.less(bestRank) || r == bestRank && c < best) {
			best, bestRank, found = c, r, true
		}
	}
	return best, found
}

// DidYouMean gives `did you mean "x"?`, or "" when no name is near.
func DidYouMean(name string, among []string) string {
	if s, ok := Suggest(name, among); ok {
		return `did you mean "` + s + `"?`
	}
	return ""
}

// Meant says which name of among was meant by the one that the diagnostic is about: in its help, and
// as a fix where its span is that name. It reports whether one is near.
func (d *Diagnostic) Meant(name string, among []string) bool {
	near, ok := Suggest(name, among)
	if ok && d.Span.Len == utf8.RuneCountInString(name) {
		d.Means(near)
	} else if ok {
		d.Help = append(d.Help, DidYouMean(name, among))
	}
	return ok
}

// Means says that name is meant by what stands at the diagnostic's span.
func (d *Diagnostic) Means(name string) {
	d.Help = append(d.Help, `did you mean "`+name+`"?`)
	if d.Span.IsValid() {
		d.Fixes = append(d.Fixes, Fix{Message: "write " + name, Span: d.Span, Replacement: name})
	}
}

// A rank orders candidates: by kind of likeness, then distance, then first rune.
type rank struct {
	kind     int // 0 another spelling, 1 near, 2 begins with it
	distance int
	first    int // 0 when the first runes agree, 1 when but for their case
}

func (r rank) less(s rank) bool {
	return cmp.Or(r.kind-s.kind, r.distance-s.distance, r.first-s.first) < 0
}

func rankOf(name, candidate string) (rank, bool) {
	if spelling(name) == spelling(candidate) {
		// Among several spellings the one that needs fewer edits wins.
		d, _ := distance([]rune(name), []rune(candidate), longestName)
		return rank{distance: d}, true
	}
	a, b := []rune(strings.ToLower(name)), []rune(strings.ToLower(candidate))
	first := 2
	switch {
	case []rune(name)[0] == []rune(candidate)[0]:
		first = 0
	case a[0] == b[0]:
		first = 1
	}
	limit := max(2, len(a)/3)
	switch {
	case len(a) <= 2:
		limit = 1
	case len(a) == 3 && first == 2:
		limit = 1 // two edits in three runes leave nothing alike
	}
	if d, ok := distance(a, b, limit); ok && d < len(a) {
		return rank{kind: 1, distance: d, first: first}, true
	}
	if len(a) >= 3 && len(b) > len(a) && slices.Equal(a, b[:len(a)]) {
		return rank{kind: 2, distance: len(b) - len(a)}, true
	}
	return rank{}, false
}

// spelling folds away what people get wrong about a name they know: maxSteps
// and max-steps are max_steps.
func spelling(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

// distance counts the edits between a and b, swaps of neighbours included; false when above limit.
func distance(a, b []rune, limit int) (int, bool) {
	if d := len(a) - len(b); d > limit || -d > limit {
		return 0, false
	}
	d := text.Distance(a, b, true)
	return d, d <= limit
}
