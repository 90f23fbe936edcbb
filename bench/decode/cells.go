package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentscript/agentscript/bench/internal/measure"
)

// cell is one engine on one document.
type cell struct {
	engine *engine
	doc    *document
	as     string // the table that it belongs to: a variant, or streamed
	came   outcome
	took   *measure.Measured // nil if nothing was measured
}

// mbs returns the speed in millions of bytes per second.
func (c *cell) mbs() float64 { return float64(len(c.doc.text)) / c.took.NS() * 1e3 }

// documents measures all engines on all documents of a size in one group, so that all figures can be compared with each
// other.
func (b *bench) documents(s size, decode, stream bool) error {
	var cells []*cell
	for _, variant := range variants {
		d, err := b.save(write(s, variant))
		if err != nil {
			return err
		}
		for _, e := range b.engines {
			if (variant == clean || e.repairs && decode) && (decode || e.name == ownTyped) {
				cells = append(cells, &cell{engine: e, doc: d, as: variant})
			}
		}
		if variant != clean || !stream {
			continue
		}
		for _, e := range b.streams {
			if !e.node || s.items <= mostAgain {
				cells = append(cells, &cell{engine: e, doc: d, as: streamed})
			}
		}
	}
	var tasks []measure.Task
	var timed []*cell
	for _, c := range cells {
		if c.engine.node && b.node == nil {
			continue
		}
		c.came = b.probe(c.engine, c.doc, documentLimit*b.limit)
		b.cells = append(b.cells, c)
		if c.came.says(b.limit) != "" {
			continue
		}
		timed = append(timed, c)
		if c.engine.node {
			tasks = append(tasks, inNode{b.node, c.engine.name, c.doc.file})
		} else {
			tasks = append(tasks, measure.InProcess(func() error { _, err := c.engine.decode(c.doc); return err }))
		}
	}
	b.progress("%s: %d measurements", s.name, len(tasks))
	for i, m := range measure.Measure(tasks, b.time, b.rounds) {
		if timed[i].took = m; m.Err != nil {
			timed[i].came.Err, timed[i].took = m.Err.Error(), nil
		}
	}
	if b.node != nil {
		return b.node.close() // which also drops the texts that it caches
	}
	return nil
}

// mostAgain is the size, in items, up to which decoding everything again for each token finishes in time.
const mostAgain = 26

// documentLimit is the factor by which the time limit of a document exceeds that of a text of a family: some documents
// are longer.
const documentLimit = 4

// save writes a document to a file, for other processes.
func (b *bench) save(d *document) (*document, error) {
	b.saved++
	d.file = filepath.Join(b.dir, fmt.Sprintf("%d.txt", b.saved))
	return d, os.WriteFile(d.file, []byte(d.text), 0o600)
}

// cellOf returns a cell that was measured.
func (b *bench) cellOf(engine, size, as string) *cell {
	for _, c := range b.cells {
		if c.engine.name == engine && c.doc.size == size && c.as == as && c.took != nil {
			return c
		}
	}
	return nil
}

// documentTables returns one table for each variant.
func (b *bench) documentTables() []measure.Table {
	var all []measure.Table
	for _, v := range []struct{ as, title string }{
		{clean, "Clean JSON"},
		{fenced, "In a fence, between prose that holds {this} and [1]"},
		{broken, "Broken: bare keys, commas too many, comments, literals of Python, cut at 97 %"},
		{streamed, "Arriving in tokens of 4 bytes"},
	} {
		t := measure.Table{Title: v.title, Head: []string{"text", "decoder", "time", "MB/s", "allocations", "bytes", "items right"}}
		for _, c := range b.cells {
			if c.as != v.as {
				continue
			}
			row := []string{c.doc.size, c.engine.name, c.came.says(documentLimit * b.limit), "", "", "", ""}
			if c.took != nil {
				row[2], row[3] = measure.Duration(c.took.NS()), measure.Figure(c.mbs())
				if !c.engine.node {
					row[4], row[5] = fmt.Sprintf("%.0f", c.took.Allocs), fmt.Sprintf("%.0f", c.took.Bytes)
				}
				row[6] = c.came.Score.String()
			}
			t.Rows = append(t.Rows, row)
		}
		if t.Rows != nil {
			all = append(all, t)
		}
	}
	return all
}
