package flow

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// placement says in which structure a node stands, and where that was written.
type placement struct {
	kind NodeKind
	in   *Node // the structure, once it is built
	at   diag.Span
}

// structure makes n of its operands: it gives each its one place in n and has check, which is
// told the left operand if that was opened, fill in the types and report what is wrong.
// A structure that is refused claims nothing.
func (s *Session) structure(n *Node, operands []*Node, check func(left *Node) bool) *Node {
	if s.Sealed() {
		d := s.Errorf(diag.SealedNode, n.site.Span, "%s composes after loading has ended", n.site.What)
		d.Helpf("compose at the top level; inside def main nodes are called like functions: x = node(input)")
		return s.Failed(n.kind, n.site)
	}
	operands = s.given(n.site, operands)
	n.name, n.kids = n.site.Name, slices.Clip(operands) // what is behind them is the caller's
	left, added := s.opens(n, operands), operands
	if left != nil {
		// A chain of operators grows by one node each: what is done for the nodes it has is not
		// done again. The array is shared, as nobody else adds to it: left is used up now.
		added = operands[1:]
		n.kids = append(left.kids, added...)
		n.depth = left.depth
		n.site.opened = len(left.kids) - 1
	}
	if !s.occupy(n, left, added) {
		return s.Failed(n.kind, n.site) // with it the whole chain of operators: its nodes are free
	}
	if n.site.ByOp {
		for _, k := range operands[1:] {
			k.spec.Joint = n.site.Span
		}
	}
	if left != nil {
		left.place = &placement{n.kind, n, n.site.Span} // composing it again is a second placement
	}
	for _, k := range added {
		n.failed = n.failed || k.failed
		n.depth = max(n.depth, k.depth+1)
	}
	fits := func(left *Node) bool { return n.types(s, n) }
	if check != nil {
		fits = check
	}
	if !s.shallow(n) || !fits(left) || !s.shallowTypes(n) {
		n.failed = true
		n.kids = slices.Clone(n.kids) // left may be opened again
		free(n.kids)
		if left != nil {
			left.place = nil
		}
	}
	if left != nil && !left.open && !n.failed { // nothing that it holds is open
		n.open = slices.ContainsFunc(added, func(k *Node) bool { return k.open })
	} else {
		n.open = isOpen(n)
	}
	placeholder(n)
	return s.add(n)
}

// held is how many nodes an opened left operand held; a structure's first edge is the one to its
// second node.
func (left *Node) held() int {
	if left == nil {
		return 1
	}
	return len(left.kids)
}

// placeholder makes the types of a node that failed fit everywhere.
func placeholder(n *Node) {
	if n.failed {
		if n.in == nil {
			n.in = generable.ErrorT
		}
		n.out = generable.ErrorT
	}
}

// given replaces operands that a host left out by nodes that failed.
func (s *Session) given(site Site, operands []*Node) []*Node {
	i := slices.Index(operands, nil)
	if i < 0 {
		return operands
	}
	d := s.Errorf(diag.NotANode, site.Arg(i), "%s composes nodes, got nothing", site.What)
	d.Helpf("give an agent, fn(f), or what another composition made")
	filled := slices.Clone(operands)
	for j, n := range filled {
		if n == nil {
			filled[j] = s.Failed(FnNode, site)
		}
	}
	return filled
}

// opens gives the left operand when its kids move into n: the same operator made it and nobody
// named it, so that a / b / c is one parallel.
func (s *Session) opens(n *Node, operands []*Node) *Node {
	if !n.flat || len(operands) == 0 {
		return nil
	}
	left := operands[0]
	if left.kind != n.kind || !left.flat || left.name != "" || left.place != nil || left.failed || left.session != s {
		return nil
	}
	return left
}

