package diag

import "strings"

// An excerpt is a printable source line, with the position of its carets.
type excerpt struct {
	text   string
	before int // cells before the carets
	carets int // cells under carets, at least 1
}

// cutMark stands for the part of a line that is not shown.
const cutMark = "…"

// excerptOf makes line printable and cuts it to at most width cells around span. A span beyond the end of the line
// points just after it; a span longer than the line ends with it.
//
// It only looks at the part of a long line that can be shown: many diagnostics may point into one line.
func excerptOf(line string, span Span, width int) excerpt {
	runes, from, cutHead, cutTail := around(line, max(span.Col-1, 0), 4*width)
	to := from + min(max(span.Len, 1), max(1, len(runes)-from))

	// cell[i] is where rune i begins; the last entry is the width of the line.
	shown := make([]string, len(runes))
	cell := make([]int, len(runes)+1)
	before := rune(0)
	for i, c := range runes {
		text, w := drawn(before, c)
		shown[i], cell[i+1], before = text, cell[i]+w, c
	}
	lo, hi := 0, len(runes)
	if cutHead || cutTail || cell[len(runes)] > width {
		lo, hi = window(cell, from, min(to, len(runes)), width)
	}
	var b strings.Builder
	head := 0
	if lo > 0 || cutHead {
		b.WriteString(cutMark)
		head = 1
	}
	for _, s := range shown[lo:hi] {
		b.WriteString(s)
	}
	if hi < len(runes) || cutTail {
		b.WriteString(cutMark)
	}
	e := excerpt{text: b.String(), before: head + cell[from] - cell[lo]}
	e.carets = max(1, cell[max(from, min(to, hi))]-cell[from])
	return e
}

// around returns rune number at of a line with at most reach runes on each side of it, its index among these, and
// whether the line continues at either end.
func around(line string, at, reach int) (runes []rune, from int, cutHead, cutTail bool) {
	head := 0
	if at > reach {
		head = at - reach
	}
	n := 0 // runes before i
	for i := range line {
		if n == head {
			line, cutHead = line[i:], i > 0
			break
		}
		n++
	}
	if n < head { // the line is shorter
		return around(line, n, reach)
	}
	n = 0
	for i := range line {
		if n == at-head+reach {
			line, cutTail = line[:i], true
			break
		}
		n++
	}
	runes = []rune(line)
	return runes, min(at-head, len(runes)), cutHead, cutTail
}

// window picks the runes [lo, hi) to show of a line wider than width, with room
// for a cut mark at both ends: the start of the line if the carets are in it,
// else a third of the width before them.
func window(cell []int, from, to, width int) (lo, hi int) {
	n := len(cell) - 1
	room := max(1, width-2)
	if cell[to] > room {
		for lo < from && cell[from]-cell[lo] > room/3 {
			lo++
		}
		// Near the end of the line show as much before it as there is room for.
		for lo > 0 && cell[n]-cell[lo-1] <= room {
			lo--
		}
	}
	hi = lo
	for hi < n && cell[hi+1]-cell[lo] <= room {
		hi++
	}
	return lo, max(hi, min(from+1, n))
}
