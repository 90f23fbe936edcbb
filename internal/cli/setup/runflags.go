package setup

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/internal/cli/mocking"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// RunFlags are the run verb's own flags.
type RunFlags struct {
	inputJSON, InputFile string
	models               []string
	aliases              project.AliasFlags
	Project              *project.Settings // the defaults for the script's directory, or nil
	Scripted, EnvFile    string
	Mock                 mocking.Flags
	prices               string
	Trace, Root, Output  string
	JSON, Quiet, Strict  bool
	Verbose, Watch       bool
	Progress             string // auto, tree, plain, json or none
	Help                 bool
	Timeout              time.Duration
	steps                int64
	usd                  float64
	provider             providerFlags
	Calls                cassetteFlags
	policy               PolicyFlags
	Grants               GrantFlags
	Granted              *grant.Grants // the opened grants, or nil
	sampling             string        // the model that MCP servers may ask
	Session              sessionFlags
	Flow                 FlowFlags
	ofFlow               bool // the entry is a flow as JSON
	Growing              bool // the script grows: its agents are checked when they run
	Planned              bool // nothing is carried out: no model is needed
	Store                string
	Ephemeral            bool
	onUnknown            string
	Before               []engine.Step // model calls that prepared answers have answered before
}

// Flags returns the run verb's own flag set.
func (o *RunFlags) Flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.Usage = func() {}
	f.SortFlags = false
	f.StringVar(&o.inputJSON, "input-json", "", "the input as `JSON` (- is stdin); if main is a function, an object of its arguments")
	f.StringVar(&o.InputFile, "input-file", "", "read the input from `FILE` (- is stdin)")
	f.StringArrayVar(&o.models, "model", nil, "`provider/model` for all agents, or agent=provider/model for one; repeatable")
	o.aliases.AddTo(f)
	f.StringVar(&o.prices, "prices", "", "your own prices, a `FILE` of JSON that overrides the built-in table: see agentscript models")
	f.StringVar(&o.Scripted, "scripted", "", "answer model calls from this `FILE` of JSON lines, without any model")
	o.Mock.AddTo(f)
	f.StringVar(&o.Calls.Record, "record", "", "write the run to `FILE` as it proceeds: each model call and every other access to the outside, with its result")
	f.BoolVar(&o.Calls.force, "force", false, "let --record overwrite an existing file")
	f.StringVar(&o.Calls.Replay, "replay", "", "answer from this `FILE` of --record, or from the run with this id; no model is called, and nothing outside is touched")
	f.StringVar(&o.Calls.cache, "cache", "", "keep the answers of models in this `DIR`, and call models only for answers that are not there")
	f.StringVar(&o.EnvFile, "env-file", "", "read keys and addresses of providers from this `FILE` of NAME=VALUE lines")
	f.StringVar(&o.Session.id, "session", "", "continue the conversation and the notes of the session with this `ID`, or start it")
	f.StringVar(&o.Session.store, "session-store", "", "keep sessions in this `DIR` instead of the user's store")
	f.StringVar(&o.Store, "store", "", "keep the run in this `FILE` instead of the user's store of runs: see agentscript runs")
	f.BoolVar(&o.Ephemeral, "ephemeral", false, "do not keep the run")
	f.StringVar(&o.onUnknown, "on-unknown", "ask", "`ask`, fail or retry: what a resumed run does about a step that must not happen twice and may have happened")
	f.StringVar(&o.Output, "output", "", "write the result, if there is one, to this `FILE` instead of stdout")
	f.StringVar(&o.Progress, "progress", "auto", "`auto`, tree, plain, json or none: how the run is shown; auto is a tree on a terminal and plain elsewhere")
	f.BoolVar(&o.JSON, "json", false, "write events as JSON lines to stderr")
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "write no progress, only what the script prints, warnings and errors")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "write a line of progress for each event instead of each call of an agent")
	f.BoolVar(&o.Watch, "watch", false, "run again whenever a file of the script changes; calls that an edit does not affect are answered from memory")
	f.StringVar(&o.Trace, "trace", "", "write all events as JSON lines to `FILE`")
	f.DurationVar(&o.Timeout, "timeout", 0, "stop loading after this `DURATION`, such as 90s or 2m, and the run after this much working time")
	f.Int64("max-model-calls", 0, "make at most `N` model calls (default 1000)")
	f.Int64("max-tool-calls", 0, "make at most `N` tool calls")
	f.Int64("max-tokens", 0, "use at most `N` tokens, input and output together")
	f.Float64Var(&o.usd, "max-usd", 0, "spend at most `N` US dollars; models without a known price are then not called (see --prices)")
	f.Int64("max-depth", 0, "let agents call each other at most `N` levels deep (default 16)")
	f.Int64Var(&o.steps, "max-steps", agentscript.DefaultSteps, "let the script's code take at most `N` steps; for a JSON flow, execute at most N agents")
	o.policy.AddTo(f)
	f.BoolVarP(&o.policy.yes, "yes", "y", false, "approve everything that a person would be asked; what is denied stays denied")
	o.Grants.AddTo(f)
	f.StringVar(&o.sampling, "mcp-sampling", "", "let MCP servers call this `provider/model`; its usage counts as the run's")
	f.IntVar(&o.provider.retries, "retries", llm.DefaultRetry().Attempts-1, "retry a model call that failed for a transient reason up to `N` times")
	f.StringArrayVar(&o.provider.fallbacks, "fallback", nil, "call this `provider/model` when an agent's own model cannot answer; repeatable, tried in order")
	f.BoolVar(&o.provider.onRefusal, "fallback-on-refusal", false, "also use --fallback when a model or its provider's filter refuses to answer")
	f.IntVar(&o.provider.maxInFlight, "max-in-flight", llm.DefaultInFlight, "make at most `N` calls of one provider at the same time; 1 for ollama unless set")
	AddRoot(f, &o.Root)
	o.Flow.AddTo(f)
	f.BoolVar(&o.Strict, "strict", false, "also note what only a run can prove")
	f.BoolVarP(&o.Help, "help", "h", false, "show this help, with FILE also the script's own flags")
	return f
}

