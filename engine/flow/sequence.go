package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// Then composes nodes in sequence: X→Y, Y→Z gives X→Z.
func (s *Session) Then(site Site, nodes ...*Node) *Node {
	if !s.some(PipelineNode, site, nodes) {
		return s.failedNode(PipelineNode, site)
	}
	n := &Node{kind: PipelineNode, site: site, flat: site.ByOp}
	return s.structure(n, nodes, func(left *Node) bool {
		return s.pipeline(n, left.held()) // the edges inside were proven when it was made
	})
}

// pipeline checks the edges that lead to the kids from the given one on.
func (s *Session) pipeline(n *Node, from int) bool {
	ok := true
	n.endsWrong = false
	for i := from; i < len(n.kids); i++ {
		before := n.kids[i-1].beforeLast()
		if n.endsWrong {
			before = n.kids[i-2].last()
		}
		n.endsWrong = !s.join(n.site.at(i), n.kids[i-1], n.kids[i], before)
		ok = ok && !n.endsWrong
	}
	n.in, n.out = n.kids[0].in, n.kids[len(n.kids)-1].out
	return ok
}

// ParOptions are the options of a parallel.
type ParOptions struct {
	Limit  int             // branches at once, 0 for all
	Output *generable.Type // the declared type of a branch's output, nil to infer it

	OnError OnError
	Merge   *Node // makes something of the list: list[Y]→Z gives X→Z; nil: the list is the output
}

// Par runs nodes concurrently on one input: X→Y each gives X→list[Y], in declared order.
func (s *Session) Par(site Site, o ParOptions, nodes ...*Node) *Node {
	if !s.some(ParallelNode, site, nodes) {
		return s.failedNode(ParallelNode, site)
	}
	n := &Node{kind: ParallelNode, site: site, flat: site.ByOp && o == (ParOptions{}), declared: o.Output, onError: o.OnError, spec: node.Spec{Limit: o.Limit}}
	if o.Merge != nil {
		nodes, n.merges = append(nodes[:len(nodes):len(nodes)], o.Merge), true
	}
	return s.structure(n, nodes, func(left *Node) bool { return s.widened(n, left) || s.parallel(n) })
}

// widened finds the types of a parallel that has one branch more than an opened left operand,
// where they are the same: a long chain of operators does not go through all its branches again
// for each.
func (s *Session) widened(n, left *Node) bool {
	if left == nil || left.open {
		return false
	}
	for _, k := range n.kids[len(left.kids):] {
		known := slices.ContainsFunc(left.gives, func(t *generable.Type) bool { return generable.Same(t, k.out) })
		if k.failed || k.open || !known || !generable.Same(k.in, left.in) {
			return false
		}
	}
	n.in, n.out, n.spec.Each, n.spec.Item, n.gives = left.in, left.out, left.spec.Each, left.spec.Item, left.gives
	return true
}

func (s *Session) parallel(n *Node) bool {
	branches := n.branches()
	in, strange := s.commonInput(n.site, branches)
	ok := len(strange) == 0 && s.followAll(sound(branches), in)
	out, ok2 := s.commonOutput(n.site, n.declared, branches, nil, strange)
	n.in, n.spec.Each, n.spec.Item = in, out, n.itemOf(out)
	n.out = generable.ListOfType(n.spec.Item)
	if n.flat {
		n.gives = n.gives[:0:0]
		for _, k := range branches {
			if !slices.ContainsFunc(n.gives, func(t *generable.Type) bool { return generable.Same(t, k.out) }) {
				n.gives = append(n.gives, k.out)
			}
		}
	}
	return ok && ok2 && s.merge(n)
}

// merge checks what makes something of a parallel's list.
func (s *Session) merge(n *Node) bool {
	m := n.Merge()
	if m == nil || m.failed {
		return true
	}
	list, at := n.out, n.site.Arg(len(n.kids)-1)
	if !s.follow(m, list) {
		return false
	}
	why := generable.Assignable(list, m.in)
	if why == nil {
		s.edge(edgeTo{m, false}, edge{at, n.site.What, list, m.in})
		n.out = m.out
		return true
	}
	d := s.Errorf(diag.CannotJoin, at, "merge takes the list of what the branches give")
	d.Label = fmt.Sprintf("they give %s, %s wants %s", list, m.Label(), m.in)
	s.reasons(d, why, list)
	node.NoteDefined(d, m)
	d.Helpf("let %s take %s", m.Label(), list)
	return false
}

