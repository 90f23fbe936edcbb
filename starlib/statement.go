package starlib

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/prompt"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Block is a text that is added one top-level statement at a time. Each statement is a separate program, and the
// functions of a statement see the names that later statements bind. Statements on one line are one.
type Block struct {
	w     *Workspace
	file  string
	lines []string
	parts [][]syntax.Stmt
	names [][]string // the names that the parts bind
	next  int

	// Checked reports whether the text was checked as a whole.
	Checked bool
	asParts []*prompt.Part
	found   map[*prompt.Part]diag.List // the findings of that check, or of the check of the session as a file
}

// Read begins to add a text. The list holds its syntax errors.
func (w *Workspace) Read(ctx context.Context, file string, text []byte) (*Block, diag.List) {
	if err := w.c.Disk.Fits(int64(len(text))); err != nil {
		return nil, diag.List{{Code: diag.FileMissing, Span: diag.Span{Pos: diag.Pos{File: file}},
			Message: "the entry cannot be read: " + err.Error(), Help: script.UnfitHelp(err), Cause: err}}
	}
	tree, found := source.Parse(file, text, func() bool { return ctx.Err() != nil })
	if tree == nil {
		return nil, found
	}
	b := &Block{w: w, file: file, lines: strings.SplitAfter(string(text), "\n")}
	end := int32(0)
	for _, stmt := range tree.Syntax().Stmts {
		from, to := stmt.Span()
		if last := len(b.parts) - 1; last >= 0 && from.Line == end {
			b.parts[last] = append(b.parts[last], stmt)
		} else {
			b.parts = append(b.parts, []syntax.Stmt{stmt})
		}
		end = to.Line
	}
	for _, part := range b.parts {
		from, _ := part[0].Span()
		_, to := part[len(part)-1].Span()
		p := prompt.NewPart(file, int(from.Line), strings.Join(b.lines[from.Line-1:min(int(to.Line), len(b.lines))], ""), part)
		b.asParts, b.names = append(b.asParts, p), append(b.names, p.Names)
	}
	return b, nil
}

// Statement is a statement of a [Block] that was added.
type Statement struct {
	Names []string // the names it binds
	Text  string   // the text as written, with the comments around it
	Value bool     // it is an expression
	None  bool     // its value is None; any other value is held by [Last]
	// Prints reports whether it printed while it was composed.
	Prints bool
	// Run is not nil if the statement calls something that only a run can execute. The result of that run is then the
	// value of the statement and of its names; [Statement.Take] takes it.
	Run *Entry

	w      *Workspace
	maybe  []string // names that it may leave unbound
	before *prompt.Contents
	gave   starlark.Value // the result of its run as a Starlark value; nil once it was taken
}

