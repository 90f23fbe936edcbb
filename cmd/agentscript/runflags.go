package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
)

// runOptions are the run verb's own flags.
type runOptions struct {
	inputJSON, inputFile string
	models               []string
	scripted, envFile    string
	prices               string
	trace, root          string
	json, quiet, strict  bool
	help                 bool
	timeout              time.Duration
	bounds               boundFlags
	provider             providerFlags
	calls                cassetteFlags
	policy               policyFlags
	grants               grantFlags
	granted              *grant.Grants // what they grant, nil for nothing
	sampling             string        // the model that MCP servers may ask
	session              sessionFlags
}

// flags makes the run verb's own flag set.
func (o *runOptions) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.Usage = func() {}
	f.SortFlags = false
	f.StringVar(&o.inputJSON, "input-json", "", "the input as `JSON` (- is stdin); for def main an object of its arguments")
	f.StringVar(&o.inputFile, "input-file", "", "read the input from `FILE` (- is stdin)")
	f.StringArrayVar(&o.models, "model", nil, "`provider/model` for all agents, or agent=provider/model for one; repeatable")
	f.StringVar(&o.prices, "prices", "", "prices of your own, a `FILE` of JSON that goes before the table: see agentscript models")
	f.StringVar(&o.scripted, "scripted", "", "answer model calls from this `FILE` of JSON lines, without any model")
	o.calls.addTo(f)
	f.StringVar(&o.envFile, "env-file", "", "read keys and addresses of providers from this `FILE` of NAME=VALUE lines")
	o.session.addTo(f)
	f.BoolVar(&o.json, "json", false, "write events as JSON lines to stderr")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "write no progress; what the script prints and what is wrong stays")
	f.StringVar(&o.trace, "trace", "", "write all events as JSON lines to `FILE`")
	f.DurationVar(&o.timeout, "timeout", 0, "end loading and the run after this `DURATION`, as in 90s or 2m")
	o.bounds.addTo(f)
	o.policy.addTo(f)
	o.grants.addTo(f)
	f.StringVar(&o.sampling, "mcp-sampling", "", "let MCP servers ask this `provider/model`; what it uses counts as the run's")
	o.provider.addTo(f)
	addRoot(f, &o.root)
	f.BoolVar(&o.strict, "strict", false, "also note what only a run can prove")
	f.BoolVarP(&o.help, "help", "h", false, "show this, with FILE also the script's own flags")
	return f
}

// valid checks the flags' values and what excludes each other.
func (o *runOptions) valid(set *pflag.FlagSet) *failure {
	positive := func(name string, n int64) *failure {
		if set.Changed(name) && n <= 0 {
			return usagef("", "--%s must be more than 0", name)
		}
		return nil
	}
	if f := cmp.Or(positive("timeout", int64(o.timeout)), positive("max-steps", o.bounds.steps)); f != nil {
		return f
	}
	if f := o.bounds.valid(); f != nil {
		return f
	}
	for _, f := range []*failure{o.provider.valid(set), o.calls.valid(o.scripted), o.session.valid(set)} {
		if f != nil {
			return f
		}
	}
	for _, name := range []string{"input-file", "scripted", "record", "replay", "cache", "env-file", "prices", "trace", "root"} {
		if set.Changed(name) && set.Lookup(name).Value.String() == "" {
			what := "file"
			if name == "root" || name == "cache" {
				what = "directory"
			}
			return usagef("", "--%s needs the name of a %s", name, what)
		}
	}
	return nil
}

// splitAtFile parses the flags before FILE and gives FILE and what follows it. Before FILE
// stand flags of the verb alone, since only the script knows its own.
func splitAtFile(own *pflag.FlagSet, args []string) (file string, rest []string, err error) {
	own.SetInterspersed(false)
	defer own.SetInterspersed(true)
	if err := own.Parse(args); err != nil {
		f := flagFailure(err, own)
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			f.found[0].Notes = append(f.found[0].Notes, diag.Note{Message: "flags of a script come after its FILE"})
		}
		return "", nil, f
	}
	if own.NArg() == 0 {
		return "", nil, nil
	}
	return own.Arg(0), own.Args()[1:], nil
}

// parseAll parses what follows FILE: the script's flags, and those of the verb that the
// script does not have itself. It gives the arguments that are no flags.
func parseAll(own *pflag.FlagSet, params []*param, rest []string) ([]string, *failure) {
	all := pflag.NewFlagSet("run", pflag.ContinueOnError)
	all.Usage = func() {}
	all.SetNormalizeFunc(dashed)
	for _, p := range params {
		p.addTo(all)
	}
	own.VisitAll(func(f *pflag.Flag) {
		if all.Lookup(f.Name) == nil {
			shared := *f // values are shared, so that both sets see what was given
			if f.Shorthand != "" && all.ShorthandLookup(f.Shorthand) != nil {
				shared.Shorthand = ""
			}
			all.AddFlag(&shared)
		}
	})
	if err := all.Parse(rest); err != nil {
		return nil, flagFailure(err, all)
	}
	all.Visit(func(f *pflag.Flag) {
		if mine := own.Lookup(f.Name); mine != nil && !isParam(params, f.Name) {
			mine.Changed = true
		}
	})
	return all.Args(), nil
}

// dashed lets a flag be written as the parameter is: --max_tries for --max-tries.
func dashed(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
}

// unhidden are the flags of the verb that no parameter of the script hides.
func unhidden(own *pflag.FlagSet, params []*param) *pflag.FlagSet {
	left := pflag.NewFlagSet("run", pflag.ContinueOnError)
	left.SortFlags = false
	own.VisitAll(func(f *pflag.Flag) {
		if !isParam(params, f.Name) {
			left.AddFlag(f)
		}
	})
	return left
}

func isParam(params []*param, flag string) bool {
	return slices.ContainsFunc(params, func(p *param) bool { return p.flag() == flag })
}

// modelChoice is what the --model flags say.
type modelChoice struct {
	all     string
	byAgent map[string]string
}

func (o *runOptions) modelChoice() (modelChoice, *failure) {
	choice := modelChoice{byAgent: map[string]string{}}
	for _, text := range o.models {
		agent, model, one := strings.Cut(text, "=")
		if one && strings.Contains(agent, "/") { // the = belongs to the model's name
			one = false
		}
		switch {
		case one && (agent == "" || model == ""), text == "":
			return choice, usagef("write provider/model, or agent=provider/model", "--model %q names no model", text)
		case one && choice.byAgent[agent] != "":
			return choice, usagef("", "--model is given twice for agent %q", agent)
		case one:
			choice.byAgent[agent] = model
		case choice.all != "":
			return choice, usagef("for one agent write agent=provider/model", "--model is given twice for all agents: %s and %s", choice.all, text)
		default:
			choice.all = text
		}
	}
	return choice, nil
}

// options turns the choice into options of a run. --model for all goes over what scripts
// name, as --model is the only way to.
func (choice modelChoice) options() []agentscript.RunOption {
	var opts []agentscript.RunOption
	if choice.all != "" {
		opts = append(opts, agentscript.ModelOverride(choice.all))
	}
	for agent, model := range choice.byAgent {
		opts = append(opts, agentscript.ModelFor(agent, model))
	}
	return opts
}

// modelOf is the model that an agent will be run with, "" when none is named.
func (choice modelChoice) modelOf(a *engine.AgentSpec) string {
	if m := choice.byAgent[a.Name]; m != "" {
		return m
	}
	if choice.all != "" {
		return choice.all
	}
	if a.Of != nil && a.Model == "" {
		return choice.modelOf(a.Of)
	}
	return a.Model
}
