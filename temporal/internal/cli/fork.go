package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/runs"
	"github.com/agentscript/agentscript/internal/cli/setup"
)

// startFlags are the flags of the verbs that begin a run on the server.
type startFlags struct{ detach, pin bool }

func (v *verbs) addStart(f *pflag.FlagSet, s *startFlags) {
	f.BoolVar(&s.detach, "detach", false, "print the id of the run and exit once it has begun")
	f.BoolVar(&s.pin, "pin-worker", false, "keep files, commands and MCP servers that are processes on one worker")
	f.DurationVar(&v.find, "find-worker", 0, "if a worker lacks a grant, a tool, a key or a blob, look for another worker for this `DURATION` (default 30s, or 3s if the queue has no other worker)")
}

// forking returns the flags of fork: those of run, but --store names where the other run is.
func (v *verbs) forking() *runs.Forking {
	lacks := []runs.Lacking{{Flag: "session", Instead: "a fork on the server continues from what the session of its run held, and keeps nothing in one"}}
	for _, name := range slices.Sorted(maps.Keys(unsupported)) {
		if name != "store" {
			lacks = append(lacks, runs.Lacking{Flag: name, Instead: cmp.Or(unsupported[name], "pass it to the workers: agentscript temporal worker --"+name)})
		}
	}
	return &runs.Forking{Flags: func(f *pflag.FlagSet) { v.addStart(f, &v.forks) }, Lacks: lacks}
}

// fork begins on the server a fork of a run, which is on the server or on this machine.
func (v *verbs) fork(ctx context.Context, s *setup.Script, o *setup.RunFlags, own *pflag.FlagSet, kept *keep.Store, opts []agentscript.RunOption) error {
	f, given, problem := v.newFollower(s, o, own)
	if problem != nil {
		return problem
	}
	defer given()
	to, done, err := v.store(ctx, v.forks.pin)
	if err != nil {
		return err
	}
	defer done()
	if !v.forks.pin {
		v.c.Report(warnLocal(s), s.Sources())
	}
	if project.Given(own, "seed") {
		opts = append(opts[:len(opts):len(opts)], agentscript.Seed(o.Mock.Seed))
	}
	cancelSent := v.c.Owes()
	defer cancelSent()
	head, err := s.Head(ctx, "main", append(opts[:len(opts):len(opts)], agentscript.StoreRun(kept))...)
	if err == nil {
		head.ID, err = to.Fork(ctx, kept, head.Parent, s.Module, "main", opts...)
	}
	if err != nil {
		return v.failure(err)
	}
	if v.forks.detach {
		return v.c.Print(head.ID)
	}
	return f.follow(ctx, to, head.ID, cancelSent)
}
