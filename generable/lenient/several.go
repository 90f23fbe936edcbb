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

// several returns the list of the separate values in a text without a type, each about something else. A later object
// that shares a key with an earlier one replaces it: it is the final form of a draft. Brackets in a sentence are
// citations rather than values; only objects count there.
func (m *Machine) several(c *coerce.Coercer, list []tape.Candidate) tape.Candidate {
	if m.typ.Deref().Kind != generable.AnyType || m.o.Pick != generable.PickBest || m.o.Level == generable.Strict || len(list) < 2 {
		return tape.Candidate{}
	}
	if m.commented(list) {
		return m.join(c, list)
	}
	var kept []tape.Candidate
	owner := make(map[string]int) // key to the index in kept of the object that has it
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

// commented reports whether only comments, blanks and commas surround the candidates, with at least one comment
// between them.
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

// gap returns the text before candidate i of a range, back to the candidate before it. It reports false if the two
// overlap.
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

// onlyComments counts the comments of a text, and reports whether the text consists of comments, blanks and commas.
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

// collected returns the list of the separate objects in a text, for a type that wants a list of them and a text
// without a list. If some are in fences, those outside are not part of the answer.
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

// join returns a list of copies of several candidates. For fewer than two, the result has no items.
func (m *Machine) join(c *coerce.Coercer, kept []tape.Candidate) tape.Candidate {
	if len(kept) < 2 {
		return tape.Candidate{}
	}
	head, from := len(c.Tape), int32(len(m.scan.Repairs))
	c.Tape = append(c.Tape, tape.Node{})
	for _, k := range kept {
		// Repairs between them belong to values that are left out.
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

// listOf returns the list of several candidates, whose nodes lie between its own node, head, and end.
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

// valuesOnLines reports whether a text consists of values on separate lines, at least one of which is a scalar.
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

// scalarsIn counts the scalars of a text in which commas or line ends separate them; -1 when it holds anything else.
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

// scalarEnd returns the end of the first scalar of a text: after its string, else before a comma or a line end.
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

// besides returns what surrounds a candidate, and its offset, if it is not prose but something that JSON does not
// allow there: another value, a comment, a control character, signs without a word.
func (m *Machine) besides(a *attemptAt) (string, int) {
	from, to := m.withoutReasoning(trimSpan(m.src, 0, len(m.src)))
	if a.Fence >= 0 {
		from, to = m.fenced(m.scan.Fences[a.Fence])
	}
	start, end := min(from, a.Start), max(to, a.End)
	before, after := false, false // whether other values exist
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

// inWords reports whether a text holds a letter, or another visible character beyond ASCII.
func inWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || r >= 0x80 && r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r)
	})
}

// isScalar reports whether a text is a JSON scalar.
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
