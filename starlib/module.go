package starlib

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/cover"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
	"go.starlark.net/starlark"
)

// Module is a loaded script. It is immutable and serves any number of runs at once.
type Module struct {
	c        *script.State
	table    *table.Table
	entry    *script.Unit
	counters *cover.Counters // nil unless the script is covered
	entries  sync.Map        // functions by name: all runs of a function share its entry
}

// File returns the name of the script's file, without its directory.
func (m *Module) File() string {
	if m.c.Flow != nil {
		return path.Base(m.c.Disk.Entry) // not the file of the script that loads the flow
	}
	return path.Base(m.entry.Path)
}

// Names lists the globals of the entry script, sorted.
func (m *Module) Names() []string {
	names := m.entry.Globals.Keys()
	slices.Sort(names)
	return names
}

// Node returns the node that a global of the entry script holds, or nil.
func (m *Module) Node(name string) *flow.Node {
	if n, ok := m.entry.Globals[name].(*value.Node); ok {
		return n.Node
	}
	return nil
}

// Nodes returns every node of the script and the files it loads, in the order they were made.
func (m *Module) Nodes() []*flow.Node { return m.c.Session.Nodes() }

// Keeps returns the first memory of the script that is kept in a session, or nil.
func (m *Module) Keeps() *agent.MemoryBank { return m.c.Session.Kept() }

// Sleeps reports whether a function of the script may sleep.
func (m *Module) Sleeps() bool { return m.c.Sleeps }

// Type returns the type that a global of the entry script holds, or nil.
func (m *Module) Type(name string) *generable.Type {
	if t, ok := m.entry.Globals[name].(*value.Type); ok {
		return t.T.Deref()
	}
	return nil
}

// Value returns the data that a global of the entry script holds. It returns false if the global does not exist or is
// not data.
func (m *Module) Value(name string) (generable.Value, bool) {
	v := m.entry.Globals[name]
	if v == nil {
		return generable.Value{}, false
	}
	out, err := value.ToData(v)
	return out, err == nil
}

// Describe describes a name of the entry script or of the language: its type, its form as text, its help, and where a
// function or node is written. The type is "" if the name does not exist.
func (m *Module) Describe(name string) (typ, text, help string, at diag.Pos) {
	v := m.entry.Globals[name]
	if v == nil {
		v = m.c.Predeclared[name]
	}
	if v == nil {
		v = starlark.Universe[name]
	}
	if v == nil {
		return "", "", "", at
	}
	switch v := v.(type) {
	case *value.Node:
		at = v.Node.Pos()
	case *starlark.Function:
		at = script.Position(v.Position())
	}
	if text, _ = value.PlainText(v); text == "" { // too deep to be shown
		text = v.Type()
	}
	return v.Type(), text, doc.Help(m.table, v), at
}

// Sources returns the texts of all files by their names in positions.
func (m *Module) Sources() diag.Sources {
	return diag.SourceFunc(func(file string) (string, bool) {
		if u := m.c.ByName[file]; u != nil && u.Text != nil {
			return string(u.Text), true
		}
		for p, text := range m.c.Files { // a flow as JSON has positions too
			if path.Join(m.c.Disk.Dir, p) == file {
				return text, true
			}
		}
		return "", false
	})
}

