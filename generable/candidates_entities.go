package generable

import (
	"slices"
	"strings"
)

// entities are what HTML writes for signs of JSON and for those that it needs itself.
var entities = strings.NewReplacer(
	"&quot;", `"`, "&#34;", `"`, "&#x22;", `"`, "&apos;", "'", "&#39;", "'", "&#x27;", "'",
	"&lt;", "<", "&#60;", "<", "&gt;", ">", "&#62;", ">", "&amp;", "&", "&#38;", "&",
)

// unescaped considers the values of a text that was escaped as a whole for HTML,
// {&quot;a&quot;: 1}, and reports whether there are such. A text with a quote as it is was not.
func (m *Machine) unescaped(c *coercer, consider func(candidate) bool) bool {
	if m.o.Level == Strict || strings.IndexByte(m.src, '"') >= 0 || !entityQuoted(m.src) {
		return false
	}
	start, end := trimSpan(m.src, 0, len(m.src))
	s := newScanner(m.o.MaxDepth)
	s.feed(entities.Replace(m.src[start:end]))
	s.close()
	c.visits += len(s.src) + s.visits()
	at := m.embed(c, s, start)
	for _, k := range answers(s) {
		from := len(m.scan.repairs)
		m.scan.repairs = append(m.scan.repairs, synRepair{kind: repEscaped, off: uint32(start), end: uint32(start)})
		for _, r := range s.repairs[k.repairs:k.repairsEnd] { // its offsets say nothing in the input
			m.scan.repairs = append(m.scan.repairs, synRepair{kind: r.kind, off: uint32(start), end: uint32(start)})
		}
		consider(candidate{
			node: at + k.node, start: start, end: end, fence: -1, broken: true, tooDeep: k.tooDeep, deepAt: start,
			repairs: from, repairsEnd: len(m.scan.repairs), cost: k.cost + repairInfo[repEscaped].cost,
		})
	}
	return len(s.cands) > 0
}

// entityQuoted reports whether a bracket in the text is followed by a quote as HTML writes it.
func entityQuoted(text string) bool {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], '&')
		if i < 0 {
			return false
		}
		at += i
		for _, quote := range [...]string{"&quot;", "&#34;", "&#x22;", "&#39;", "&apos;"} {
			if strings.HasPrefix(text[at:], quote) {
				before := strings.TrimRight(text[:at], " \t\r\n")
				if n := len(before); n > 0 && (before[n-1] == '{' || before[n-1] == '[') {
					return true
				}
				break
			}
		}
	}
}

// embed adds the tape of a text that was read by itself, and stands at an offset of the input. It
// returns where the nodes begin.
func (m *Machine) embed(c *coercer, s *scanner, start int) int {
	doc := uint16(len(c.docs))
	c.docs = append(c.docs, s.src)
	c.base = append(c.base, start)
	c.depths = append(c.depths, 1)
	at := len(c.tape)
	c.tape = slices.Grow(c.tape, len(s.tape))
	for _, n := range s.tape {
		n.doc = doc
		c.tape = append(c.tape, n)
	}
	return at
}