// sound leaves out the nodes that failed, about which nothing more is said.
func sound(nodes []*Node) []*Node {
	for _, n := range nodes {
		if n.failed {
			var rest []*Node
			for _, n := range nodes {
				if !n.failed {
					rest = append(rest, n)
				}
			}
			return rest
		}
	}
	return nodes
}

// commonInput finds the input that all nodes accept: the most specific one. It gives the nodes
// that do not accept it, which it has reported.
func (s *Session) commonInput(site Site, nodes []*Node) (in *generable.Type, strange map[*Node]bool) {
	pick := nodes[0]
	for _, n := range nodes {
		if n.failed || typing.Untyped(n.in) {
			continue
		}
		if pick.failed || typing.Untyped(pick.in) || !generable.Same(n.in, pick.in) && typing.Proven(n.in, pick.in) {
			pick = n
		}
	}
	for i, n := range nodes {
		if n.failed || pick.failed || generable.Assignable(pick.in, n.in) == nil {
			continue
		}
		if strange == nil {
			strange = map[*Node]bool{}
		}
		strange[n] = true
		d := s.Errorf(diag.InputsDiffer, site.Arg(i), "%s wants one input type", site.What)
		d.Label = fmt.Sprintf("%s takes %s, %s takes %s", pick.Label(), pick.in, n.Label(), n.in)
		if generable.Assignable(n.out, pick.out) != nil && generable.Assignable(pick.out, n.out) != nil {
			d.Notef(diag.Pos{}, "they do not give the same either: %s gives %s, %s gives %s", pick.Label(), pick.out, n.Label(), n.out)
		}
		node.NoteDefined(d, pick, n)
		d.Helpf("all branches run on the same input: convert it in front of one, then(fn(..., input = %s, output = %s), %s)", pick.in, n.in, n.Label())
	}
	return pick.in, strange
}

// commonOutput finds the type of what several nodes give: the declared one, the one they
// share, or the declared union of which all are variants. Routes, when there are any, are how
// the nodes are told apart. Of those that were reported nothing more is said: they may be the
// wrong nodes altogether.
func (s *Session) commonOutput(site Site, declared *generable.Type, nodes []*Node, routes []Route, reported map[*Node]bool) (*generable.Type, bool) {
	types := make([]*generable.Type, 0, len(nodes))
	var at []int // in nodes, of those
	for i, n := range nodes {
		if n.failed {
			return generable.ErrorT, true
		}
		if !reported[n] {
			types, at = append(types, n.out), append(at, i)
		}
	}
	switch {
	case declared != nil:
		return declared, s.declaredOutput(site, declared, nodes, at, routes)
	case len(reported) > 0 && len(types) == 0:
		return generable.ErrorT, true
	}
	if t, ok := generable.Join(types, s.unions); ok {
		return t, true
	}
	for _, t := range types { // any among them: all is any
		if t.Deref().Kind == generable.AnyType {
			return generable.AnyT, true
		}
	}
	s.outputsDiffer(site, nodes, at, routes)
	return generable.ErrorT, false
}

// declaredOutput checks that what the nodes give is of the type that the script declares.
func (s *Session) declaredOutput(site Site, declared *generable.Type, nodes []*Node, at []int, routes []Route) bool {
	ok := true
	for _, i := range at {
		n := nodes[i]
		if generable.Assignable(n.out, declared) == nil {
			continue
		}
		ok = false
		d := s.Errorf(diag.OutputsDiffer, site.Arg(i), "%s declares output = %s", site.What, declared)
		d.Label = fmt.Sprintf("%s gives %s", giver(nodes, routes, i), n.out)
		node.NoteDefined(d, n)
		d.Helpf("widen it: output = %s", generable.OneOf(declared, n.out))
	}
	return ok
}

