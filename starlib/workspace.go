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

// Workspace is a script that grows, as at a prompt: each entry is loaded separately, sees what earlier entries defined,
// and can be run. A Workspace belongs to one goroutine, and no entry may be added while something of it runs.
//
// Lists, dicts and sets stay mutable until a function that the graph calls reaches them.
type Workspace struct {
	c       *loader
	names   starlark.StringDict // what entries defined and was not released
	entries int
	called  starlark.Tuple // the functions that the graph calls

	units map[string]*script.Unit // units of entries, by their names in positions; see forget
	bound map[string]string       // the entry that bound a name
	ran   string                  // the entry that ran last, which may run again

	// Unfit returns flaws of a script that loading does not detect. If it is not nil, blocks are also checked as the
	// next statements of a file, which executes the computations of these and the earlier statements once more.
	Unfit func(*Module) diag.List

	session prompt.Session  // what blocks added, as one file
	known   map[string]bool // the findings in it so far
	others  diag.Sources    // texts of the files that it loaded at its last check
}

// Last is the name that holds the last expression value of a [Workspace] that was not None.
const Last = "_"

// Results returns the names of the last values, latest first. They keep no place: what a node under one of them holds
// can be placed again.
func Results() []string { return []string{Last, "_2", "_3"} }

// KeepResults returns a function that restores what the names of the last values hold now, so that what is added in
// between does not count as a result.
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

// NewWorkspace returns a workspace without entries. The Entry of the options names the file that entries belong to:
// they load and read files relative to it. Source is not used.
func NewWorkspace(o Options) *Workspace {
	c := newLoader(o)
	c.prompt = true
	c.language = maps.Clone(c.Predeclared) // what entries define is added to the original
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
				delete(w.units, fn.Position().Filename()) // the entry stays
			}
		}
		w.called = append(w.called, called...)
		return value.FreezeShared(shared(c.State, w.called)...)
	}
	return w
}

// shared returns values together with the containers that earlier entries defined and the values reach.
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
// the directory of [Options.Entry]. The names it defines or loads replace those of earlier entries, including in the
// functions of those entries; what only the old values held is released. An entry with an error defines nothing.
func (w *Workspace) Add(ctx context.Context, file string, text []byte) diag.List {
	_, found := w.add(ctx, file, text, nil)
	return found
}

// add is Add for an entry that is compiled in another form, unless form is nil.
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
			if v := w.names[name]; v != nil { // the statement may read it
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
			delete(c.Units, u.Path) // a file that the entry loads is loaded again
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

// path returns the path in FS of an entry, or of a file that is shown under a name. Paths of load and file are relative
// to it.
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

// Complete returns what may appear at a byte offset of an unfinished entry, given the names that earlier entries
// define. It executes nothing of the entry.
func (w *Workspace) Complete(ctx context.Context, text string, offset int) Completion {
	place := analysis.At(text, offset)
	q := analysis.ForPlace(place)
	w.c.Begin(ctx)
	v := viewOf(w.c.opts, w.Module(), q)
	v.Infer("completion", place.Text)
	return v.Complete(place)
}

// Release forgets names: what only their values held can be placed again. A builtin that a name hid becomes visible
// again.
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

// Module returns what the entries define so far. It does not change when further entries are added.
func (w *Workspace) Module() *Module {
	shown := w.c.opts.Entry
	return &Module{c: w.c.State, table: w.c.table, counters: w.c.counters,
		entry: &script.Unit{Path: shown, Shown: shown, Globals: maps.Clone(w.names), State: script.UnitDone}}
}

// set binds a name to a value. All entries share one environment map, in which their functions look up names when they
// run.
func (w *Workspace) set(name string, v starlark.Value) {
	w.names[name], w.c.Predeclared[name], w.c.environment[name] = v, v, v
}

// sweep frees the places in structures that no name leads to. The names in without do not count.
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

// forget drops entries that are no longer used: no name has the value that the entry bound it to, and none of the
// entry's functions and nodes can be reached. This keeps a session from growing with what was replaced. An entry whose
// function the graph calls stays.
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

// hold adds a node and the nodes it consists of.
func hold(n *flow.Node, held map[*flow.Node]bool) {
	if n != nil && !held[n] {
		held[n] = true
		for _, k := range n.Children() {
			hold(k, held)
		}
	}
}
