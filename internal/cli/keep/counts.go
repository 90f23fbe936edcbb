package keep

import (
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// Counts counts what a continued run takes from before, and what it does now. It reads the run's events.
type Counts struct {
	Reused, Ran int
	Before, Now model.Usage
}

// Kinds returns the events that Counts reads.
func (*Counts) Kinds() engine.EventKind { return engine.EventEffect }

// Event counts an effect.
func (n *Counts) Event(e engine.Event) {
	d, ok := e.Data.(*event.Effect)
	if !ok || d.Phase != engine.PhaseEnd || d.Err != nil && d.Err.Kind == engine.KindApproval { // it waits
		return
	}
	var used model.Usage
	if d.Usage != nil {
		used = *d.Usage
	}
	if d.Replayed {
		n.Reused++
		n.Before = n.Before.Add(used)
		return
	}
	n.Ran++
	n.Now = n.Now.Add(used)
}

// String returns the counts as one line of text.
func (n *Counts) String() string {
	said := fmt.Sprintf("reused %s, ran %d", text.Count(n.Reused, "effect"), n.Ran)
	if n.Before.CostUSD > 0 {
		said += ", spent " + USD(n.Before) + " before"
	}
	if n.Now.CostUSD > 0 {
		said += ", " + USD(n.Now) + " now"
	}
	return said
}

// USD returns the text for what was spent.
func USD(u model.Usage) string {
	switch {
	case u.Unpriced > 0 && u.CostUSD > 0:
		return "at least $" + term.Amount(u.CostUSD)
	case u.Unpriced > 0:
		return "unpriced"
	}
	return "$" + term.Amount(u.CostUSD)
}
