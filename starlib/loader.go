package starlib

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/analysis"
	"github.com/agentscript/agentscript/starlib/internal/bounds"
	"github.com/agentscript/agentscript/starlib/internal/cover"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/prompt"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// loader executes the files of a script and thereby builds its state.
type loader struct {
	*script.State
	opts        Options
	parsed      *parsedFiles
	table       *table.Table
	lint        *lint.Linter
	language    starlark.StringDict              // the names of the language
	bounded     starlark.StringDict              // the interpreter's builtins, with bounds
	environment starlark.StringDict              // all predeclared names, and those that the compiler adds
	loading     []*script.Unit                   // the chain of files that load each other, outermost first
	counters    *cover.Counters                  // nil unless the script is covered
	steps       uint64                           // interpreter steps left for loading
	stop        error                            // why the executing file was stopped
	prompt      bool                             // the loader loads the statements of a workspace
	over        bool                             // loading was cancelled, which is reported once
	fresh       []*script.Unit                   // files opened since begin
	calls       map[*diag.Diagnostic][]diag.Note // the calls that led to the function in which a diagnostic was found
	query       *analysis.Query                  // what an analysis asks of the entry script, or nil

	form   *prompt.Form // the form in which formed is compiled, for a workspace; may be nil
	formed *script.Unit
	taken  func(called []starlark.Value) error // freezes what the graph calls, for a workspace; nil freezes everything
}

func newLoader(o Options) (c *loader) {
	t := universe(o.Builtins)
	s := &script.State{Session: flow.NewSession(), Methods: t, Disk: script.Disk{FS: o.FS, Entry: o.Entry, Dir: o.Dir, Root: o.Root, Max: o.MaxFile, MaxSource: o.MaxSource, Hide: o.Hide},
		Units: map[string]*script.Unit{}, ByName: map[string]*script.Unit{}, Files: map[string]string{}, Links: map[string]bool{}, Undescribed: map[diag.Pos]bool{}}
	s.EffectClass = func(fn starlark.Value) engine.Class { return lint.EffectClassOf(s, fn) }
	s.Nodes = func(v starlark.Value) []*flow.Node { return lint.Nodes(s, v) }
	s.Spend = func(steps int) error {
		if s.Sealed.Load() { // runs have their own bounds
			return nil
		}
		return c.spend(uint64(steps))
	}
	c = &loader{State: s, opts: o, table: t,
		lint: &lint.Linter{State: s, Table: t, Heard: map[*flow.Node]bool{}, Grants: o.Grants, ServerMay: o.ServerMay, Ungranted: o.Ungranted}}
	s.Session.Strict = o.Strict
	if o.Cover {
		c.counters = &cover.Counters{}
		s.Took = c.counters.Took
	}
	if c.parsed = newParsedFiles(); o.Parsed != nil {
		c.parsed = o.Parsed.held()
	}
	c.predeclare()
	return c
}

// asked prepares the loader to load the entry script for an analysis; q may be nil. Stand-ins replace the names whose
// statements were blanked.
func (c *loader) asked(q *analysis.Query) {
	if q == nil {
		return
	}
	c.query, c.lint.Seen = q, q.Seen
	c.language = maps.Clone(c.Predeclared)
	for _, name := range q.Names {
		c.standIn(name)
	}
}

// standIn binds an unbound name to a value that fits everywhere.
func (c *loader) standIn(name string) {
	if c.Predeclared[name] == nil {
		c.Predeclared[name] = &value.Failed{}
		c.environment[name] = c.Predeclared[name]
	}
}

// begin begins composing, or resumes it after end.
func (c *loader) begin(ctx context.Context) {
	if c.Session.Sealed() {
		c.Session = c.Session.Extend()
		c.Sealed.Store(false)
	}
	c.Begin(ctx)
	c.stop, c.over, c.fresh = nil, false, nil
	c.calls = map[*diag.Diagnostic][]diag.Note{}
	c.Session.OnReport = c.traceCalls
	if c.steps = c.opts.Steps; c.steps == 0 {
		c.steps = DefaultSteps
	}
}

// end ends composing and returns what was found since begin.
func (c *loader) end() diag.List {
	c.seal()
	c.Session.Sum()
	found := c.Session.Diagnostics()
	found.Sort()
	found = c.withCalls(found)
	c.calls = nil
	return found
}

