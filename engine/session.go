package engine

import (
	"fmt"
	"slices"
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
}

func (s Site) arg(i int) diag.Span {
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

// flattened is the site of kids that came of fewer operands: what the left operand held stands
// where it does.
func (s Site) flattened(kids, operands int) Site {
	if kids == operands || len(s.Args) == 0 {
		return s
	}
	args := make([]diag.Span, kids-operands, kids)
	for i := range args {
		args[i] = s.Args[0]
	}
	s.Args = append(args, s.Args...)
	return s
}

// Session is one composing of a script: it builds nodes, holds each to one place and collects
// what is wrong. A node that fails is reported once and stands in for itself from then on, so
// that one mistake yields one message and the rest is still checked. A Session belongs to one
// goroutine until it is sealed.
type Session struct {
	Strict bool // note edges that are only checked at run time

	mu     sync.Mutex // diagnostics may come from runs that compose by mistake
	diags  diag.List
	unions []*generable.Type
	nodes  []*Node
	sealed bool
}

// NewSession begins composing.
func NewSession() *Session { return &Session{} }

// Report adds a diagnostic.
func (s *Session) Report(d *diag.Diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diags = append(s.diags, d)
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
func (s *Session) Nodes() []*Node { return s.nodes }

// Seal ends composing. From now on the nodes can run, and composing them is an error.
func (s *Session) Seal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
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
		if n.span.IsValid() {
			note(d, n.span.Pos, "%s is defined", n.Label())
		}
	}
}

// add registers a node of a structure or step.
func (s *Session) add(n *Node) *Node {
	s.nodes = append(s.nodes, n)
	return n
}

// failedNode stands in for a composition that could not be made. Its types fit everywhere.
func (s *Session) failedNode(kind NodeKind, site Site, kids []*Node) *Node {
	return s.add(&Node{kind: kind, name: site.Name, span: site.Span, kids: kids, failed: true,
		in: generable.ErrorT, out: generable.ErrorT})
}

// Failed returns a node that stands in for one that could not be made, so that checking goes
// on. Its types fit everywhere, and nothing more is said about it.
func (s *Session) Failed(kind NodeKind, site Site) *Node { return s.failedNode(kind, site, nil) }

// claim gives nodes their one place in a structure of the given kind: all of them or, when
// one is taken, none. It reports every node that is taken.
func (s *Session) claim(kind NodeKind, site Site, nodes []*Node) (*placement, bool) {
	if s.Sealed() {
		d := s.errorf(diag.SealedNode, site.Span, "%s composes after loading has ended", site.What)
		help(d, "compose at the top level; inside def main nodes are called like functions: x = node(input)")
		return nil, false
	}
	p := &placement{kind: kind, at: site.Span}
	ok := true
	for i, n := range nodes {
		taken, first := n.place, -1
		if taken == nil {
			if first = slices.Index(nodes[:i], n); first >= 0 {
				taken = p
			}
		}
		if taken == nil {
			continue
		}
		ok = false
		subject := fmt.Sprintf("%s %q", capital(n.kind.String()), n.name)
		if n.name == "" {
			subject = "This " + n.kind.String()
		}
		d := s.errorf(diag.AlreadyPlaced, site.arg(i),
			"%s is already placed in %s. Each %s instance can only participate once. Create a new instance for %q.",
			subject, taken.kind, n.kind, kind)
		if taken != p {
			where := taken.kind.String()
			if taken.in != nil && taken.in.name != "" {
				where += " " + taken.in.name
			}
			note(d, taken.at.Pos, "%s was placed in %s", n.Label(), where)
		} else if site.arg(first) != site.arg(i) {
			note(d, site.arg(first).Pos, "%s was placed in this %s", n.Label(), kind)
		}
		noteDefined(d, n)
		help(d, "%s", factoryHelp(n))
	}
	if !ok {
		return nil, false
	}
	for _, n := range nodes {
		n.place = p
	}
	return p, true
}

func factoryHelp(n *Node) string {
	if n.name == "" {
		return "build it in a function and call the function for each place"
	}
	return fmt.Sprintf("make it in a factory, def new_%s(): return %s(...), and call new_%s() for each place", n.name, factoryWord(n.kind), n.name)
}

func factoryWord(k NodeKind) string { return nodeSegments[k] }

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// absorb opens a left operand that the same operator made and nobody named: its children move
// into the new structure, so that a / b / c is one parallel.
func absorb(kind NodeKind, site Site, nodes []*Node) []*Node {
	if !site.ByOp || len(nodes) == 0 {
		return nodes
	}
	left := nodes[0]
	if left.kind != kind || !left.byOp || left.name != "" || left.place != nil || left.failed {
		return nodes
	}
	return append(left.kids[:len(left.kids):len(left.kids)], nodes[1:]...)
}

// structure places kids and returns the composed node, or a failed one. The caller has
// flattened kids from operands; check fills in the types and reports mismatches.
func (s *Session) structure(kind NodeKind, site Site, operands []*Node, build func(n *Node) bool) *Node {
	kids := absorb(kind, site, operands)
	if len(kids) != len(operands) {
		for _, k := range operands[0].kids {
			k.place = nil // it moves to the new structure
		}
	}
	p, ok := s.claim(kind, site.flattened(len(kids), len(operands)), kids)
	if !ok {
		restore(kids, operands)
		return s.failedNode(kind, site, nil)
	}
	n := &Node{kind: kind, name: site.Name, span: site.Span, kids: kids, byOp: site.ByOp}
	p.in = n
	if len(kids) != len(operands) {
		operands[0].place = p // used up: composing it again is a second placement
	}
	for _, k := range kids {
		if k.failed {
			n.failed = true
		}
	}
	if !build(n) {
		n.failed = true
		for _, k := range kids { // what is refused claims nothing
			k.place = nil
		}
		if len(kids) != len(operands) {
			operands[0].place = nil
			restore(kids, operands)
		}
	}
	if n.failed {
		if n.in == nil {
			n.in = generable.ErrorT
		}
		n.out = generable.ErrorT
	}
	return s.add(n)
}

// restore gives an absorbed operand its children back after a failed claim.
func restore(kids, operands []*Node) {
	if len(kids) == len(operands) {
		return
	}
	left := operands[0]
	for _, k := range left.kids {
		k.place = &placement{kind: left.kind, in: left, at: left.span}
	}
}
