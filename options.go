package agentscript

import (
	"context"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// Option configures an [Engine]. A nil Option is ignored.
type Option func(*config)

type config struct {
	models     engine.Handler
	handlers   engine.Handlers
	tools      agent.HostTools
	builtins   []starlib.Builtin
	parsed     *starlib.Parsed
	sizes      Sizes
	middleware []engine.Middleware
	limits     engine.Limits
	pricer     engine.Pricer
	model      string
	aliases    map[string]string
	strict     bool
	cover      bool
	print      func(at diag.Pos, text string)
	loadTime   time.Duration
	grace      time.Duration
	policies   []*policy.Policy
	hooks      []*agent.Hooks
	root       string
	flow       flowjson.LoadOptions
	recovery   *agent.Recovery
	grants     capability.Grants
	ungranted  bool
	store      engine.Store    // of runs; nil: none is kept
	clock      clock.Clock     // nil: the machine's
	secrets    func() []string // of the engine's handlers; nil: none of them can hold any
}

// WithModels sets the handler of model calls: the registry of engine/llm, its scripted model, or the host's own.
// Without it, agents that need a model fail with AS707. A handler that is an [engine.Pricer], as the registry is,
// also provides the prices of calls.
func WithModels(m engine.Handler) Option {
	return func(c *config) {
		c.models = m
		if p, ok := m.(engine.Pricer); ok && c.pricer == nil {
			c.pricer = p
		}
	}
}

// WithPricer sets the source of prices of model calls, which budgets of money need, if the handler of [WithModels] is
// not one.
func WithPricer(p engine.Pricer) Option { return func(c *config) { c.pricer = p } }

// WithDefaultModel sets the model of agents that name none.
func WithDefaultModel(model string) Option { return func(c *config) { c.model = model } }

// WithModelAliases defines names for models, to be used wherever a model is named: in scripts and in options. A
// request contains the model itself, so that ids and records stay the same when an alias is removed. An alias
// contains neither "/" nor "=" and does not refer to another alias; otherwise the run fails.
func WithModelAliases(aliases map[string]string) Option {
	return func(c *config) { c.aliases = withAliases(c.aliases, aliases) }
}

func withAliases(to, more map[string]string) map[string]string {
	out := maps.Clone(to)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, more)
	return out
}

// WithTool makes a Go tool available to scripts under its name, as a value for tools = [...].
func WithTool(t agent.HostTool) Option { return func(c *config) { c.tools[t.Name] = &t } }

// WithToolErrors sets what happens when a tool call fails, unless the tool or its agent says so: tool(on_error = ...)
// and agent(on_tool_error = ...) take precedence. Without it, the model sees the failure and may try again.
func WithToolErrors(r agent.Recovery) Option { return func(c *config) { c.recovery = &r } }

// Builtin is a function of the host that scripts call like the language's own functions. It computes: its results are
// not recorded, and a replay calls it again. A function that touches the world must be a tool; see [WithTool].
type Builtin struct {
	Name string
	Doc  string // the first sentence is the summary

	// Params are the parameters in order. Scripts pass them by position or by name. An optional field has a default.
	// The guide of a field is the parameter's help.
	Params  []generable.Field
	Returns *generable.Type // nil is any

	// Func receives one value for each parameter, converted to its type. The branch is that of the calling run, or
	// nil while the script loads.
	Func func(engine.Branch, []generable.Value) (generable.Value, error)
}

// WithBuiltin adds functions of the host to every script. They are described by the same table as the language's own:
// arguments are checked, and help, suggestions and the reference include them.
func WithBuiltin(b ...Builtin) Option {
	return func(c *config) {
		for _, f := range b {
			c.builtins = append(c.builtins, starlib.Function(f.Name, f.Doc, f.Params, f.Returns, f.Func))
		}
	}
}

// WithStarlark adds builtins that work on Starlark's own values, such as functions and nodes. For data, a [Builtin]
// is simpler.
func WithStarlark(b ...starlib.Builtin) Option {
	return func(c *config) { c.builtins = append(c.builtins, b...) }
}

// Parsed holds parsed scripts for reuse; see [WithParsed].
type Parsed struct{ files *starlib.Parsed }

// NewParsed returns an empty Parsed.
func NewParsed() *Parsed { return &Parsed{starlib.NewParsed()} }

// Count returns how many times a file was parsed.
func (p *Parsed) Count() int { return p.files.Count() }

