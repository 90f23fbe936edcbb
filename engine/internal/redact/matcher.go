package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
)

// matcher finds words in a text in one pass, however many there are. It inspects the end of a window as long
// as the shortest word; the two bytes there say how far the window can move without missing a word (Wu and
// Manber).
type matcher struct {
	words    []word // longest first
	shortest int
	first    [256]bool        // the first bytes of words
	skip     [hashes]uint8    // how far the window may move, by the hash of two bytes
	ending   map[uint16][]int // the words whose first `shortest` bytes end in two bytes of that hash
}

// word is a text to find, and its replacement.
type word struct{ text, mark string }

const hashes = 4096

func hash(a, b byte) uint16 { return (uint16(a)<<5 ^ uint16(b)) % hashes }

// newMatcher returns a matcher of words of at least two bytes, nil if there are none.
func newMatcher(words []word) *matcher {
	if len(words) == 0 {
		return nil
	}
	words = slices.Clone(words)
	sorting.By(words, func(a, b word) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.text, b.text), cmp.Compare(a.mark, b.mark))
	})
	words = slices.CompactFunc(words, func(a, b word) bool { return a.text == b.text })
	m := &matcher{words: words, shortest: min(len(words[len(words)-1].text), 255), ending: map[uint16][]int{}}
	for i := range m.skip {
		m.skip[i] = uint8(m.shortest - 1)
	}
	for i, w := range words {
		m.first[w.text[0]] = true
		for end := 1; end < m.shortest; end++ {
			h := hash(w.text[end-1], w.text[end])
			m.skip[h] = min(m.skip[h], uint8(m.shortest-1-end))
		}
		last := hash(w.text[m.shortest-2], w.text[m.shortest-1])
		m.ending[last] = append(m.ending[last], i)
	}
	return m
}

// find returns the first match at or after from, and the longest word there; -1 if there is none.
func (m *matcher) find(text string, from int) (at int, w *word) {
	for end := from + m.shortest - 1; end < len(text); {
		h := hash(text[end-1], text[end])
		if skip := m.skip[h]; skip > 0 {
			end += int(skip)
			continue
		}
		begin := text[end-m.shortest+1:]
		for _, i := range m.ending[h] {
			if w := &m.words[i]; strings.HasPrefix(begin, w.text) {
				return end - m.shortest + 1, w
			}
		}
		end++
	}
	return -1, nil
}

// replace returns a text with the words replaced by their marks: the text itself if it contains none.
func (m *matcher) replace(text string) string {
	if m == nil {
		return text
	}
	out, _ := m.scan(text, false)
	return m.unfolded(out)
}

// uncut replaces the starts of words, of at least Shortest bytes, that a cut left: what stands before "…" or
// "...".
func (m *matcher) uncut(text string) string {
	for _, cut := range []string{"…", "..."} {
		parts := strings.SplitAfter(text, cut)
		for i, part := range parts {
			part, is := strings.CutSuffix(part, cut)
			if at := m.begins(part, 0); is && len(part)-at >= Shortest {
				parts[i] = part[:at] + Marker + cut
			}
		}
		text = strings.Join(parts, "")
	}
	return text
}

// unfolded replaces words that line breaks split.
func (m *matcher) unfolded(text string) string {
	if breaks := softBreaks(text); breaks != nil {
		return m.unwrapped(text, breaks)
	}
	return text
}

// code returns the start of the code at the end of a text that may be part of a split word, or the length of
// the text. What follows it is already held back.
func (m *matcher) code(text, left string) int {
	begin := len(text)
	for begin > 0 && (coded(text[begin-1]) || text[begin-1] == '\n' || text[begin-1] == '\r') {
		begin--
	}
	if len(text)-begin+len(left) < softRun {
		return len(text)
	}
	most := len(m.words[0].text) // not counting the line breaks in it
	return max(begin, len(text)-most-most/8-softRun)
}

// holds reports whether a text contains a word.
func (m *matcher) holds(text string) bool {
	if m == nil {
		return false
	}
	if at, _ := m.find(text, 0); at >= 0 {
		return true
	}
	breaks := softBreaks(text)
	return breaks != nil && m.unwrapped(text, breaks) != text
}