// mostGivers is how many outputs that differ a message names.
const mostGivers = 4

// outputsDiffer reports the nodes whose outputs have no type in common: the first of each type.
func (s *Session) outputsDiffer(site Site, nodes []*Node, at []int, routes []Route) {
	var differ []int
	types := make([]*generable.Type, 0, len(at))
	for _, i := range at {
		types = append(types, nodes[i].out)
		if !slices.ContainsFunc(differ, func(j int) bool { return generable.Same(nodes[j].out, nodes[i].out) }) {
			differ = append(differ, i)
		}
	}
	d := s.Errorf(diag.OutputsDiffer, site.at(differ[1]).Span, "%s gives different types", site.What)
	said := make([]string, 0, mostGivers+1)
	for n, i := range differ {
		if n == mostGivers {
			said = append(said, "...")
			break
		}
		said = append(said, fmt.Sprintf("%s gives %s", giver(nodes, routes, i), nodes[i].out))
		node.NoteDefined(d, nodes[i])
	}
	d.Label = strings.Join(said, ", ")
	if site.ByOp {
		d.Helpf("declare it: par(%s, output = %s)", asArguments(nodes), generable.OneOf(types...))
	} else {
		d.Helpf("declare it: output = %s", generable.OneOf(types...))
	}
}

// giver names a node by its route, where it has one.
func giver(nodes []*Node, routes []Route, i int) string {
	switch {
	case routes == nil:
		return nodes[i].Label()
	case i >= len(routes):
		return "otherwise"
	case routes[i].When != nil: // as all the others of its kind
		return fmt.Sprintf("route %d, when(...),", i+1)
	}
	return "the route for " + routes[i].Key()
}

// asArguments writes nodes as arguments, where all have a name.
func asArguments(nodes []*Node) string {
	var names []string
	for _, n := range nodes {
		if n.name == "" {
			return "..."
		}
		names = append(names, n.name)
	}
	return strings.Join(names, ", ")
}

// DefaultEachLimit is how many items an each runs at once unless told.
const DefaultEachLimit = 16

// EachOptions are the options of an each.
type EachOptions struct {
	Limit   int // items at once, default 16
	OnError OnError
}

// Each lifts a node over lists: X→Y gives list[X]→list[Y], order kept.
func (s *Session) Each(site Site, o EachOptions, no *Node) *Node {
	if o.Limit <= 0 {
		o.Limit = DefaultEachLimit
	}
	n := &Node{kind: EachNode, site: site, onError: o.OnError, spec: node.Spec{Limit: o.Limit}}
	return s.structure(n, []*Node{no}, func(*Node) bool { return s.each(n) })
}

func (s *Session) each(n *Node) bool {
	n.spec.Each = n.kids[0].out
	n.spec.Item = n.itemOf(n.spec.Each)
	n.in, n.out = generable.ListOfType(n.kids[0].in), generable.ListOfType(n.spec.Item)
	return true
}

// ForumOptions are the options of a forum.
type ForumOptions struct {
	Rounds    int   // of the participants, at least 1; 0 is 1
	Captain   *Node // decides, and all nodes are participants; nil: the last one is the captain
	Consensus int   // instead of a captain: how many participants of the last round must give the same
	Otherwise *Node // decides when they do not agree, as a captain would; nil: that is an error

	ConsensusSpan diag.Span
}