// Params returns the names of the parameters that the text of a script declares for a function, without executing the
// text. It returns none once ctx has ended. file is the path by which the script will be loaded.
func (p *Parsed) Params(ctx context.Context, file string, text []byte, function string) []string {
	return p.files.Params(ctx, path.Clean(filepath.ToSlash(file)), text, function)
}

// WithParsed lets successive loads, also by different engines, parse each file once. No module of an earlier load may
// be running when the next load begins.
func WithParsed(p *Parsed) Option { return func(c *config) { c.parsed = p.files } }

// WithHandler sets the handler of effects of a kind.
func WithHandler(kind engine.EffectKind, h engine.Handler) Option {
	return func(c *config) { c.handlers[kind] = h }
}

// WithMCP sets the client for the MCP servers that scripts declare, a client of engine/mcp: it lists their tools and
// calls them. The host closes it when its last run has ended. Without it, agents that have servers fail with AS632.
func WithMCP(client engine.Handler) Option { return WithHandler(engine.EffectMCP, client) }

// WithMiddleware wraps every effect. The first middleware is the outermost.
func WithMiddleware(mw ...engine.Middleware) Option {
	return func(c *config) { c.middleware = append(c.middleware, mw...) }
}

// Limits of a run that sets none. A run on a context with a deadline, and one on the [Cooperative] scheduler, has no
// wall time unless one is set.
const (
	DefaultSteps      = 200_000_000 // of the script interpreter: some seconds of computing
	DefaultModelCalls = 1_000
	DefaultWall       = time.Hour

	DefaultLoadTimeout = 30 * time.Second // for a script to load
	DefaultGrace       = 5 * time.Second  // for a run to end once it must end
)

// withDefaults fills in the counts that are not set.
func withDefaults(l engine.Limits) engine.Limits {
	if _, set := l.Steps.Value(); !set {
		l.Steps = engine.AtMost(DefaultSteps)
	}
	if _, set := l.ModelCalls.Value(); !set {
		l.ModelCalls = engine.AtMost(DefaultModelCalls)
	}
	return l
}

// WithLimits bounds every run. A run's own limits replace these. Steps, model calls and wall time have defaults if
// they are not set, such as [DefaultSteps]; engine.Unlimited and engine.NoWall lift them.
func WithLimits(l engine.Limits) Option { return func(c *config) { c.limits = l } }

// WithClock makes runs use a clock other than the machine's: for now(), for sleeps, for time limits except that of
// the context of Start, for the waits of handlers, and for the times that a store keeps of a run. Leases of a store,
// times of connections and the grace of [WithGrace] still use the machine's clock. WithClock is for tests: see
// [clock.Manual]. Runs in [VirtualTime], or on a [Scheduler], have their own clock.
func WithClock(c clock.Clock) Option { return func(o *config) { o.clock = c } }

// now returns the time of the engine's clock.
func (c *config) now() time.Time {
	if c.clock != nil {
		return c.clock.Now()
	}
	return time.Now()
}

// WithStrict makes Load and Check also report what is proven only at run time.
func WithStrict() Option { return func(c *config) { c.strict = true } }

// WithCoverage makes modules count what runs of their scripts; see [Module.Coverage]. Results, records and budgets
// stay the same; a loop that only computes takes up to 1.7 times as long.
func WithCoverage() Option { return func(c *config) { c.cover = true } }

// WithLoadTimeout limits how long Load and Check may take. The default is [DefaultLoadTimeout]; 0 means no limit. A
// script that takes longer has the error AS711. Load and Check return within 100 ms of this limit, or of the end of
// their context, even while the interpreter's parser, which cannot be stopped, finishes in the background.
func WithLoadTimeout(d time.Duration) Option { return func(c *config) { c.loadTime = d } }

// Sizes limit what a script may be and create, in bytes. A field that is 0 has its default.
type Sizes struct {
	Source int64 // of a script, and of each file that it loads: 1 MiB; larger ones are not read
	File   int64 // of each file that it reads: 64 MiB

	// Value is the size of the largest text, list or number that an operation may create, 64 MiB: +, *, <<, %, join,
	// replace, extend and format refuse to create a larger one. An item of a list counts 16 bytes.
	Value int64
}

// WithSizes limits the sizes of scripts and values.
func WithSizes(s Sizes) Option { return func(c *config) { c.sizes = s } }

