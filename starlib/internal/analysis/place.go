package analysis

import (
	"strings"
)

// placeholder stands at the cursor where a name, or a part of a string, is asked for.
const placeholder = "_at_the_cursor_"

// Place is a place in a text, and the text as it can be read with a name there.
type Place struct {
	Text  string   // with the placeholder, or recovered without it where nothing could be read
	Lost  []string // names that statements bind which are not in Text
	Word  Range    // of the name at the place, in the text as it was
	typed string   // the part of the name before the place
	found bool     // whether Text has the placeholder
	none  bool     // nothing is asked for here: a comment, a number
}

// At finds what an offset of a text asks for. The statement at the offset is completed so that it can be read, if
// that is possible; other statements that cannot be read are blanked.
func At(text string, offset int) *Place {
	text = legible(text)
	offset = max(0, min(offset, len(text)))
	from, to := wordAround(text, offset)
	p := &Place{Word: Range{from, to}, typed: text[from:offset]}
	s := &scanner{src: text}
	s.to(from)
	p.none = s.comment && s.pos >= from || s.quote == "" && from < to && text[from] >= '0' && text[from] <= '9'
	marked := text[:from] + placeholder + text[to:]
	if r := Recover(marked); strings.Contains(r.Text, placeholder) {
		p.Text, p.Lost, p.found = r.Text, r.Lost, true
		return p
	}
	starts := boundaries(marked)
	here := 0
	for here+1 < len(starts)-1 && starts[here+1] <= from {
		here++
	}
	if s.quote != "" { // the statement began before the string that is open here
		for here > 0 && starts[here] >= s.begun {
			here--
		}
	}
	for i := here; i >= 0 && i > here-mostBack && from-starts[i] < mostHead; i-- {
		if p.repair(text, starts[i]) {
			return p
		}
	}
	r := Recover(blank(text, Range{starts[here], to}))
	p.Text, p.Lost = r.Text, append(r.Lost, bound(text[starts[here]:to])...)
	return p
}

// Bounds of the search for the beginning of the statement at a place: lines that may be one, and bytes.
const (
	mostBack = 20
	mostHead = 64 << 10
)

// repair completes the statement that begins at an offset, and reports whether it can be read then.
func (p *Place) repair(text string, start int) bool {
	head, rest := text[start:p.Word.From], text[p.Word.To:]
	s := &scanner{src: head}
	s.to(len(head))
	line := len(rest)
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		line = i
	}
	end := line
	for _, b := range boundaries(rest) {
		if b > line {
			end = b
			break
		}
	}
	quote := ""
	if s.quote != "" {
		quote = s.quote
	}
	closed := quote + s.closers()
	entry := ""
	if quote == "" && len(s.open) > 0 && s.open[len(s.open)-1] == '{' {
		entry = ": None"
	}
	tail := rest[line:end]
	for _, try := range []struct{ middle, tail string }{
		{"", rest[:end]}, {entry, rest[:end]}, {quote, rest[:end]},
		{entry + closed, rest[:end]}, {entry + closed, tail}, {closed, tail},
		{entry + closed + ": pass", ""}, {entry + closed, ""}, {closed, ""}, {closed + ": pass", tail}, {": None" + closed, ""}, {" in []: pass", ""}, {"(): pass", ""}, {quote + `, "_"` + s.closers(), ""},
	} {
		chunk := head + placeholder + try.middle + try.tail
		if !parses(chunk) {
			continue
		}
		if missing := strings.Count(rest[:end], "\n") - strings.Count(try.tail, "\n"); missing > 0 {
			chunk += strings.Repeat("\n", missing)
		}
		before, behind := Recover(text[:start]), Recover(rest[end:])
		whole := before.Text + chunk + behind.Text
		if !parses(whole) {
			continue
		}
		p.Text, p.Lost, p.found = whole, append(before.Lost, behind.Lost...), true
		return true
	}
	return false
}

// Without blanks the statements that have one of some lines, but for the one at the place, and reports whether there
// were any.
func (p *Place) Without(lines []int) bool {
	tree, err := parse(p.Text)
	if err != nil {
		return false
	}
	starts := []int{0}
	for i := range len(p.Text) {
		if p.Text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	starts = append(starts, len(p.Text), len(p.Text))
	some := false
	for _, stmt := range tree.Stmts {
		from, to := stmt.Span()
		part := Range{starts[from.Line-1], starts[min(int(to.Line), len(starts)-1)]}
		if p.found && strings.Contains(p.Text[part.From:part.To], placeholder) {
			continue
		}
		for _, line := range lines {
			if int(from.Line) <= line && line <= int(to.Line) {
				p.Lost = append(p.Lost, bound(p.Text[part.From:part.To])...)
				p.Text, some = blank(p.Text, part), true
				break
			}
		}
	}
	return some
}
