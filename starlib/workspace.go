package starlib

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/analysis"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/prompt"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Workspace is a script that grows, as at a prompt: each entry is loaded by itself, sees what the
// entries before it defined, and can be run. It belongs to one goroutine, and no entry is added
// while something of it runs.
//
// Lists, dicts and sets stay mutable until a function that the graph calls reaches them.
type Workspace struct {
	c       *loader
	names   starlark.StringDict // what entries defined and nothing released
	entries int
	called  starlark.Tuple // the functions that the graph calls

	units map[string]*script.Unit // of entries, by the names that positions carry; see forget
	bound map[string]string       // the entry that bound a name
	ran   string                  // the entry that ran last, which may be run again

	// Unfit returns what is wrong with a script that loading does not see. Unless it is nil, blocks are checked as the
	// next statements of a file as well, which executes what they and those before them compute once more.
	Unfit func(*Module) diag.List

	session prompt.Session  // what blocks added, as one file
	known   map[string]bool // what was found in it before
	others  diag.Sources    // of the files that it loaded when it was checked last
}

// Last is the name that holds the value of the last expression of a [Workspace] that was not None.
const Last = "_"

// Results are the names of the last values, latest first. They keep no place: what a node under one of them holds
// can be placed anew.
func Results() []string { return []string{Last, "_2", "_3"} }

// KeepResults returns a function that gives the names of the last values back what they hold now, so that what was
// added meanwhile is no result.
func (w *Workspace) KeepResults() (restore func()) {
	kept := starlark.StringDict{}
	for _, name := range Results() {
		kept[name] = w.names[name]
	}
	return func() {
		for name, v := range kept {
			w.Release(name)
			if v != nil {
				w.set(name, v)
			}
		}
	}
}

// NewWorkspace returns a workspace without entries. The Entry of the options names the file that
// entries stand for: they load and read what lies beside it. Source is not used.
func NewWorkspace(o Options) *Workspace {
	c := newLoader(o)
	c.prompt = true
	c.language = maps.Clone(c.Predeclared) // what entries define joins the others
	c.Earlier = starlark.StringDict{}
	c.Types.Earlier = func(name string) *generable.Type {
		if t, ok := c.Earlier[name].(*value.Type); ok && t.Func == nil && t.T.Name == name {
			return t.T
		}
		return nil
	}
	c.Shared = func(values ...starlark.Value) []starlark.Value { return shared(c.State, values) }
	w := &Workspace{c: c, names: c.Earlier, units: map[string]*script.Unit{}, bound: map[string]string{}, known: map[string]bool{}}
	c.taken = func(called []starlark.Value) error {
		for _, v := range called {
			if fn, ok := v.(*starlark.Function); ok {
				delete(w.units, fn.Position().Filename()) // it stays
			}
		}
		w.called = append(w.called, called...)
		return value.FreezeShared(shared(c.State, w.called)...)
	}
	return w
}

// shared adds to values the containers that earlier entries defined and the values reach.
func shared(c *script.State, values []starlark.Value) []starlark.Value {
	all := slices.Clone(values)
	lint.EachReached(c, starlark.StringDict{"": starlark.Tuple(values)}, func(v starlark.Value) {
		switch v.(type) {
		case *starlark.List, *starlark.Dict, *starlark.Set:
			all = append(all, v)
		}
	})
	return all
}

// Add loads one more entry, whose positions carry the name file: the path of a file, or a name that stands for one in
// the directory of [Options.Entry]. Its names, those that it loads among them, replace those of entries before, also for
// functions of those entries; what the old values held and nothing else does is released. An entry with an error
// defines nothing.
func (w *Workspace) Add(ctx context.Context, file string, text []byte) diag.List {
	_, found := w.add(ctx, file, text, nil)
	return found
}

// add is Add of an entry that is compiled in another form, unless that is nil.
func (w *Workspace) add(ctx context.Context, file string, text []byte, form *prompt.Form) (*script.Unit, diag.List) {
	c := w.c
	w.forget()
	c.begin(ctx)
	mark, uses := c.Types.Mark(), len(c.Uses)
	p := w.path(file)
	if w.entries++; c.Units[p] != nil {
		p, file = fmt.Sprintf("%s#%d", p, w.entries), fmt.Sprintf("%s#%d", file, w.entries)
	}
	u := c.openAs(p, file)
	w.units[u.Shown] = u
	if c.form = form; form != nil {
		c.formed = u
		for name := range form.Bound {
			if v := w.names[name]; v != nil { // which the statement may read
				c.environment[prompt.Earlier(name)] = v
				defer delete(c.environment, prompt.Earlier(name))
			}
		}
	}
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
	delete(c.parsed.byName, u.Shown) // no entry is loaded again
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
			if !prompt.IsOwn(name) {
				w.set(name, v)
				w.bound[name] = u.Shown
			}
		}
	}
	w.sweep()
	return u, found
}