// WithGrace limits how long [Run.Wait] continues to wait for a run that was cancelled or whose time is up. The
// default is [DefaultGrace]. After that the run is abandoned: its error says what has not returned, for example a
// handler or tool that ignores its context, and the goroutine that runs it is left behind until it returns. 0 means
// to wait as long as it takes.
func WithGrace(d time.Duration) Option { return func(c *config) { c.grace = d } }

// WithRoot sets the directory in which load and file of a script must stay, in place of the script's own directory: a
// path in the file system passed to Load, a directory of the operating system for LoadFile. The script must be in it or
// below. Nothing outside is read.
func WithRoot(dir string) Option { return func(c *config) { c.root = dir } }

// WithFlow sets how [Engine.Load] loads an entry that is a flow in JSON: a file whose name ends in .json, or that
// begins with a brace. Its path of tools is relative to the entry's directory.
func WithFlow(o flowjson.LoadOptions) Option { return func(c *config) { c.flow = o } }

// WithPrint sets the function that receives what scripts print while they load. What they print while they run
// arrives as log events.
func WithPrint(f func(at diag.Pos, text string)) Option { return func(c *config) { c.print = f } }

// RunOption configures one run. A nil RunOption is ignored.
type RunOption func(*runConfig)

type runConfig struct {
	spec      run.Spec
	sched     engine.Sched
	virtual   bool
	override  string // the model of all agents
	inline    bool   // the run is driven by the goroutine that starts it
	seed      uint64
	seeded    bool // the host set the seed
	input     any
	hasInput  bool
	raw       *string
	args      map[string]any
	handler   engine.Handler
	handlers  engine.Handlers // these override the engine's, by kind
	elsewhere bool            // handler lets other processes carry out effects
	kinds     engine.EventKind

	ephemeral    bool
	store        engine.Store // nil until it is known: the engine's or
	ownStore     bool         // the one that the run was given
	resume, fork string       // ids of runs
	settings     json.RawMessage
	stop         func(why error) // ends the run
	recording    *runfile.Writer
}

// Input sets the input of a main that is a node, or the argument of a main that is a function with one parameter: a
// Go value that has a JSON form, or a generable.Value. It is read before Start returns and converted to the type that
// main declares.
func Input(v any) RunOption { return func(r *runConfig) { r.input, r.hasInput = v, true } }

// InputText sets the input as text: verbatim if main takes a str, otherwise read as JSON of main's input type, in
// which flaws such as single quotes and numbers in quotes are repaired.
func InputText(text string) RunOption { return func(r *runConfig) { r.raw = &text } }

// Args sets the arguments of a main that is a function, by parameter name. They are
// converted to the declared types.
func Args(args map[string]any) RunOption {
	return func(r *runConfig) {
		if r.args == nil {
			r.args = map[string]any{}
		}
		maps.Copy(r.args, args)
	}
}

// ID sets the id of the run. It is part of every idempotency key; the default is a random id.
func ID(id string) RunOption { return func(r *runConfig) { r.spec.ID = id } }

// Seed sets the seed of random() and uuid() in scripts: together with the position of the call, it determines what
// they return, so that their results are not recorded. A resumed run must have the seed with which it began. By
// default a run in virtual time, or with prepared answers, has the seed 0; the seed of any other run follows from its
// [ID], which is random if none is given. [Run.Seed] returns the seed.
func Seed(seed uint64) RunOption { return func(r *runConfig) { r.seed, r.seeded = seed, true } }

// Model sets the model of agents that name none, for this run.
func Model(model string) RunOption { return func(r *runConfig) { r.spec.Model = model } }

// ModelAliases adds aliases for this run. They override those of [WithModelAliases].
func ModelAliases(aliases map[string]string) RunOption {
	return func(r *runConfig) { r.spec.Aliases = withAliases(r.spec.Aliases, aliases) }
}

// ModelOverride sets the model of all agents, including those that a script creates while it runs. It overrides what
// the script says; [ModelFor] overrides it.
func ModelOverride(model string) RunOption {
	return func(r *runConfig) { r.override = model }
}

// ModelFor sets the model of one agent. It overrides what the script says.
func ModelFor(agent, model string) RunOption {
	return func(r *runConfig) {
		if r.spec.Models == nil {
			r.spec.Models = map[string]string{}
		}
		r.spec.Models[agent] = model
	}
}

// RunLimits bounds this run, instead of the engine's limits. Limits that are not set have the defaults described at
// [WithLimits].
func RunLimits(l engine.Limits) RunOption { return func(r *runConfig) { r.spec.Limits = l } }

