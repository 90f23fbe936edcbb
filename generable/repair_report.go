package generable

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/internal/text"
)

// appendSyntax appends the records of what the scanner changed in a candidate.
func (m *Machine) appendSyntax(out []Repair, cand candidate, list []synRepair) []Repair {
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

// syntaxRepair is the record of one change of the scanner's, without its path.
func (m *Machine) syntaxRepair(r synRepair) Repair {
	if r.kind == repComment {
		r.off, r.end = commentAt(m.src, r.off)
	}
	before := m.src[r.off:max(r.off, r.end)]
	return Repair{
		Kind: r.kind.String(), Offset: int(r.off), Cost: repairInfo[r.kind].cost,
		Before: shorten(before), After: repairAfter(r.kind, before),
	}
}

// commentAt is the range of the comment that was seen at offset p: in the opening of a block
// comment, at its second sign. It looks no further than what a record shows.
func commentAt(src string, p uint32) (uint32, uint32) {
	end := "\n"
	if int(p) >= len(src) {
		return p, p
	}
	if src[p] == '*' && p > 0 {
		p--
		end = "*/"
	}
	text := src[p:min(len(src), int(p)+4*maxShown)]
	switch i := strings.Index(text, end); {
	case i >= 0 && end == "\n":
		text = strings.TrimRight(text[:i], "\r")
	case i >= 0:
		text = text[:i+len(end)]
	}
	return p, p + uint32(len(text))
}

// repairAfter is what a repair of that kind reads the text before it as. It is empty where
// that cannot be said in a few signs.
func repairAfter(kind repairKind, before string) string {
	switch kind {
	case repMissingComma:
		return ","
	case repMissingColon, repOddColon:
		return ":"
	case repMissingQuote, repQuotes, repEscaped:
		return `"`
	case repInnerQuote:
		return `\"`
	case repMissingValue:
		return "null"
	case repBlank:
		return " "
	case repSet:
		return "["
	case repWrongCloser:
		if before == "]" {
			return "}"
		}
		return "]"
	case repFullWidth:
		s := scanner{src: before}
		if c := s.fold(0); c != 0 {
			return string(c)
		}
	case repMissingQuotes:
		return quoteShort(text.Cut(before, 2*maxShown))
	case repNumber:
		if v, ok := looseNumeral(before); ok {
			return JSON(v, nil)
		}
	case repLiteral, repTruncated:
		word, _ := classifyWord(before)
		if word == nodeWord && before != "" {
			word = cutLiteral(before)
		}
		switch word {
		case nodeTrue:
			return "true"
		case nodeFalse:
			return "false"
		case nodeNull:
			if before != "" {
				return "null"
			}
		}
	}
	return ""
}

// syntaxErrors are the first repairs that a broken candidate would need, as errors.
func (m *Machine) syntaxErrors(cand candidate) FieldErrors {
	var errs FieldErrors
	list := m.scan.repairs[cand.repairs:cand.repairsEnd]
	for _, r := range m.appendSyntax(nil, cand, list[:min(len(list), 8)]) {
		errs = append(errs, &FieldError{Path: r.Path, Expected: "valid JSON", Got: strings.ReplaceAll(r.Kind, "-", " "), Offset: r.Offset, Hint: "nothing is repaired at level strict"})
	}
	if len(errs) == 0 {
		errs = FieldErrors{{Expected: "valid JSON", Got: "broken JSON", Offset: cand.start}}
	}
	return errs
}

// locate adds line and column to errors, reading the text once.
func locate(src string, errs FieldErrors) {
	order := make([]*FieldError, 0, len(errs))
	for _, e := range errs {
		if e.Offset >= 0 && e.Offset <= len(src) {
			order = append(order, e)
		}
	}
	slices.SortStableFunc(order, func(a, b *FieldError) int { return a.Offset - b.Offset })
	line, col, at := 1, 1, 0
	for _, e := range order {
		for {
			n := strings.IndexByte(src[at:e.Offset], '\n')
			if n < 0 {
				break
			}
			at += n + 1
			line, col = line+1, 1
		}
		col += utf8.RuneCountInString(src[at:e.Offset])
		at = e.Offset
		e.Line, e.Col = line, col
	}
}

// Complaint is the text of a re-ask; see [FieldErrors.Complaint]. It is empty when nothing is
// wrong.
func (r Result) Complaint() string {
	if r.OK {
		return ""
	}
	return r.Errors.Complaint()
}
