package agentscript

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/internal/input"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib"
)

// Run is one execution of a module.
type Run struct {
	id     string
	cancel context.CancelCauseFunc
	done   chan struct{}
	result Result
	err    error
	x      *run.Execution // nil if the run never began
	kept   *kept          // nil if nothing is kept of the run
	watch
}

// Result is what a run returned: a value and its declared type.
type Result struct {
	Value generable.Value
	Type  *generable.Type // nil if main is a function
}

// JSON returns the result as compact JSON in declared order.
func (r Result) JSON() string { return generable.JSON(r.Value, r.Type) }

// Text returns the result as the command line prints it: a str verbatim, everything else as JSON.
func (r Result) Text() string {
	if s, ok := r.Value.AsStr(); ok {
		return s
	}
	return r.JSON()
}

// As decodes a run's result into a Go value, as encoding/json would decode its JSON: As[Decision](run.Wait()). See
// [govalue.Into]; a number that does not fit exactly is an error.
func As[T any](r Result, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	out, err := govalue.To[T](generable.Plain(r.Value, r.Type))
	if err != nil {
		return out, fmt.Errorf("the result does not fit %T: %w", out, err)
	}
	return out, nil
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// Seed returns the seed of the run's random numbers and ids; see [Seed].
func (r *Run) Seed() uint64 {
	if r.x == nil {
		return 0
	}
	return r.x.Seed()
}

// Cancel ends the run; Wait then returns an error that is engine.ErrCancelled.
func (r *Run) Cancel() {
	r.cancel(nil)
	r.overdue()
}

// keeps returns what is kept of the run, for additions.
func (r *Run) keeps() *kept {
	if r.kept == nil {
		r.kept = &kept{}
	}
	return r.kept
}

// stop ends the run for a reason.
func (r *Run) stop(why error) {
	r.cancel(engine.AsError(why))
	r.overdue()
}

// Done returns a channel that is closed when the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait waits for the end of the run and returns the result. A failure is an *engine.Error. Once the run's context or
// time has ended, Wait waits no longer than [WithGrace] says.
func (r *Run) Wait() (Result, error) {
	<-r.done
	return r.result, r.err
}

// LeftBehind returns how many calls of tools and handlers the run left behind that have not returned: those that
// ignore that their context ended, because of a tool's timeout, an agent's wall time or the end of the run. It may be
// called at any time; it returns 0 once the last of them has returned.
func (r *Run) LeftBehind() int {
	if r.x == nil {
		return 0
	}
	return r.x.Left()
}

// Events yields the events requested with [Watch], each once and in order, until the run has ended and all were read.
// A slow reader does not slow the run. Only one reader at a time may use it.
func (r *Run) Events() iter.Seq[engine.Event] {
	if r.kept == nil || r.kept.queue == nil {
		return func(func(engine.Event) bool) { <-r.done }
	}
	return r.kept.queue.all()
}

func (m *Module) start(ctx context.Context, entry *starlib.Entry, problem error, opts []RunOption) *Run {
	cfg := m.configure(opts)
	if cfg.resume != "" || cfg.fork != "" && entry == nil { // the other run determines what is run
		problem = nil
	}
	if ctx == nil {
		ctx, problem = context.Background(), noContext("the run")
	}
	if wrong := cfg.spec.CheckAliases(); problem == nil && wrong != nil {
		problem = wrong
	}
	_, bounded := ctx.Deadline()
	cfg.spec.Limits = withDefaults(cfg.spec.Limits)
	wall, grace := cfg.spec.Limits.Wall, m.engine.cfg.grace
	if cfg.virtual && wall > 0 { // the run enforces its own time
		wall = 0
	}
	if wall == 0 && !bounded && cfg.sched == nil {
		wall = DefaultWall
		if grace <= 0 && !cfg.virtual { // otherwise the watch enforces the wall time, which costs less
			cfg.spec.Limits.Wall = wall
		}
	}
	inner, cancel := context.WithCancelCause(ctx)
	r := &Run{id: cfg.spec.ID, cancel: cancel, done: make(chan struct{})}
	if cfg.kinds != 0 {
		q := &queue{}
		q.more.L = &q.mu
		r.keeps().queue = q
		cfg.spec.Listener = both(cfg.spec.Listener, engine.Listener{Kinds: cfg.kinds, Emit: q.put})
	}
	// The input is read before Start returns: after that the host may change it.
	if s := cfg.spec.Session; s != nil {
		s.Script = m.lib.File()
	}
	cfg.spec.Keeps, cfg.spec.Sleeps = m.lib.Keeps(), m.lib.Sleeps()
	cfg.stop = r.stop
	if problem == nil {
		var j *journal.Journal
		if j, entry, problem = m.keep(ctx, cfg, entry); j != nil {
			r.keeps().journal = j
		}
		r.id = cfg.spec.ID
	}
	if problem == nil {
		problem = enter(entry, cfg, &r.result)
	}
	if problem != nil {
		r.end(generable.Value{}, problem)
		return r
	}
	if cfg.recording != nil {
		r.keeps().record = func(e engine.RunEnd) error { return m.recordOnly(cfg, entry, e) }
	}
	cfg.spec.Virtual = cfg.virtual
	spec := cfg.spec // so that what the options held is not kept
	sc := cfg.sched
	switch {
	case sc != nil:
	case cfg.virtual:
		sc = sched.NewVirtual(inner)
	case m.engine.cfg.clock != nil:
		sc = sched.NewClocked(inner, m.engine.cfg.clock)
	default:
		sc = sched.NewGoSched(inner)
	}
	x := run.New(sc, &spec)
	r.x = x
	if cfg.sched == nil && grace > 0 {
		var done time.Duration
		if r.kept != nil && r.kept.journal != nil {
			done = r.kept.journal.Worked()
		}
		by := m.engine.cfg.clock
		if cfg.virtual {
			by = nil
		}
		r.begin(ctx, wall, done, grace, by)
	}
	if cfg.inline {
		r.execute(x)
	} else {
		go r.execute(x)
	}
	return r
}

func (r *Run) execute(x *run.Execution) {
	var out generable.Value
	var err error
	returned := false
	defer func() {
		if !returned {
			err = engine.Errorf(engine.KindPanic, diag.Panic, "a handler ended the goroutine of the run")
		}
		r.end(out, err)
	}()
	out, err = x.Run()
	returned = true
}

func (m *Module) configure(opts []RunOption) *runConfig {
	e := &m.engine.cfg
	cfg := &runConfig{spec: run.Spec{Model: e.model, Aliases: e.aliases, Limits: e.limits, Pricer: e.pricer, OnToolError: e.recovery, Hooks: e.hooks, Policies: e.policies[:len(e.policies):len(e.policies)]}}
	for _, o := range opts {
		if o != nil {
			o(cfg)
		}
	}
	if cfg.spec.ID == "" {
		var chance [8]byte
		rand.Read(chance[:]) // never fails
		cfg.spec.ID = hex.EncodeToString(chance[:])
	}
	if !cfg.ownStore {
		cfg.store = e.store
	}
	if cfg.elsewhere {
		return cfg.dispatching()
	}
	own := cfg.handler != nil || cfg.handlers != nil
	if cfg.handler == nil {
		handlers := e.handlers
		if cfg.handlers != nil {
			handlers = maps.Clone(handlers)
			maps.Copy(handlers, cfg.handlers)
		}
		cfg.handler = handlers
	}
	cfg.overriding()
	if cfg.spec.Secrets = e.secrets; own {
		cfg.spec.Secrets = secretsOf(cfg.handler, e.grants)
	}
	cfg.prepare()
	if cfg.seeded || cfg.fixed() { // otherwise it follows from the id, which is random if none is given
		cfg.seedIs(cfg.seed)
	}
	cfg.spec.Handler = engine.Chain(cfg.handler, e.middleware...)
	return cfg
}

// overriding sets the model of all agents, if there is one.
func (cfg *runConfig) overriding() {
	if cfg.override != "" {
		cfg.spec.Model, cfg.spec.Overrides = cfg.override, true
	}
}

// dispatching configures a run whose effects other processes carry out, except those of the kinds for which the run
// has its own handlers.
func (cfg *runConfig) dispatching() *runConfig {
	cfg.overriding()
	cfg.spec.Handler = cfg.handler
	if here := cfg.handlers; here != nil {
		cfg.spec.Handler = engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
			if h := here[e.Kind]; h != nil {
				return h.Do(ctx, e, sink)
			}
			return cfg.handler.Do(ctx, e, sink)
		})
	}
	if cfg.seeded {
		cfg.seedIs(cfg.seed)
	}
	return cfg
}

