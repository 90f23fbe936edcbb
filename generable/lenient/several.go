package lenient

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// several is the list of values that a text without a type holds apart from each other, each
// about something else. A later object with a key of an earlier one replaces it: it is the
// final form of a draft. Brackets in a sentence hold citations rather than values; only
// objects count there.
func (m *Machine) several(c *coerce.Coercer, list []tape.Candidate) tape.Candidate {
	if m.typ.Deref().Kind != generable.AnyType || m.o.Pick != generable.PickBest || m.o.Level == generable.Strict || len(list) < 2 {
		return tape.Candidate{}
	}
	if m.commented(list) {
		return m.join(c, list)
	}
	var kept []tape.Candidate
	owner := make(map[string]int) // by key, the object in kept that has it
	lists := 0
	for _, k := range list {
		root := &c.Tape[k.Node]
		switch {
		case k.TooDeep || root.Count == 0:
			continue
		case root.Kind == tape.NodeObj:
			at := len(kept)
			for key := k.Node + 1; key < k.Node+int(root.Span); key += 1 + int(c.Tape[key+1].Span) {
				if old, ok := owner[c.Raw(&c.Tape[key])]; ok {
					at = old
				}
				owner[c.Raw(&c.Tape[key])] = at
			}
			if at < len(kept) {
				kept[at] = k
				continue
			}
		case lists > 0 || k.Broken || k.Bare || k.Fence >= 0 && strings.TrimSpace(m.src[m.scan.Fences[k.Fence].Body:k.Start]) != "":
			continue
		default:
			lists++
		}
		kept = append(kept, k)
	}
	return m.join(c, kept)
}

// commented reports whether nothing but comments, blanks and commas is around the candidates, and
// some comment between them.
func (m *Machine) commented(list []tape.Candidate) bool {
	from, _ := trimSpan(m.src, 0, len(m.src))
	comments := 0
	for i := 0; i <= len(list); i++ {
		gap, ok := m.gap(list, i, from, len(m.src))
		n, only := onlyComments(gap)
		if !ok || !only {
			return false
		}
		if i > 0 && i < len(list) {
			comments += n
		}
	}
	return comments > 0
}

// gap is the text of a range before the candidate at index i, and behind the one before it. It
// reports false where the two overlap.
func (m *Machine) gap(list []tape.Candidate, i, from, to int) (string, bool) {
	if i > 0 {
		from = list[i-1].End
	}
	if i < len(list) {
		to = list[i].Start
	}
	if from > to {
		return "", false
	}
	return m.src[from:to], true
}

// onlyComments counts the comments of a text that consists of such, blanks and commas.
func onlyComments(text string) (int, bool) {
	for n := 0; ; n++ {
		text = strings.TrimLeft(text, ", \t\r\n")
		switch {
		case text == "":
			return n, true
		case strings.HasPrefix(text, "//"), text[0] == '#':
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			var ok bool
			if _, text, ok = strings.Cut(text[2:], "*/"); !ok {
				return n, false
			}
		default:
			return n, false
		}
	}
}

// collected is the list of the objects that a text holds apart from each other, where a list of
// such is wanted and the text has no other. If some are in fences, those outside are not part of
// the answer.
func (m *Machine) collected(c *coerce.Coercer, list []tape.Candidate) tape.Candidate {
	var kept []tape.Candidate
	for _, k := range list {
		fenced := k.Fence >= 0
		switch {
		case len(kept) == 0 || fenced == (kept[0].Fence >= 0):
			kept = append(kept, k)
		case fenced:
			kept = append(kept[:0], k)
		}
	}
	return m.join(c, kept)
}

// join is the list of several candidates, a copy. It has no items for one alone.
func (m *Machine) join(c *coerce.Coercer, kept []tape.Candidate) tape.Candidate {
	if len(kept) < 2 {
		return tape.Candidate{}
	}
	head, from := len(c.Tape), int32(len(m.scan.Repairs))
	c.Tape = append(c.Tape, tape.Node{})
	for _, k := range kept {
		// What was repaired between them belongs to values that are left out.
		for _, r := range m.scan.Repairs[k.Repairs:k.RepairsEnd] {
			r.Node += uint32(len(c.Tape) - k.Node)
			m.scan.Repairs = append(m.scan.Repairs, r)
		}
		c.Tape = append(c.Tape, c.Tape[k.Node:k.Node+int(c.Tape[k.Node].Span)]...)
	}
	run := m.listOf(c, head, len(c.Tape), kept)
	run.Repairs, run.RepairsEnd = from, int32(len(m.scan.Repairs))
	return run
}

