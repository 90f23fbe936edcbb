package lenient

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// wholeKind says whether the text as a whole is a candidate.
type wholeKind uint8

const (
	wholeNone   wholeKind = iota
	wholeScalar           // as a scalar, if nothing else fits
	wholeText             // it is one valid JSON value, or exactly what is wanted: nothing else counts
)

// whole considers the text as a whole: as one valid JSON value or, for types that have scalars, as a scalar without
// quotes. For a scalar it adds a node to the tape.
func (m *Machine) whole(c *coerce.Coercer) (tape.Candidate, wholeKind) {
	s := m.scan
	start, end := trimSpan(m.src, 0, len(m.src))
	for i := range s.Cands {
		if k := &s.Cands[i]; k.Start == start && k.End == end && !k.Broken {
			return *k, wholeText
		}
	}
	fence := -1
	if !lex.StrictString(m.src[start:end]) { // reasoning tags inside a JSON string belong to it
		start, end = m.withoutReasoning(start, end)
		start, end, fence = m.withinFence(start, end)
	}
	return m.wholeAt(c, start, end, fence)
}

// wholeAt is whole for a range of the text inside the fence with the given index.
func (m *Machine) wholeAt(c *coerce.Coercer, start, end, fence int) (tape.Candidate, wholeKind) {
	s, t := m.scan, m.typ.Deref()
	if start >= end {
		return tape.Candidate{}, wholeNone
	}
	kind, odd := wholeNone, tape.RepNone
	text := m.src[start:end]
	if short := strings.TrimRight(text, ", \t\r\n"); len(short) < len(text) && m.o.Level != generable.Strict && t.Kind != generable.StrType && lex.IsLiteral(short) {
		text, end, odd = short, start+len(short), tape.RepTrailingComma // 4,
	}
	n := tape.Node{Kind: tape.NodeWord, Flags: tape.FlagHigh, Start: uint32(start), End: uint32(end), Span: 1}
	if lex.StrictString(text) {
		c.Visits += len(text)
		n.Kind, n.Flags = tape.NodeStr, tape.FlagEscape|tape.FlagHigh
		n.Start, n.End = n.Start+1, n.End-1
		kind = wholeText
	} else if len(text) <= lex.MaxLiteral || lex.StrictNumber(text) != tape.NodeWord {
		if k, rep := tape.ClassifyWord(text); k != tape.NodeWord && t.Kind != generable.StrType {
			n.Kind, kind, odd = k, wholeText, max(odd, rep)
		}
	}
	if kind == wholeNone {
		item := m.o.Level == generable.Loose && t.Kind == generable.ListType && takesScalars(t.Elem, 0) // one item may stand for the list
		switch {
		case t.Kind == generable.StrType:
			kind = wholeText // a text is wanted, and this is one
		case item, takesScalars(t, 0):
			kind = wholeScalar
		case t.Kind == generable.AnyType && m.o.Level != generable.Strict && lex.Class[text[0]]&lex.IsDigit != 0 && !strings.ContainsAny(text, " \t\r\n,;{}[]()\"'"):
			kind, odd = wholeText, tape.RepMissingQuotes // 2.0.1
		default:
			return tape.Candidate{}, wholeNone
		}
	}
	cand := tape.Candidate{Node: len(c.Tape), Start: start, End: end, Fence: int32(fence), Repairs: int32(len(s.Repairs))}
	if odd != tape.RepNone {
		s.Repairs = append(s.Repairs, tape.SynRepair{Kind: odd, Off: n.Start, End: n.End})
		cand.Broken, cand.Cost = true, tape.RepairInfo[odd].Cost
	}
	cand.RepairsEnd = int32(len(s.Repairs))
	c.Tape = append(c.Tape, n)
	return cand, kind
}

// trimSpan strips a byte order mark and blanks from a range of the text.
func trimSpan(src string, from, to int) (int, int) {
	if from == 0 && strings.HasPrefix(src, "\ufeff") {
		from = len("\ufeff")
	}
	for from < to && lex.Class[src[from]]&lex.IsBlank != 0 {
		from++
	}
	for to > from && lex.Class[src[to-1]]&lex.IsBlank != 0 {
		to--
	}
	return from, to
}

// withoutReasoning strips the reasoning regions at the beginning of a range.
func (m *Machine) withoutReasoning(start, end int) (int, int) {
	for _, t := range m.scan.Thinks {
		if t.Start <= start && t.End > start {
			start, end = trimSpan(m.src, min(t.End, end), end)
		}
	}
	return start, end
}

// withinFence narrows a range that consists of one fence to its content, and returns the index of that fence. The
// index is -1 without such a fence, or if it holds a value with brackets that is not a JSON string.
func (m *Machine) withinFence(start, end int) (int, int, int) {
	s := m.scan
	if len(s.Fences) != 1 || s.Fences[0].Start != start || s.Fences[0].End >= 0 && s.Fences[0].End+s.Fences[0].N != end {
		return start, end, -1
	}
	if from, to := m.fenced(s.Fences[0]); len(s.Cands) == 0 || from < to && lex.StrictString(m.src[from:to]) {
		return from, to, 0
	}
	return start, end, -1
}

