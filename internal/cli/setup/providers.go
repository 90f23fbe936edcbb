package setup

import (
	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// providerFlags say what is done when a provider fails, and how many calls it gets at once.
type providerFlags struct {
	retries     int
	fallbacks   []string
	onRefusal   bool
	maxInFlight int
}

// options set up the model port. Whoever reads the events is told of each attempt, so that an
// answer that broke off while it was streamed may be asked for again.
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

// callable checks the models to fall back to without a network.
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