// occupy gives the kids of n their one place: all of them or, when one is taken, none. It
// reports every kid that is taken. What an opened left operand holds goes over with its place.
func (s *Session) occupy(n, left *Node, added []*Node) bool {
	p := &placement{kind: n.kind}
	switch {
	case left == nil:
	case left.kids[0].place != nil && left.kids[0].place.in == left:
		p = left.kids[0].place
	default: // a structure that was refused has freed them
		added = n.kids
	}
	ok := true
	for j, k := range added {
		i := len(n.kids) - len(added) + j
		if k.session != s && k.session.Sealed() {
			d := s.Errorf(diag.SealedNode, n.site.Arg(i), "%s belongs to a script whose loading has ended", k.Label())
			node.NoteDefined(d, k)
			d.Helpf("%s", factoryHelp(k))
			ok = false
			continue
		}
		taken := k.place
		if taken == nil && k.mark == p {
			taken = p
		}
		k.mark = p
		if taken != nil {
			s.reportTaken(n, i, taken, p)
			ok = false
		}
	}
	if !ok {
		if left != nil && left.kids[0].place == p {
			free(left.kids)
		}
		return false
	}
	p.in, p.at = n, n.site.Span
	for _, k := range added {
		k.place = p
	}
	return true
}

// Refuse makes a structure that was just made one that failed, and frees what it holds: it was made
// of arguments with a mistake that was reported, so that what else is wrong is found as well.
func (s *Session) Refuse(n *Node) *Node {
	if !n.failed {
		n.failed, n.open = true, false
		free(n.kids)
		placeholder(n)
	}
	return n
}

// free takes nodes out of the structure that they are in.
func free(nodes []*Node) {
	for _, k := range nodes {
		k.place = nil
	}
}

// reportTaken tells that kid i of n is placed already: by taken, or in n itself by now.
func (s *Session) reportTaken(n *Node, i int, taken, now *placement) {
	k := n.kids[i]
	subject := fmt.Sprintf("%s %q", capital(k.kind.String()), k.name)
	if k.name == "" {
		subject = "This " + k.kind.String()
	}
	d := s.Errorf(diag.AlreadyPlaced, n.site.Arg(i),
		"%s is already placed in %s. Each %s instance can only participate once. Create a new instance for %q.",
		subject, taken.kind, k.kind, n.kind)
	if taken != now {
		where := taken.kind.String()
		if taken.in != nil && taken.in.name != "" {
			where += " " + taken.in.name
		}
		d.Notef(taken.at.Pos, "%s was placed in %s", k.Label(), where)
	} else if first := n.site.Arg(slices.Index(n.kids, k)); first != n.site.Arg(i) {
		d.Notef(first.Pos, "%s was placed in this %s", k.Label(), n.kind)
	}
	node.NoteDefined(d, k)
	d.Helpf("%s", factoryHelp(k))
}

func factoryHelp(n *Node) string {
	if n.name == "" {
		return "build it in a function and call the function for each place"
	}
	return fmt.Sprintf("make it in a factory, def new_%s(): return %s(...), and call new_%s() for each place", n.name, n.kind.Segment(), n.name)
}

func capital(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// shallow refuses what nests too deep to be run.
func (s *Session) shallow(n *Node) bool {
	if n.depth < node.MaxNesting {
		return true
	}
	d := s.Errorf(diag.WrongArgument, n.site.Span, "%s nests nodes more than %d deep", n.site.What, node.MaxNesting)
	d.Helpf("compose one flat list of nodes: %s(*nodes) or %s([...])", n.kind.Segment(), n.kind.Segment())
	return false
}

// shallowTypes refuses a structure whose types nest too deep, lists of lists in the main.
func (s *Session) shallowTypes(n *Node) bool {
	if n.failed || !(n.in.TooDeep() || n.out.TooDeep()) {
		return true
	}
	d := s.Errorf(diag.WrongArgument, n.site.Span, "the type of this %s nests more than %d deep", n.kind, generable.MaxTypeDepth)
	d.Helpf("join each list before it goes into the next one: then(%s(...), fn(..., output = T))", n.kind.Segment())
	return false
}

// some refuses an empty composition.
func (s *Session) some(kind NodeKind, site Site, nodes []*Node) bool {
	if len(nodes) > 0 {
		return true
	}
	d := s.Errorf(diag.EmptyComposition, site.Span, "%s needs at least one node", site.What)
	if kind == VoteNode {
		d.Helpf("name the voters: vote(a, b, c), or let one node give all votes: vote(each(a))")
		return false
	}
	d.Helpf("a %s of nothing has no type; leave it out", kind)
	return false
}
