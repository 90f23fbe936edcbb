package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
)

// DefaultRetryMax bounds a retry unless it says otherwise.
const DefaultRetryMax = 3

// RetryOptions are the options of a retry.
type RetryOptions struct {
	Max          int                  // attempts, default 3
	Until        *predicate.Predicate // what the output must be like; or
	UntilFunc    Func                 // gives True for an output that will do
	LastWins     bool                 // at Max, give the last output instead of failing
	Feedback     Func                 // the output or Failure → what to say to the model before it tries again
	UntilSpan    diag.Span
	FeedbackSpan diag.Span
}

// Retry runs a node again on the same input after a failure that may be handled, and while its
// output is not what it must be. With Feedback the next attempt of the agent in it goes on with
// the conversation.
func (s *Session) Retry(site Site, node *Node, o RetryOptions) *Node {
	if o.Max == 0 {
		o.Max = DefaultRetryMax
	}
	n := &Node{kind: RetryNode, site: site, retry: &o}
	return s.structure(n, []*Node{node}, func(*Node) bool { return s.retry(n) })
}

func (s *Session) retry(n *Node) bool {
	o, body, ok := n.retry, n.kids[0], true
	n.in, n.out = body.in, body.out
	if o.Max < 0 {
		d := s.Errorf(diag.LoopBound, n.site.Span, "max must be at least 1, not %d", o.Max)
		d.Helpf("the default is %d", DefaultRetryMax)
		ok = false
	}
	ok = s.decides(o.UntilSpan.Or(n.site.Span), o.Until, o.UntilFunc, body) && ok
	if o.Feedback != nil {
		at := o.FeedbackSpan.Or(n.site.Span)
		ok = arity(&s.Reporter, at, o.Feedback.Info(), 1, "feedback") && s.needsModel(at, body, true, "retry(feedback = ...)",
			"feedback goes on with a conversation: give an agent(prompt = ...), alone or between steps that are no agents, or leave feedback out") && ok
	}
	return ok
}
