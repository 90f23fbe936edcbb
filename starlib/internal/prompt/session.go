package prompt

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// Session is the statements of a prompt as one file. Each name is bound once, and statements that depend on a value
// which the file would not have are left out.
type Session struct {
	parts  []*Part
	fresh  int  // index of the first part that is not accepted yet
	Unsure bool // the accepted parts may not load
	Again  bool // the entry rebinds names that accepted functions may refer to
}

// mostParts bounds the statements of the file, of which it keeps the latest, and thereby the cost of checking an entry
// with them.
const mostParts = 500

// Part is a top-level statement, or several on one line.
type Part struct {
	File  string
	Line  int    // line in File at which it starts
	Text  string // its lines
	Names []string
	Out   bool // left out of the file
	Value bool // it is an expression

	mentions map[string]bool // names read outside of functions; targets do not count
	calls    bool
	from, to int // its lines in the file
}

// NewPart returns the part for statements on one line.
func NewPart(file string, line int, text string, stmts []syntax.Stmt) *Part {
	p := &Part{File: file, Line: line, Text: strings.TrimRight(text, "\n") + "\n", Names: Bound(stmts), mentions: map[string]bool{}}
	keywords := map[*syntax.Ident]bool{} // names of keyword arguments
	_, p.Value = stmts[len(stmts)-1].(*syntax.ExprStmt)
	visit := func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			return false
		case *syntax.CallExpr:
			p.calls = true
			for _, arg := range n.Args {
				if name := startree.ArgOf(arg).Name; name != nil {
					keywords[name] = true
				}
			}
		case *syntax.Ident:
			p.mentions[n.Name] = p.mentions[n.Name] || !keywords[n]
		}
		return true
	}
	for _, stmt := range stmts {
		if a, ok := stmt.(*syntax.AssignStmt); ok && a.Op == syntax.EQ {
			if _, name := a.LHS.(*syntax.Ident); name {
				syntax.Walk(a.RHS, visit)
				continue
			}
		}
		if l, ok := stmt.(*syntax.LoadStmt); ok {
			syntax.Walk(l.Module, visit)
			continue
		}
		syntax.Walk(stmt, visit)
	}
	return p
}

// With returns the file with the statements of an entry that is not accepted yet. Earlier statements that bind or read
// a name which the entry binds are left out, and so are statements of the entry that read a bound name which they
// rebind. known reports whether a name is bound.
func (s *Session) With(entry []*Part, known func(name string) bool) *Session {
	w := &Session{fresh: len(s.parts), Unsure: s.Unsure}
	for _, p := range s.parts {
		own := *p
		w.parts = append(w.parts, &own)
	}
	for _, p := range entry {
		for _, name := range p.Names {
			again := slices.ContainsFunc(w.parts, func(o *Part) bool { return slices.Contains(o.Names, name) })
			p.Out = p.Out || p.mentions[name] && (again || known(name))
			w.Again = w.Again || again || known(name)
			w.leave(name)
		}
		w.parts = append(w.parts, p)
	}
	return w
}

// leave leaves out the statements that bind a name or read it.
func (s *Session) leave(name string) {
	for _, p := range s.parts {
		if slices.Contains(p.Names, name) || p.mentions[name] {
			p.Out, s.Unsure = true, true
		}
	}
}

// Accept adds an accepted statement. If it is left out and makes calls, the names for which mutable returns true may
// have changed, and are left out too.
func (s *Session) Accept(p *Part, mutable func(name string) bool) {
	*s = *s.With([]*Part{p}, func(string) bool { return false })
	if p.Out && p.calls {
		for _, o := range s.parts {
			for _, name := range o.Names {
				if mutable(name) {
					s.leave(name)
				}
			}
		}
	}
	s.parts = slices.DeleteFunc(s.parts, func(p *Part) bool { return p.Out })
	s.parts = s.parts[max(0, len(s.parts)-mostParts):]
	s.fresh, s.Again = len(s.parts), false
}

// Accepted returns the file without what is not accepted yet.
func (s *Session) Accepted() *Session {
	return &Session{parts: s.parts[:s.fresh:s.fresh], fresh: s.fresh, Unsure: s.Unsure}
}

// Text returns the text of the file, and the names that it binds.
func (s *Session) Text() (text string, bound map[string]bool) {
	var b strings.Builder
	bound = map[string]bool{}
	line := 1
	for _, p := range s.parts {
		p.from, p.to = 0, 0
		if p.Out {
			continue
		}
		b.WriteString(p.Text)
		p.from = line
		line += strings.Count(p.Text, "\n")
		p.to = line - 1
		for _, name := range p.Names {
			bound[name] = true
		}
	}
	return b.String(), bound
}

// At returns the statement at a line of the file, or nil.
func (s *Session) At(line int) *Part {
	for _, p := range s.parts {
		if p.from <= line && line <= p.to {
			return p
		}
	}
	return nil
}

// Leave leaves out the accepted statements in which the file has errors. It reports whether it left out any.
func (s *Session) Leave(found diag.List, file string) (left bool) {
	for _, d := range found {
		if d.Severity != diag.Error {
			continue
		}
		p := s.At(d.Span.Line)
		for _, o := range s.parts[:s.fresh] {
			if !o.Out && (o == p || p == nil || d.Span.File != file) { // an error elsewhere may come from any of them
				o.Out, left = true, true
			}
		}
	}
	return left
}

// Placed returns a finding in the file with its positions in the original entries.
func (s *Session) Placed(d *diag.Diagnostic, file string) *diag.Diagnostic {
	own := *d
	place := func(at *diag.Pos) {
		if at.File != file {
			return
		}
		if p := s.At(at.Line); p != nil {
			at.File, at.Line = p.File, at.Line-p.from+p.Line
		}
	}
	place(&own.Span.Pos)
	own.Notes, own.Fixes, own.Trace = slices.Clone(d.Notes), slices.Clone(d.Fixes), slices.Clone(d.Trace)
	for i := range own.Notes {
		place(&own.Notes[i].Pos)
	}
	for i := range own.Fixes {
		place(&own.Fixes[i].Pos)
	}
	for i := range own.Trace {
		place(&own.Trace[i].Pos)
	}
	return &own
}

// Lost returns the given names, and those of the parts, that the file does not bind.
func (s *Session) Lost(names []string, bound map[string]bool) []string {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	for _, p := range s.parts {
		for _, name := range p.Names {
			all[name] = true
		}
	}
	maps.DeleteFunc(all, func(name string, _ bool) bool { return bound[name] })
	return slices.Sorted(maps.Keys(all))
}
