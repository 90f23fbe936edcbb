package starlib

import (
	"context"
	"fmt"
	"maps"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/starlib/internal/analysis"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Workspace is a script that grows, as at a prompt: each entry is loaded by itself, sees what the
// entries before it defined, and can be run. It belongs to one goroutine, and no entry is added
// while something of it runs.
type Workspace struct {
	c       *loader
	names   starlark.StringDict // what entries defined and nothing released
	entries int
}

// NewWorkspace returns a workspace without entries. The Entry of the options names the file that
// entries stand for: they load and read what lies beside it. Source is not used.
func NewWorkspace(o Options) *Workspace {
	c := newLoader(o)
	c.language = maps.Clone(c.Predeclared) // what entries define joins the others
	return &Workspace{c: c, names: starlark.StringDict{}}
}

// Add loads one more entry, whose positions carry the name file; [Options.Entry] must be a file of
// the same directory. Its names, those that it loads among them, replace those of entries before, also for
// functions of those entries; what the old values held and nothing else does is released. An entry with an error
// defines nothing.
func (w *Workspace) Add(ctx context.Context, file string, text []byte) diag.List {
	c := w.c
	c.begin(ctx)
	mark, uses := c.Types.Mark(), len(c.Uses)
	if w.entries++; c.Units[file] != nil {
		file = fmt.Sprintf("%s#%d", file, w.entries)
	}
	u := c.open(file)
	if w.entries == 1 {
		c.ReportFrom(u, hostNames(c.opts, u.Shown))
	}
	u.Text = text
	if unsound := hostFlaws(c.opts, u.Shown); len(unsound) > 0 {
		c.ReportFrom(u, unsound)
		u.State = script.UnitFailed
	} else if err := c.Disk.Fits(int64(len(text))); err != nil {
		c.ReportFrom(u, diag.List{{Code: diag.FileMissing, Span: diag.Span{Pos: diag.Pos{File: u.Shown}},
			Message: "the entry cannot be read: " + err.Error(), Help: script.UnfitHelp(err), Cause: err}})
		u.State = script.UnitFailed
	} else {
		c.execute(u)
	}
	c.check(u)
	found := c.end()
	if found.HasErrors() {
		c.Types.Reset(mark)
		c.Uses = c.Uses[:min(uses, len(c.Uses))]
		for _, u := range c.fresh {
			delete(c.Units, u.Path) // a file that it loads is loaded anew
		}
	} else {
		for id, v := range u.Loaded {
			w.set(id.Name, v)
		}
		for name, v := range u.Globals {
			w.set(name, v)
		}
	}
	w.sweep()
	return found
}

// Complete returns what can stand at an offset of an entry that is being typed, in bytes, among the names that the entries
// before it define. Nothing of it is executed.
func (w *Workspace) Complete(ctx context.Context, text string, offset int) Completion {
	place := analysis.At(text, offset)
	q := analysis.ForPlace(place)
	w.c.Begin(ctx)
	v := viewOf(w.c.opts, w.Module(), q)
	v.Infer("completion", place.Text)
	return v.Complete(place)
}

// Release forgets names: what their values held and nothing else does can be placed anew. A
// builtin that a name hid is there again.
func (w *Workspace) Release(names ...string) {
	for _, name := range names {
		delete(w.names, name)
		delete(w.c.Predeclared, name)
		delete(w.c.environment, name)
		if v := w.c.language[name]; v != nil {
			w.c.Predeclared[name], w.c.environment[name] = v, v
		}
	}
	w.sweep()
}

// Module returns what the entries define by now. It does not change when others are added.
func (w *Workspace) Module() *Module {
	shown := w.c.opts.Entry
	return &Module{c: w.c.State, table: w.c.table,
		entry: &script.Unit{Path: shown, Shown: shown, Globals: maps.Clone(w.names), State: script.UnitDone}}
}

// set gives a name a value. The environment is one map for all entries, where their functions
// look names up when they run.
func (w *Workspace) set(name string, v starlark.Value) {
	w.names[name], w.c.Predeclared[name], w.c.environment[name] = v, v, v
}

// sweep gives back the places in structures that no name leads to.
func (w *Workspace) sweep() {
	held := map[*flow.Node]bool{}
	var hold func(n *flow.Node)
	hold = func(n *flow.Node) {
		if n != nil && !held[n] {
			held[n] = true
			for _, k := range n.Children() {
				hold(k)
			}
		}
	}
	lint.EachReached(w.c.State, w.names, func(v starlark.Value) {
		switch v := v.(type) {
		case *value.Node:
			hold(v.Node)
		case value.Holder:
			for _, n := range v.Nodes() {
				hold(n)
			}
		}
	})
	w.c.Session.Release(func(n *flow.Node) bool { return held[n] })
}
