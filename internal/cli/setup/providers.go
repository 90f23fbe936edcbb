package setup

import (
	"bytes"
	"context"
	"os"
	"sync"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// providerFlags set what to do when a provider fails, and how many concurrent calls it gets.
type providerFlags struct {
	retries     int
	fallbacks   []string
	onRefusal   bool
	maxInFlight int
}

// options returns the options of the model port. Events report each attempt, so an answer that broke off while it was
// streamed may be requested again.
func (p *providerFlags) options(set *pflag.FlagSet) []llm.Option {
	opts := []llm.Option{llm.WithRetry(llm.RetryPolicy{Attempts: p.retries + 1, AfterTokens: true}), llm.WithFallbacks(p.fallbacks...)}
	if p.onRefusal {
		opts = append(opts, llm.WithFallbackOnRefusal())
	}
	if set.Changed("max-in-flight") {
		opts = append(opts, llm.WithLimits("", llm.Limits{InFlight: p.maxInFlight}))
	}
	return opts
}

// callable checks the fallback models without using the network.
func (p *providerFlags) callable(models *llm.Registry, aliases project.Aliases) *term.Failure {
	var found diag.List
	for _, m := range p.fallbacks {
		if err := models.Check(m); err != nil {
			d := term.Diagnose(err)
			helped(d, aliases.Help(m))
			d.Notes = append(d.Notes, diag.Note{Message: "--fallback names it"})
			found.Add(d)
		}
	}
	return term.FailureOf(term.ExitProvider, found, nil)
}

// scriptedRuns answers each run from all rows of the file of --scripted, as if it were the only run. A call that is
// repeated because its answer was lost gets the same answer.
func (o *RunFlags) scriptedRuns(c *term.Console, own *pflag.FlagSet) (engine.Handler, *term.Failure) {
	if _, problem := readFile("--scripted", o.Scripted, "name a file of JSON lines", scripted.Read); problem != nil {
		return nil, problem
	}
	data, err := os.ReadFile(o.Scripted)
	if err != nil {
		return nil, term.Usagef("", "--scripted %s: %s", o.Scripted, term.FileProblem(err))
	}
	type answering struct {
		models engine.Handler
		given  map[string]engine.Outcome
	}
	var mu sync.Mutex
	runs := map[string]*answering{}
	of := func(run string) (*answering, error) {
		mu.Lock()
		defer mu.Unlock()
		if runs[run] != nil {
			return runs[run], nil
		}
		rows, err := scripted.Read(bytes.NewReader(data), o.Scripted)
		if err != nil {
			return nil, err
		}
		extra := o.provider.options(own)
		if !own.Changed("retries") { // a row that fails is intended, unless retries were requested
			extra = append(extra, llm.WithRetry(llm.RetryPolicy{Attempts: 1}))
		}
		registry, problem := Registry(c, o.EnvFile, o.prices, append(extra, llm.WithDriver(rows))...)
		if problem != nil {
			return nil, problem
		}
		runs[run] = &answering{registry, map[string]engine.Outcome{}}
		return runs[run], nil
	}
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		r, err := of(e.Run)
		if err != nil {
			return engine.Failed(engine.AsError(err))
		}
		mu.Lock()
		out, ok := r.given[e.ID()]
		mu.Unlock()
		if ok {
			return out
		}
		if out = r.models.Do(ctx, e, sink); ctx.Err() == nil {
			mu.Lock()
			r.given[e.ID()] = out
			mu.Unlock()
		}
		return out
	}), nil
}
