package starlib

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime/debug"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

// DefaultSteps bounds the interpreter's steps while a script loads.
const DefaultSteps = 10_000_000

// Options say what to load and what the host adds to the language.
type Options struct {
	FS     fs.FS  // where the script, the files it loads and those it reads are
	Entry  string // the script's path in FS
	Source []byte // the script's text, instead of reading Entry
	Dir    string // shown before the names of files in positions; "" shows paths in FS
	Root   string // the directory of FS that load and file stay in, above Entry; "" is Entry's own

	// Parsed keeps the files as they are parsed, for a load of the same script later; nil keeps none.
	Parsed *Parsed

	// MaxFile bounds the bytes of each file that is read; 0 is [script.DefaultMaxFile].
	MaxFile int64

	Grants engine.Grants // what the script may touch; nil is nothing
	// ServerMay decides about the commands, hosts and secrets of MCP servers; nil has Grants decide.
	ServerMay func(engine.Use) bool
	Ungranted bool // report no use that is not granted: the script is only looked at

	Strict   bool          // note edges that only a run can check
	Builtins []Builtin     // the host's own rows of the table
	Tools    []*agent.Tool // the host's tools, predeclared under their names

	// Print receives what print and help write while loading; nil drops it.
	Print func(at diag.Pos, text string)
	// Steps bounds the interpreter's steps while loading; 0 is [DefaultSteps].
	Steps uint64
	// OnCancel has f called, once and from anywhere, when the context of loading is cancelled,
	// and gives what ends that: context.AfterFunc with the context. Without it, loading looks at
	// the context every so many steps.
	OnCancel func(f func()) (stop func() bool)
}

// Load executes a script and what it loads, and checks the graph that it builds. The list
// holds all that was found; the module can run when the list has no error. It is never nil,
// so that the texts which the diagnostics quote are at hand.
//
// Cancelling ctx ends the loading.
func Load(ctx context.Context, o Options) (*Module, diag.List) {
	c := newLoader(o)
	c.begin(ctx)
	entry := c.open(path.Clean(o.Entry))
	c.hostNames(entry.Shown)
	if o.Source != nil {
		entry.Text = o.Source
	} else if text, err := c.ReadAll(entry.Path); err != nil {
		c.Session.Report(&diag.Diagnostic{Code: diag.FileMissing, Span: diag.Span{Pos: diag.Pos{File: entry.Shown}},
			Message: fmt.Sprintf("the script cannot be read: %s", script.ReadReason(err)), Cause: err})
		entry.State = script.UnitFailed
	} else {
		entry.Text = text
	}
	if entry.State == script.UnitNew {
		c.execute(entry)
	}
	m := &Module{c: c.State, table: c.table, entry: entry}
	c.checkMain(m)
	c.check(entry)
	c.lint.CheckUnused(entry)
	return m, c.end()
}

// hostNames reports what is wrong with the names that the host gives.
func (c *loader) hostNames(file string) {
	for _, d := range hostNames(c.opts) {
		d.Span.File = file
		c.Session.Report(d)
	}
}

// checkMain checks what a run of the module begins with.
func (c *loader) checkMain(m *Module) {
	main := m.entry.Globals["main"]
	if _, failed := main.(*value.Failed); main == nil || failed {
		return
	}
	if _, bad := m.Main(); bad != nil {
		c.Session.Report(bad)
	}
	switch main := main.(type) {
	case *value.Node:
		c.Session.CheckHeard(main.Node)
	case *starlark.Function:
		params, _ := value.ParametersOf(main)
		types := make([]*generable.Type, len(params))
		for i, p := range params {
			if p.Declared {
				types[i] = p.Field.Type
			}
		}
		lint.CheckFields(c.State, main, types...)
		lint.CheckDoc(c.State, main)
	}
}

// check looks into the functions of the files that were opened since begin.
func (c *loader) check(entry *script.Unit) {
	for _, u := range c.fresh {
		if u.State == script.UnitDone {
			c.lint.CheckCalls(u, u == entry)
		}
		if u.File != nil {
			c.lint.FindUses(u)
		}
	}
	lint.SortUses(c.Uses)
	for _, d := range c.Types.Check(c.Suggest) {
		c.Session.Report(d)
	}
}

