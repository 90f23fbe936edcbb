package analysis

import (
	"strings"
)

// placeholder replaces a name, or a part of a string, at the cursor.
const placeholder = "_at_the_cursor_"

// Place is a place in a text, with the text in a form that can be parsed with a name at the place.
type Place struct {
	Text  string   // with the placeholder, or recovered without it if that does not parse
	Lost  []string // names bound by statements that are not in Text
	Word  Range    // the name at the place, in the original text
	typed string   // the part of the name before the place
	found bool     // whether Text has the placeholder
	text  bool     // the place is in a string
	none  bool     // nothing can be completed here: a comment, a number
}

// At examines an offset of a text. It completes the statement at the offset so that it can be parsed, if that is
// possible, and blanks other statements that cannot be parsed.
func At(text string, offset int) *Place {
	text = legible(text)
	offset = max(0, min(offset, len(text)))
	from, to := wordAround(text, offset)
	p := &Place{Word: Range{from, to}, typed: text[from:offset]}
	s := &scanner{src: text}
	s.to(from)
	p.text = s.quote != ""
	p.none = s.comment && s.pos >= from || s.quote == "" && from < to && text[from] >= '0' && text[from] <= '9'
	marked := text[:from] + placeholder + text[to:]
	if r := Recover(marked); strings.Contains(r.Text, placeholder) && (!p.text || r.Whole()) {
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
		if head, lost := mended(text[:from], starts[i]); head != "" && p.repair(head+text[from:], starts[i]) {
			p.Lost = append(p.Lost, lost...)
			return p
		}
	}
	r := Recover(blank(text, Range{starts[here], to}))
	p.Text, p.Lost = r.Text, append(r.Lost, bound(text[starts[here]:to])...)
	return p
}

// mended returns a text that ends in the block at start, with lines before the last line of the block blanked so that
// the block can be parsed, and the names that the blanked lines bind. It returns "" if there is nothing to blank.
func mended(text string, start int) (string, []string) {
	block := text[start:]
	last := strings.LastIndexByte(block, '\n') + 1
	if last == 0 || !blockHead().MatchString(block) {
		return "", nil
	}
	s := &scanner{src: block[:last]}
	s.to(last)
	gone := []Range{{last, last}}
	if !s.closed() { // blank the line that opens something, or everything from there on
		from := strings.LastIndexByte(block[:s.opened()], '\n') + 1
		if from == 0 || len(indented(block[from:last])) < len(indented(block[last:])) { // it continues in the last line
			return "", nil
		}
		gone = []Range{{from, from + strings.IndexByte(block[from:], '\n')}, {from, last}}
	}
	for _, open := range gone {
		head := blank(block[:last], open) + indented(block[last:]) + "pass"
		r := &recovering{src: head, out: []byte(head)}
		if !parses(head) && !r.lines(0, len(head)) {
			continue
		}
		var lost []string
		for _, b := range append(r.blanked, open) {
			for line := range strings.Lines(block[b.From:b.To]) {
				lost = append(lost, bound(strings.TrimLeft(line, " \t"))...)
			}
		}
		if out := text[:start] + string(r.out[:last]) + block[last:]; out != text {
			return out, lost
		}
	}
	return "", nil
}

// indented returns the white space at the start of a line.
func indented(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// The bounds of the search for the start of the statement at a place: candidate lines, and bytes.
const (
	mostBack = 20
	mostHead = 64 << 10
)

// repair completes the statement that begins at an offset, and reports whether it can then be parsed.
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
	quote, entry := s.quote, ""
	if len(s.open) > 0 && s.open[len(s.open)-1] == '{' {
		entry = ": None"
	}
	closed, keyed := quote+s.closers(), quote+entry+s.closers()
	tail := rest[line:end]
	for _, try := range []struct{ middle, tail string }{
		{"", rest[:end]}, {quote + entry, rest[:end]}, {quote, rest[:end]},
		{keyed, rest[:end]}, {keyed, tail}, {closed, tail},
		{keyed + ": pass", ""}, {keyed, ""}, {closed, ""}, {closed + ": pass", tail}, {": None" + closed, ""}, {" in []: pass", ""}, {"(): pass", ""}, {quote + `, "_"` + s.closers(), ""},
		{quote + " else None" + s.closers(), tail}, {quote + " else None" + s.closers(), ""},
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

// Without blanks the statements on the given lines, except the one at the place, and reports whether there were any.
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
