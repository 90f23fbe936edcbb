package term

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Cells returns the number of terminal cells of a text.
func Cells(s string) int { return uniseg.StringWidth(s) }

// Fit returns the longest prefix of a text that takes at most most cells. It splits no character.
func Fit(s string, most int) string {
	at, used, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var wide int
		if cluster, rest, wide, state = uniseg.FirstGraphemeClusterInString(rest, state); used+wide > most {
			break
		}
		used += wide
		at += len(cluster)
	}
	return s[:at]
}

// Clip returns s if it takes at most most cells, and otherwise as much of it as fits before an ellipsis.
func Clip(s string, most int) string {
	switch {
	case Cells(s) <= most:
		return s
	case most <= 0:
		return ""
	}
	return Fit(s, most-1) + "…"
}

// columns aligns the cells of lines, which end with tabs, in columns: those of neighbouring lines are as wide as the
// widest, and gap blanks apart.
func columns(lines string, gap int) string {
	var rows [][]string
	for line := range strings.SplitSeq(lines, "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	has := func(row, column int) bool { return row < len(rows) && column < len(rows[row])-1 } // the last cell belongs to no column
	for from := range rows {
		for column := range rows[from] {
			if !has(from, column) || from > 0 && has(from-1, column) {
				continue
			}
			most, end := 0, from
			for ; has(end, column); end++ {
				most = max(most, Cells(rows[end][column]))
			}
			for _, row := range rows[from:end] {
				row[column] += strings.Repeat(" ", most+gap-Cells(row[column]))
			}
		}
	}
	var b strings.Builder
	for i, row := range rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, cell := range row {
			b.WriteString(cell)
		}
	}
	return b.String()
}