// loader executes the files of a script, which makes its state.
type loader struct {
	*script.State
	opts        Options
	parsed      *Parsed
	table       *table.Table
	lint        *lint.Linter
	language    starlark.StringDict              // the names of the language
	environment starlark.StringDict              // all names that are predeclared, and what the compiler adds
	loading     []*script.Unit                   // the chain of files that load each other, outermost first
	steps       uint64                           // of the interpreter, left for loading
	stop        error                            // why the executing file was stopped
	over        bool                             // loading was cancelled, which is reported once
	fresh       []*script.Unit                   // files that were opened since begin
	calls       map[*diag.Diagnostic][]diag.Note // that led to the function in which it was found
}

func newLoader(o Options) *loader {
	t := universe(o.Builtins)
	s := &script.State{Session: flow.NewSession(), Methods: t, Disk: script.Disk{FS: o.FS, Entry: o.Entry, Root: o.Root, Max: o.MaxFile},
		Units: map[string]*script.Unit{}, ByName: map[string]*script.Unit{}, Files: map[string]string{}, Undescribed: map[diag.Pos]bool{}}
	s.EffectClass = func(fn starlark.Value) engine.Class { return lint.EffectClassOf(s, fn) }
	c := &loader{State: s, opts: o, table: t,
		lint: &lint.Linter{State: s, Table: t, Heard: map[*flow.Node]bool{}, Grants: o.Grants, ServerMay: o.ServerMay, Ungranted: o.Ungranted}}
	s.Session.Strict = o.Strict
	if c.parsed = o.Parsed; c.parsed == nil {
		c.parsed = NewParsed()
	}
	c.predeclare()
	return c
}

// begin begins composing, or goes on with it where it has ended.
func (c *loader) begin(ctx context.Context) {
	if c.Session.Sealed() {
		c.Session = c.Session.Extend()
		c.Sealed.Store(false)
	}
	c.Context, c.stop, c.over, c.fresh = ctx, nil, false, nil
	c.calls = map[*diag.Diagnostic][]diag.Note{}
	c.Session.OnReport = c.traceCalls
	if c.steps = c.opts.Steps; c.steps == 0 {
		c.steps = DefaultSteps
	}
}

// end ends composing and returns what was found since begin.
func (c *loader) end() diag.List {
	c.seal()
	found := c.Session.Diagnostics()
	found.Sort()
	found = c.withCalls(found)
	c.calls = nil
	return found
}

// predeclare makes the names of the language.
func (c *loader) predeclare() {
	c.Predeclared = starlark.StringDict{}
	for _, b := range c.table.Rows() {
		switch {
		case b.Make != nil:
			c.Predeclared[b.Name] = b.Make(c.State, c.table)
		case b.Of == "":
			c.Predeclared[b.Name] = b.Callable()
		}
	}
	maps.Copy(c.Predeclared, value.BoundedBuiltins())
	for _, t := range c.opts.Tools {
		c.Predeclared[t.Name] = &value.Tool{Tool: t}
	}
	c.environment = value.Guards()
	maps.Copy(c.environment, c.Predeclared)
	c.language = maps.Clone(c.Predeclared)
}

func (c *loader) open(p string) *script.Unit {
	u := &script.Unit{Path: p, Shown: p}
	if c.opts.Dir != "" {
		u.Shown = path.Join(c.opts.Dir, p)
	}
	c.Units[p], c.ByName[u.Shown] = u, u
	c.fresh = append(c.fresh, u)
	return u
}

// execute parses, resolves and runs a file.
func (c *loader) execute(u *script.Unit) {
	u.State = script.UnitLoading
	ok := c.compileAndRun(u)
	if ok {
		u.State = script.UnitDone
	} else {
		u.State = script.UnitFailed
	}
}