// Next adds the next statement; it returns nil after the last one. A statement with an error defines nothing, and ends
// the block.
func (b *Block) Next(ctx context.Context) (*Statement, diag.List) {
	if b.next >= len(b.parts) {
		return nil, nil
	}
	if b.next == 0 && !b.Checked && b.w.Unfit != nil {
		b.found = map[*prompt.Part]diag.List{}
		b.whole(ctx)
	}
	i := b.next
	b.next++
	part := b.parts[i]
	from, _ := part[0].Span()
	end := len(b.lines)
	if b.next < len(b.parts) {
		next, _ := b.parts[b.next][0].Span()
		end = int(next.Line) - 1
	}
	written := strings.Join(b.lines[from.Line-1:end], "")
	source := strings.Repeat("\n", int(from.Line)-1) + written
	w := b.w
	f := &prompt.Form{Bound: map[string]bool{}, Known: func(name string) bool { return w.names[name] != nil }}
	for _, names := range b.names[i:] {
		for _, name := range names {
			f.Bound[name] = true
		}
	}
	if wrong := w.placed(b.file, part, f.Bound); wrong != nil {
		b.next = len(b.parts)
		return nil, diag.List{wrong}
	}
	inFile := b.asParts[i]
	if b.found[inFile].HasErrors() {
		b.next = len(b.parts)
		var found diag.List
		for _, p := range b.asParts[i:] {
			found = append(found, b.found[p]...)
		}
		return nil, found
	}
	s := &Statement{Names: b.names[i], Text: written, w: w}
	_, s.Value = part[len(part)-1].(*syntax.ExprStmt)
	said := w.c.opts.Print
	var printed []func()
	w.c.opts.Print = func(at diag.Pos, text string) { printed = append(printed, func() { said(at, text) }) }
	if said == nil {
		w.c.opts.Print = nil
	}
	s.before = prompt.NewContents()
	lint.EachReached(w.c.State, w.names, s.before.Add)
	replace := w.abandon(part, f.Bound)
	u, found := w.add(ctx, b.name(), []byte(source), f)
	calls := slices.ContainsFunc(found, func(d *diag.Diagnostic) bool { return d.Code == diag.CalledWhileComposing })
	if found.HasErrors() {
		replace()
	}
	if calls && f.Runnable {
		s.before.Restore()
		printed = nil
		f.Runs = true
		u, found = w.add(ctx, b.name(), []byte(source), f)
	}
	w.c.opts.Print = said
	s.Prints = len(printed) > 0
	for _, say := range printed {
		say()
	}
	if found.HasErrors() {
		b.next = len(b.parts)
		return nil, found
	}
	if f.Runs {
		w.ran = u.Shown
		e, wrong := entry(w.c.State, b.file, u.Globals[prompt.Run].(*starlark.Function))
		if wrong != nil {
			return nil, diag.List{wrong}
		}
		e.Func = &statementRun{e.Func.(*mainRun), s}
		s.Run = e
		if f.MayLeave {
			for _, name := range s.Names {
				if w.names[name] == nil {
					s.maybe = append(s.maybe, name)
				}
			}
		}
		inFile.Out = true
	} else if s.Value {
		s.None = !w.last(u.Globals[prompt.Value])
		inFile.Out = inFile.Out || !s.None
	}
	if b.found != nil && s.Run == nil {
		found = b.found[inFile]
	}
	w.session.Accept(inFile, w.mutable)
	w.session.Unsure = w.session.Unsure || b.found == nil
	return s, found
}

// name returns the name of the next entry, which differs for each entry.
func (b *Block) name() string { return fmt.Sprintf("%s#%d", b.file, b.w.entries+1) }

// last keeps the value of an expression. It returns false if the value is None, which is not a result.
func (w *Workspace) last(v starlark.Value) bool {
	defer func() { w.sweep() }() // what the expression placed becomes free
	if v == nil || v == starlark.None {
		return false
	}
	for _, name := range Results() {
		before := w.names[name]
		if w.set(name, v); before == nil {
			break
		}
		v = before
	}
	return true
}

// Changed reports whether the statement, or its run, changed a list, dict or set that existing names led to. The answer
// is valid until the next statement is added.
func (s *Statement) Changed() bool { return s.before.Changed() }

// statementRun is a statement as the entry point of a run. Its result stays in the script, where other names may hold
// it too, so unlike a result that leaves the script it is not frozen.
type statementRun struct {
	*mainRun
	s *Statement
}

func (r *statementRun) Call(b engine.Branch, _ []generable.Value) (generable.Value, error) {
	in, err := thread.Enter(r.State, b)
	if err != nil {
		return generable.Value{}, err
	}
	defer in.Done()
	out, v, err := r.Returned(in, nil, nil)
	if x, ok := errors.AsType[*value.ConvertError](err); ok {
		e := script.Errorf(r.Code, "a statement that calls a node may only return data: %s", x.Error())
		e.Pos, e.Cause = r.About.Pos, err
		return v, e.WithHelp("bind the call's result first, and use it in another statement: x = ..., then what is made of x")
	}
	r.s.gave = out
	return v, err
}

