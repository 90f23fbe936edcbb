package flow

import (
	"maps"
	"slices"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
)

// Site says where in a script something is composed.
type Site struct {
	Span diag.Span // the operator, or the call
	What string    // how it was written: "`>>`", "par"
	Name string    // the variable it is assigned to, or ""
	Made string    // the call that makes it, if that is not a call of its kind: load_flow("flow.json")
	ByOp bool      // written as an operator, which opens a left operand that the same operator made
	// Whole keeps that operand whole: a function returned it, and its caller knows it as one node.
	Whole bool
	Args  []diag.Span // of the operands, where known

	// Written returns the source of the right operand of an operator, for messages, or ""; nil where unknown.
	Written func() string

	opened int // the number of nodes in an opened left operand, minus one: all of them have its span
}

// Arg returns where operand i of the structure was written.
func (s Site) Arg(i int) diag.Span {
	i = max(0, i-s.opened)
	if i < len(s.Args) && s.Args[i].IsValid() {
		return s.Args[i]
	}
	return s.Span
}

// at returns the site of operand i of a function. For an operator it is where the operator is written.
func (s Site) at(i int) Site {
	if !s.ByOp {
		s.Span = s.Arg(i)
	}
	return s
}

// Session composes one script: it builds nodes, gives each one place and collects mistakes. A node that fails is
// reported once and then fits everywhere, so that one mistake yields one message and the rest is still checked. A
// Session belongs to one goroutine until it is sealed.
type Session struct {
	diag.Reporter // mistakes; a run that composes by mistake reports here, too

	Strict bool // note edges that are only checked at run time; see [Session.Seal]

	mu     sync.Mutex
	nodes  []*Node
	sealed bool

	unions []*generable.Type
	edges  map[edgeTo]edge
	banks  map[string]diag.Span // of memory, by name
	kept   *agent.MemoryBank    // the first of them that needs a session
	noted  map[diag.Pos]bool    // operators that already have a note
}

// NewSession begins composing.
func NewSession() *Session {
	return &Session{edges: map[edgeTo]edge{}, banks: map[string]diag.Span{}, noted: map[diag.Pos]bool{}}
}

// DeclareUnion makes a union known as a candidate for the joined type of branches.
func (s *Session) DeclareUnion(u *generable.Type) { s.unions = append(s.unions, u) }

// Nodes returns every node made, in order.
func (s *Session) Nodes() []*Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Node(nil), s.nodes...)
}

// Seal ends composing. From then on the nodes can run, and composing them is an error. A strict session reports
// unproven edges only now, since until then the node before a type may still settle it.
func (s *Session) Seal() {
	s.mu.Lock()
	again := s.sealed
	s.sealed = true
	s.mu.Unlock()
	if !again {
		s.Detach()
		s.noteUnchecked()
	}
}

// Extend returns a session that continues composing after s was sealed, as at a prompt: new nodes can be placed
// together with those of s. No node of s may run meanwhile.
func (s *Session) Extend() *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &Session{Strict: s.Strict, edges: map[edgeTo]edge{}, noted: map[diag.Pos]bool{}, nodes: slices.Clone(s.nodes), unions: s.unions, banks: s.banks, kept: s.kept}
	for _, n := range next.nodes {
		n.session = next
	}
	return next
}

// Release frees the places in structures that keep rejects: nothing holds them any more, and the nodes in them can be
// placed again. The names of memories that keepBank rejects become free as well. restore undoes this, except for nodes
// and names that have been used again by then.
func (s *Session) Release(keep func(*Node) bool, keepBank func(name string) bool) (restore func()) {
	var undo []func()
	for _, n := range s.Nodes() {
		if keep(n) {
			continue
		}
		for _, k := range n.kids {
			if k.place != nil && k.place.in == n {
				before := k.place
				k.place = nil
				undo = append(undo, func() {
					if k.place == nil {
						k.place = before
					}
				})
			}
		}
	}
	banks := maps.Clone(s.banks)
	maps.DeleteFunc(s.banks, func(name string, _ diag.Span) bool { return !keepBank(name) })
	return func() {
		for _, f := range undo {
			f()
		}
		for name, at := range banks {
			if _, again := s.banks[name]; !again {
				s.banks[name] = at
			}
		}
	}
}

// Forget drops the session's nodes that keep rejects and the unions in gone: nothing holds these nodes, and they are
// not composed again.
func (s *Session) Forget(keep func(*Node) bool, gone map[*generable.Type]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes = slices.DeleteFunc(s.nodes, func(n *Node) bool { return !keep(n) })
	s.unions = slices.DeleteFunc(s.unions, func(u *generable.Type) bool { return gone[u] })
}

// Sealed reports whether composing has ended.
func (s *Session) Sealed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sealed
}

// add registers a node of a structure or step.
func (s *Session) add(n *Node) *Node {
	n.session = s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes = append(s.nodes, n)
	return n
}

// Failed returns a node in place of one that could not be made, so that checking continues. Its types fit everywhere,
// and nothing more is reported about it.
//
//go:noinline
func (s *Session) Failed(kind NodeKind, site Site) *Node {
	return s.add(&Node{kind: kind, name: site.Name, site: site, failed: true, in: generable.ErrorT, out: generable.ErrorT})
}

// Memory declares a bank. Its name must be unique in a script, since it names what is kept.
func (s *Session) Memory(at diag.Span, m agent.MemoryBank) *agent.MemoryBank {
	if before, ok := s.banks[m.Name]; ok {
		d := s.Errorf(diag.DuplicateName, at, "two memories are named %q", m.Name)
		d.Notef(before.Pos, "the first is made")
		d.Helpf("pass the same memory to both agents: each has its own slot; or rename one")
	} else {
		s.banks[m.Name] = at
		if m.Session && s.kept == nil {
			s.kept = &m
		}
	}
	return &m
}

// Banks returns how many memories were declared.
func (s *Session) Banks() int { return len(s.banks) }

// Kept returns the first declared memory that is kept in a session, nil without one: see [run.Spec.Keeps].
func (s *Session) Kept() *agent.MemoryBank { return s.kept }
