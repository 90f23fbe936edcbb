package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// sink takes the events of a run, one at a time.
type sink interface {
	kinds() engine.EventKind
	event(e engine.Event)
}

// jsonLines writes every event as one line of JSON, at once, so that a run that is killed
// leaves a trace of whole lines.
type jsonLines struct {
	w    io.Writer
	only engine.EventKind
	err  error // the first error of writing; nothing is written after it
}

func (j *jsonLines) kinds() engine.EventKind { return j.only }

func (j *jsonLines) event(e engine.Event) {
	if j.err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err != nil {
		j.err = err
		return
	}
	_, j.err = j.w.Write(append(line, '\n'))
}

// prints writes what the script prints, as it is, and at the end of a run a warning when no call of a
// tool succeeded, whatever the answer reads like.
type prints struct {
	w     io.Writer
	tools toolCount
}

func (p *prints) kinds() engine.EventKind {
	return engine.EventLog | engine.EventTool | engine.EventKnowledge | engine.EventRun
}

func (p *prints) event(e engine.Event) { // a stderr that is gone cannot be told
	switch {
	case e.Kind == engine.EventLog:
		_, _ = fmt.Fprintln(p.w, text.Terminal(e.Text()))
	case e.Phase() != engine.PhaseEnd:
	case e.Kind != engine.EventRun:
		p.tools.count(e)
	case e.Err() == nil && p.tools.failed > 0 && p.tools.failed == p.tools.ended:
		_, _ = fmt.Fprintf(p.w, "warning: %s, and the run has a result: on_tool_error = give_up(...) ends an agent instead\n", &p.tools)
	}
}

// toolCount counts the calls of tools that have ended, and of those the ones that failed. Reading what a
// skill knows is one as well.
type toolCount struct{ ended, failed int }

func (c *toolCount) count(e engine.Event) {
	if c.ended++; e.Err() != nil {
		c.failed++
	}
}

func (c *toolCount) String() string {
	return fmt.Sprintf("%d of %s failed", c.failed, text.Count(c.ended, "tool call"))
}