// Files lists the paths of all files of the script, loaded or read by file(), sorted.
func (m *Module) Files() []string {
	var paths []string
	for p, u := range m.c.Units {
		if u.Text != nil {
			paths = append(paths, p)
		}
	}
	for p := range m.c.Files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Links lists the paths through which the script reaches files by symbolic links, sorted.
func (m *Module) Links() []string { return slices.Sorted(maps.Keys(m.c.Links)) }

// Path returns the entry script's name in positions.
func (m *Module) Path() string { return m.entry.Shown }

// Hash identifies the script: the names and contents of all its files. Runs are pinned to it.
func (m *Module) Hash() string {
	hash, _ := m.Bundle(nil)
	return hash
}

// Bundle returns the texts of all files of the script by their paths, with the path of the entry, and their hash. It
// removes from the texts what hide removes; if hide is nil or removes nothing, the hash is the script's own. A script
// that is loaded from the bundle has this hash.
func (m *Module) Bundle(hide func(text string) string) (hash string, b engine.Bundle) {
	b = engine.Bundle{Entry: m.entry.Path, Files: map[string][]byte{}}
	h := sha256.New()
	fmt.Fprintf(h, "entry %q\n", m.entry.Path)
	for _, p := range m.Files() {
		text, read := m.c.Files[p]
		if u := m.c.Units[p]; u != nil {
			text, read = string(u.Text), true
		}
		if hide != nil {
			text = hide(text)
		}
		if b.Files[p] = []byte(text); read {
			fmt.Fprintf(h, "%q %d\n%s\n", p, len(text), text)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), b
}

// Types returns the types that the script and the files it loads declare, and the input and output types of its nodes.
func (m *Module) Types() []*generable.Type {
	all := slices.Clone(m.c.Types.All)
	for _, n := range m.Nodes() {
		all = append(all, n.In(), n.Out())
	}
	return all
}

// Table returns the table of builtins that the script was loaded with.
func (m *Module) Table() *Table { return &Table{m.table} }

// Main returns the entry named main, see [Module.Entry].
func (m *Module) Main() (*Entry, *diag.Diagnostic) { return m.Entry("main") }

// Entry returns an entry point for runs: the node or function that a global holds. If the global holds neither, the
// diagnostic says why.
func (m *Module) Entry(name string) (*Entry, *diag.Diagnostic) {
	v := m.entry.Globals[name]
	switch v := v.(type) {
	case *value.Node:
		e := &Entry{Name: name, Node: v.Node}
		if m.c.Flow != nil && name == "main" { // a flow as JSON can run without an input
			e.Doc = m.c.Flow.Doc
			e.Params = []generable.Field{{Name: "input", Type: generable.StrT, Optional: true, Default: generable.StrOf("")}}
		}
		return e, nil
	case *starlark.Function:
		if known, ok := m.entries.Load(name); ok {
			return known.(*Entry), nil
		}
		e, wrong := entry(m.c, name, v)
		if wrong == nil {
			m.entries.Store(name, e)
		}
		return e, wrong
	}
	d := &diag.Diagnostic{Code: diag.NoMain, Span: diag.Span{Pos: diag.Pos{File: m.entry.Shown}}}
	var runnable []string
	for _, n := range m.Names() {
		switch m.entry.Globals[n].(type) {
		case *value.Node, *starlark.Function:
			runnable = append(runnable, n)
		}
	}
	if v == nil {
		d.Message = fmt.Sprintf("%s has no %s to run", m.entry.Shown, name)
		d.Help = []string{m.missingEntry(name, runnable)}
		return nil, d
	}
	d.Span = m.c.GlobalSpan(m.entry, name)
	d.Message = fmt.Sprintf("%s is %s, which cannot be run", name, value.Describe(v))
	d.Help = []string{fmt.Sprintf("a run begins with a node or a function: %s = agent(prompt = ...), or def %[1]s(...):", name)}
	if _, is := v.(*starlark.List); is {
		d.Help = []string{"compose the nodes: main = then([...]) runs one after the other, main = par([...]) all at once"}
	}
	if s, ok := v.(starlark.String); ok && slices.Contains(runnable, string(s)) {
		d.Help = []string{fmt.Sprintf("write it without quotes: %s = %s", name, string(s))}
	}
	return nil, d
}

// missingEntry suggests what to write if a script has nothing to run under a name.
func (m *Module) missingEntry(name string, runnable []string) string {
	near, isNear := diag.Suggest(name, runnable)
	switch {
	case isNear && name == "main":
		return "rename " + near + " to main"
	case isNear:
		return fmt.Sprintf("did you mean %q?", near)
	case name == "main" && len(runnable) == 1:
		return "to run it, write main = " + runnable[0]
	case name == "main":
		return "assign a node, main = agent(...), or define a function, def main(...):"
	case len(runnable) > 0:
		return "it has " + script.Joined(runnable)
	}
	return "it has no node and no function"
}

// Use is a place where a script uses a capability. Its target is "" if the script computes it, and its operation is ""
// if the module is bound to another name.
type Use struct {
	capability.Use
	Span diag.Span
}

// Uses returns the places where the script and all that it loads use capabilities, in the order of files and lines.
func (m *Module) Uses() []Use {
	return text.Each(m.c.Uses, func(u script.Use) Use { return Use{u.Use, u.Span} })
}

// Place is a part of a script that can run: a statement, the body of a lambda, an arm of `x if c else y`, an element of
// a comprehension, or one of the ways that a call of attempt, retry, fallback or race can go. Count is how often it
// began to run.
type Place = cover.Place

// The kinds of places.
const (
	StatementPlace = cover.Statement
	LambdaPlace    = cover.Lambda
	ArmPlace       = cover.Arm
	ElementPlace   = cover.Element
	WayPlace       = cover.Way
)

// Coverage returns the places of all files of the script with their counts, sorted by file and position. It returns nil
// unless [Options.Cover] was set. Runs may continue meanwhile.
func (m *Module) Coverage() []Place { return m.places(false) }

// TakeCoverage is [Module.Coverage], but resets the counts to 0.
func (m *Module) TakeCoverage() []Place { return m.places(true) }

func (m *Module) places(take bool) []Place {
	if m.counters == nil {
		return nil
	}
	nodes := map[diag.Pos]bool{}
	for _, n := range m.Nodes() {
		nodes[n.Site().Span.Pos] = true
	}
	return m.counters.Places(take, nodes)
}