// RunPricer sets the source of prices of model calls for this run.
func RunPricer(p engine.Pricer) RunOption { return func(r *runConfig) { r.spec.Pricer = p } }

// OnBudget sets a function that is called when a budget of the run, or of an agent or node in it, is used up, before
// anything fails because of that; see [engine.OnBudget].
func OnBudget(f engine.OnBudget) RunOption { return func(r *runConfig) { r.spec.OnBudget = f } }

// RunJournal makes the run record its effects in a journal, and answers from what is recorded: failures as well as
// results, so that a call that failed is not made again. A call that was cancelled, by the caller, a time limit or a
// failing sibling, has no outcome and is not recorded. A later run with the same journal passes it to its handler and
// records the outcome then. So a replay asks for nothing if no call of the recorded run was cancelled.
func RunJournal(j engine.Journal) RunOption { return func(r *runConfig) { r.spec.Journal = j } }

// OnUnknown sets what a resumed run does about an effect of class once whose process ended before its outcome was
// known, if its tool does not say. By default the run asks, with an error that is [ErrApproval].
func OnUnknown(do engine.OnUnknown) RunOption { return func(r *runConfig) { r.spec.OnUnknown = do } }

// HandlerForAll replaces all handlers of effects for this run, for example by a test's fake.
func HandlerForAll(h engine.Handler) RunOption { return func(r *runConfig) { r.handler = h } }

// Dispatch lets other processes carry out the run's effects, with [Engine.Perform]. The handlers, middleware and
// secrets of this engine take no part in that. Effects of the kinds that [HandlerFor] names are carried out here.
func Dispatch(h engine.Handler) RunOption {
	return func(r *runConfig) { r.handler, r.elsewhere = h, true }
}

// HandlerFor sets the handler of effects of a kind for this run, in place of the engine's: for example another model,
// or the person who approves. It has no effect with [HandlerForAll], and takes precedence over [Dispatch].
func HandlerFor(kind engine.EffectKind, h engine.Handler) RunOption {
	return func(r *runConfig) {
		if r.handlers == nil {
			r.handlers = engine.Handlers{}
		}
		r.handlers[kind] = h
	}
}

// OnEvent calls f for every event of the given kinds, in order and one at a time. The run waits for f, so f must be
// quick; see [Run.Events] for readers that may lag.
func OnEvent(kinds engine.EventKind, f func(engine.Event)) RunOption {
	return func(r *runConfig) {
		if f != nil {
			r.spec.Listener = both(r.spec.Listener, engine.Listener{Kinds: kinds, Emit: f})
		}
	}
}

// Watch keeps events of the given kinds for [Run.Events].
func Watch(kinds engine.EventKind) RunOption { return func(r *runConfig) { r.kinds |= kinds } }

// Cooperative runs on the seeded cooperative scheduler instead of goroutines: one branch at a time, in an order that
// the seed determines. It is for tests; effects run inline.
func Cooperative(seed uint64) RunOption {
	return func(r *runConfig) { r.sched = sched.NewCoopSched(seed) }
}

// VirtualTime makes the run the same every time, in results and events. It is for tests, with models that answer from
// a list or a record. Waiting takes no time: what branches wait for, such as the delay of an answer, comes at once
// when every branch waits and no effect is in flight; of things due at the same time, what is written first comes
// first. Time limits of agents, nodes and the run use virtual time, and so do timeouts of tools that scripts write.
// Calls of Go tools, servers, commands and people run concurrently, and their results are passed on in written order;
// their own timeouts, the context of Start and [DefaultWall] use the machine's time.
func VirtualTime() RunOption { return func(r *runConfig) { r.virtual = true } }

// Scheduler runs on a scheduler of the host, for example that of a durable workflow, and on the goroutine that starts
// the run: Start returns when the run has ended. The scheduler is responsible for cancellation: neither the context
// of Start nor [Run.Cancel] affects the run. See engine/sched/schedtest for what a scheduler must do.
func Scheduler(s engine.Sched) RunOption {
	return func(r *runConfig) { r.sched, r.inline = s, s != nil }
}

// both returns a listener that passes events to two listeners.
func both(a, b engine.Listener) engine.Listener {
	if a.Emit == nil {
		return b
	}
	return engine.Listener{Kinds: a.Kinds | b.Kinds, Emit: func(e engine.Event) {
		if a.Kinds&e.Kind != 0 {
			a.Emit(e)
		}
		if b.Kinds&e.Kind != 0 {
			b.Emit(e)
		}
	}}
}