// prepared returns what was prepared for the run, for additions.
func (cfg *runConfig) prepared() *run.Prepared {
	if cfg.spec.Prepared == nil {
		cfg.spec.Prepared = &run.Prepared{}
	}
	return cfg.spec.Prepared
}

// seedIs sets the seed of random numbers and ids.
func (cfg *runConfig) seedIs(seed uint64) {
	p := cfg.prepared()
	p.Seed, p.HasSeed = seed, true
}

// fixed reports whether the run must be the same every time: its time is virtual, or its answers are prepared.
func (cfg *runConfig) fixed() bool {
	p := cfg.spec.Prepared
	return cfg.virtual || cfg.sched != nil && !cfg.inline || p != nil && (p.Call != nil || p.StandIn != nil || p.CutOff != nil)
}

// standIn is a model that also answers for tools that must not be called, such as that of engine/llm/mock.
type standIn interface {
	StandIn(t *agent.Tool) (v generable.Value, stands bool, err error)
	Around(h engine.Handler) engine.Handler
}

// excusing is a model with answers that may be left over, such as that of engine/llm/scripted. Excusing returns nil
// if it has none.
type excusing interface{ Excusing() func(agents []string) }

// doubling is a handler of all effects of a test. It also carries out calls of the script's tools.
type doubling interface {
	Call(at *engine.Frame, t *agent.Tool, args generable.Value, run func() (generable.Value, error)) (generable.Value, error)
	CutOff(agents []string)
}

