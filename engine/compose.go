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
		return s.failedNode(PipelineNode, site, nil)
	}
	return s.structure(PipelineNode, site, nodes, func(n *Node) bool {
		n.in = n.kids[0].in
		ok := true
		for i := 1; i < len(n.kids); i++ {
			if len(n.kids) != len(nodes) && i < len(n.kids)-1 {
				continue // proven when the flattened operand was made
			}
			if !s.join(site.at(i), n.kids[i-1], n.kids[i]) {
				ok = false
			}
		}
		n.out = n.kids[len(n.kids)-1].out
		return ok
	})
}

// join checks one edge of a pipeline and settles the types of steps that follow their input.
func (s *Session) join(site Site, a, b *Node) bool {
	if a.failed || b.failed {
		return true
	}
	if !s.follow(site, b, a.out) {
		return false
	}
	if why := generable.Assignable(a.out, b.in); why != nil {
		if b.kind == EachNode && a.out.Deref().Kind != generable.ListType {
			d := s.errorf(diag.NotAList, site.Span, "each takes a list")
			d.Label = fmt.Sprintf("%s gives %s, %s wants %s", a.Label(), a.out, b.Label(), b.in)
			noteDefined(d, a, b)
			help(d, "let %s give %s, or drop each", a.Label(), b.in)
			return false
		}
		d := s.errorf(diag.CannotJoin, site.Span, "%s cannot join these", site.What)
		d.Label = fmt.Sprintf("%s gives %s, %s wants %s", a.Label(), a.out, b.Label(), b.in)
		s.reasons(d, why, a.out, b.in)
		noteDefined(d, a, b)
		s.joinHelp(d, a.out, b.in)
		return false
	}
	s.unchecked(site.Span, a, b)
	return true
}

// unchecked notes an edge that only a run can prove.
func (s *Session) unchecked(at diag.Span, a, b *Node) {
	if s.Strict && generable.Unchecked(a.out, b.in) {
		d := s.errorf(diag.UncheckedAny, at, "%s gives %s: that it is %s is only checked when it runs", a.Label(), a.out, b.in)
		d.Severity = diag.Info
		help(d, "declare the output: fn(f, output = %s)", b.in)
	}
}

// reasons adds the causes that lie deeper than the two types themselves.
func (s *Session) reasons(d *diag.Diagnostic, why []generable.Reason, from, to *generable.Type) {
	for _, r := range why {
		if r.Path != "" || r.From != from.Deref() || strings.HasPrefix(r.Text, "two different") {
			note(d, diag.Pos{}, "%s", r)
		}
	}
}

// joinHelp proposes what to put between a giver and a taker.
func (s *Session) joinHelp(d *diag.Diagnostic, from, to *generable.Type) {
	from, to = from.Deref(), to.Deref()
	if from.Kind == generable.RecordType {
		for i := range from.Fields {
			if f := &from.Fields[i]; generable.Assignable(f.Type, to) == nil && f.Type.Deref().Kind != generable.AnyType {
				help(d, "put pick(%q) between them", f.Name)
				return
			}
		}
	}
	switch {
	case from.Kind == generable.IntType && to.Kind == generable.FloatType:
		help(d, "an edge does not widen numbers: put fn(float) between them")
	case from.Kind == generable.FloatType && to.Kind == generable.IntType:
		help(d, "put fn(int) between them; it drops the fraction")
	case from.Kind == generable.ListType && generable.Assignable(from.Elem, to) == nil:
		help(d, "the second takes one item: wrap it as each(node)")
	case to.Kind == generable.ListType && generable.Assignable(from, to.Elem) == nil:
		help(d, "the second takes a list: put fn(lambda x: [x], output = %s) between them", to)
	case from.Kind == generable.UnionType || from.Kind == generable.OneOfType:
		help(d, "route the variants: branch(node, {Variant: handler, ...})")
	default:
		help(d, "put a step between them: fn(lambda x: ..., input = %s, output = %s)", from, to)
	}
}

// ParOptions are the options of a parallel.
type ParOptions struct {
	Limit  int             // branches at once, 0 for all
	Output *generable.Type // the declared type of a branch's output, nil to infer it
}

