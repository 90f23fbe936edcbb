package flow

import (
	"cmp"
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// DefaultLoopMax bounds a loop by default.
const DefaultLoopMax = 1000

// LoopOptions are the options of a loop. Either Next or NextNode returns the input of the next turn, or None to stop;
// or Until ends the loop and Repair makes the next input.
type LoopOptions struct {
	Next       engine.Func
	NextNode   *Node
	UntilFunc  engine.Func          // returns True for the output that ends the loop; or
	UntilType  *generable.Type      // the type that UntilFunc tests for, if it is an instance test
	Until      *predicate.Predicate // the condition that this output meets
	Repair     *Node
	Max        int  // turns, default 1000
	LastWins   bool // at Max, return the last output instead of failing
	NextSpan   diag.Span
	UntilSpan  diag.Span
	RepairSpan diag.Span
}

// Loop repeats a node X→Y on inputs that next derives from its outputs, until next returns None. The last output is the
// loop's.
func (s *Session) Loop(site Site, body *Node, o LoopOptions) *Node {
	kids := []*Node{body}
	until := o.Until != nil || o.UntilFunc != nil
	switch {
	case until && o.Repair != nil && o.Next == nil && o.NextNode == nil:
		kids = append(kids, o.Repair)
	case o.NextNode != nil && o.Next == nil && !until && o.Repair == nil:
		kids = append(kids, o.NextNode)
	case o.Next != nil && o.NextNode == nil && !until && o.Repair == nil:
	default:
		d := s.Errorf(diag.MissingArgument, site.Span, "a loop needs what makes the next input")
		d.Helpf("loop(node, lambda out: None if done(out) else next_input), or loop(check, until = lambda out: ..., repair = node)")
		return s.Failed(LoopNode, site)
	}
	o.Max = cmp.Or(o.Max, DefaultLoopMax)
	n := &Node{kind: LoopNode, site: site, loop: &o, types: (*Session).loop}
	return s.structure(n, kids, func(*Node) bool {
		ok := s.bounds(site, "max", o.Max, DefaultLoopMax)
		ok = callback.CheckArity(&s.Reporter, o.NextSpan.Or(site.Span), o.Next, 1, "loop") && ok
		ok = s.decides(o.UntilSpan.Or(site.Span), o.Until, o.UntilFunc, o.UntilType, body) && ok
		return s.loop(n) && ok
	})
}

func (s *Session) loop(n *Node) bool {
	body := n.kids[0]
	n.in, n.out = body.in, body.out
	if len(n.kids) == 1 || body.failed || n.kids[1].failed {
		return true
	}
	if n.loop.Repair != nil {
		return s.repaired(n, body, n.kids[1]) && s.feedback(n.site, body, n.kids[1], false)
	}
	return s.join(Site{Span: n.site.Arg(1), What: n.site.What}, body, n.kids[1], nil) && s.feedback(n.site, body, n.kids[1], true)
}

// repaired joins the body of a loop to its repair. The repair gets only the outputs that until does not accept, so for
// a union it may take only the other variants.
func (s *Session) repaired(n *Node, body, back *Node) bool {
	at := Site{Span: n.site.Arg(1), What: n.site.What}
	from, to := body.last(), back.first()
	rest := from.out
	if left := unsettled(n.loop, from.out); len(left) > 0 {
		rest = generable.OneOf(left...)
	}
	switch cases := len(typing.Cases(from.out)); {
	case from.failed, to.failed, to.open, cases < 2, generable.Assignable(from.out, to.in) == nil:
		return s.join(at, body, back, nil)
	case generable.Assignable(rest, to.in) == nil:
		s.edge(edgeTo{to, false}, edge{at.Span, from.Label(), rest, to.in})
		return true
	}
	d := s.mistake(diag.CannotJoin, at.Span, fmt.Sprintf("%s cannot join these", at.What), fmt.Sprintf("%s, %s wants %s", from.outputText(), to.Label(), to.in), from, to)
	d.Helpf("let %s take what until does not accept: input = %s", to.Label(), rest)
	return false
}

// unsettled returns the cases of a type that do not certainly end a loop.
func unsettled(o *LoopOptions, t *generable.Type) []*generable.Type {
	var left []*generable.Type
	for _, c := range typing.Cases(t) {
		ends := o.UntilType != nil && generable.Assignable(c, o.UntilType) == nil
		if o.Until != nil {
			_, ends = o.Until.Settled(c)
		}
		if !ends {
			left = append(left, c)
		}
	}
	return left
}

// bounds checks the maximum number of repetitions.
func (s *Session) bounds(site Site, what string, most, usual int) bool {
	if most >= 0 {
		return true
	}
	d := s.Errorf(diag.LoopBound, site.Span, "%s must be at least 1, not %d", what, most)
	d.Helpf("the default is %d", usual)
	return false
}

// feedback checks the edge from a loop's body back to its input.
func (s *Session) feedback(site Site, body, back *Node, optional bool) bool {
	want := body.in
	if optional {
		want = generable.OneOf(body.in, generable.NoneT)
	}
	if generable.Assignable(back.out, want) == nil {
		s.edge(edgeTo{body, true}, edge{site.Arg(1), back.Label(), back.out, want})
		return true
	}
	wants := body.in.String()
	if optional {
		wants += ", or None to stop"
	}
	d := s.mistake(diag.LoopFeedback, site.Arg(1), "what goes round the loop must be its input again", fmt.Sprintf("%s, %s wants %s", back.outputText(), body.Label(), wants), body, back)
	d.Helpf("make %s return %s", back.Label(), want)
	return false
}

// DefaultRetryMax bounds a retry by default.
const DefaultRetryMax = 3

// RetryOptions are the options of a retry.
type RetryOptions struct {
	Max          int                  // attempts, default 3
	Until        *predicate.Predicate // the condition that the output must meet; or
	UntilFunc    engine.Func          // returns True for an acceptable output
	UntilType    *generable.Type      // the type that UntilFunc tests for, if it is an instance test
	LastWins     bool                 // at Max, return the last output instead of failing
	Feedback     engine.Func          // turns the output or Failure into the message for the model before the next attempt
	UntilSpan    diag.Span
	FeedbackSpan diag.Span
}

// Retry runs a node again on the same input after a failure that may be handled, and while its output does not meet the
// condition. With Feedback, the next attempt of the agent in it continues the conversation.
func (s *Session) Retry(site Site, node *Node, o RetryOptions) *Node {
	o.Max = cmp.Or(o.Max, DefaultRetryMax)
	return s.structure(&Node{kind: RetryNode, site: site, retry: &o, types: (*Session).retry}, []*Node{node}, nil)
}

func (s *Session) retry(n *Node) bool {
	o, body := n.retry, n.kids[0]
	n.in, n.out = body.in, body.out
	ok := s.bounds(n.site, "max", o.Max, DefaultRetryMax)
	ok = s.decides(o.UntilSpan.Or(n.site.Span), o.Until, o.UntilFunc, o.UntilType, body) && ok
	if o.Feedback != nil {
		at := o.FeedbackSpan.Or(n.site.Span)
		ok = callback.CheckArity(&s.Reporter, at, o.Feedback, 1, "feedback") && s.needsModel(at, body, true, "retry(feedback = ...)",
			"feedback continues a conversation: pass an agent(prompt = ...), alone or between steps that are not agents, or leave feedback out") && ok
	}
	return ok
}

// decides checks a condition on a node's output: it must apply to the output, and must not have the same result for all
// values. A condition that never holds runs to the bound; one that always holds makes no loop.
func (s *Session) decides(at diag.Span, data *predicate.Predicate, fn engine.Func, of *generable.Type, from *Node) bool {
	if of != nil {
		return s.decidesType(at, of, from)
	}
	if fn != nil {
		return callback.CheckArity(&s.Reporter, at, fn, 1, "until")
	}
	if data == nil || from.failed {
		return true
	}
	if !s.asks(at, data, from) {
		return false
	}
	never, always := data.Settled(from.out)
	if !never && !always {
		return true
	}
	mend := "remove what contradicts: & needs both, | needs one"
	switch {
	case always:
		mend = "test something that can fail, or leave the node alone"
	case data.Op() == predicate.False:
		mend = "test something that can hold: ge(\"score\", 80), or ge(80) of the value itself"
	}
	d := s.mistake(diag.BadCondition, at, settled(data, always, from.out), "", from)
	d.Helpf("%s", mend)
	return false
}

// decidesType checks that outputs of a node may or may not be of a type.
func (s *Session) decidesType(at diag.Span, t *generable.Type, from *Node) bool {
	if from.failed || typing.Untyped(from.out) {
		return true
	}
	never, always := true, true
	for _, c := range typing.Cases(from.out) {
		is := generable.Assignable(c, t) == nil
		never, always = never && !is && generable.Assignable(t, c) != nil, always && is
	}
	if !never && !always {
		return true
	}
	d := s.mistake(diag.BadCondition, at, fmt.Sprintf("no output of %s is %s", from.Label(), t), from.outputText(), from)
	if always {
		d.Message = fmt.Sprintf("every output of %s is %s", from.Label(), t)
	}
	d.Helpf("name a variant of a union that ends it, or write a condition: until = eq(\"field\", value)")
	return false
}