// keeping is a model that records what else determines a run, or has recorded it: the recorder and the replayer of
// engine/cassette, and a test. Seeded returns the seed to use. Timed returns the handler that provides the time
// instead of own.
type keeping interface {
	Seeded(seed uint64) (uint64, error)
	Timed(own engine.Handler) engine.Handler
}

// prepare lets a model with prepared answers take part in the run.
func (cfg *runConfig) prepare() {
	models := cfg.handler
	if kinds, ok := models.(engine.Handlers); ok {
		models = kinds[engine.EffectModel]
		if h := kinds[engine.EffectTime]; h != nil {
			cfg.prepared().Timed = func(engine.Handler) engine.Handler { return h }
		}
	}
	if m, ok := models.(keeping); ok {
		by := cfg.prepared()
		if by.SeedKept = m.Seeded; by.Timed == nil {
			by.Timed = m.Timed
		}
	}
	switch m := models.(type) {
	case doubling:
		by := cfg.prepared()
		by.Call, by.CutOff = m.Call, m.CutOff
	case standIn:
		cfg.prepared().StandIn = m.StandIn
		cfg.handler = m.Around(cfg.handler)
	case excusing:
		if tell := m.Excusing(); tell != nil {
			cfg.prepared().CutOff = tell
		}
	}
}

// enter determines what is run and with which input.
func enter(entry *starlib.Entry, cfg *runConfig, r *Result) error {
	if entry.Func != nil || len(entry.Params) > 0 {
		given := make(map[string]generable.Value, len(cfg.args))
		for name, arg := range cfg.args {
			v, err := toValue("the argument "+name, arg)
			if err != nil {
				return err
			}
			given[name] = v
		}
		if err := inputAsArgument(entry, cfg, given); err != nil {
			return err
		}
		args, err := entry.Bind(given)
		if entry.Node == nil || err != nil {
			cfg.spec.Main, cfg.spec.Args = entry.Func, args
			return err
		}
		cfg.spec.Node, r.Type, cfg.spec.Input = entry.Node, entry.Node.Out(), args[0]
		return nil
	}
	cfg.spec.Node, r.Type = entry.Node, entry.Node.Out()
	v, err := inputOf(cfg, entry.Node.In())
	cfg.spec.Input = v
	return err
}

// inputAsArgument passes the input of a run that begins with a function as the function's only argument. Arguments by
// name take precedence.
func inputAsArgument(entry *starlib.Entry, cfg *runConfig, given map[string]generable.Value) error {
	if cfg.raw == nil && !cfg.hasInput || cfg.args != nil {
		return nil
	}
	if len(entry.Params) != 1 {
		names := text.Each(entry.Params, func(f generable.Field) string { return f.Name })
		return engine.Errorf(engine.KindInput, diag.BadInput, "%s takes the parameters (%s), but got an input", entry.Name, strings.Join(names, ", ")).
			WithHelp("pass them by name: agentscript.Args")
	}
	p := entry.Params[0]
	v, err := inputOf(cfg, cmp.Or(p.Type, generable.AnyT))
	given[p.Name] = v
	return err
}

// inputOf returns the input of a node.
func inputOf(cfg *runConfig, t *generable.Type) (generable.Value, error) {
	switch {
	case cfg.raw != nil:
		return input.Text(*cfg.raw, t)
	case cfg.hasInput:
		return toValue("the input", cfg.input)
	case t.AcceptsNone():
		return generable.Value{}, nil
	}
	return generable.Value{}, engine.Errorf(engine.KindInput, diag.BadInput, "main takes %s but got nothing", t).
		WithHelp("pass it as an argument, with --input-json or --input-file, or on stdin: %s", input.Shown(t))
}

// toValue converts anything that has a JSON form to a value.
func toValue(what string, v any) (generable.Value, error) {
	if in, ok := v.(generable.Value); ok { // made by the host, who vouches for its text
		return in, input.CheckUTF8(what, "", in)
	}
	out, err := govalue.From(v)
	if err != nil {
		return out, engine.Errorf(engine.KindInput, diag.BadInput, "%s has no JSON form: %w", what, err)
	}
	return out, nil
}

// nothingToRun returns the error of a run that has nothing to begin with.
func nothingToRun(missing *diag.Diagnostic) error {
	if missing == nil {
		return nil
	}
	e := engine.Errorf(engine.KindInput, missing.Code, "%s", missing.Message)
	e.Pos, e.Help = missing.Span.Pos, strings.Join(missing.Help, "; ")
	return e
}

func noContext(what string) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.MissingArgument, "%s got no context", what).
		WithHelp("pass context.Background() if there is no other")
}
