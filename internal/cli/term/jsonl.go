package term

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// Sink takes the events of a run, one at a time.
type Sink interface {
	Kinds() engine.EventKind
	Event(e engine.Event)
}

// JSONLines writes every event as one line of JSON, at once, so that a run that is killed
// leaves a trace of whole lines.
type JSONLines struct {
	Out  io.Writer
	Only engine.EventKind
	Err  error // the first error of writing; nothing is written after it
}

func (j *JSONLines) Kinds() engine.EventKind { return j.Only }

func (j *JSONLines) Event(e engine.Event) {
	if j.Err != nil {
		return
	}
	line, err := json.Marshal(e)
	if err != nil {
		j.Err = err
		return
	}
	_, j.Err = j.Out.Write(append(line, '\n'))
}

// Prints writes what the script prints, as it is, and at the end of a run a warning when no call of a
// tool succeeded, whatever the answer reads like.
type Prints struct {
	Out   io.Writer
	tools toolCount
}

func (p *Prints) Kinds() engine.EventKind {
	return engine.EventLog | engine.EventTool | engine.EventKnowledge | engine.EventRun
}

func (p *Prints) Event(e engine.Event) { // a stderr that is gone cannot be told
	switch {
	case e.Kind == engine.EventLog:
		_, _ = fmt.Fprintln(p.Out, text.Terminal(e.Text()))
	case e.Phase() != engine.PhaseEnd:
	case e.Kind != engine.EventRun:
		p.tools.count(e)
	case e.Err() == nil && p.tools.failed > 0 && p.tools.failed == p.tools.ended:
		_, _ = fmt.Fprintf(p.Out, "warning: %s, and the run has a result: on_tool_error = give_up(...) ends an agent instead\n", &p.tools)
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
