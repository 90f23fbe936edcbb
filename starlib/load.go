package starlib

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime/debug"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/source"
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

	// MaxFile bounds the bytes of each file that is read; 0 is [DefaultMaxFile].
	MaxFile int64

	Grants engine.Grants // what the script may touch; nil is nothing
	// ServerMay decides about the commands, hosts and secrets of MCP servers; nil has Grants decide.
	ServerMay func(engine.Use) bool
	Ungranted bool // report no use that is not granted: the script is only looked at

	Strict   bool           // note edges that only a run can check
	Builtins []Builtin      // the host's own rows of the table
	Tools    []*engine.Tool // the host's tools, predeclared under their names

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
	c := newLoader(ctx, o)
	c.session.Strict, c.session.OnReport = o.Strict, c.traceCalls
	c.steps = o.Steps
	if c.steps == 0 {
		c.steps = DefaultSteps
	}
	c.predeclare()
	entry := c.open(path.Clean(o.Entry))
	for _, d := range hostNames(o) {
		d.Span.File = entry.shown
		c.session.Report(d)
	}
	if o.Source != nil {
		entry.text = o.Source
	} else if text, err := c.readAll(entry.path); err != nil {
		c.session.Report(&diag.Diagnostic{Code: diag.FileMissing, Span: diag.Span{Pos: diag.Pos{File: entry.shown}},
			Message: fmt.Sprintf("the script cannot be read: %s", reason(err)), Cause: err})
		entry.state = unitFailed
	} else {
		entry.text = text
	}
	if entry.state == unitNew {
		c.execute(entry)
	}
	m := &Module{c: c.state, table: c.table, entry: entry}
	if v := entry.globals["main"]; v != nil {
		if _, failed := v.(*failedValue); !failed {
			if _, bad := m.Main(); bad != nil {
				c.session.Report(bad)
			}
		}
	}
	if main, ok := entry.globals["main"].(*nodeValue); ok {
		c.session.CheckHeard(main.n)
	}
	if main, ok := entry.globals["main"].(*starlark.Function); ok {
		params, _ := parametersOf(main)
		types := make([]*generable.Type, len(params))
		for i, p := range params {
			if p.declared {
				types[i] = p.field.Type
			}
		}
		c.checkFields(main, types...)
		c.checkDoc(main)
	}
	for _, u := range c.units {
		if u.state == unitDone {
			c.lint.checkCalls(u, u == entry)
		}
		if u.file != nil {
			c.lint.findUses(u)
		}
	}
	sortUses(c.uses)
	for _, d := range c.types.check(c.suggest) {
		c.session.Report(d)
	}
	c.lint.checkUnused(entry)
	c.seal()
	found := c.session.Diagnostics()
	found.Sort()
	found = c.withCalls(found)
	c.calls = nil
	return m, found
}

// loader executes the files of a script, which makes its state.
type loader struct {
	*state
	opts        Options
	table       *Table
	lint        *linter
	environment starlark.StringDict              // the names of the language, and what the compiler adds
	loading     []*unit                          // the chain of files that load each other, outermost first
	steps       uint64                           // of the interpreter, left for loading
	stop        error                            // why the executing file was stopped
	over        bool                             // loading was cancelled, which is reported once
	calls       map[*diag.Diagnostic][]diag.Note // that led to the function in which it was found
}

func newLoader(ctx context.Context, o Options) *loader {
	t := Universe(o.Builtins...)
	s := &state{ctx: ctx, session: engine.NewSession(), methods: t, disk: disk{o.FS, o.Entry, o.Root, o.MaxFile},
		units: map[string]*unit{}, shown: map[string]*unit{}, files: map[string]string{}, undescribed: map[diag.Pos]bool{}}
	s.classOf = func(fn starlark.Value) engine.Class { return s.actsOf(fn) }
	return &loader{state: s, opts: o, table: t, calls: map[*diag.Diagnostic][]diag.Note{},
		lint: &linter{state: s, table: t, heard: map[*engine.Node]bool{}, grants: o.Grants, serverMay: o.ServerMay, ungranted: o.Ungranted}}
}

// predeclare makes the names of the language.
func (c *loader) predeclare() {
	c.predeclared = starlark.StringDict{}
	for _, b := range c.table.Rows() {
		switch {
		case b.made != nil:
			c.predeclared[b.Name] = b.made(c.state, c.table)
		case b.Of == "":
			c.predeclared[b.Name] = b.value()
		}
	}
	maps.Copy(c.predeclared, bounded())
	for _, t := range c.opts.Tools {
		c.predeclared[t.Name] = &toolValue{t: t}
	}
	c.environment = guards()
	maps.Copy(c.environment, c.predeclared)
}

type unitState uint8