// Take binds the names of the statement to the result of its run.
func (s *Statement) Take(result generable.Value) error {
	defer func() { s.w.sweep() }() // what has no name any more stays released
	gave := s.gave
	if s.gave = nil; gave == nil { // the run was answered from its record
		gave = mutable(result)
	}
	if s.Value {
		s.None = !s.w.last(gave)
		return nil
	}
	values, _ := gave.(*starlark.Dict)
	if len(s.Names) == 0 || values == nil {
		return nil
	}
	for _, item := range values.Items() {
		name := string(item[0].(starlark.String))
		if item[1] == starlark.None && slices.Contains(s.maybe, name) {
			continue
		}
		s.w.set(name, item[1])
	}
	return s.w.c.taken(nil)
}

// mutable returns data as script values whose lists and dicts can be changed.
func mutable(v generable.Value) starlark.Value {
	if l, ok := v.AsList(); ok {
		items := make([]starlark.Value, l.Len())
		for i, item := range l.Items() {
			items[i] = mutable(item)
		}
		return starlark.NewList(items)
	}
	if m, ok := v.AsMap(); ok {
		d := starlark.NewDict(m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			_ = d.SetKey(starlark.String(key), mutable(item)) // a str is hashable
		}
		return d
	}
	return value.FromData(v)
}

// placed reports an agent that statements bind again while a node under another name holds it, and would keep the old
// one. Names that the block binds too are not reported, since what they hold is given back.
func (w *Workspace) placed(file string, part []syntax.Stmt, bound map[string]bool) *diag.Diagnostic {
	for _, name := range boundNamesOf(part) {
		old, ok := w.names[name.Name].(*value.Node)
		if !ok || old.Node.Agent() == nil {
			continue
		}
		for _, other := range slices.Sorted(maps.Keys(w.names)) {
			n, ok := w.names[other].(*value.Node)
			if !ok || bound[other] || slices.Contains(Results(), other) || n.Node == old.Node {
				continue
			}
			held := map[*flow.Node]bool{}
			if hold(n.Node, held); held[old.Node] {
				d := &diag.Diagnostic{Code: diag.AlreadyPlaced, Span: script.NameSpan(name),
					Message: fmt.Sprintf("%s has a place in %s, which would keep the old %[1]s", name.Name, other),
					Help:    []string{fmt.Sprintf("bind both in one entry, or drop %s first: %[1]s = None", other)}}
				d.Span.File = file
				return d
			}
		}
	}
	return nil
}

// boundNamesOf returns the identifiers that top-level statements bind.
func boundNamesOf(stmts []syntax.Stmt) (ids []*syntax.Ident) {
	for _, stmt := range stmts {
		switch stmt := stmt.(type) {
		case *syntax.AssignStmt:
			startree.Targets(stmt.LHS, func(e syntax.Expr) {
				if id, ok := e.(*syntax.Ident); ok {
					ids = append(ids, id)
				}
			})
		case *syntax.DefStmt:
			ids = append(ids, stmt.Name)
		}
	}
	return ids
}

// abandon frees the places held by names that these and later statements bind again, unless the statements use the
// names. The returned function undoes this.
func (w *Workspace) abandon(part []syntax.Stmt, bound map[string]bool) (replace func()) {
	again := maps.Clone(bound)
	rebinds := false
	for _, id := range boundNamesOf(part) {
		rebinds = rebinds || w.names[id.Name] != nil
	}
	if !rebinds {
		return func() {}
	}
	for _, stmt := range part {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.AssignStmt:
				if _, whole := n.LHS.(*syntax.Ident); whole && n.Op == syntax.EQ {
					syntax.Walk(n.RHS, func(n syntax.Node) bool {
						if id, ok := n.(*syntax.Ident); ok {
							delete(again, id.Name)
						}
						return true
					})
					return false
				}
			case *syntax.Ident:
				delete(again, n.Name)
			}
			return true
		})
	}
	w.c.Budgets = nil
	return w.sweep(slices.Collect(maps.Keys(again))...)
}
