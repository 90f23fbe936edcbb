package main

import (
	"io"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// command is the command that repeats the figures.
const command = "make bench-peers"

// report writes all results: first the bars, then the figures.
func (b *bench) report(w io.Writer) {
	measure.Bars(w, b.bars(), b.markdown, command)
	for _, t := range append(b.documentTables(), b.hostileTables()...) {
		if b.markdown {
			t.Markdown(w)
		} else {
			t.Text(w)
		}
	}
}