// mostValue returns the limit on the size of values.
func (c *loader) mostValue() int64 {
	if c.opts.MaxValue > 0 {
		return c.opts.MaxValue
	}
	return DefaultMaxValue
}

// predeclare creates the names of the language.
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
	c.bounded = bounds.Builtins(c.mostValue())
	maps.Copy(c.Predeclared, c.bounded)
	for _, t := range c.opts.Tools {
		c.Predeclared[t.Name] = &value.Tool{Tool: t}
	}
	c.environment = bounds.Guards(c.mostValue())
	maps.Copy(c.environment, c.Predeclared)
	c.language = c.Predeclared
}

func (c *loader) open(p string) *script.Unit {
	return c.openAs(p, path.Join(c.opts.Dir, p))
}

func (c *loader) openAs(p, shown string) *script.Unit {
	u := &script.Unit{Path: p, Shown: shown}
	c.Units[p], c.ByName[u.Shown] = u, u
	c.fresh = append(c.fresh, u)
	return u
}

// names returns the builtins in the form that the syntax checks need.
func (c *loader) names() source.Names {
	some := func() []string { return make([]string, 0, 16) }
	n, ofInterpreter := source.Names{Builtins: c.language.Keys(), FieldMakers: some(), TypeMakers: some(), NodeMakers: some(), Conditions: some()}, c.bounded
	n.Builtins = slices.DeleteFunc(n.Builtins, func(name string) bool {
		b, ok := c.table.Lookup(name)
		return ok && b.May || ofInterpreter.Has(name) // scripts may bind these names themselves
	})
	for _, b := range c.table.Rows() {
		if b.Value && b.Returns == "predicate" {
			n.Constants = append(n.Constants, b.Name)
		}
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

// seal ends composing: the module does not change after this.
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

// freezeModule freezes what a script made while it loaded: its globals, and what the functions
// of its graph capture.
func (c *loader) freezeModule() {
	if c.taken != nil {
		if e := script.EngineError(c.taken(c.Callbacks)); e != nil {
			c.Session.Report(script.Problem(e, diag.Span{}))
		}
		return
	}
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
			c.Session.Report(script.Problem(e, at))
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

// newThread returns the thread that executes a file while it is loaded, bounded in steps and by the context of loading.
func (c *loader) newThread(u *script.Unit) *starlark.Thread {
	t := &starlark.Thread{
		Name: u.Shown,
		Load: c.load,
		Print: func(thread *starlark.Thread, text string) {
			if c.opts.Print == nil || c.ofMistake(text) {
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

// stopped reports whether loading must end. Passes over a file poll it.
func (c *loader) stopped() bool { return c.Ended() }

// cancelled returns an error if loading was cancelled or is out of time, and nil if it may continue.
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
	what := "loading"
	if c.prompt {
		what = "the statement"
	}
	return &engine.Error{Kind: engine.KindCancelled, Code: diag.Cancelled, Message: what + " was cancelled", Cause: cause}
}

// tick enforces the bounds of loading.
func (c *loader) tick(th *starlark.Thread) error {
	if err := c.cancelled(); err != nil {
		return err
	}
	if th.CallStackDepth() > thread.MaxFrames {
		return thread.TooDeep()
	}
	return c.spend(thread.StepChunk)
}

// spend takes steps off those left for loading.
func (c *loader) spend(steps uint64) error {
	if c.steps < steps {
		c.steps = 0
		if c.prompt {
			return script.Errorf(diag.StepLimit, "the statement takes too many steps").
				WithHelp("a loop in it, or in a function that it calls, may not end")
		}
		return script.Errorf(diag.StepLimit, "loading the script takes too many steps").
			WithHelp("a loop at the top level may not end; work on data belongs into def main or fn")
	}
	c.steps -= steps
	return nil
}

// reasoned replaces the interpreter's message for a cancelled thread by the reason, and keeps the position.
func (c *loader) reasoned(err error) error {
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

// ofMistake reports whether a text shows a stand-in for something that was reported. The reported error says more.
func (c *loader) ofMistake(text string) bool {
	return (strings.Contains(text, value.FailedType) || strings.Contains(text, generable.ErrorT.String())) && c.Session.Diagnostics().HasErrors()
}