const (
	unitNew unitState = iota
	unitLoading
	unitDone
	unitFailed // its pass ended early; the reason was reported
)

// unit is one file of the script.
type unit struct {
	path    string // in FS
	shown   string // in positions
	text    []byte
	file    *source.File
	globals starlark.StringDict
	names   []string // of the globals, sorted, once one was missed
	state   unitState
	loads   map[syntax.Position]*syntax.LoadStmt
	taken   map[*syntax.Ident]starlark.Value // what it loads, by the name that it gives it
	from    diag.Pos                         // where it was first loaded
	missing findings                         // names that it loads and that are not there
	sites   map[syntax.Position]source.Call  // calls looked up so far, while composing

	functions map[syntax.Position]syntax.Node   // by position, once one is looked into
	params    map[syntax.Node][]*generable.Type // of the functions that the graph calls
}

func (c *loader) open(p string) *unit {
	u := &unit{path: p, shown: p}
	if c.opts.Dir != "" {
		u.shown = path.Join(c.opts.Dir, p)
	}
	c.units[p], c.shown[u.shown] = u, u
	return u
}

// execute parses, resolves and runs a file.
func (c *loader) execute(u *unit) {
	u.state = unitLoading
	ok := c.compileAndRun(u)
	if ok {
		u.state = unitDone
	} else {
		u.state = unitFailed
	}
}

func (c *loader) compileAndRun(u *unit) (ok bool) {
	u.text = bytes.TrimPrefix(u.text, byteOrderMark)
	file, found := source.Parse(u.shown, u.text)
	c.reportFrom(u, found)
	if file == nil {
		return false
	}
	u.file = file
	u.indexLoads()
	if c.ended(u) { // each pass over a long file takes its time
		return false
	}
	c.reportFrom(u, file.Lint(c.names()))
	if c.ended(u) {
		return false
	}
	prog, wrong := c.compile(u, found)
	if c.reportFrom(u, wrong); prog == nil {
		return false
	}
	c.lint.checkModules(u)
	thread := c.newThread(u)
	outer := c.thread
	c.thread = thread
	if c.opts.OnCancel != nil {
		stop := c.opts.OnCancel(func() { thread.Cancel(interruption) })
		defer stop()
	}
	defer func() {
		c.thread = outer
		if p := recover(); p != nil {
			c.session.Report(&diag.Diagnostic{Code: diag.Panic, Span: diag.Span{Pos: diag.Pos{File: u.shown}},
				Message: fmt.Sprintf("loading panicked: %v", p), Cause: &panicError{p, string(debug.Stack())}})
			ok = false
		}
	}()
	var err error
	u.globals, err = prog.Init(thread, c.environment)
	u.missing.told() // they are reported, each as it is found
	if err != nil {
		if d := c.raisedDiagnostic(c.stopped(err)); d != nil && (d.Code == diag.Cancelled || d.Code == diag.Timeout) {
			c.reportEnd(u, d)
		} else if d != nil {
			c.reportFrom(u, diag.List{d})
		}
		return false
	}
	return true
}

// ended reports that loading was cancelled, or is out of time, before the file is run.
func (c *loader) ended(u *unit) bool {
	err := c.cancelled()
	if err == nil {
		return false
	}
	d := c.raisedDiagnostic(err)
	d.Span.File = u.shown
	c.reportEnd(u, d)
	return true
}

// reportEnd reports the end of loading once: files that wait for the one that was at work end for
// the same reason.
func (c *loader) reportEnd(u *unit, d *diag.Diagnostic) {
	if !c.over {
		c.over = true
		c.reportFrom(u, diag.List{d})
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

// reportFrom reports what was found in a file, and how the file came to be loaded.
func (c *state) reportFrom(u *unit, found diag.List) {
	for _, d := range found {
		if u.from.IsValid() && d.Severity == diag.Error {
			d.Notes = append(d.Notes, diag.Note{Message: u.shown + " is loaded", Pos: u.from})
		}
		c.session.Report(d)
	}
}

// names are the builtins as the checks of the syntax need them.
func (c *loader) names() source.Names {
	n, ofInterpreter := source.Names{Builtins: c.predeclared.Keys()}, bounded()
	n.Builtins = slices.DeleteFunc(n.Builtins, func(name string) bool {
		b, ok := c.table.Lookup(name)
		return ok && b.May || ofInterpreter.Has(name) // scripts may name something of their own so
	})
	for _, b := range c.table.Rows() {
		if b.Of != "" || b.made != nil {
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
	c.indexFunctions()
	for _, f := range c.ends {
		f()
	}
	c.ends = nil
	c.checkEffects()
	c.freezeModule()
	c.callbacks = nil
	c.session.Seal()
	c.thread = nil
	c.sealed.Store(true)
}