func (c *loader) compileAndRun(u *script.Unit) (ok bool) {
	u.Text = bytes.TrimPrefix(u.Text, byteOrderMark)
	f := c.parsed.file(u.Shown, u.Text)
	found := copied(f.found)
	c.ReportFrom(u, found)
	if f.tree == nil {
		return false
	}
	u.File = f.tree
	indexLoads(u)
	if c.ended(u) { // each pass over a long file takes its time
		return false
	}
	f, linted := c.parsed.lint(u.Shown, f, c.names())
	if u.File != f.tree {
		u.File = f.tree
		indexLoads(u)
	}
	c.ReportFrom(u, linted)
	if c.ended(u) {
		return false
	}
	prog, wrong := c.compile(u, found)
	if c.ReportFrom(u, wrong); prog == nil {
		return false
	}
	c.lint.CheckModules(u)
	th := c.newThread(u)
	outer := c.Thread
	c.Thread = th
	if c.opts.OnCancel != nil {
		stop := c.opts.OnCancel(func() { th.Cancel(thread.Interruption) })
		defer stop()
	}
	defer func() {
		c.Thread = outer
		if p := recover(); p != nil {
			c.Session.Report(&diag.Diagnostic{Code: diag.Panic, Span: diag.Span{Pos: diag.Pos{File: u.Shown}},
				Message: fmt.Sprintf("loading panicked: %v", p), Cause: &panicError{p, string(debug.Stack())}})
			ok = false
		}
	}()
	var err error
	u.Globals, err = prog.Init(th, c.environment)
	u.Missing.Told() // they are reported, each as it is found
	if err != nil {
		if d := c.raisedDiagnostic(c.stopped(err)); d != nil && (d.Code == diag.Cancelled || d.Code == diag.Timeout) {
			c.reportEnd(u, d)
		} else if d != nil {
			c.ReportFrom(u, diag.List{d})
		}
		return false
	}
	return true
}

// ended reports that loading was cancelled, or is out of time, before the file is run.
func (c *loader) ended(u *script.Unit) bool {
	err := c.cancelled()
	if err == nil {
		return false
	}
	d := c.raisedDiagnostic(err)
	d.Span.File = u.Shown
	c.reportEnd(u, d)
	return true
}

// reportEnd reports the end of loading once: files that wait for the one that was at work end for
// the same reason.
func (c *loader) reportEnd(u *script.Unit, d *diag.Diagnostic) {
	if !c.over {
		c.over = true
		c.ReportFrom(u, diag.List{d})
	}
}

// byteOrderMark is what some editors put before UTF-8 text. It says nothing there.
var byteOrderMark = []byte("\ufeff")

// panicError keeps the stack of a panic.
type panicError struct {
	value any
	stack string
}

func (p *panicError) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }

// Names are the builtins as the checks of the syntax need them.
func (c *loader) names() source.Names {
	n, ofInterpreter := source.Names{Builtins: c.language.Keys()}, value.BoundedBuiltins()
	n.Builtins = slices.DeleteFunc(n.Builtins, func(name string) bool {
		b, ok := c.table.Lookup(name)
		return ok && b.May || ofInterpreter.Has(name) // scripts may name something of their own so
	})
	for _, b := range c.table.Rows() {
		if b.Of != "" || b.Make != nil {
			continue
		}
		switch b.Returns {
		case "field":
			n.FieldMakers = append(n.FieldMakers, b.Name)
		case "type":
			n.TypeMakers = append(n.TypeMakers, b.Name)
		case "node":
			n.NodeMakers = append(n.NodeMakers, b.Name)
		case "predicate":
			n.Conditions = append(n.Conditions, b.Name)
		}
	}
	return n
}

// seal ends composing: nothing of the module changes from now on.
func (c *loader) seal() {
	c.IndexFunctions()
	for _, f := range c.AtEnd {
		f()
	}
	c.AtEnd = nil
	lint.CheckEffects(c.State)
	c.freezeModule()
	c.Callbacks = nil
	c.Session.Seal()
	c.Thread = nil
	c.Sealed.Store(true)
}

