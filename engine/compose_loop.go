package engine

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// DefaultLoopMax bounds a loop unless it says otherwise.
const DefaultLoopMax = 1000

// LoopOptions are the options of a loop. Either Next or NextNode gives the input of the next
// turn or None to stop; or Until ends the loop and Repair makes the next input.
type LoopOptions struct {
	Next       Func
	NextNode   *Node
	Until      Func                 // gives True for the output that ends the loop; or
	UntilData  *predicate.Predicate // what that output is like
	Repair     *Node
	Max        int  // turns, default 1000
	LastWins   bool // at Max, give the last output instead of failing
	NextSpan   diag.Span
	UntilSpan  diag.Span
	RepairSpan diag.Span
}

type loopSpec struct {
	next     Func
	until    until
	max      int
	lastWins bool
	feedback bool // kids[1] makes the next input
	optional bool // and may give None to stop
}

// Loop repeats a node X→Y on inputs that next derives from its outputs, until next gives None;
// the last output is the loop's.
func (s *Session) Loop(site Site, body *Node, o LoopOptions) *Node {
	kids := []*Node{body}
	spec := &loopSpec{next: o.Next, until: until{o.UntilData, o.Until}, max: o.Max, lastWins: o.LastWins}
	switch {
	case spec.until.given() && o.Repair != nil && o.Next == nil && o.NextNode == nil:
		kids, spec.feedback = append(kids, o.Repair), true
	case o.NextNode != nil && o.Next == nil && !spec.until.given() && o.Repair == nil:
		kids, spec.feedback, spec.optional = append(kids, o.NextNode), true, true
	case o.Next != nil && o.NextNode == nil && !spec.until.given() && o.Repair == nil:
	default:
		d := s.Errorf(diag.MissingArgument, site.Span, "a loop needs what makes the next input")
		d.Helpf("loop(node, lambda out: None if done(out) else next_input), or loop(check, until = lambda out: ..., repair = node)")
		return s.failedNode(LoopNode, site)
	}
	if spec.max == 0 {
		spec.max = DefaultLoopMax
	}
	n := &Node{kind: LoopNode, site: site, loop: spec}
	return s.structure(n, kids, func(*Node) bool {
		ok := true
		if spec.max < 0 {
			d := s.Errorf(diag.LoopBound, site.Span, "max must be at least 1, not %d", spec.max)
			d.Helpf("the default is %d", DefaultLoopMax)
			ok = false
		}
		if o.Next != nil {
			ok = arity(&s.Reporter, spanOr(o.NextSpan, site.Span), o.Next.Info(), 1, "loop") && ok
		}
		ok = s.decides(spanOr(o.UntilSpan, site.Span), spec.until, body) && ok
		return s.loop(n) && ok
	})
}

func (s *Session) loop(n *Node) bool {
	body := n.kids[0]
	n.in, n.out = body.in, body.out
	if !n.loop.feedback || body.failed || n.kids[1].failed {
		return true
	}
	return s.feedback(n.site, body, n.kids[1], n.loop.optional)
}

// feedback checks the edge from a loop's body back to its input.
func (s *Session) feedback(site Site, body, back *Node, optional bool) bool {
	if !s.join(Site{Span: site.arg(1), What: site.What}, body, back, nil) {
		return false
	}
	want := body.in
	if optional {
		want = generable.OneOf(body.in, generable.NoneT)
	}
	if generable.Assignable(back.out, want) == nil {
		s.edge(edgeTo{body, true}, edge{site.arg(1), back.Label(), back.out, want})
		return true
	}
	d := s.Errorf(diag.LoopFeedback, site.arg(1), "what goes round the loop must be its input again")
	wants := body.in.String()
	if optional {
		wants += ", or None to stop"
	}
	d.Label = fmt.Sprintf("%s gives %s, %s wants %s", back.Label(), back.out, body.Label(), wants)
	noteDefined(d, body, back)
	d.Helpf("let %s give %s", back.Label(), want)
	return false
}
