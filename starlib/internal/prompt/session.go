package prompt

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/startree"
)

// Session is what the statements of a prompt are as one file: each name is bound once, and what depends on a value that
// the file would not have is left out of it.
type Session struct {
	parts  []*Part
	fresh  int  // the first of those that are not accepted yet
	Unsure bool // what is accepted may not load
	Again  bool // the entry binds names anew, which functions that are accepted may speak of
}

// mostParts bounds the statements of the file, the latest ones, and so what it costs to check an entry with them.
const mostParts = 500

// Part is a statement of the top level, or several that share a line.
type Part struct {
	File  string
	Line  int    // of its first line in File
	Text  string // its lines
	Names []string
	Out   bool // of the file
	Value bool // it is an expression

	mentions map[string]bool // outside of functions, but as targets
	calls    bool
	from, to int // its lines in the file
}

// NewPart returns a part of some statements.
func NewPart(file string, line int, text string, stmts []syntax.Stmt) *Part {
	p := &Part{File: file, Line: line, Text: strings.TrimRight(text, "\n") + "\n", Names: Bound(stmts), mentions: map[string]bool{}}
	keywords := map[*syntax.Ident]bool{} // of calls
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

// With returns the file with the statements of an entry that is not accepted yet. What they bind anew is left out, and
// so are those that read what they bind anew, which known reports.
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

// leave leaves out what binds a name and what is made of its value.
func (s *Session) leave(name string) {
	for _, p := range s.parts {
		if slices.Contains(p.Names, name) || p.mentions[name] {
			p.Out, s.Unsure = true, true
		}
	}
}

// Accept adds a statement that holds. Where it is left out, names that mutable reports may have another value since.
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

// Text returns the file, and the names that it binds.
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

// At returns the statement at a line of the file, nil for none.
func (s *Session) At(line int) *Part {
	for _, p := range s.parts {
		if p.from <= line && line <= p.to {
			return p
		}
	}
	return nil
}

// Leave leaves out the accepted statements in which the file has errors. It reports whether there are any.
func (s *Session) Leave(found diag.List, file string) (left bool) {
	for _, d := range found {
		if d.Severity != diag.Error {
			continue
		}
		p := s.At(d.Span.Line)
		for _, o := range s.parts[:s.fresh] {
			if !o.Out && (o == p || p == nil || d.Span.File != file) { // elsewhere it may come from any
				o.Out, left = true, true
			}
		}
	}
	return left
}

// Placed returns a finding in the file as one in the statement.
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

// Lost returns those of some names that the file does not bind though it may speak of them.
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
