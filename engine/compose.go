package engine

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Then composes nodes in sequence: X→Y, Y→Z gives X→Z.
func (s *Session) Then(site Site, nodes ...*Node) *Node {
	if !s.some(PipelineNode, site, nodes) {
		return s.failedNode(PipelineNode, site)
	}
	n := &Node{kind: PipelineNode, site: site, flat: site.ByOp}
	return s.structure(n, nodes, func(opened int) bool {
		return s.pipeline(n, max(1, opened)) // the edges inside were proven when it was made
	})
}

// pipeline checks the edges that lead to the kids from the given one on.
func (s *Session) pipeline(n *Node, from int) bool {
	ok := true
	for i := from; i < len(n.kids); i++ {
		ok = s.join(n.site.at(i), n.kids[i-1], n.kids[i]) && ok
	}
	n.in, n.out = n.kids[0].in, n.kids[len(n.kids)-1].out
	return ok
}

// ParOptions are the options of a parallel.
type ParOptions struct {
	Limit  int             // branches at once, 0 for all
	Output *generable.Type // the declared type of a branch's output, nil to infer it
}

// Par runs nodes concurrently on one input: X→Y each gives X→list[Y], in declared order.
func (s *Session) Par(site Site, o ParOptions, nodes ...*Node) *Node {
	if !s.some(ParallelNode, site, nodes) {
		return s.failedNode(ParallelNode, site)
	}
	n := &Node{kind: ParallelNode, site: site, flat: site.ByOp && o == (ParOptions{}), limit: o.Limit, declared: o.Output}
	return s.structure(n, nodes, func(int) bool { return s.parallel(n) })
}

