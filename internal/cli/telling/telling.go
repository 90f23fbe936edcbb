// Package telling writes what a run does to stderr, as the flags of the verb run require.
package telling

import (
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/cli/tree"
)

// Hand passes an event to the sinks that want it, while nothing else writes to the terminal.
func Hand(c *term.Console, e engine.Event, sinks ...term.Sink) {
	c.Talk.Lock()
	defer c.Talk.Unlock()
	for _, sink := range sinks {
		if sink.Kinds()&e.Kind != 0 {
			sink.Event(e)
		}
	}
}

// To returns the sink that writes a run's events to stderr: as a tree, as lines of progress, as JSON, or only what the
// script prints. answered is what answers in place of models, or "". Calling told removes from the terminal what the
// sink has drawn.
func To(c *term.Console, o *setup.RunFlags, own *pflag.FlagSet, answered string) (tell term.Sink, told func(), problem *term.Failure) {
	draws, problem := o.Tree(c)
	switch {
	case problem != nil:
		return nil, nil, problem
	case o.JSON && o.Quiet:
		return &term.JSONLines{Out: c.JSONOut(), Only: engine.EventLog | engine.EventBudget, Quiet: true}, func() {}, nil
	case o.JSON:
		return &term.JSONLines{Out: c.JSONOut(), Only: engine.EventAll, Sums: true}, func() {}, nil
	case o.Quiet:
		return &term.Prints{Out: c.Stderr}, func() {}, nil
	case draws:
		l := tree.Start(c, tree.Options{Answered: answered, Limits: o.Limits(own), Trace: o.Trace})
		return l, l.Close, nil
	}
	p := term.NewProgress(c.Stderr, term.ProgressStyle{Color: c.Color(), Verbose: o.Verbose, Answered: answered})
	return p, p.Clear, nil
}
