package generable

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// syntaxRepairs are the records of what the scanner changed in a candidate.
func (m *Machine) syntaxRepairs(cand candidate) []Repair {
	list := m.scan.repairs[cand.repairs:cand.repairsEnd]
	if len(list) == 0 {
		return nil
	}
	paths := m.pathsAt(cand, list)
	out := make([]Repair, len(list))
	for i, r := range list {
		before := m.src[r.off:max(r.off, r.end)]
		out[i] = Repair{
			Kind: r.kind.String(), Path: paths[i], Offset: int(r.off), Cost: repairInfo[r.kind].cost,
			Before: shorten(before), After: repairAfter(r.kind, before),
		}
	}
	return out
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
		return quoteShort(cutValid(before))
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

// maxPathSteps bounds the paths of syntax repairs. What lies deeper has the path of the
// container that holds it at this depth.
const maxPathSteps = 64

// pathsAt finds the paths of repairs in one walk over the candidate's tape: the innermost
// container that had been opened, and its last member, when the repair was made.
func (m *Machine) pathsAt(cand candidate, list []synRepair) []string {
	type level struct {
		end   int // tape index behind the container
		obj   bool
		index int
		key   int
	}
	tape := m.scan.tape
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(list[a].node) - int(list[b].node) })
	out := make([]string, len(list))
	var stack []level
	c := coercer{docs: []string{m.src}, base: []int{0}, depths: []int{0}, tape: tape, partial: true}
	at := cand.node
	stop := min(len(tape), cand.node+int(tape[cand.node].span))
	for _, i := range order {
		for ; at < stop && at < int(list[i].node); at++ {
			for len(stack) > 0 && at >= stack[len(stack)-1].end {
				stack = stack[:len(stack)-1]
			}
			if len(stack) > 0 {
				top := &stack[len(stack)-1]
				switch {
				case !top.obj:
					top.index++
				case tape[at].flags&flagKey != 0:
					top.key = at
				}
			}
			switch n := &tape[at]; n.kind {
			case nodeArr, nodeObj:
				if len(stack) == maxPathSteps {
					at += int(n.span) - 1 // deeper than a path says
					continue
				}
				stack = append(stack, level{end: at + int(n.span), obj: n.kind == nodeObj, index: -1, key: -1})
			case nodeConcat:
				at += int(n.span) - 1
			}
		}
		var b []byte
		for k := range stack {
			switch l := &stack[k]; {
			case l.obj && l.key >= 0:
				b = appendKey(b, c.str(l.key))
			case !l.obj && l.index >= 0:
				b = append(strconv.AppendInt(append(b, '['), int64(l.index), 10), ']')
			}
		}
		out[i] = string(b)
	}
	return out
}

// syntaxErrors are the first repairs that a broken candidate would need, as errors.
func (m *Machine) syntaxErrors(cand candidate) FieldErrors {
	var errs FieldErrors
	for _, r := range m.syntaxRepairs(cand) {
		if len(errs) == 8 {
			break
		}
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
