package testrun

import (
	"fmt"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/internal/text"
)

// keptEvents is how many of the last events the report of a failure shows.
const keptEvents = 10

// journal keeps the events of one run of a test.
type journal struct {
	mu     sync.Mutex
	events []engine.Event
}

func (j *journal) add(e engine.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
}

func (j *journal) all() []engine.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.events[:len(j.events):len(j.events)]
}

// printed lists what the script printed.
func printed(events []engine.Event) []string {
	var logs []string
	for _, e := range events {
		if d, ok := e.Data.(*event.Log); ok {
			logs = append(logs, d.Text)
		}
	}
	return logs
}

// lastOf describes the last events, a line each.
func lastOf(events []engine.Event) []string {
	var lines []string
	for i := len(events) - 1; i >= 0 && len(lines) < keptEvents; i-- {
		switch events[i].Kind {
		case engine.EventNode, engine.EventEffect, engine.EventTool:
			lines = append([]string{lineOf(events[i])}, lines...)
		}
	}
	return lines
}

// Events describes what happened by now.
func (w *world) Events() []string {
	var lines []string
	for _, e := range w.journal.all() {
		switch e.Kind {
		case engine.EventNode, engine.EventEffect, engine.EventTool:
			lines = append(lines, lineOf(e))
		}
	}
	return lines
}

// lineOf describes an event in a line.
func lineOf(e engine.Event) string {
	var line string
	switch d := e.Data.(type) {
	case *event.Effect:
		line = fmt.Sprintf("%s %s", d.Phase, e.Path)
		if d.Response != nil {
			line += ": " + text.ClipMiddle(d.Response.Text(), 80)
		}
		if d.Err != nil {
			line += ": failed: " + text.ClipMiddle(d.Err.Message, 80)
		}
	case *event.Tool:
		line = fmt.Sprintf("%s tool %s %s", d.Phase, d.Name, text.ClipMiddle(d.Text, 80))
	case *event.Node:
		line = fmt.Sprintf("%s %s", d.Phase, e.Path)
		if d.Err != nil {
			line += ": failed"
		}
	default:
		line = fmt.Sprintf("%s %s %s %s", e.Kind, e.Path, e.Name(), text.ClipMiddle(e.Text(), 80))
	}
	return text.Visible(line)
}
