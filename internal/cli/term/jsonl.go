package term

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
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
	// Quiet leaves out what is told of budgets, but for those that were overrun.
	Quiet bool
	Sums  bool  // a last line, of the kind "summary", says what the run used and how many calls failed
	Err   error // the first error of writing; nothing is written after it

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

// overrun is what an event tells of a budget that was overrun, nil when it tells something else.
func overrun(e engine.Event) *event.BudgetChange {
	if d, ok := e.Data.(*event.Budget); ok && d.Change != nil && d.Change.What == event.BudgetOverrun {
		return d.Change
	}
	return nil
}

// Prints writes what the script prints, as it is, and at the end of a run a warning for each budget that was
// overrun, and one when no call of a tool succeeded, whatever the answer reads like.
type Prints struct {
	Out      io.Writer
	File     func(string) string // how people know a file; nil: by its name
	sums     tally
	failed   *event.Tool           // the last call of a tool without a result
	overruns []*event.BudgetChange // the last one of each budget and resource
}

// overrun keeps what was told of a budget last.
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

func (p *Prints) Event(e engine.Event) { // a stderr that is gone cannot be told
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
	if tools.failed > 0 { // what is denied is not mended
		help = ": on_tool_error = give_up(...) ends an agent instead"
	}
	_, _ = fmt.Fprintf(p.Out, "warning: %s, and the run has a result%s\n", tools, help)
	if p.failed != nil {
		_, _ = fmt.Fprintf(p.Out, "  %s: %s\n", text.Terminal(p.failed.Name), text.Terminal(Placed(p.failed.Err, 200, p.File)))
	}
}