// Forum has all nodes but the captain discuss the first's input; the captain sees the
// transcript of every round and gives the answer. With Consensus there is no captain: the
// answer is what enough of the participants gave in the last round.
func (s *Session) Forum(site Site, o ForumOptions, nodes ...*Node) *Node {
	if !s.some(ForumNode, site, nodes) {
		return s.failedNode(ForumNode, site)
	}
	switch {
	case o.Consensus != 0 && o.Captain != nil:
		d := s.Errorf(diag.WrongArgument, o.ConsensusSpan.Or(site.Span), "a forum has a captain or a consensus, not both")
		d.Helpf("the captain that decides when they do not agree is otherwise = node")
		return s.failedNode(ForumNode, site)
	case o.Consensus == 0 && o.Otherwise != nil:
		d := s.Errorf(diag.WrongArgument, site.Span, "otherwise belongs to consensus")
		d.Helpf("forum(a, b, c, consensus = 2, otherwise = node); who decides always is captain = node")
		return s.failedNode(ForumNode, site)
	case o.Consensus < 0 || o.Consensus > len(nodes):
		d := s.Errorf(diag.BadVote, o.ConsensusSpan.Or(site.Span), "consensus must be from 1 to %d, not %d", len(nodes), o.Consensus)
		d.Helpf("it is how many of the participants must give the same; more than half leave no doubt")
		return s.failedNode(ForumNode, site)
	case o.Captain != nil:
		nodes = append(nodes[:len(nodes):len(nodes)], o.Captain)
	case o.Otherwise != nil:
		nodes = append(nodes[:len(nodes):len(nodes)], o.Otherwise)
	}
	if len(nodes) < 2 {
		d := s.Errorf(diag.EmptyComposition, site.Span, "a forum needs a participant and a captain")
		d.Helpf("forum(participant, captain): the last one decides")
		return s.failedNode(ForumNode, site)
	}
	if o.Rounds < 0 {
		d := s.Errorf(diag.LoopBound, site.Span, "rounds must be at least 1, not %d", o.Rounds)
		d.Helpf("the default is 1")
		return s.failedNode(ForumNode, site)
	}
	n := &Node{kind: ForumNode, site: site, flat: site.ByOp && o.Rounds <= 1, quorum: o.Consensus, spec: node.Spec{Rounds: max(1, o.Rounds)}}
	return s.structure(n, nodes, func(left *Node) bool {
		if o.Otherwise != nil {
			n.other = n.kids[len(n.kids)-1]
		}
		if left != nil && left.open {
			return s.forum(n, 1)
		}
		return s.forum(n, left.held())
	})
}

// forum checks that the members from the given one on take the first one's input.
func (s *Session) forum(n *Node, from int) bool {
	first, last := n.kids[0], n.kids[len(n.kids)-1]
	ok := true
	for i := from; i < len(n.kids); i++ {
		k := n.kids[i]
		switch {
		case k.failed || first.failed:
		case generable.Assignable(first.in, k.in) != nil:
			ok = false
			d := s.Errorf(diag.ForumInput, n.site.Arg(i), "every member of a forum takes the first one's input")
			d.Label = fmt.Sprintf("%s takes %s, %s takes %s", first.Label(), first.in, k.Label(), k.in)
			node.NoteDefined(d, first, k)
			d.Helpf("give %s input = %s: it sees the others' words as the transcript, not as its input", k.Label(), first.in)
		default:
			ok = s.follow(k, first.in) && ok
			s.edge(edgeTo{k, false}, edge{n.site.Arg(i), "the forum", first.in, k.in})
		}
	}
	n.in, n.out = first.in, last.out
	if n.quorum > 0 { // any of them may give the answer
		return ok && s.agreeing(n)
	}
	return ok
}

// agreeing finds the type of what the participants of a consensus give.
func (s *Session) agreeing(n *Node) bool {
	types := make([]*generable.Type, len(n.kids))
	for i, k := range n.kids {
		if types[i] = k.out; k.failed {
			n.out = generable.ErrorT
			return true
		}
	}
	out, ok := generable.Join(types, s.unions)
	if ok {
		n.out = out
		return true
	}
	other := slices.IndexFunc(n.kids, func(k *Node) bool { return !generable.Same(k.out, types[0]) })
	d := s.Errorf(diag.OutputsDiffer, n.site.Arg(other), "what is to agree must be of one type")
	d.Label = fmt.Sprintf("%s gives %s, %s gives %s", n.kids[0].Label(), types[0], n.kids[other].Label(), types[other])
	node.NoteDefined(d, n.kids[0], n.kids[other])
	d.Helpf("let %s give %s, or let a captain decide", n.kids[other].Label(), types[0])
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
