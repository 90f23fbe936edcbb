package engine

import (
	"fmt"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Site says where in a script something is composed.
type Site struct {
	Span diag.Span   // the operator, or the call
	What string      // how it was written: "`>>`", "par"
	Name string      // the variable it is assigned to, or ""
	ByOp bool        // written as an operator
	Args []diag.Span // of the operands, where known

	opened int // nodes that the left operand held, but for one: they stand where it does
}

// arg is where node i of the structure that was made here stands.
func (s Site) arg(i int) diag.Span {
	i = max(0, i-s.opened)
	if i < len(s.Args) && s.Args[i].IsValid() {
		return s.Args[i]
	}
	return s.Span
}

// at is the site of operand i of a function; an operator stands where it is written.
func (s Site) at(i int) Site {
	if !s.ByOp {
		s.Span = s.arg(i)
	}
	return s
}

// Session is one composing of a script: it builds nodes, holds each to one place and collects
// what is wrong. A node that fails is reported once and stands in for itself from then on, so
// that one mistake yields one message and the rest is still checked. A Session belongs to one
// goroutine until it is sealed.
type Session struct {
	Strict bool // note edges that are only checked at run time; see [Session.Seal]

	// OnReport, when set, is told of every diagnostic where it is reported: of those of a
	// structure, before its notes and help are added.
	OnReport func(*diag.Diagnostic)

	mu     sync.Mutex // runs that compose by mistake report here, too
	diags  diag.List
	nodes  []*Node
	sealed bool

	unions []*generable.Type
	edges  map[edgeTo]edge
	banks  map[string]diag.Span // of memory, by name
	kept   *MemoryBank          // the first of them that needs a session
}

// NewSession begins composing.
func NewSession() *Session { return &Session{} }

// Report adds a diagnostic.
func (s *Session) Report(d *diag.Diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diags = append(s.diags, d)
	if s.OnReport != nil && !s.sealed {
		s.OnReport(d)
	}
}

// Diagnostics returns all that was reported so far.
func (s *Session) Diagnostics() diag.List {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(diag.List(nil), s.diags...)
}

// DeclareUnion makes a union known as a candidate for the joined type of branches.
func (s *Session) DeclareUnion(u *generable.Type) { s.unions = append(s.unions, u) }

// Nodes returns every node made, in order.
func (s *Session) Nodes() []*Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Node(nil), s.nodes...)
}

// Seal ends composing. From now on the nodes can run, and composing them is an error. A strict
// session reports only now which edges are not proven: until then a type may still be settled
// by what a node is placed behind.
func (s *Session) Seal() {
	s.mu.Lock()
	again := s.sealed
	s.sealed = true
	s.mu.Unlock()
	if !again {
		s.noteUnchecked()
	}
}

// Sealed reports whether composing has ended.
func (s *Session) Sealed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sealed
}

func (s *Session) errorf(code diag.Code, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...)}
	s.Report(d)
	return d
}

func help(d *diag.Diagnostic, format string, args ...any) {
	d.Help = append(d.Help, fmt.Sprintf(format, args...))
}

func note(d *diag.Diagnostic, at diag.Pos, format string, args ...any) {
	d.Notes = append(d.Notes, diag.Note{Message: fmt.Sprintf(format, args...), Pos: at})
}

// noteDefined tells where the given nodes were made.
func noteDefined(d *diag.Diagnostic, nodes ...*Node) {
	for _, n := range nodes {
		if n.site.Span.IsValid() {
			note(d, n.Pos(), "%s is defined", n.Label())
		}
	}
}

// add registers a node of a structure or step.
func (s *Session) add(n *Node) *Node {
	n.session = s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes = append(s.nodes, n)
	return n
}

// failedNode stands in for a composition that could not be made. Its types fit everywhere.
func (s *Session) failedNode(kind NodeKind, site Site) *Node {
	return s.add(&Node{kind: kind, name: site.Name, site: site, failed: true, in: generable.ErrorT, out: generable.ErrorT})
}

// Failed returns a node that stands in for one that could not be made, so that checking goes
// on. Its types fit everywhere, and nothing more is said about it.
func (s *Session) Failed(kind NodeKind, site Site) *Node { return s.failedNode(kind, site) }

func spanOr(a, b diag.Span) diag.Span {
	if a.IsValid() {
		return a
	}
	return b
}
