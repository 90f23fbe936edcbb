package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is a title and rows of cells.
type table struct {
	title string
	head  []string
	rows  [][]string
}

// command is how to repeat the figures.
const command = "make bench-peers"

// text writes a table in columns.
func (t table) text(w io.Writer) {
	width := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, row := range all {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	fmt.Fprintf(w, "\n%s\n\n", t.title)
	for _, row := range all {
		var b strings.Builder
		for i, c := range row {
			b.WriteString(c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// markdown writes a table for a page. The rows begin without a bar: on the page of the figures,
// those with one have their command in the last column.
func (t table) markdown(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n%s\n%s\n", t.title, strings.Join(t.head, " | "), strings.Repeat("--- | ", len(t.head)-1)+"---")
	for _, row := range t.rows {
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

// report writes everything that was measured: first the bars, then the figures.
func (b *bench) report(w io.Writer) {
	bars := b.bars()
	if b.markdown {
		fmt.Fprint(w, "\n| what | bar | measured | command |\n|---|---|---|---|\n")
		for _, r := range bars {
			got := r.got
			if !r.met {
				got = "**" + got + "**"
			}
			fmt.Fprintf(w, "| %s | %s | %s | `%s` |\n", r.what, r.want, got, command)
		}
	} else {
		t := table{title: "Bars", head: []string{"", "bar", "measured", "what"}}
		for _, r := range bars {
			met := "met"
			if !r.met {
				met = "MISSED"
			}
			t.rows = append(t.rows, []string{met, r.want, r.got, r.what})
		}
		t.text(w)
	}
	for _, t := range append(b.documentTables(), b.hostileTables()...) {
		if b.markdown {
			t.markdown(w)
		} else {
			t.text(w)
		}
	}
}
