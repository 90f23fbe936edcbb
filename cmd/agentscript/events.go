package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentscript/agentscript/engine"
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

// prints writes what the script prints, as it is, and nothing else.
type prints struct{ w io.Writer }

func (p *prints) kinds() engine.EventKind { return engine.EventLog }

func (p *prints) event(e engine.Event) { _, _ = fmt.Fprintln(p.w, legible(e.Text)) } // a stderr that is gone cannot be told
