package temporal

import (
	"context"
	"strings"

	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal/internal/eventlog"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// eventsQuery asks for the events of a run from a number on.
const eventsQuery = "agentscript.events"

// recordEvents keeps the events of the run for those that follow it. A replay keeps the same events.
func (x *execution) recordEvents() agentscript.RunOption {
	return agentscript.OnEvent(eventlog.Kinds, func(e engine.Event) {
		if x.world.Err() == world.ErrContinueAsNew || causedByContinueAsNew(e.Err()) {
			return // it continues in the next history, which reports its result
		}
		x.events.Add(e)
	})
}

// causedByContinueAsNew reports whether something ended only because the run continues as new.
func causedByContinueAsNew(e *engine.Error) bool {
	return e != nil && strings.Contains(e.Message, world.ErrContinueAsNew.Error())
}

// serveEvents sets the handler of the query for events.
func (x *execution) serveEvents() error {
	return workflow.SetQueryHandler(x.ctx, eventsQuery, func(from int64) (vault.Sealed, error) {
		p := x.events.Page(from)
		p.History, p.Parked = workflow.GetInfo(x.ctx).WorkflowExecution.RunID, x.parked()
		return x.queryAnswer(p, nil)
	})
}

// Follower returns the events of a run as they happen: what the script prints, and the begin and end of its parts. It
// returns each event once, even if a worker is lost and another one continues, or the run continues as new. What models
// write and what effects request is not included: see [Options.Stream] and [Store.Steps]. If a run produces events much
// faster than it is queried, the oldest are left out.
type Follower struct {
	s      *Store
	run    string
	reader *eventlog.Reader

	// Parked reports whether the run was waiting for an answer from outside, and doing nothing else, when it was last
	// queried.
	Parked bool
}

// Follow returns a follower of a run from its beginning.
func (s *Store) Follow(run string) *Follower {
	return &Follower{s: s, run: run, reader: eventlog.NewReader()}
}

// Next returns the events since the last call. It queries a worker, even if the run has ended.
func (f *Follower) Next(ctx context.Context) (all []engine.Event, err error) {
	for {
		var page eventlog.Page
		if err := f.s.query(ctx, f.run, eventsQuery, &page, f.reader.From()); err != nil {
			return all, err
		}
		events, again, err := f.reader.Take(page)
		all, f.Parked = append(all, events...), page.Parked
		if err != nil || !again && !page.More {
			return all, err
		}
	}
}