// fenced returns the range of a fence's content. If the fence is on one line, ```json null```, the content follows
// the tag.
func (m *Machine) fenced(f tape.FenceMark) (int, int) {
	if f.End < 0 {
		return trimSpan(m.src, f.Body, len(m.src))
	}
	start, end := trimSpan(m.src, f.Body, max(f.End, f.Body))
	if _, _, inline := strings.Cut(f.Tag, " "); start == end && inline {
		start, end = trimSpan(m.src, f.Start+f.N, f.Body)
		start += strings.IndexByte(m.src[start:end], ' ')
		start, end = trimSpan(m.src, start, end)
	}
	return start, end
}

// inFence considers the content of the last fence for data without brackets, such as a scalar or a value that lacks
// its brackets, with prose around the fence.
func (m *Machine) inFence(c *coerce.Coercer, consider func(tape.Candidate) bool) {
	s := m.scan
	held := make(map[int32]bool)
	for i := range s.Cands {
		held[s.Cands[i].Fence] = true
	}
	for i := len(s.Fences) - 1; i >= 0; i-- {
		f := s.Fences[i]
		if tag, _, _ := strings.Cut(f.Tag, " "); held[int32(i)] || !isDataTag(tag) {
			continue
		}
		start, end := m.fenced(f)
		if cand, kind := m.wholeAt(c, start, end, i); kind == wholeNone || !consider(cand) {
			m.bracketedAt(c, start, end, i, consider)
		}
		return
	}
}

// isProgram reports whether a fence's language is a programming language, whose content may hold values but is not
// one.
func isProgram(tag string) bool {
	tag, _, _ = strings.Cut(strings.ToLower(tag), " ")
	switch tag {
	case "python", "py", "python3", "typescript", "ts", "tsx", "jsx", "go", "golang", "java", "kotlin", "c", "cpp", "c++", "csharp", "cs", "rust", "ruby", "php",
		"swift", "sh", "bash", "shell", "zsh", "console", "powershell", "sql", "html", "xml", "css", "diff":
		return true
	}
	return false
}

// isDataTag reports whether a fence's language says that its content is data.
func isDataTag(tag string) bool {
	switch strings.ToLower(tag) {
	case "yaml", "yml", "text", "txt", "plaintext":
		return true
	}
	return lex.IsJSONTag(tag)
}

// takesScalars reports whether a type has values that are written without brackets. The depth of inline unions is
// bounded, since a type may contain itself.
func takesScalars(t *generable.Type, depth int) bool {
	switch t = t.Deref(); t.Kind {
	case generable.BoolType, generable.IntType, generable.FloatType, generable.StrType, generable.EnumType:
		return true
	case generable.UnionType:
		return slices.ContainsFunc(t.Variants, func(v *generable.Type) bool {
			v = v.Deref()
			return v.Kind == generable.RecordType && coerce.AllOptional(v)
		})
	case generable.OneOfType:
		return depth < maxOneOfs && slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return takesScalars(v, depth+1) })
	}
	return false
}

// maxOneOfs bounds how deep inline unions are examined.
const maxOneOfs = 8

// run returns the list of the candidates, starting at index i, that are separated only by blanks and commas. It
// exists if the type is a list, or if there is no type and the text holds no other list. Otherwise, or when the first
// candidate continues an earlier run, the result has no items.
func (m *Machine) run(c *coerce.Coercer, all []tape.Candidate, i int) tape.Candidate {
	none := tape.Candidate{}
	list := all[i:]
	untyped := m.typ.Deref().Kind == generable.AnyType
	if (!takesList(m.typ, 0) && !untyped) || m.o.Level == generable.Strict || list[0].Adjacent {
		return none
	}
	n := 1
	for n < len(list) && list[n].Adjacent {
		n++
	}
	if n == 1 || untyped && n < len(all) && !m.alone(list[:n]) {
		return none
	}
	last := list[n-1]
	run := m.listOf(c, list[0].Node-1, last.Node+int(c.Tape[last.Node].Span), list[:n]) // its place was reserved
	run.RepairsEnd = last.RepairsEnd
	return run
}

// alone reports whether the text or a fence holds only the candidates.
func (m *Machine) alone(list []tape.Candidate) bool {
	start, end := trimSpan(m.src, 0, len(m.src))
	first, last := list[0], list[len(list)-1]
	if first.Fence >= 0 {
		f := m.scan.Fences[first.Fence]
		start, end = trimSpan(m.src, f.Body, max(f.End, f.Body))
	}
	return first.Start == start && strings.Trim(m.src[last.End:max(end, last.End)], ",; \t\r\n") == ""
}

// takesList reports whether a type has lists as values, or is a schema whose only field does.
func takesList(t *generable.Type, depth int) bool {
	if t = t.Deref(); t.Kind == generable.RecordType && len(t.Fields) == 1 {
		return depth < maxOneOfs && takesList(t.Fields[0].Type, depth+1)
	}
	if t.Kind == generable.OneOfType {
		return depth < maxOneOfs && slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return takesList(v, depth+1) })
	}
	return t.Kind == generable.ListType
}
