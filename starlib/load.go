package starlib

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/analysis"
	"github.com/agentscript/agentscript/starlib/internal/bounds"
	"github.com/agentscript/agentscript/starlib/internal/cover"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/testcase"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// The bounds of loading, unless [Options] set others.
const (
	DefaultSteps     = 10_000_000 // interpreter steps
	DefaultMaxSource = script.DefaultMaxSource
	DefaultMaxFile   = script.DefaultMaxFile
	DefaultMaxValue  = 64 << 20 // bytes
)

// Options are what to load and what the host adds to the language.
type Options struct {
	FS     fs.FS  // holds the script, the files it loads and those it reads
	Entry  string // the script's path in FS
	Source []byte // the script's text; nil reads Entry
	Dir    string // prefix of file names in positions; "" shows paths in FS
	Root   string // the directory of FS that load and file cannot leave, at or above Entry's; "" is Entry's directory

	// MaxValue bounds the size in bytes of what an operation makes, see [DefaultMaxValue].
	MaxValue int64

	// Parsed keeps the parsed files for a later load of the same script; nil keeps none.
	Parsed *Parsed

	// MaxSource bounds the size in bytes of the script and of each file that it loads, MaxFile that of each file that
	// it reads; 0 is [DefaultMaxSource] and [DefaultMaxFile].
	MaxSource, MaxFile int64

	// Hide removes secrets from the texts of files that the script reads; nil removes nothing. The module's hash is
	// computed from the original files.
	Hide func(text string) string

	Grants capability.Grants // what the script may touch; nil is nothing
	// ServerMay decides about the commands, hosts and secrets of MCP servers; nil asks Grants.
	ServerMay func(capability.Use) bool
	Ungranted bool // do not report uses that are not granted: the script is only inspected

	Flow flowjson.LoadOptions // for an entry that is a flow as JSON

	Cover    bool          // count what runs, see [Module.Coverage]
	Strict   bool          // note edges that only a run can check
	Builtins []Builtin     // the host's own rows of the table
	Tools    []*agent.Tool // the host's tools, predeclared under their names

	// Models are the names of models that completion offers; nothing else reads them.
	Models []string

	// Print receives what print and help write while loading; nil drops it.
	Print func(at diag.Pos, text string)
	// Steps bounds the interpreter's steps while loading; 0 is [DefaultSteps].
	Steps uint64
	// OnCancel calls f once, from any goroutine, when the context of loading is cancelled, and returns a function that
	// stops this: context.AfterFunc with the context. If it is nil, loading polls the context at intervals of steps.
	OnCancel func(f func()) (stop func() bool)
}

// Load executes a script and what it loads, and checks the graph that it builds. The list holds everything that was
// found; the module can run if the list has no error. The module is never nil, so that the texts which the diagnostics
// quote are available.
//
// Cancelling ctx ends the loading.
func Load(ctx context.Context, o Options) (*Module, diag.List) { return load(ctx, o, nil) }

// load loads a script, on behalf of an analysis if ask is not nil.
func load(ctx context.Context, o Options, ask *analysis.Query) (*Module, diag.List) {
	c := newLoader(o)
	c.asked(ask)
	c.begin(ctx)
	name := path.Clean(o.Entry)
	read, err := c.entryText(name)
	if err == nil && flowjson.IsFlow(name, read) { // the script that loads the flow takes its place
		c.Files[name] = string(read)
		tools := text.Each(o.Tools, func(t *agent.Tool) string { return t.Name })
		c.Flow = flowjson.Load(path.Join(o.Dir, name), string(read), o.Flow, tools)
		read = []byte(c.Flow.Script)
		name += ".star"
	}
	entry := c.open(name)
	c.ReportFrom(entry, hostNames(o, entry.Shown))
	if unsound := hostFlaws(o, entry.Shown); len(unsound) > 0 {
		c.ReportFrom(entry, unsound)
		entry.State = script.UnitFailed
	} else if err != nil {
		c.Session.Report(&diag.Diagnostic{Code: diag.FileMissing, Span: diag.Span{Pos: diag.Pos{File: entry.Shown}},
			Message: fmt.Sprintf("the script cannot be read: %s", script.ReadReason(err)), Help: script.UnfitHelp(err), Cause: err})
		entry.State = script.UnitFailed
	} else {
		entry.Text = read
	}
	if entry.State == script.UnitNew {
		c.execute(entry)
	}
	m := &Module{c: c.State, table: c.table, entry: entry, counters: c.counters}
	c.checkMain(m)
	c.checkTests(m)
	c.check(entry)
	c.lint.CheckUnused(entry)
	if entry.State == script.UnitDone {
		c.ended(entry) // a file that was not checked to its end is not sound
	}
	found := c.end()
	if c.Flow != nil {
		inFlow(found, entry.Shown, c.Flow)
	}
	return m, found
}

// inFlow moves findings in the script that loads a flow to their cause in the flow's file, since nobody wrote that
// script.
func inFlow(found diag.List, shown string, f *flowjson.Entry) {
	for _, d := range found {
		if d.Span.File == shown {
			d.Span, d.Fixes = f.Place(d.Span.Line, d.Span.Col), nil
		}
		for i := range d.Notes {
			if n := &d.Notes[i]; n.Pos.File == shown {
				n.Pos = f.Place(n.Pos.Line, n.Pos.Col).Pos
			}
		}
	}
}

// Abandoned returns the result of a load that is abandoned because ctx has ended: an empty module, and the reason.
func Abandoned(ctx context.Context, o Options) (*Module, diag.List) {
	o.Parsed = nil
	c := newLoader(o)
	c.begin(ctx)
	entry := c.open(path.Clean(o.Entry))
	entry.State = script.UnitFailed
	c.ended(entry)
	return &Module{c: c.State, table: c.table, entry: entry}, c.end()
}

