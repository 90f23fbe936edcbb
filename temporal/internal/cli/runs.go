package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/runs"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/temporal"
)

// runsVerb is the verb about runs, as commands are written.
const runsVerb = "agentscript temporal runs"

const runsLong = `Runs are kept by the server, and what they recorded by their workflows: while a run goes on, a worker says how far it
is. RUN is the id of one, the beginning of an id, last, or a FILE of export or --record.`

func (v *verbs) runs() *cobra.Command {
	return runs.VerbOf(v.c, runs.Source{
		Use: runsVerb, Long: runsLong, Flags: v.to.addTo,
		Place: func() string { at := v.to.filled(v.c); return at.address + ", namespace " + at.namespace },
		Open: func(ctx context.Context) (*keep.Store, error) {
			s, done, err := v.store(ctx, false)
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, done)
			return v.over(s), nil
		},
		Failure: v.failure,
	}, v.fork)
}

// over is the store of the server's runs, as verbs use it.
func (v *verbs) over(s *temporal.Store) *keep.Store {
	return keep.Over(v.c, s, keep.Lines{Verb: runsVerb, Flags: v.to.flags(v.c)})
}

// fork begins a fork of a run on the server: of one of it, or of one of this machine.
func (v *verbs) fork(ctx context.Context, s *setup.Script, o *setup.RunFlags, own *pflag.FlagSet, kept *keep.Store, opts []agentscript.RunOption) error {
	if own.Changed("session") { // that of the other run is left out already
		return term.Usagef(unused["session"], "a fork on Temporal takes no --session")
	}
	to, done, err := v.store(ctx, false)
	if err != nil {
		return err
	}
	defer done()
	v.places(s)
	paid := v.c.Owes()
	defer paid()
	head, err := s.Head(ctx, "main", append(opts[:len(opts):len(opts)], agentscript.StoreRun(kept))...)
	if err == nil {
		head.ID, err = to.Fork(ctx, kept, head.Parent, s.Module, "main", opts...)
	}
	if err != nil {
		return v.failure(err)
	}
	return v.follow(ctx, s, o, to, head.ID, paid)
}

// places warns of what a script does that only one of several workers sees.
func (v *verbs) places(s *setup.Script) {
	var acts []string
	var first diag.Span
	for _, n := range s.Needs() {
		what := n.Use.String()
		if n.Server != "" {
			what = "the MCP server " + n.Server
		}
		if !local(n.Use) || slices.Contains(acts, what) {
			continue
		}
		if acts == nil {
			first = n.Span
		}
		acts = append(acts, what)
	}
	if acts == nil {
		return
	}
	of := " acts"
	if len(acts) > 1 {
		of = " act"
	}
	v.c.Report(diag.List{{Severity: diag.Warning, Span: first, Message: strings.Join(acts, ", ") + of + " on the worker that carries the call out, which may be another one each time",
		Help: []string{"have the workers share the directory, or keep the calls of the run on one of them with --pin-worker"}}}, s.Sources())
}