// Valid checks the flags' values and rejects flags that exclude each other.
func (o *RunFlags) Valid(set *pflag.FlagSet) *term.Failure {
	if wrong := session.CheckID(o.Session.id); set.Changed("session") && wrong != nil {
		e, _ := errors.AsType[*engine.Error](wrong)
		return term.Usagef(e.Help, "--session: %v", wrong)
	}
	for _, flag := range []string{"max-model-calls", "max-tool-calls", "max-tokens", "max-depth"} {
		if n, err := set.GetInt64(flag); err == nil && n < 0 { // a bound of 0 allows nothing
			return term.Usagef("", "--%s must not be negative", flag)
		}
	}
	given := project.Given(set, "progress")
	if !given && (o.JSON || o.Quiet || o.Verbose || o.Progress == "tree") { // a default yields to these flags
		o.Progress = "auto"
	}
	for _, rule := range []struct {
		broken        bool
		help, message string
	}{
		{set.Changed("timeout") && o.Timeout <= 0, "", "--timeout must be more than 0"},
		{set.Changed("max-steps") && o.steps <= 0, "", "--max-steps must be more than 0"},
		{!(o.usd >= 0) || math.IsInf(o.usd, 0), "", "--max-usd must be an amount of money, and not negative"},
		{o.provider.retries < 0, "0 makes each call once", "--retries must not be negative"},
		{set.Changed("max-in-flight") && o.provider.maxInFlight <= 0, "", "--max-in-flight must be more than 0"},
		{slices.Contains(o.provider.fallbacks, ""), "write provider/model", "--fallback \"\" names no model"},
		{o.Calls.Replay != "" && (o.Calls.Record != "" || o.Calls.cache != "" || o.Scripted != ""), "", "--replay answers all model calls: --record, --cache and --scripted do not go with it"},
		{o.Calls.force && o.Calls.Record == "", "", "--force is of use with --record alone"},
		{o.Calls.cache != "" && o.Scripted != "", "", "--scripted answers all model calls: --cache does not go with it"},
		{o.Verbose && (o.Quiet || o.JSON), "--json writes all events, --quiet none", "--verbose says how much progress there is: --quiet and --json do not go with it"},
		{given && (o.JSON || o.Quiet), "--json is --progress json, and --quiet is --progress none", "--progress says how progress is written: --json and --quiet do not go with it"},
		{o.Verbose && o.Progress != "auto" && o.Progress != "plain", "--verbose writes lines: --progress plain", "--verbose writes a line for each event: --progress " + o.Progress + " does not go with it"},
		{set.Changed("session-store") && !set.Changed("session"), "", "--session-store is of use with --session alone"},
		{o.Ephemeral && o.Store != "", "", "--ephemeral keeps no run: --store does not go with it"},
		{set.Changed("session-store") && o.Session.store == "", "", "--session-store needs the name of a directory"},
	} {
		if rule.broken {
			return term.Usagef(rule.help, "%s", rule.message)
		}
	}
	if _, ok := engine.ParseOnUnknown(o.onUnknown); !ok && o.onUnknown != "" {
		words := []string{"ask", "fail", "retry"}
		return term.Usagef(cmp.Or(diag.DidYouMean(o.onUnknown, words), "it is one of "+strings.Join(words, ", ")), "there is no --on-unknown %q", o.onUnknown)
	}
	switch o.Progress {
	case "auto", "tree", "plain":
	case "json":
		o.JSON = true
	case "none":
		o.Quiet = true
	default:
		words := []string{"auto", "tree", "plain", "json", "none"}
		return term.Usagef(cmp.Or(diag.DidYouMean(o.Progress, words), "it is one of "+strings.Join(words, ", ")), "there is no --progress %q", o.Progress)
	}
	if problem := o.Mock.Valid(set); problem != nil {
		return problem
	}
	for _, name := range []string{"input-file", "scripted", "record", "replay", "cache", "env-file", "prices", "trace", "output", "store", "root"} {
		if set.Changed(name) && set.Lookup(name).Value.String() == "" {
			what := "file"
			if name == "root" || name == "cache" {
				what = "directory"
			}
			return term.Usagef("", "--%s needs the name of a %s", name, what)
		}
	}
	return nil
}