// entryText returns the text of the script.
func (c *loader) entryText(p string) ([]byte, error) {
	isFlow := flowjson.IsFlow(p, c.opts.Source) // data, which MaxSource does not bound
	switch {
	case c.opts.Source != nil && isFlow:
		return c.opts.Source, nil
	case c.opts.Source != nil:
		return c.opts.Source, c.Disk.Fits(int64(len(c.opts.Source)))
	case isFlow:
		return c.Read(p)
	}
	return c.ReadSource(p)
}

// checkMain checks the entry point main.
func (c *loader) checkMain(m *Module) {
	main := m.entry.Globals["main"]
	if main == nil && m.entry.State == script.UnitDone && !c.query.Lost("main") {
		c.nearlyMain(m)
	}
	if _, failed := main.(*value.Failed); main == nil || failed {
		return
	}
	if _, bad := m.Main(); bad != nil {
		c.Session.Report(bad)
	}
	switch main := main.(type) {
	case *value.Node:
		c.Session.CheckTranscripts(main.Node)
	case *starlark.Function:
		params, _ := value.ParametersOf(main)
		types := make([]*generable.Type, len(params))
		for i, p := range params {
			types[i] = p.Field.Type
		}
		lint.Called(c.State, main, script.Contract{Params: types, Result: generable.AnyT, Who: "main"})
		lint.CheckDoc(c.State, main)
	}
}

// TestSuffix is the suffix of the names of files that hold tests.
const TestSuffix = "_test.star"

// checkTests checks the tests of a test file.
func (c *loader) checkTests(m *Module) {
	if m.entry.State != script.UnitDone || !strings.HasSuffix(m.entry.Path, TestSuffix) {
		return
	}
	tests, wrong := m.tests()
	c.Session.Report(wrong...)
	for _, t := range tests {
		fn := m.entry.Globals[t.Name]
		lint.Called(c.State, fn, script.Contract{Params: []*generable.Type{nil}, Values: []starlark.Value{&testcase.T{State: c.State}}, Who: t.Name})
	}
	if len(tests)+len(wrong) == 0 {
		c.Session.Report(&diag.Diagnostic{Code: diag.NoTests, Span: diag.Span{Pos: diag.Pos{File: m.entry.Shown}}, Message: "it has no tests",
			Help: []string{"a test is a function whose name begins with test_: def test_review(t):; what tests share is in a file of another name"}})
	}
}

// nearlyMain warns of a name that is almost main in a file without a main, which a file for load is: main in another
// case, with two letters swapped, or with one doubled.
func (c *loader) nearlyMain(m *Module) {
	near := func(name string) bool {
		name = strings.ToLower(strings.Trim(name, "_"))
		letters := []byte(name)
		slices.Sort(letters)
		return string(slices.Compact(letters)) == "aimn" && text.Distance([]byte(name), []byte("main"), true) <= 1
	}
	for _, name := range m.Names() {
		switch m.entry.Globals[name].(type) {
		case *value.Node, *starlark.Function:
		default:
			continue
		}
		if !near(name) {
			continue
		}
		d := &diag.Diagnostic{Code: diag.NoMain, Severity: diag.Warning, Span: c.GlobalSpan(m.entry, name), Message: m.entry.Shown + " has no main to run, and " + name + " has a similar name"}
		d.Means("main")
		c.Session.Report(d)
	}
}

// check checks the functions of the files that were opened since begin.
func (c *loader) check(entry *script.Unit) {
	for _, known := range c.Composed {
		known()
	}
	c.Composed = nil
	for _, u := range c.fresh {
		if u.State == script.UnitDone {
			c.lint.CheckCalls(u, u == entry)
		}
		if u.File != nil {
			c.lint.FindUses(u)
		}
	}
	lint.SortUses(c.Uses)
	c.Session.Report(c.Types.Check(c.Suggest)...)
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
	f := c.parsed.file(u.Shown, u.Text, c.stopped)
	if c.ended(u) { // each pass over a long file takes time
		return false
	}
	found := copied(f.found)
	c.ReportFrom(u, found)
	if f.tree == nil {
		return false
	}
	u.File = f.tree
	if c.query != nil && len(c.loading) == 0 {
		c.query.Read(u.File.Syntax())
	}
	indexLoads(u)
	f, linted := c.parsed.lint(u.Shown, f, c.names(), c.stopped)
	if c.ended(u) {
		return false
	}
	if u.File != f.tree {
		u.File = f.tree
		indexLoads(u)
	}
	c.ReportFrom(u, linted)
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
	bounds.Forget(u.Globals)
	if c.counters != nil {
		cover.Forget(u.Globals)
	}
	u.Missing.Told() // each was reported when it was found
	if err != nil {
		if d := c.raisedDiagnostic(c.reasoned(err)); d != nil && (d.Code == diag.Cancelled || d.Code == diag.Timeout) {
			c.reportEnd(u, d)
		} else if d != nil {
			c.ReportFrom(u, diag.List{d})
		}
		return false
	}
	return true
}

// ended reports whether loading was cancelled, or is out of time, before the file is run.
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

// reportEnd reports the end of loading once: files that wait for the one being executed end for the same reason.
func (c *loader) reportEnd(u *script.Unit, d *diag.Diagnostic) {
	if !c.over {
		c.over = true
		c.ReportFrom(u, diag.List{d})
	}
}

// byteOrderMark is what some editors write before UTF-8 text. It has no meaning there.
var byteOrderMark = []byte("\ufeff")

// panicError keeps the stack of a panic.
type panicError struct {
	value any
	stack string
}

func (p *panicError) Error() string { return fmt.Sprintf("%v\n%s", p.value, p.stack) }