// newThread makes the thread that executes a file while it is loaded, bounded in steps and by the
// context of loading.
func (c *loader) newThread(u *script.Unit) *starlark.Thread {
	t := &starlark.Thread{
		Name: u.Shown,
		Load: c.load,
		Print: func(thread *starlark.Thread, text string) {
			if c.opts.Print == nil {
				return
			}
			at := diag.Pos{}
			if thread.CallStackDepth() > 1 {
				at = script.Position(thread.CallFrame(1).Pos)
			}
			c.opts.Print(at, text)
		},
		OnMaxSteps: func(th *starlark.Thread) {
			th.SetMaxExecutionSteps(th.Steps + thread.StepChunk)
			if err := c.tick(th); err != nil && c.stop == nil {
				c.stop = err
				th.Cancel(err.Error())
			}
		},
	}
	t.SetMaxExecutionSteps(thread.StepChunk)
	t.SetLocal(script.EnvKey, &script.Env{State: c.State})
	return t
}

// cancelled tells that loading was cancelled, or is out of time, nil when it may go on.
func (c *loader) cancelled() error {
	if c.Context.Err() == nil {
		return nil
	}
	cause := context.Cause(c.Context)
	if e := script.EngineError(cause); e != nil {
		return e
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return &engine.Error{Kind: engine.KindTimeout, Code: diag.Timeout, Message: "loading did not end by its deadline", Cause: cause,
			Help: "work on data belongs into def main or fn"}
	}
	return &engine.Error{Kind: engine.KindCancelled, Code: diag.Cancelled, Message: "loading was cancelled", Cause: cause}
}

// tick looks at the bounds of loading.
func (c *loader) tick(th *starlark.Thread) error {
	if err := c.cancelled(); err != nil {
		return err
	}
	if th.CallStackDepth() > thread.MaxFrames {
		return thread.TooDeep()
	}
	if c.steps < thread.StepChunk {
		return script.Errorf(diag.StepLimit, "loading the script takes too many steps").
			WithHelp("a loop at the top level may not end; work on data belongs into def main or fn")
	}
	c.steps -= thread.StepChunk
	return nil
}

// stopped puts the reason for which a thread was cancelled in the place of the interpreter's
// words, and keeps where it was.
func (c *loader) stopped(err error) error {
	if c.stop == nil && thread.ScriptMessage(err) == thread.Interrupted {
		c.stop = c.cancelled()
	}
	if c.stop == nil {
		return err
	}
	own := *script.EngineError(c.stop)
	if own.Cause == nil {
		own.Cause = err
	} else {
		own.Cause = errors.Join(own.Cause, err)
	}
	c.stop = nil
	return &own
}

// hostNames reports what the host gives a name that something else has: a script would call
// the one and mean the other.
func hostNames(o Options) diag.List {
	if len(o.Builtins)+len(o.Tools) == 0 {
		return nil
	}
	var found diag.List
	taken := map[string]string{}
	for name := range starlark.Universe {
		taken[name] = "a builtin"
	}
	for _, b := range standard().Rows() {
		taken[b.QualifiedName()] = "a builtin"
	}
	claim := func(what, name string) {
		if by, ok := taken[name]; ok {
			found.Add(&diag.Diagnostic{Code: diag.HidesBuiltin, Message: fmt.Sprintf("the host's %s %q has the name of %s", what, name, by),
				Help: []string{"register it under another name"}})
			return
		}
		taken[name] = "a " + what + " of the host"
	}
	for _, b := range o.Builtins {
		claim("builtin", b.QualifiedName())
	}
	for _, t := range o.Tools {
		claim("tool", t.Name)
	}
	return found
}

// freezeModule freezes what a script made while it loaded: its globals, and what the functions
// of its graph capture.
func (c *loader) freezeModule() {
	var all []starlark.Value
	for _, u := range c.fresh {
		for _, v := range u.Globals {
			all = append(all, v)
		}
	}
	if value.FreezeShared(append(all, c.Callbacks...)...) == nil {
		return
	}
	refused := func(err error, at diag.Span) {
		if e := script.EngineError(err); e != nil {
			c.Session.Report(&diag.Diagnostic{Code: e.Code, Span: at, Message: e.Message, Help: []string{e.Help}})
		}
	}
	for _, u := range c.fresh {
		for name, v := range u.Globals {
			refused(value.FreezeShared(v), c.GlobalSpan(u, name))
		}
	}
	for _, v := range c.Callbacks {
		if fn, ok := v.(*starlark.Function); ok {
			refused(value.FreezeShared(fn), diag.Span{Pos: script.Position(fn.Position())})
		}
	}
}
