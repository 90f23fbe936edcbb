package temporal

import (
	"context"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal/internal/told"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// eventsQuery asks what a run has told of itself from a number on.
const eventsQuery = "agentscript.events"

// telling has the run keep what it tells, for who follows it. A replay makes the same of it.
func (g *generation) telling() agentscript.RunOption {
	return agentscript.OnEvent(told.Kinds, func(e engine.Event) {
		if g.world.Err() == world.ErrAgain || ofAgain(e.Err()) {
			return // it goes on in the next history, and tells there what comes of it
		}
		g.events.Add(e)
	})
}

// ofAgain reports whether something ended only because the run goes on in a new history.
func ofAgain(e *engine.Error) bool {
	return e != nil && strings.Contains(e.Message, world.ErrAgain.Error())
}

// tells has others ask for it.
func (g *generation) tells() error {
	return workflow.SetQueryHandler(g.ctx, eventsQuery, func(from int64) (vault.Sealed, error) {
		p := g.events.Page(from)
		p.History, p.Parked = workflow.GetInfo(g.ctx).WorkflowExecution.RunID, g.parked()
		return g.answer(p, nil)
	})
}

// Follower returns the events of a run as they come: what the script prints, and the begins and ends of its parts, each of them once,
// also where a worker was lost and another one goes on, or the run does in a new history. What models write and what effects asked for
// is not in them: see [Options.Stream] and [Store.Steps]. Of a run that tells much faster than it is asked, the oldest are left out.
type Follower struct {
	s      *Store
	run    string
	reader *told.Reader

	// Parked reports whether the run waited for an answer from outside, and did nothing else, when it was asked last.
	Parked bool
}

// Follow returns the follower of a run from its beginning on.
func (s *Store) Follow(run string) *Follower {
	return &Follower{s: s, run: run, reader: told.NewReader()}
}

// Next returns the events that came since it was called last. It asks a worker, also of a run that has ended.
func (f *Follower) Next(ctx context.Context) (all []engine.Event, err error) {
	for {
		var page told.Page
		if err := f.s.ask(ctx, f.run, eventsQuery, &page, f.reader.From()); err != nil {
			return all, err
		}
		events, again, err := f.reader.Take(page)
		all, f.Parked = append(all, events...), page.Parked
		if err != nil || !again && !page.More {
			return all, err
		}
	}
}
