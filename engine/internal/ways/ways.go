// Package ways names the ways that a run can take at a node: the routes of a branch, the edges of a graph, the
// alternatives of a fallback. The interpreter reports the ways taken, and coverage lists all of them.
package ways

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// The ways of structures whose ways do not depend on their parts.
const (
	LoopOnce  = 0 // the loop ends after its first turn
	LoopOn    = 1 // the loop ends after a later turn
	LoopLimit = 2

	RetryAgain = 0

	AttemptOK     = 0
	AttemptFailed = 1

	ForumAgrees    = 0
	ForumDisagrees = 1

	EachNone = 0
	EachSome = 1
)

// Failure returns the way of a parallel or an each that continues when a branch fails.
func Failure(n *flow.Node) int {
	if n.Kind() == flow.EachNode {
		return EachSome + 1
	}
	return 0
}

// Count returns how many ways a node has, including those that no run can take.
func Count(n *flow.Node) int {
	goesOn := 0
	if n.OnError() != flow.OnErrorRaise {
		goesOn = 1
	}
	switch n.Kind() {
	case flow.BranchNode, flow.HandoffNode:
		return len(n.Children()) - 1
	case flow.GraphNode:
		edges, _ := n.Edges()
		return len(edges) + 1
	case flow.LoopNode:
		return 3
	case flow.FallbackNode, flow.RaceNode:
		return len(n.Children())
	case flow.RetryNode:
		return 1
	case flow.AttemptNode:
		return 2
	case flow.ForumNode:
		if n.Consensus() > 0 {
			return 2
		}
	case flow.EachNode:
		return 2 + goesOn
	case flow.ParallelNode:
		return goesOn
	}
	return 0
}

// Possible reports whether a run can take way i. The default limit of a loop only keeps it from running forever, and a
// script is not expected to reach it.
func Possible(n *flow.Node, i int) bool {
	switch n.Kind() {
	case flow.GraphNode:
		if edges, _ := n.Edges(); i < len(edges) {
			return n.Carried(i) != nil
		}
		g := n.Spec().Graph
		return g.Finishes || g.Other >= 0
	case flow.LoopNode:
		most := n.Loop().Max
		return i == LoopOnce || i == LoopOn && most > 1 || i == LoopLimit && most != flow.DefaultLoopMax
	case flow.RetryNode:
		return n.Retry().Max > 1
	}
	return true
}

// Name returns a name of way i for people.
func Name(n *flow.Node, i int) string {
	switch n.Kind() {
	case flow.BranchNode, flow.HandoffNode:
		if routes, _ := n.Routes(); i < len(routes) {
			return routes[i].Key()
		}
		return "otherwise"
	case flow.GraphNode:
		edges, _ := n.Edges()
		if i >= len(edges) {
			return "on_no_match"
		}
		return edgeName(&edges[i])
	case flow.LoopNode:
		return [...]string{"ends after one turn", "ends after more turns", "reaches its limit"}[i]
	case flow.FallbackNode:
		return strconv.Itoa(i+1) + ": " + n.Children()[i].Label()
	case flow.RaceNode:
		return n.Children()[i].Label() + " wins"
	case flow.RetryNode:
		return "again"
	case flow.AttemptNode:
		return [...]string{"ok", "failed"}[i]
	case flow.ForumNode:
		return [...]string{"consensus", "no consensus"}[i]
	case flow.EachNode:
		return [...]string{"no items", "items", "an item fails"}[i]
	}
	return "a branch fails"
}

func edgeName(e *flow.Edge) string {
	to := "FINISH"
	if e.To != nil {
		to = e.To.Label()
	}
	name := e.From.Label() + " → " + to
	if key := e.Key(); key != "" {
		name += " when " + key
	}
	return name
}

// Pos returns where the script writes way i, or else where it makes the node.
func Pos(n *flow.Node, i int) diag.Pos {
	at := n.Site().Span
	if routes, _ := n.Routes(); i < len(routes) {
		at = routes[i].Span.Or(at)
	}
	if edges, _ := n.Edges(); i < len(edges) {
		at = edges[i].Span.Or(at)
	}
	return at.Pos
}

// Cases lists the cases by which a branch or graph chooses: variants, values of an enum or bool, None. For a graph each
// names the node that returns it. A type with only one case offers no choice.
func Cases(n *flow.Node) []string {
	if k := n.Kind(); k == flow.BranchNode || k == flow.HandoffNode {
		return casesOf(n, n.Children()[0])
	}
	var all []string
	edges, _ := n.Edges()
	for i := range edges {
		from := edges[i].From
		if edges[i].Guarded() && !slices.ContainsFunc(edges[:i], func(e flow.Edge) bool { return e.Guarded() && e.From == from }) {
			all = append(all, casesOf(n, from)...)
		}
	}
	return all
}

func casesOf(n, from *flow.Node) []string {
	keys := typing.Keys(typing.Cases(from.Out()))
	if len(keys) < 2 {
		return nil
	}
	return text.Each(keys, func(key string) string { return caseName(n, from, key) })
}

func caseName(n, from *flow.Node, key string) string {
	if n.Kind() == flow.GraphNode {
		return from.Label() + ": " + key
	}
	return key
}

// Case returns which of the [Cases] an output of the node from is, "" if none.
func Case(n, from *flow.Node, v generable.Value) string {
	for _, c := range typing.Cases(from.Out()) {
		if !isOf(v, c) {
			continue
		}
		key := c.String()
		if value, ok := v.AsStr(); ok && c.Kind == generable.EnumType {
			key = text.Quote(value)
		} else if c.Kind == generable.BoolType {
			key = typing.Literal(v)
		}
		return caseName(n, from, key)
	}
	return ""
}

// isOf reports whether a value belongs to a case. A record knows its type.
func isOf(v generable.Value, c *generable.Type) bool {
	if r, ok := v.AsRecord(); ok && c.Kind == generable.RecordType {
		return generable.Same(r.Type(), c)
	}
	return c.Conforms(v) == nil
}

// OnBadOutput is the way of an agent whose answers did not fit.
const OnBadOutput = "on_bad_output"

// Remedy names a remedy for failed calls: the tool's own or, if tool is "", the agent's. kind is the class of the
// failure, i the index of the remedy in its list.
func Remedy(tool, kind string, i int, r *agent.Remedy) string {
	return cmp.Or(tool, "on_tool_error") + ", " + kind + ", " + strconv.Itoa(i+1) + ": " + r.String()
}