// Tree reports whether to show the run as a tree on the terminal. In continuous integration auto means lines, whatever
// the terminal there claims to be.
func (o *RunFlags) Tree(c *term.Console) (bool, *term.Failure) {
	switch {
	case o.Progress == "tree" && !c.Draws():
		return false, term.Usagef("--progress auto draws one where it can be drawn", "--progress tree needs a terminal on stderr that is not dumb")
	case o.Progress == "tree":
		return true, nil
	}
	ci := c.Env("CI")
	return o.Progress == "auto" && !o.JSON && !o.Quiet && !o.Verbose && c.Draws() && (ci == "" || ci == "false" || ci == "0"), nil
}

// Loading returns what the flags before and after FILE set for loading it. The steps of a flow as JSON are its agents,
// so its code needs no bound.
func (o *RunFlags) Loading(early *RunFlags, file string) (agentscript.Option, *term.Failure) {
	most := o.steps
	if early.steps != agentscript.DefaultSteps {
		most = early.steps
	}
	if most == agentscript.DefaultSteps {
		most = 0
	}
	o.ofFlow = IsFlow(file)
	return early.Flow.Or(o.Flow).Option(file, most)
}

// LoadingKept is Loading for an entry whose text is available, while its file may not exist any more.
func (o *RunFlags) LoadingKept(file, name string, data []byte) agentscript.Option {
	if o.ofFlow = flowjson.IsFlow(name, data[:min(len(data), 512)]); !o.ofFlow {
		return nil
	}
	most := o.steps
	if most == agentscript.DefaultSteps {
		most = 0
	}
	load, _ := o.Flow.options(file, most) // if the tools cannot be found, loading reports it
	return agentscript.WithFlow(load)
}

// Limits returns the bounds of the run.
func (o *RunFlags) Limits(set *pflag.FlagSet) engine.Limits {
	l := engine.Limits{Steps: engine.AtMost(o.steps)}
	if o.ofFlow {
		l.Steps = engine.AtMost(agentscript.DefaultSteps)
	}
	for flag, to := range map[string]*engine.Cap{"max-model-calls": &l.ModelCalls, "max-tool-calls": &l.ToolCalls, "max-tokens": &l.Tokens, "max-depth": &l.Depth} {
		if n, err := set.GetInt64(flag); err == nil && set.Changed(flag) {
			*to = engine.AtMost(n)
		}
	}
	if set.Changed("max-usd") {
		l.USD = engine.Dollars(o.usd)
	}
	return l
}
