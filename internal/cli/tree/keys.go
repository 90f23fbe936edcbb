package tree

import (
	"fmt"
	"os"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// keptEvents bounds the events that are kept for a trace that a person may request.
const keptEvents = 50_000

// keep keeps an event for a trace.
func (t *Tree) keep(e engine.Event) {
	if !t.Keys || t.Trace != "" {
		return
	}
	if len(t.events) == keptEvents {
		t.events = slices.Delete(t.events, 0, keptEvents/2)
		t.dropped += keptEvents / 2
	}
	t.events = append(t.events, e)
}

// Press handles the bytes of keys. It ignores keys that the tree does not use.
func (t *Tree) Press(typed []byte) {
	for _, key := range keys().FindAllString(string(typed), -1) {
		switch {
		case key == "\r", key == "\n":
			t.expand()
		case key == "t":
			t.write()
		case key == "p":
			t.held, t.pressed = !t.held, true
		case key == "\x1b[A", key == "\x1bOA":
			t.move(-1)
		case key == "\x1b[B", key == "\x1bOB":
			t.move(1)
		}
	}
}

// keys matches keys in what a terminal sends: a letter, or several bytes for another key.
var keys = lazy.Regexp(`(?s)\x1b(\[[0-9;?]*[@-~]|O.|.)?|[\r\ntp]`)

// move moves the selection by step rows.
func (t *Tree) move(step int) {
	var nodes []*node
	rows := t.state.rows(t.height - 2)
	for _, r := range rows {
		if r.n != nil {
			nodes = append(nodes, r.n)
		}
	}
	if len(nodes) == 0 {
		return
	}
	at := slices.Index(nodes, visible(t.selected, rows))
	if at < 0 && step < 0 {
		at = len(nodes)
	}
	t.selected, t.pressed = nodes[min(max(at+step, 0), len(nodes)-1)], true
}

// expand shows all children of the selected node, or none if they were shown.
func (t *Tree) expand() {
	n := visible(t.selected, t.state.rows(t.height-2))
	if n == nil {
		return
	}
	switch {
	case n.opened:
		n.opened, n.closed = false, true
	case n.closed:
		n.closed = false
	default:
		n.opened = true
	}
	t.pressed = true
}

// write writes the trace so far, and reports where.
func (t *Tree) write() {
	t.pressed = true
	said := "trace  " + t.Trace
	if t.Trace == "" {
		name, err := t.saved()
		switch {
		case err != nil:
			said = "the trace could not be written: " + term.FileProblem(err)
		case t.dropped > 0:
			said = fmt.Sprintf("trace  %s (without the first %s)", name, text.Count(t.dropped, "event"))
		default:
			said = "trace  " + name + " (so far, without the pieces of streamed answers)"
		}
	}
	t.above.WriteString(text.Terminal(said) + "\n")
}

// saved writes the kept events to a new file that only the user can read.
func (t *Tree) saved() (name string, err error) {
	f, err := os.CreateTemp("", "agentscript-*.jsonl")
	if err != nil {
		return "", err
	}
	to := &term.JSONLines{Out: f, Only: engine.EventAll}
	for _, e := range t.events {
		to.Event(e)
	}
	if err := f.Close(); to.Err == nil {
		to.Err = err
	}
	return f.Name(), to.Err
}
