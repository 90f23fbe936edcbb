package main

import (
	"io"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// command is how to repeat the figures.
const command = "make bench-peers"

// report writes everything that was measured: first the bars, then the figures.
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
