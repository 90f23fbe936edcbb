package testrun

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/internal/text"
)

// shownEvents bounds the last calls in the report of a failure.
const shownEvents = 5

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

// relevant describes the calls of models, tools and operations when they ended, one line each, and those that did not
// end. It leaves out nodes: what happened in them is in their calls.
func relevant(events []engine.Event) []string {
	var all []string
	open := map[string]int{} // lines of calls that have not ended, by position
	for _, e := range events {
		var phase engine.Phase
		switch d := e.Data.(type) {
		case *event.Effect:
			phase = d.Phase
		case *event.Tool:
			phase = d.Phase
		default:
			continue
		}
		place := fmt.Sprint(e.Kind, e.Path)
		if at, ok := open[place]; ok {
			all[at] = ""
			delete(open, place)
		}
		if phase == engine.PhaseStart {
			open[place] = len(all)
		}
		all = append(all, lineOf(e))
	}
	return slices.DeleteFunc(all, func(line string) bool { return line == "" })
}

// LastEvents describes for people what the run did last before it failed, or returns nil if it called nothing. all says
// how to see everything, or is "".
func (r *Result) LastEvents(all string) []diag.Note {
	if r.Err == nil || len(r.Events) == 0 {
		return nil
	}
	message := "the last events are"
	if all != "" {
		message += " (" + all + ")"
	}
	last := r.Events[max(0, len(r.Events)-shownEvents):]
	return []diag.Note{{Message: message + "\n" + strings.Join(last, "\n")}}
}

// Events describes what happened since the test began.
func (c *testCase) Events() []string {
	var lines []string
	for _, e := range c.journal.all()[c.from.events:] {
		switch e.Kind {
		case engine.EventNode, engine.EventEffect, engine.EventTool:
			lines = append(lines, lineOf(e))
		}
	}
	return lines
}

// lineOf describes an event in one line.
func lineOf(e engine.Event) string {
	var line string
	switch d := e.Data.(type) {
	case *event.Effect:
		line = fmt.Sprintf("%s %s", d.Phase, e.Path)
		if d.Response != nil {
			line += ": " + text.ClipMiddle(d.Response.Text(), 80)
			for _, call := range d.Response.Calls() {
				line += "calls " + call.Name + " " + text.ClipMiddle(call.Args, 80)
			}
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
