package measure

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Table is a title and rows of cells.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Text writes a table in columns.
func (t Table) Text(w io.Writer) {
	width := make([]int, len(t.Head))
	all := append([][]string{t.Head}, t.Rows...)
	for _, row := range all {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	fmt.Fprintf(w, "\n%s\n\n", t.Title)
	for _, row := range all {
		var b strings.Builder
		for i, c := range row {
			b.WriteString(c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// Markdown writes a table for a page. Rows begin without a bar: on the page with the figures, rows that begin with a
// bar have their command in the last column.
func (t Table) Markdown(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n%s\n%s\n", t.Title, strings.Join(t.Head, " | "), strings.Repeat("--- | ", len(t.Head)-1)+"---")
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			c = strings.NewReplacer("|", `\|`, "`", "", "<", `\<`).Replace(c)
			if c == "" {
				c = "–"
			}
			cells[i] = c
		}
		fmt.Fprintln(w, strings.Join(cells, " | "))
	}
}

// Bar is a target for speed or size, and whether it was met.
type Bar struct {
	What, Want, Got string
	Met             bool
}

// Bars writes the bars, if there are any. In Markdown, each has the command that repeats its figure.
func Bars(w io.Writer, bars []Bar, markdown bool, command string) {
	if len(bars) == 0 {
		return
	}
	if markdown {
		fmt.Fprint(w, "\n| what | bar | measured | command |\n|---|---|---|---|\n")
		for _, b := range bars {
			got := b.Got
			if !b.Met {
				got = "**" + got + "**"
			}
			fmt.Fprintf(w, "| %s | %s | %s | `%s` |\n", b.What, b.Want, got, command)
		}
		return
	}
	t := Table{Title: "Bars", Head: []string{"", "bar", "measured", "what"}}
	for _, b := range bars {
		met := "met"
		if !b.Met {
			met = "MISSED"
		}
		t.Rows = append(t.Rows, []string{met, b.Want, b.Got, b.What})
	}
	t.Text(w)
}

// Duration formats nanoseconds in a suitable unit.
func Duration(ns float64) string {
	switch d := time.Duration(ns); {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", ns/1e6)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case d >= 100*time.Microsecond:
		return fmt.Sprintf("%.0f µs", ns/1e3)
	}
	return fmt.Sprintf("%.1f µs", ns/1e3)
}

// Figure formats a number with about three digits.
func Figure(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