// scan replaces words. If more input follows, a tail that may be the start of a word is held back.
func (m *matcher) scan(text string, more bool) (out, left string) {
	var b strings.Builder
	from := 0 // start of the text not yet written to b
	for {
		kept := len(text)
		if more {
			kept = m.begins(text, from)
		}
		at, w := m.find(text, from)
		if at < 0 || at >= kept {
			text, left = text[:kept], text[kept:]
			break
		}
		b.WriteString(text[from:at])
		b.WriteString(w.mark)
		from = at + len(w.text)
	}
	if from == 0 {
		return text, left
	}
	b.WriteString(text[from:])
	return b.String(), left
}

// begins returns the start of the tail, at or after from, that may be the start of a word; the length of the
// text if there is none.
func (m *matcher) begins(text string, from int) int {
	for i := max(from, len(text)-len(m.words[0].text)+1); i < len(text); i++ {
		if !m.first[text[i]] {
			continue
		}
		for _, w := range m.words {
			if len(w.text) <= len(text)-i {
				break
			}
			if strings.HasPrefix(w.text, text[i:]) {
				return i
			}
		}
	}
	return len(text)
}

// softRun is the number of code characters before a line break that marks it as a soft one.
const softRun = 16

// softBreaks returns the line breaks that split base64 or hex into lines, as encoders do; nil if there are
// none.
func softBreaks(text string) (breaks []int) {
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return breaks
		}
		at += next
		before := strings.TrimSuffix(text[:at], "\r")
		if at+1 == len(text) || !coded(text[at+1]) || len(before) < softRun {
			continue
		}
		if !strings.ContainsFunc(before[len(before)-softRun:], func(r rune) bool { return r >= 0x80 || !coded(byte(r)) }) {
			breaks = append(breaks, at)
		}
	}
}

// coded reports whether a byte can occur in base64 or hex.
func coded(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

// unwrapped replaces words that line breaks split.
func (m *matcher) unwrapped(text string, breaks []int) string {
	var joined strings.Builder
	cuts := make([]int, len(breaks)) // positions of the breaks in joined
	from := 0
	for i, at := range breaks {
		joined.WriteString(strings.TrimSuffix(text[from:at], "\r"))
		cuts[i], from = joined.Len(), at+1
	}
	joined.WriteString(text[from:])
	whole := joined.String()
	// original maps a position in the joined text to the text; at a cut, to the position after the break.
	original := func(at int) int {
		n, crossed := slices.BinarySearch(cuts, at)
		if crossed {
			n++
		}
		if n == 0 {
			return at
		}
		return breaks[n-1] + 1 + at - cuts[n-1]
	}
	var b strings.Builder
	from = 0
	for at := 0; ; {
		next, w := m.find(whole, at)
		if next < 0 {
			break
		}
		b.WriteString(text[from:original(next)])
		b.WriteString(w.mark)
		at = next + len(w.text)
		from = original(at-1) + 1
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// value replaces words in all texts of a value, and reports whether there were any.
func (m *matcher) value(x generable.Value) (generable.Value, bool) {
	if s, ok := x.AsStr(); ok {
		if !m.holds(s) {
			return x, false
		}
		return generable.StrOf(m.replace(s)), true
	}
	if l, ok := x.AsList(); ok {
		if items, found := m.values(l.Len(), l.At); found {
			return generable.NewList(items).Value(), true
		}
		return x, false
	}
	if r, ok := x.AsRecord(); ok {
		if vals, found := m.values(len(r.Type().Fields), r.At); found {
			return generable.NewRecord(r.Type(), vals).Value(), true
		}
		return x, false
	}
	entries, ok := x.AsMap()
	if !ok {
		return x, false
	}
	if out, found := m.entries(entries); found {
		return out.Value(), true
	}
	return x, false
}

// values replaces words in n values, and returns nil if there are none.
func (m *matcher) values(n int, at func(int) generable.Value) (out []generable.Value, found bool) {
	for i := range n {
		v, changed := m.value(at(i))
		if changed && !found {
			out, found = make([]generable.Value, n), true
			for j := range n {
				out[j] = at(j)
			}
		}
		if found {
			out[i] = v
		}
	}
	return out, found
}

func (m *matcher) entries(in *generable.Map) (*generable.Map, bool) {
	out, found := generable.NewMap(in.Len()), false
	for i := range in.Len() {
		key, item := in.At(i)
		v, changed := m.value(item)
		found = found || changed || m.holds(key)
		out.Set(m.replace(key), v)
	}
	return out, found
}