// listOf is the list of several candidates, which are the nodes between its own, head, and end.
func (m *Machine) listOf(c *coerce.Coercer, head, end int, kept []tape.Candidate) tape.Candidate {
	run := kept[0]
	run.Node, run.Items, run.Broken, run.Bare = head, int32(len(kept)), true, false
	run.Cost = tape.RepairInfo[tape.RepSequence].Cost
	for _, k := range kept {
		run.Start, run.End = min(run.Start, k.Start), max(run.End, k.End)
		run.Cost += k.Cost
		run.TooDeep = run.TooDeep || k.TooDeep
	}
	c.Tape[head] = tape.Node{
		Kind: tape.NodeArr, Flags: tape.FlagRepaired, Count: uint32(len(kept)),
		Start: uint32(run.Start), End: uint32(run.End), Span: uint32(end - head),
	}
	return run
}

// valuesOnLines reports whether a text consists of values on lines of their own, of which
// some are scalars.
func (m *Machine) valuesOnLines(list []tape.Candidate) bool {
	if m.typ.Deref().Kind != generable.AnyType && !takesList(m.typ, 0) || m.o.Level == generable.Strict || len(list) == 0 {
		return false
	}
	start, end := trimSpan(m.src, 0, len(m.src))
	scalars := 0
	for i := 0; i <= len(list); i++ {
		gap, ok := m.gap(list, i, start, end)
		numbered := strings.HasSuffix(strings.TrimRight(gap, " \t"), ".") // 1. {"a": 1}
		if !ok || i < len(list) && (numbered || i > 0 && !strings.ContainsAny(gap, ",\n")) {
			return false
		}
		n := scalarsIn(gap)
		if n < 0 {
			return false
		}
		scalars += n
	}
	return scalars > 0
}

// scalarsIn counts the scalars that a text consists of, with commas or line ends between them; -1 when it holds
// something else.
func scalarsIn(text string) int {
	for n := 0; ; n++ {
		if text = strings.TrimLeft(text, ", \t\r\n"); text == "" {
			return n
		}
		end := scalarEnd(text)
		line := strings.TrimRight(text[:end], " \t\r")
		if !lex.IsLiteral(line) && !lex.StrictString(line) {
			return -1
		}
		text = text[end:]
	}
}

// scalarEnd returns where the first scalar of a text ends: behind its string, else before a comma or a line end.
func scalarEnd(text string) int {
	if text[0] == '"' {
		if p := lex.PastString(text, 0); p >= 0 {
			return p
		}
	}
	if n := strings.IndexAny(text, ",\n"); n >= 0 {
		return n
	}
	return len(text)
}

// besides returns what is around a candidate, and where, if it is no prose but what JSON does not allow there: another
// value, a comment, a control character, signs without a word.
func (m *Machine) besides(a *attemptAt) (string, int) {
	from, to := m.withoutReasoning(trimSpan(m.src, 0, len(m.src)))
	if a.Fence >= 0 {
		from, to = m.fenced(m.scan.Fences[a.Fence])
	}
	start, end := min(from, a.Start), max(to, a.End)
	before, after := false, false // whether there are other values
	for _, k := range answers(m.scan) {
		if k.End <= a.Start && k.End > start {
			start, before = k.End, true
		} else if k.Start >= a.End && k.Start < end {
			end, after = k.Start, true
		}
	}
	front, back := strings.Trim(m.src[start:a.Start], jsonBlanks), strings.Trim(m.src[a.End:end], jsonBlanks)
	words := inWords(front) || inWords(back)
	switch line := front[strings.LastIndexByte(front, '\n')+1:]; {
	case before && !inWords(front), isScalar(front), beginsComment(line), strings.HasSuffix(front, "*/"), !words && front != "", hasControl(front):
		return strings.Trim(m.src[from:a.Start], jsonBlanks), from
	case after && !inWords(back), isScalar(back), beginsComment(back), back != "" && back[0] == '#', !words && back != "", hasControl(back):
		return strings.Trim(m.src[a.End:to], jsonBlanks), a.End
	}
	return "", 0
}

const jsonBlanks = " \t\r\n"

// inWords reports whether a text holds a letter, or another sign beyond ASCII that is seen.
func inWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || r >= 0x80 && r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r)
	})
}

// isScalar reports whether a text is a scalar of JSON.
func isScalar(text string) bool {
	kind, rep := tape.ClassifyWord(text)
	return lex.StrictString(text) || kind != tape.NodeWord && rep == tape.RepNone
}

func beginsComment(text string) bool {
	return strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/*")
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune(jsonBlanks, r) })
}
