package diag

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/internal/text"
)

// longestName bounds the quadratic distance; nobody mistypes a longer name.
const longestName = 128

// Suggest returns the name in among that was most likely meant by name. In this order, it prefers: the same name in
// another spelling (case, underscores), the least Damerau-Levenshtein distance, a name that begins with it. The
// distance may be 1 for names of up to two runes, and otherwise 2 or a third of the length; if the first runes differ,
// 1 or a quarter. A candidate of one rune is near only a name of two runes with the same first rune. Ties go to the
// same first rune, preferably in the same case, then to the alphabetical order, so the order of among does not matter.
func Suggest(name string, among []string) (string, bool) { return suggest(name, among) }

// suggest is Suggest over groups of names: a name of an earlier group wins over an equally good one of a later group.
func suggest(name string, groups ...[]string) (string, bool) {
	if name == "" || utf8.RuneCountInString(name) > longestName {
		return "", false
	}
	best, found := "", false
	var bestRank rank
	meant := wordOf(name, word{})
	var near word
	for _, among := range groups {
		in, nearest, any := "", rank{}, false // for this group
		for _, c := range among {
			if c == "" || c == name || len(c) > 8*longestName {
				continue
			}
			near = wordOf(c, near)
			r, ok := rankOf(meant, near)
			if ok && (!any || r.less(nearest) || r == nearest && c < in) {
				in, nearest, any = c, r, true
			}
		}
		if any && (!found || nearest.kind < bestRank.kind || nearest.kind == bestRank.kind && nearest.distance < bestRank.distance) {
			best, bestRank, found = in, nearest, true
		}
	}
	return best, found
}

// DidYouMean returns `did you mean "x"?`, or "" if no name is near.
func DidYouMean(name string, among []string) string {
	if s, ok := Suggest(name, among); ok {
		return meaning(s)
	}
	return ""
}

func meaning(name string) string { return `did you mean "` + name + `"?` }

// Meant adds which name was meant by the one that the diagnostic is about: to its help, and as a fix if its span is
// that name. Of equally near names, those of an earlier group win: a script's own declarations come before predeclared
// names. It reports whether a name is near.
func (d *Diagnostic) Meant(name string, groups ...[]string) bool {
	near, ok := suggest(name, groups...)
	if ok && d.Span.Len == utf8.RuneCountInString(name) {
		d.Means(near)
	} else if ok {
		d.Help = append(d.Help, meaning(near))
	}
	return ok
}

// Means adds that name is meant by the text at the diagnostic's span.
//
//go:noinline
func (d *Diagnostic) Means(name string) {
	d.Help = append(d.Help, meaning(name))
	if d.Span.IsValid() {
		d.Fixes = append(d.Fixes, Fix{Message: "write " + name, Span: d.Span, Replacement: name})
	}
}

// A rank orders candidates: by kind of likeness, then distance, then first rune.
type rank struct {
	kind     int // 0 another spelling, 1 near, 2 begins with it
	distance int
	first    int // 0 if the first runes agree, 1 if they differ in case
}

func (r rank) less(s rank) bool {
	return cmp.Or(r.kind-s.kind, r.distance-s.distance, r.first-s.first) < 0
}

// word is a name in the forms that are compared.
type word struct {
	runes, lower, spelled []rune // as written; in lower case; without the parts that people get wrong in a name they know
}

// wordOf converts a name, reusing the memory of an old word. maxSteps and max-steps are spelled as max_steps.
func wordOf(name string, old word) word {
	w := word{old.runes[:0], old.lower[:0], old.spelled[:0]}
	for _, r := range name {
		low := unicode.ToLower(r)
		w.runes, w.lower = append(w.runes, r), append(w.lower, low)
		if r != '_' && r != '-' {
			w.spelled = append(w.spelled, low)
		}
	}
	return w
}

func rankOf(name, candidate word) (rank, bool) {
	if slices.Equal(name.spelled, candidate.spelled) {
		// Among several spellings the one that needs fewer edits wins.
		d, _ := distance(name.runes, candidate.runes, longestName)
		return rank{distance: d}, true
	}
	a, b := name.lower, candidate.lower
	first := 2
	switch {
	case name.runes[0] == candidate.runes[0]:
		first = 0
	case a[0] == b[0]:
		first = 1
	}
	limit := max(2, len(a)/3)
	switch {
	case len(a) > 3 && 2*len(b) <= len(a), len(b) == 1 && (first == 2 || len(a) > 2):
		return rank{}, false // half of a name is a different name
	case len(a) <= 2:
		limit = 1
	case first == 2:
		limit = max(1, len(a)/4) // a person who mistypes the first rune gets the others right
	}
	if d, ok := distance(a, b, limit); ok && d < len(a) {
		return rank{kind: 1, distance: d, first: first}, true
	}
	if len(a) >= 3 && len(b) > len(a) && slices.Equal(a, b[:len(a)]) {
		return rank{kind: 2, distance: len(b) - len(a)}, true
	}
	return rank{}, false
}

// distance counts the edits between a and b, swaps of neighbours included; false when above limit.
func distance(a, b []rune, limit int) (int, bool) {
	if d := len(a) - len(b); d > limit || -d > limit || differ(a, b) > 2*limit {
		return 0, false
	}
	d := text.Distance(a, b, true)
	return d, d <= limit
}

// differ returns a lower bound on the runes that only one of a and b has: each edit changes two of them.
func differ(a, b []rune) int {
	var count [64]int16
	for _, r := range a {
		count[r%64]++
	}
	for _, r := range b {
		count[r%64]--
	}
	n := 0
	for _, c := range count {
		n += max(int(c), -int(c))
	}
	return n
}
