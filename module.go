package agentscript

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// Engine holds what a host grants to scripts. It is immutable and safe for concurrent use.
type Engine struct{ cfg config }

// New returns an engine. Without options, scripts can compose, check and run everything that needs no model.
func New(opts ...Option) *Engine {
	c := config{handlers: engine.Handlers{}, tools: agent.HostTools{}, loadTime: DefaultLoadTimeout, grace: DefaultGrace}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if c.models != nil {
		c.handlers[engine.EffectModel] = c.models
	}
	c.grant()
	if len(c.tools) > 0 {
		c.handlers[engine.EffectTool] = c.tools
	}
	c.secrets = secretsOf(c.handlers, c.grants)
	return &Engine{cfg: c}
}

// Load reads a script and everything that it loads from fsys, builds its graph and checks it. The error is a
// [*LoadError] that holds all findings, each with its position and remedy. Warnings and notes of a valid script are
// in [Module.Diagnostics].
func (e *Engine) Load(ctx context.Context, fsys fs.FS, entry string) (*Module, error) {
	o, wrong := e.inFS(ctx, fsys, entry)
	return e.load(ctx, o, wrong)
}

// LoadFile is Load for a file of the operating system. A script reads nothing outside its
// own directory, or that of [WithRoot].
func (e *Engine) LoadFile(ctx context.Context, path string) (*Module, error) {
	o, wrong := e.file(ctx, path)
	return e.load(ctx, o, wrong)
}

// Check is Load for the findings only. The sources serve to show them with carets; see diag.Render.
func (e *Engine) Check(ctx context.Context, fsys fs.FS, entry string) (diag.List, diag.Sources) {
	return findings(e.Load(ctx, fsys, entry))
}

// CheckFile is Check for a file of the operating system.
func (e *Engine) CheckFile(ctx context.Context, path string) (diag.List, diag.Sources) {
	return findings(e.LoadFile(ctx, path))
}

// findings returns everything that loading found.
func findings(m *Module, err error) (diag.List, diag.Sources) {
	if wrong, ok := err.(*LoadError); ok {
		return wrong.List, wrong.Sources
	}
	return m.found, m.Sources()
}

// load loads what o names. If wrong is not nil, load returns it as the error.
func (e *Engine) load(ctx context.Context, o starlib.Options, wrong *LoadError) (*Module, error) {
	if wrong != nil {
		return nil, wrong
	}
	e.equip(&o)
	ctx, cancel := e.inLoadTime(ctx)
	defer cancel()
	o.OnCancel = func(f func()) func() bool { return context.AfterFunc(ctx, f) }
	lib, found := loadWithin(ctx, o)
	if found.HasErrors() {
		return nil, &LoadError{List: found, Sources: lib.Sources()}
	}
	return &Module{engine: e, lib: lib, found: found}, nil
}

// equip sets the options of a load that follow from the engine's grants and limits.
func (e *Engine) equip(o *starlib.Options) {
	o.Grants, o.Ungranted, o.ServerMay = e.cfg.grants, e.cfg.ungranted, e.cfg.serverMay()
	o.Hide = run.Hiding(e.cfg.secrets)
	o.Cover, o.Flow = e.cfg.cover, e.cfg.flow
	o.Strict, o.Builtins, o.Print, o.Parsed = e.cfg.strict, e.cfg.builtins, e.cfg.print, e.cfg.parsed
	for _, name := range slices.Sorted(maps.Keys(e.cfg.tools)) {
		o.Tools = append(o.Tools, &e.cfg.tools[name].Tool)
	}
	o.MaxSource, o.MaxFile, o.MaxValue = e.cfg.sizes.Source, e.cfg.sizes.File, e.cfg.sizes.Value
}

// inLoadTime limits the time of a load.
func (e *Engine) inLoadTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return e.inTime(ctx, "loading", slowLoad)
}

// inTime limits the time of something that may take as long as a load.
func (e *Engine) inTime(ctx context.Context, what, help string) (context.Context, context.CancelFunc) {
	if e.cfg.loadTime <= 0 {
		return ctx, func() {}
	}
	late := engine.Errorf(engine.KindTimeout, diag.Timeout, "%s did not end within %s", what, e.cfg.loadTime).WithHelp("%s", help)
	return context.WithTimeoutCause(ctx, e.cfg.loadTime, late)
}

// lastWords is how long a load that must end may take to report where it was.
const lastWords = 50 * time.Millisecond

// loadWithin loads what o names, and returns soon after ctx has ended. This module's own code checks ctx as it
// proceeds. The interpreter's parser and compiler cannot be stopped. They are left behind in their goroutine, with
// everything that they hold, until they have processed the file, whose size is limited.
func loadWithin(ctx context.Context, o starlib.Options) (*starlib.Module, diag.List) {
	var left atomic.Bool // nobody waits any more
	if say := o.Print; say != nil {
		o.Print = func(at diag.Pos, text string) {
			if !left.Load() {
				say(at, text)
			}
		}
	}
	type outcome struct {
		lib      *starlib.Module
		found    diag.List
		panicked any
		stack    []byte
	}
	done := make(chan outcome, 1)
	go func() {
		var r outcome
		defer func() {
			if r.panicked = recover(); r.panicked != nil {
				r.stack = debug.Stack()
			}
			done <- r
		}()
		r.lib, r.found = starlib.Load(ctx, o)
	}()
	var r outcome
	select {
	case r = <-done:
	case <-ctx.Done():
		wait := time.NewTimer(lastWords)
		defer wait.Stop()
		select {
		case r = <-done:
		case <-wait.C:
			left.Store(true)
			if o.Parsed != nil {
				o.Parsed.Abandon()
			}
			return starlib.Abandoned(ctx, o)
		}
	}
	if r.panicked != nil {
		nothing, _ := starlib.Abandoned(ctx, o)
		return nothing, diag.List{{Code: diag.Panic, Span: diag.Span{Pos: diag.Pos{File: o.Entry}}, Message: fmt.Sprintf("loading panicked: %v", r.panicked),
			Cause: fmt.Errorf("%v\n%s", r.panicked, r.stack)}}
	}
	return r.lib, r.found
}

