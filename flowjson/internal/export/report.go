package export

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
)

// cannot reports something that the format cannot express, and what to do instead. It returns false, the caller's
// answer to whether it can be expressed.
//
//go:noinline
func (x *exporter) cannot(n *flow.Node, at diag.Span, who, what, help string) bool {
	d := &diag.Diagnostic{Code: diag.FlowExport, Span: at.Or(n.Site().Span), Message: who + ": a JSON flow cannot express " + what, Help: []string{help}}
	x.found = append(x.found, d)
	return false
}

// label returns a readable name of a step.
func (s *step) label() string {
	switch {
	case s.spec != nil && s.spec.Name != "":
		return s.spec.Name
	case s.node != nil:
		return s.node.Label()
	}
	return "a step"
}

// article returns the word of a kind with its article.
func article(k flow.NodeKind) string {
	if word := k.String(); strings.ContainsRune("aeo", rune(word[0])) {
		return "an " + word
	}
	return "a " + k.String()
}

// kindOf describes a node without a counterpart, and what can be used instead.
func kindOf(n *flow.Node) (what, help string) {
	switch n.Kind() {
	case flow.FnNode:
		return "a function", "let an agent do it, or leave it out"
	case flow.TemplateNode:
		return "a template", "write the text into the task of the agent after it, which gets the input next to its task"
	case flow.ApprovalNode:
		return "a question to a person", "leave it out, and let the host ask before it runs the flow"
	case flow.LoopNode:
		return "a loop by next", "write loop(body, until = ..., repair = node)"
	case flow.ForumNode:
		return "a forum", "put the agents one after the other: a >> b; agents of the format continue with one conversation"
	case flow.EachNode:
		return "a node for each item", "let one agent take the whole list, as a text"
	case flow.HandoffNode:
		return "a handoff", "branch(...) says the same without the event"
	case flow.BoundedNode:
		return "a bound of several agents", "leave it out, and bound the run; only budget(turns = n) of an agent can be expressed"
	case flow.RetryNode:
		return "a retry", "write loop(verify(...), until = eq(\"success\", True), repair = node)"
	case flow.FallbackNode, flow.RaceNode, flow.AttemptNode:
		return n.Kind().String(), "name the one node: the format has no word for failures"
	case flow.VoteNode:
		return "a vote", "let an agent after par(a, b) decide"
	case flow.WrapNode:
		return "wrap", "write the student's prompt: a teacher's text cannot become one"
	}
	return n.Kind().String(), "say it by agents, par, branch, loop and graph"
}

// warn reports what is missing from the file and must be known to whoever runs it.
func (x *exporter) warn(at diag.Span, message, help string) {
	x.found = append(x.found, &diag.Diagnostic{Code: diag.FlowExport, Severity: diag.Warning, Span: at, Message: message, Help: []string{help}})
}