// path returns the path in FS of an entry, or of a file that is shown under a name: load and file go from there.
func (w *Workspace) path(shown string) string {
	o := w.c.opts
	if rel, below := strings.CutPrefix(shown, strings.TrimSuffix(o.Dir, "/")+"/"); below && o.Dir != "" {
		return rel
	}
	if strings.Contains(shown, "/") {
		return shown
	}
	return path.Join(path.Dir(path.Clean(o.Entry)), shown)
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
		delete(w.bound, name)
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
	return &Module{c: w.c.State, table: w.c.table, counters: w.c.counters,
		entry: &script.Unit{Path: shown, Shown: shown, Globals: maps.Clone(w.names), State: script.UnitDone}}
}

// set gives a name a value. The environment is one map for all entries, where their functions
// look names up when they run.
func (w *Workspace) set(name string, v starlark.Value) {
	w.names[name], w.c.Predeclared[name], w.c.environment[name] = v, v, v
}

// sweep gives back the places in structures that no name leads to, but those that are left out.
func (w *Workspace) sweep(without ...string) (restore func()) {
	nodes, banks := map[*flow.Node]bool{}, map[string]bool{}
	named := maps.Clone(w.names)
	for _, name := range slices.Concat(without, Results()) {
		delete(named, name)
	}
	lint.EachReached(w.c.State, named, func(v starlark.Value) {
		for _, n := range nodesOf(v) {
			hold(n, nodes)
		}
		if m, ok := v.(*value.Memory); ok {
			banks[m.Bank.Name] = true
		}
	})
	for n := range nodes {
		if a := n.Agent(); a != nil && a.Memory != nil {
			banks[a.Memory.Name] = true
		}
	}
	return w.c.Session.Release(func(n *flow.Node) bool { return nodes[n] }, func(name string) bool { return banks[name] })
}

// forget drops entries that nothing comes from any more: no name that they bound has the value that it had then, and no
// function or node of theirs is reached. So a session does not grow with what was replaced. An entry whose function the
// graph calls stays.
func (w *Workspace) forget() {
	needed, nodes := map[string]bool{w.ran: true}, map[*flow.Node]bool{}
	for name := range w.names {
		needed[w.bound[name]] = true
	}
	reached := maps.Clone(w.names)
	reached["the functions that the graph calls"] = w.called
	lint.EachReached(w.c.State, reached, func(v starlark.Value) {
		if fn, ok := v.(*starlark.Function); ok {
			needed[fn.Position().Filename()] = true
		}
		for _, n := range nodesOf(v) {
			hold(n, nodes)
		}
	})
	for n := range nodes {
		needed[n.Pos().File] = true
	}
	maps.DeleteFunc(w.c.lint.Heard, func(n *flow.Node, _ bool) bool { return !nodes[n] })
	dropped := map[string]bool{}
	for shown, u := range w.units {
		if needed[shown] {
			continue
		}
		dropped[shown] = true
		delete(w.units, shown)
		delete(w.c.ByName, shown)
		if w.c.Units[u.Path] == u {
			delete(w.c.Units, u.Path)
		}
	}
	gone := w.c.Types.Drop(dropped)
	w.c.Session.Forget(func(n *flow.Node) bool { return nodes[n] || n.Pos().File == w.ran }, gone)
	w.c.Uses = slices.DeleteFunc(w.c.Uses, func(use script.Use) bool { return dropped[use.Span.File] })
}

// nodesOf returns the nodes that a value is or holds.
func nodesOf(v starlark.Value) []*flow.Node {
	switch v := v.(type) {
	case *value.Node:
		return []*flow.Node{v.Node}
	case value.Holder:
		return v.Nodes()
	}
	return nil
}

// hold adds a node and what it is made of.
func hold(n *flow.Node, held map[*flow.Node]bool) {
	if n != nil && !held[n] {
		held[n] = true
		for _, k := range n.Children() {
			hold(k, held)
		}
	}
}