func (s *Session) parallel(n *Node) bool {
	in, ok := s.commonInput(n.site, n.kids)
	ok = ok && s.followAll(sound(n.kids), in)
	out, ok2 := s.commonOutput(n.site, n.declared, n.kids, nil)
	n.in, n.out = in, generable.ListOfType(out)
	return ok && ok2
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

// commonInput finds the input that all nodes accept: the most specific one.
func (s *Session) commonInput(site Site, nodes []*Node) (*generable.Type, bool) {
	pick := nodes[0]
	for _, n := range nodes {
		if n.failed || vague(n.in) {
			continue
		}
		if pick.failed || vague(pick.in) || !generable.Same(n.in, pick.in) && proven(n.in, pick.in) {
			pick = n
		}
	}
	ok := true
	for i, n := range nodes {
		if n.failed || pick.failed || generable.Assignable(pick.in, n.in) == nil {
			continue
		}
		ok = false
		d := s.errorf(diag.InputsDiffer, site.arg(i), "%s wants one input type", site.What)
		d.Label = fmt.Sprintf("%s takes %s, %s takes %s", pick.Label(), pick.in, n.Label(), n.in)
		noteDefined(d, pick, n)
		help(d, "all branches run on the same input: convert it in front of one, then(fn(..., input = %s, output = %s), %s)", pick.in, n.in, n.Label())
	}
	return pick.in, ok
}

// commonOutput finds the type of what several nodes give: the declared one, the one they
// share, or the declared union of which all are variants. Routes, when there are any, are how
// the nodes are told apart.
func (s *Session) commonOutput(site Site, declared *generable.Type, nodes []*Node, routes []Route) (*generable.Type, bool) {
	label := func(i int) string {
		switch {
		case routes == nil:
			return nodes[i].Label()
		case i < len(routes):
			return "the route for " + routes[i].Key()
		}
		return "otherwise"
	}
	types := make([]*generable.Type, len(nodes))
	for i, n := range nodes {
		if n.failed {
			return generable.ErrorT, true
		}
		types[i] = n.out
	}
	if declared != nil {
		ok := true
		for i, n := range nodes {
			if generable.Assignable(n.out, declared) != nil {
				ok = false
				d := s.errorf(diag.OutputsDiffer, site.arg(i), "%s declares output = %s", site.What, declared)
				d.Label = fmt.Sprintf("%s gives %s", label(i), n.out)
				noteDefined(d, n)
				help(d, "widen it: output = %s", generable.OneOf(declared, n.out))
			}
		}
		return declared, ok
	}
	if t, ok := generable.Join(types, s.unions); ok {
		return t, true
	}
	for _, t := range types { // any among them: all is any
		if t.Deref().Kind == generable.AnyType {
			return generable.AnyT, true
		}
	}
	other := 0
	for i, n := range nodes {
		if !generable.Same(nodes[0].out, n.out) {
			other = i
			break
		}
	}
	d := s.errorf(diag.OutputsDiffer, site.at(other).Span, "%s gives different types", site.What)
	d.Label = fmt.Sprintf("%s gives %s, %s gives %s", label(0), nodes[0].out, label(other), nodes[other].out)
	noteDefined(d, nodes[0], nodes[other])
	if site.ByOp {
		help(d, "declare it: par(%s, output = %s)", asArguments(nodes), generable.OneOf(types...))
	} else {
		help(d, "declare it: output = %s", generable.OneOf(types...))
	}
	return generable.ErrorT, false
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

// Each lifts a node over lists: X→Y gives list[X]→list[Y], order kept, limit items at once
// (0: 16).
func (s *Session) Each(site Site, limit int, node *Node) *Node {
	if limit <= 0 {
		limit = DefaultEachLimit
	}
	n := &Node{kind: EachNode, site: site, limit: limit}
	return s.structure(n, []*Node{node}, func(int) bool { return s.each(n) })
}

func (s *Session) each(n *Node) bool {
	n.in, n.out = generable.ListOfType(n.kids[0].in), generable.ListOfType(n.kids[0].out)
	return true
}

// ForumOptions are the options of a forum.
type ForumOptions struct {
	Rounds int // of the participants, at least 1; 0 is 1
}

// Forum has all nodes but the last discuss the first's input; the last, the captain, sees the
// transcript of every round and gives the answer.
func (s *Session) Forum(site Site, o ForumOptions, nodes ...*Node) *Node {
	if !s.some(ForumNode, site, nodes) {
		return s.failedNode(ForumNode, site)
	}
	if len(nodes) < 2 {
		d := s.errorf(diag.EmptyComposition, site.Span, "a forum needs a participant and a captain")
		help(d, "forum(participant, captain): the last one decides")
		return s.failedNode(ForumNode, site)
	}
	if o.Rounds < 0 {
		d := s.errorf(diag.LoopBound, site.Span, "rounds must be at least 1, not %d", o.Rounds)
		help(d, "the default is 1")
		return s.failedNode(ForumNode, site)
	}
	n := &Node{kind: ForumNode, site: site, flat: site.ByOp && o.Rounds <= 1, rounds: max(1, o.Rounds)}
	return s.structure(n, nodes, func(int) bool { return s.forum(n) })
}

func (s *Session) forum(n *Node) bool {
	first, last := n.kids[0], n.kids[len(n.kids)-1]
	ok := true
	for i, k := range n.kids[1:] {
		switch {
		case k.failed || first.failed:
		case generable.Assignable(first.in, k.in) != nil:
			ok = false
			d := s.errorf(diag.ForumInput, n.site.arg(i+1), "every member of a forum takes the first one's input")
			d.Label = fmt.Sprintf("%s takes %s, %s takes %s", first.Label(), first.in, k.Label(), k.in)
			noteDefined(d, first, k)
			help(d, "give %s input = %s: it sees the others' words as the transcript, not as its input", k.Label(), first.in)
		default:
			ok = s.follow(k, first.in) && ok
			s.edge(edgeTo{k, false}, edge{n.site.arg(i + 1), "the forum", first.in, k.in})
		}
	}
	n.in, n.out = first.in, last.out
	return ok
}

// some refuses an empty composition.
func (s *Session) some(kind NodeKind, site Site, nodes []*Node) bool {
	if len(nodes) > 0 {
		return true
	}
	d := s.errorf(diag.EmptyComposition, site.Span, "%s needs at least one node", site.What)
	help(d, "a %s of nothing has no type; leave it out", kind)
	return false
}
