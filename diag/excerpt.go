package diag

import "strings"

// An excerpt is a source line made fit to print, and where its carets go.
type excerpt struct {
	text   string
	before int // cells before the carets
	carets int // cells under carets, at least 1
}

// cutMark stands for the part of a line that is not shown.
const cutMark = "…"

// excerptOf makes line printable and cuts it to at most width cells around span.
// A span that lies beyond the line points just after it; one that is longer
// than the line ends with it.
func excerptOf(line string, span Span, width int) excerpt {
	runes := []rune(line)
	from := min(max(span.Col-1, 0), len(runes))
	to := from + min(max(span.Len, 1), max(1, len(runes)-from))

	// cell[i] is where rune i begins; the last entry is the width of the line.
	shown := make([]string, len(runes))
	cell := make([]int, len(runes)+1)
	for i, c := range runes {
		text, w := drawn(c)
		shown[i], cell[i+1] = text, cell[i]+w
	}
	lo, hi := 0, len(runes)
	if cell[len(runes)] > width {
		lo, hi = window(cell, from, min(to, len(runes)), width)
	}
	var b strings.Builder
	head := 0
	if lo > 0 {
		b.WriteString(cutMark)
		head = 1
	}
	for _, s := range shown[lo:hi] {
		b.WriteString(s)
	}
	if hi < len(runes) {
		b.WriteString(cutMark)
	}
	e := excerpt{text: b.String(), before: head + cell[from] - cell[lo]}
	e.carets = max(1, cell[max(from, min(to, hi))]-cell[from])
	return e
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
