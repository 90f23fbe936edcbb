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

// lastEvents keeps what the script printed, and the last of its other events as lines.
type lastEvents struct {
	mu    sync.Mutex
	lines []string
	logs  []string
}

func (l *lastEvents) add(e engine.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var line string
	switch d := e.Data.(type) {
	case *event.Log:
		l.logs = append(l.logs, d.Text)
		return
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
		return
	}
	if l.lines = append(l.lines, line); len(l.lines) > keptEvents {
		l.lines = l.lines[1:]
	}
}
