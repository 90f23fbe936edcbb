package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/runs"
	"github.com/agentscript/agentscript/temporal"
)

// runsVerb is the verb about runs, as users type it.
const runsVerb = "agentscript temporal runs"

const runsLong = `The server keeps the runs, and their workflows keep what they recorded; while a run is in progress, a worker reports how
far it is. RUN is the id of a run, the beginning of an id, last, or a FILE that export or --record wrote.`

func (v *verbs) runs() *cobra.Command {
	var of *temporal.Store
	return runs.VerbOf(v.c, runs.Source{
		Use: runsVerb, Long: runsLong, Flags: v.to.addTo,
		Place: func() string { at := v.to.withEnv(v.c); return at.address + ", namespace " + at.namespace },
		Open: func(ctx context.Context) (*keep.Store, error) {
			s, done, err := v.store(ctx, false)
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, done)
			of = s
			return v.verbStore(s), nil
		},
		Failure: v.failure,
		Forking: v.forking(),
		Told: func(run string) func(context.Context) []engine.Event {
			events := of.Follow(run)
			return func(ctx context.Context) []engine.Event {
				found, _ := events.Next(ctx) // the verb learns from the steps that nobody answers
				return found
			}
		},
	}, v.fork)
}

// verbStore returns the store of the server's runs for the shared verbs.
func (v *verbs) verbStore(s *temporal.Store) *keep.Store {
	return keep.Over(v.c, s, keep.Lines{Verb: runsVerb, Flags: v.to.flags(v.c)})
}