// Par runs nodes concurrently on one input: X→Y each gives X→list[Y], in declared order.
func (s *Session) Par(site Site, o ParOptions, nodes ...*Node) *Node {
	if !s.some(ParallelNode, site, nodes) {
		return s.failedNode(ParallelNode, site, nil)
	}
	return s.structure(ParallelNode, site, nodes, func(n *Node) bool {
		site := site.flattened(len(n.kids), len(nodes))
		n.limit = o.Limit
		in, ok := s.commonInput(site, diag.InputsDiffer, n.kids)
		out, ok2 := s.commonOutput(site, o.Output, n.kids, nil)
		n.in, n.out = in, generable.ListOfType(out)
		return ok && ok2
	})
}

// commonInput finds the input that all nodes accept: the most specific one.
func (s *Session) commonInput(site Site, code diag.Code, nodes []*Node) (*generable.Type, bool) {
	pick := nodes[0]
	for _, n := range nodes {
		if n.failed {
			continue
		}
		if pick.failed || pick.in.Deref().Kind == generable.AnyType ||
			(!generable.Same(n.in, pick.in) && generable.Assignable(n.in, pick.in) == nil && !generable.Unchecked(n.in, pick.in) && n.in.Deref().Kind != generable.AnyType) {
			pick = n
		}
	}
	ok := true
	for i, n := range nodes {
		if n.failed || pick.failed || generable.Assignable(pick.in, n.in) == nil {
			continue
		}
		ok = false
		d := s.errorf(code, site.arg(i), "%s wants one input type", site.What)
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
	var types []*generable.Type
	for _, n := range nodes {
		if n.failed {
			return generable.ErrorT, true
		}
		types = append(types, n.out)
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
		help(d, "declare it: par(..., output = %s)", generable.OneOf(types...))
	} else {
		help(d, "declare it: output = %s", generable.OneOf(types...))
	}
	return generable.ErrorT, false
}

// Each lifts a node over lists: X→Y gives list[X]→list[Y], order kept, limit items at once
// (0: 16).
func (s *Session) Each(site Site, limit int, node *Node) *Node {
	if limit <= 0 {
		limit = DefaultEachLimit
	}
	return s.structure(EachNode, site, []*Node{node}, func(n *Node) bool {
		n.limit = limit
		n.in, n.out = generable.ListOfType(node.in), generable.ListOfType(node.out)
		return true
	})
}

// DefaultEachLimit is how many items an each runs at once unless told.
const DefaultEachLimit = 16

// ForumOptions are the options of a forum.
type ForumOptions struct {
	Rounds int // of the participants, at least 1
}

// Forum has all nodes but the last discuss the first's input; the last, the captain, sees the
// transcript of every round and gives the answer.
func (s *Session) Forum(site Site, o ForumOptions, nodes ...*Node) *Node {
	if !s.some(ForumNode, site, nodes) {
		return s.failedNode(ForumNode, site, nil)
	}
	if len(nodes) < 2 {
		d := s.errorf(diag.EmptyComposition, site.Span, "a forum needs a participant and a captain")
		help(d, "forum(participant, captain): the last one decides")
		return s.failedNode(ForumNode, site, nil)
	}
	if o.Rounds == 0 {
		o.Rounds = 1
	}
	if o.Rounds < 0 {
		s.errorf(diag.LoopBound, site.Span, "rounds must be at least 1, not %d", o.Rounds)
		return s.failedNode(ForumNode, site, nil)
	}
	return s.structure(ForumNode, site, nodes, func(n *Node) bool {
		site := site.flattened(len(n.kids), len(nodes))
		n.rounds = o.Rounds
		first := n.kids[0]
		n.in, n.out = first.in, n.kids[len(n.kids)-1].out
		ok := true
		for i, k := range n.kids[1:] {
			if k.failed || first.failed {
				continue
			}
			if generable.Assignable(first.in, k.in) != nil {
				ok = false
				d := s.errorf(diag.ForumInput, site.arg(i+1), "every member of a forum takes the first one's input")
				d.Label = fmt.Sprintf("%s takes %s, %s takes %s", first.Label(), first.in, k.Label(), k.in)
				noteDefined(d, first, k)
				help(d, "give %s input = %s: it sees the others' words as the transcript, not as its input", k.Label(), first.in)
			}
		}
		return ok
	})
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
