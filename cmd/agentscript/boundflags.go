package main

import (
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/engine"
)

// defaultSteps bounds scripts that do not end by themselves: some seconds of computing.
const defaultSteps = 200_000_000

// boundFlags are the flags that bound what a run uses.
type boundFlags struct {
	modelCalls, toolCalls int64
	tokens, steps, depth  int64
	usd                   float64
}

func (b *boundFlags) addTo(f *pflag.FlagSet) {
	f.Int64Var(&b.modelCalls, "max-model-calls", 0, "make at most `N` model calls (default 1000)")
	f.Int64Var(&b.toolCalls, "max-tool-calls", 0, "make at most `N` tool calls")
	f.Int64Var(&b.tokens, "max-tokens", 0, "use at most `N` tokens, in and out together")
	f.Float64Var(&b.usd, "max-usd", 0, "spend at most `N` US dollars; a model without a known price is not called then (--prices)")
	f.Int64Var(&b.depth, "max-depth", 0, "let agents call each other at most `N` deep (default 16)")
	f.Int64Var(&b.steps, "max-steps", defaultSteps, "let the script's code take at most `N` steps")
}

// boundsOf are the flags by the words of budget(...).
var boundsOf = []struct{ word, flag string }{
	{"model_calls", "max-model-calls"}, {"tool_calls", "max-tool-calls"}, {"tokens", "max-tokens"}, {"usd", "max-usd"}, {"depth", "max-depth"}, {"steps", "max-steps"},
}

// valid refuses what is no bound. A bound of 0 allows nothing.
func (b *boundFlags) valid() *failure {
	for flag, n := range map[string]int64{"max-model-calls": b.modelCalls, "max-tool-calls": b.toolCalls, "max-tokens": b.tokens, "max-depth": b.depth} {
		if n < 0 {
			return usagef("", "--%s must not be negative", flag)
		}
	}
	if !(b.usd >= 0) || math.IsInf(b.usd, 0) {
		return usagef("", "--max-usd must be an amount of money, and not negative")
	}
	return nil
}

// limits are the bounds of the run.
func (b *boundFlags) limits(set *pflag.FlagSet) engine.Limits {
	l := engine.Limits{Steps: engine.AtMost(b.steps)}
	for flag, to := range map[string]*engine.Cap{"max-model-calls": &l.ModelCalls, "max-tool-calls": &l.ToolCalls, "max-tokens": &l.Tokens, "max-depth": &l.Depth} {
		if n, err := set.GetInt64(flag); err == nil && set.Changed(flag) {
			*to = engine.AtMost(n)
		}
	}
	if set.Changed("max-usd") {
		l.USD = engine.Dollars(b.usd)
	}
	return l
}

// boundFlagHelp is the remedy of a bound of the whole run, with the flag that moves it.
func boundFlagHelp(e *engine.Error) string {
	if e.Kind != engine.KindBudget {
		return ""
	}
	for _, b := range boundsOf {
		if before, after, found := strings.Cut(e.Help, "budget("+b.word+" = ...)"); found {
			return before + "--" + b.flag + after
		}
	}
	return ""
}