const slowLoad = "work on data belongs into def main or fn; if the script is only large, allow more time with --timeout"

// Perform carries out an effect that a run in another process dispatched; see [Dispatch]. Its result contains none of
// the engine's secrets.
func (e *Engine) Perform(ctx context.Context, f *engine.Effect, sink engine.Sink) engine.Outcome {
	return run.Perform(ctx, engine.Chain(e.cfg.handlers, e.cfg.middleware...), e.cfg.secrets, f, sink)
}

// LoadError is everything that is wrong with a script, with the sources to show it.
type LoadError struct {
	diag.List
	Sources diag.Sources
}

// Unwrap returns the findings.
func (e *LoadError) Unwrap() error { return e.List }

// Module is a loaded script: checked, frozen, and usable by any number of runs at once.
type Module struct {
	engine *Engine
	lib    *starlib.Module
	found  diag.List
}

// Diagnostics returns the warnings and notes of loading.
func (m *Module) Diagnostics() diag.List { return m.found }

// Sources returns the text of the loaded files.
func (m *Module) Sources() diag.Sources { return m.lib.Sources() }

// Hash identifies the script with everything that it loads and reads. Runs are pinned to it.
func (m *Module) Hash() string { return m.lib.Hash() }

// Entry is what a run begins with: a node, or a function whose parameters the host supplies.
type Entry struct {
	Name string
	Node *flow.Node // nil for a function
	Doc  string     // of a function, without its Args section

	// Params are the parameters of a function. Their guides come from field(...) or the docstring's Args section.
	Params []generable.Field
}

// Main returns what the script runs as main, or else why there is nothing to run.
func (m *Module) Main() (*Entry, *diag.Diagnostic) {
	main, missing := m.lib.Main()
	if missing != nil {
		return nil, missing
	}
	return &Entry{Name: main.Name, Node: main.Node, Params: main.Params, Doc: main.Doc}, nil
}

// Node returns the node bound to a global name of the script, or nil.
func (m *Module) Node(name string) *flow.Node { return m.lib.Node(name) }

// Nodes returns every node of the script and the files it loads, in the order in which they were created.
func (m *Module) Nodes() []*flow.Node { return m.lib.Nodes() }

// Coverage returns the places of the script's files that can run, and how often each began to run: statements, bodies
// of lambdas, arms of conditions, elements of comprehensions and alternatives of calls such as fallback([a, b], x),
// sorted by file and position. It returns nil without [WithCoverage]. Runs may be in progress.
func (m *Module) Coverage() []starlib.Place { return m.lib.Coverage() }

// TakeCoverage is like [Module.Coverage], and resets the counts to 0.
func (m *Module) TakeCoverage() []starlib.Place { return m.lib.TakeCoverage() }

// Names lists the globals of the script, sorted.
func (m *Module) Names() []string { return m.lib.Names() }

// Type returns the type bound to a global name of the script, or nil.
func (m *Module) Type(name string) *generable.Type { return m.lib.Type(name) }

// Start begins a run of main. It returns at once; the end of ctx ends the run and every call in flight. If the run
// cannot start, [Run.Wait] returns the reason.
func (m *Module) Start(ctx context.Context, opts ...RunOption) *Run {
	return m.StartNamed(ctx, "main", opts...)
}

// StartNamed begins a run of the node or function that a global name of the script holds. If there is none, the error
// names the nearest.
func (m *Module) StartNamed(ctx context.Context, name string, opts ...RunOption) *Run {
	entry, missing := m.lib.Entry(name)
	return m.start(ctx, entry, nothingToRun(missing), opts)
}

// StartNode begins a run of any node of the module. A nil node, which [Module.Node] returns for a name that holds
// none, is an error; see [Module.StartNamed].
func (m *Module) StartNode(ctx context.Context, n *flow.Node, opts ...RunOption) *Run {
	if n == nil {
		none := engine.Errorf(engine.KindInput, diag.NoMain, "there is no node to run: it is nil").
			WithHelp("Module.Node returns nil for a name that holds no node; StartNamed says which name is nearest")
		return m.start(ctx, nil, none, opts)
	}
	return m.start(ctx, &starlib.Entry{Name: n.Name(), Node: n}, nil, opts)
}

// Tests returns the tests of the script in the order in which they are written: the functions whose names begin with
// test_, or with todo_ for tests that must not run. Package agenttest runs them.
func (m *Module) Tests() []starlib.Test { return m.lib.Tests() }

// StartTest begins a run of a test with t as the test's t.
func (m *Module) StartTest(ctx context.Context, name string, t double.Test, opts ...RunOption) *Run {
	entry, missing := m.lib.TestEntry(name, t)
	return m.start(ctx, entry, nothingToRun(missing), opts)
}

// Files lists the paths of all files of the script, loaded or read, sorted.
func (m *Module) Files() []string { return m.lib.Files() }

// Links lists the paths by which the script reaches some of its files through symbolic links, sorted.
func (m *Module) Links() []string { return m.lib.Links() }
