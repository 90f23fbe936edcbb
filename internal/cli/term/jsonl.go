package term

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/internal/text"
)

// Sink receives the events of a run, one at a time.
type Sink interface {
	Kinds() engine.EventKind
	Event(e engine.Event)
}

// JSONLines writes every event at once as one line of JSON, so that a killed run leaves a trace of whole lines.
type JSONLines struct {
	Out  io.Writer
	Only engine.EventKind
	// Quiet leaves out budget events, except those about overruns.
	Quiet bool
	Sums  bool  // write a last line, of the kind "summary", with what the run used and how many calls failed
	Err   error // the first write error; nothing is written after it

	sums tally
}

func (j *JSONLines) Kinds() engine.EventKind { return j.Only }

func (j *JSONLines) Event(e engine.Event) {
	if j.Err != nil || j.Quiet && e.Kind == engine.EventBudget && overrun(e) == nil {
		return
	}
	line, err := json.Marshal(e)
	if err != nil {
		j.Err = err
		return
	}
	if _, j.Err = j.Out.Write(append(line, '\n')); j.Err != nil || !j.Sums {
		return
	}
	if j.sums.count(e); e.Kind == engine.EventRun && e.Phase() == engine.PhaseEnd {
		j.Err = j.sums.write(j.Out, e)
	}
}

// overrun returns the change of a budget that was overrun, or nil for any other event.
func overrun(e engine.Event) *event.BudgetChange {
	if d, ok := e.Data.(*event.Budget); ok && d.Change != nil && d.Change.What == event.BudgetOverrun {
		return d.Change
	}
	return nil
}

// Prints writes what the script prints unchanged, and at the end of a run a warning for each budget that was overrun,
// and one if no tool call succeeded, however good the answer looks.
type Prints struct {
	Out      io.Writer
	File     func(string) string // returns a readable name of a file; nil means its base name
	sums     tally
	failed   *event.Tool           // the last tool call without a result
	overruns []*event.BudgetChange // the last one of each budget and resource
}

// overrun records the last overrun of a budget.
func (p *Prints) overrun(n *event.BudgetChange) {
	for i, known := range p.overruns {
		if known.Scope == n.Scope && known.Budget == n.Budget && known.Resource == n.Resource {
			p.overruns[i] = n
			return
		}
	}
	p.overruns = append(p.overruns, n)
}

func (p *Prints) Kinds() engine.EventKind {
	return engine.EventLog | engine.EventTool | engine.EventKnowledge | engine.EventRun | engine.EventBudget
}

func (p *Prints) Event(e engine.Event) { // if stderr fails, there is nowhere to report it
	switch {
	case e.Kind == engine.EventLog:
		_, _ = fmt.Fprintln(p.Out, text.Terminal(e.Text()))
		return
	case e.Kind == engine.EventBudget:
		if n := overrun(e); n != nil {
			p.overrun(n)
		}
		return
	case e.Kind == engine.EventRun && e.Phase() == engine.PhaseEnd:
		for _, n := range p.overruns {
			_, _ = fmt.Fprintln(p.Out, "warning: "+text.Terminal(n.String()))
		}
	}
	p.sums.count(e)
	if d, ok := e.Data.(*event.Tool); ok && d.Phase == engine.PhaseEnd && d.Err != nil {
		p.failed = d
	}
	tools := &p.sums.tools
	if e.Kind != engine.EventRun || e.Phase() != engine.PhaseEnd || e.Err() != nil || tools.ended == 0 || tools.failed+tools.denied < tools.ended {
		return
	}
	help := ""
	if tools.failed > 0 { // the advice does not help with denied calls
		help = ": on_tool_error = give_up(...) ends an agent instead"
	}
	_, _ = fmt.Fprintf(p.Out, "warning: %s, and the run has a result%s\n", tools, help)
	if p.failed != nil {
		_, _ = fmt.Fprintf(p.Out, "  %s: %s\n", text.Terminal(p.failed.Name), text.Terminal(Placed(p.failed.Err, 200, p.File)))
	}
}
