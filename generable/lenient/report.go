package lenient

import (
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// appendSyntax appends the records of the scanner's changes in a candidate.
func (m *Machine) appendSyntax(out []generable.Repair, cand tape.Candidate, list []tape.SynRepair) []generable.Repair {
	if len(list) == 0 {
		return out
	}
	from := len(out)
	for _, r := range list {
		out = append(out, m.syntaxRepair(r))
	}
	m.setPaths(cand, list, out[from:])
	return out
}

// syntaxRepair returns the record of one change by the scanner, without its path.
func (m *Machine) syntaxRepair(r tape.SynRepair) generable.Repair {
	if r.Kind == tape.RepComment {
		r.Off, r.End = commentAt(m.src, r.Off)
	}
	before := m.src[r.Off:max(r.Off, r.End)]
	return generable.Repair{
		Kind: r.Kind.String(), Offset: int(r.Off), Cost: tape.RepairInfo[r.Kind].Cost,
		Before: message.Shorten(before), After: repairAfter(r.Kind, before),
	}
}

// commentAt returns the range of the comment that was noticed at offset p: for a block comment, at its second
// character. It looks no further than what a record shows.
func commentAt(src string, p uint32) (uint32, uint32) {
	end := "\n"
	if int(p) >= len(src) {
		return p, p
	}
	if src[p] == '*' && p > 0 {
		p--
		end = "*/"
	}
	text := src[p:min(len(src), int(p)+4*message.MaxShown)]
	switch i := strings.Index(text, end); {
	case i >= 0 && end == "\n":
		text = strings.TrimRight(text[:i], "\r")
	case i >= 0:
		text = text[:i+len(end)]
	}
	return p, p + uint32(len(text))
}

// repairAfter returns what a repair of that kind reads the text before as. It is empty if a few characters cannot
// express that.
func repairAfter(kind tape.RepairKind, before string) string {
	switch kind {
	case tape.RepWrongCloser:
		if before == "]" {
			return "}"
		}
		return "]"
	case tape.RepFullWidth:
		s := tape.Scanner{Src: before}
		if c := s.Fold(0); c != 0 {
			return string(c)
		}
	case tape.RepMissingQuotes:
		return message.Quote(text.Cut(before, 2*message.MaxShown))
	case tape.RepNumber:
		if v, ok := coerce.Numeral(before); ok {
			return generable.JSON(v, nil)
		}
	case tape.RepLiteral, tape.RepTruncated:
		word, _ := tape.ClassifyWord(before)
		if word == tape.NodeWord && before != "" {
			word = lex.CutLiteral(before)
		}
		if v, ok := coerce.Plain(&tape.Node{Kind: word}, "", generable.AnyT); ok && word < tape.NodeInt {
			return generable.JSON(v, nil)
		}
	}
	return tape.RepairInfo[kind].After
}

// syntaxErrors returns the first repairs that a broken candidate would need, as errors.
func (m *Machine) syntaxErrors(cand tape.Candidate) generable.FieldErrors {
	var errs generable.FieldErrors
	list := m.scan.Repairs[cand.Repairs:cand.RepairsEnd]
	for _, r := range m.appendSyntax(nil, cand, list[:min(len(list), 8)]) {
		got := strings.ReplaceAll(r.Kind, "-", " ")
		if read := strings.Join(strings.Fields(r.Before), " "); read != "" {
			got += " `" + read + "`"
		}
		errs = append(errs, &generable.FieldError{Path: r.Path, Expected: "valid JSON", Got: got, Offset: r.Offset, Hint: "nothing is repaired at level strict"})
	}
	return errs
}

// locate adds line and column to errors, of which there are at most [message.MaxErrors].
func locate(src string, errs generable.FieldErrors) {
	for _, e := range errs {
		if e.Offset >= 0 && e.Offset <= len(src) {
			before := src[:e.Offset]
			e.Line = 1 + strings.Count(before, "\n")
			e.Col = 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
		}
	}
}

// Complaint returns the text to send to the model when asking again; see [generable.FieldErrors.Complaint]. It is
// empty when nothing is wrong.
func (r Result) Complaint() string {
	if r.OK {
		return ""
	}
	return r.Errors.Complaint()
}

// RepairKinds lists the kinds of repairs.
func RepairKinds() []string {
	names := make([]string, 0, len(tape.RepairInfo)-1)
	for _, info := range tape.RepairInfo[1:] {
		names = append(names, info.Name)
	}
	return names
}
