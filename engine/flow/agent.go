package flow

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
)

// Fix places a node as the fixer of failed tool calls, so that it is checked, drawn and counted like any other node.
// The fixer takes a [agent.ToolFailureType] or a str. Any number of tools and agents may share the recipe that holds
// it; the returned node is what [agent.Remedy].Fixer requires.
func (s *Session) Fix(site Site, fixer *Node) *Node {
	n := &Node{kind: FixNode, site: site, types: (*Session).fix}
	if placed := s.structure(n, []*Node{fixer}, nil); placed.failed {
		return placed
	}
	return n.kids[0]
}

func (s *Session) fix(n *Node) bool {
	k := n.kids[0]
	n.in, n.out = agent.ToolFailureType, k.out
	if k.failed {
		return true
	}
	if !s.inferOpen(k, agent.ToolFailureType) {
		return false
	}
	for _, t := range []*generable.Type{agent.ToolFailureType, generable.StrT} {
		if generable.Assignable(t, k.in) == nil {
			n.in = t
			return true
		}
	}
	d := s.mistake(diag.CannotJoin, n.site.Arg(0), "a fixer takes a ToolFailure or a str", k.Label()+" takes "+k.in.String(), k)
	d.Helpf("set input = ToolFailure on it, or put a step before it: then(fn(f, input = ToolFailure, output = %s), %s)", k.in, k.Label())
	return false
}

// Agent declares an agent, see [agent.Spec.Check]. Nodes that the agent uses as tools are placed in it.
func (s *Session) Agent(site Site, spec *agent.Spec) *Node {
	n := &Node{kind: AgentNode, name: spec.Name, site: site, agent: spec}
	n.failed = !spec.Check(&s.Reporter, site.Span)
	n.in, n.out = spec.In, spec.Out
	return s.equip(n)
}

// AsTool makes a node (an agent or any flow) a tool with that name. If the node takes a schema, the fields are the
// tool's parameters; otherwise the tool has one parameter, input. The node's output is the result. The node runs at the
// place of the call, within the budgets around it. The agent that has the tool places the node.
func AsTool(n *Node, name, doc string) *agent.Tool {
	t := &agent.Tool{Name: name, Doc: doc, Returns: n.out, Span: n.site.Span, Node: n}
	if t.Params = n.in.Deref(); t.Params.Kind != generable.RecordType {
		t.Params = &generable.Type{Kind: generable.RecordType, Name: name, Fields: []generable.Field{{Name: "input", Type: n.in}}}
	}
	return t
}

// nodeTools returns the tools of an agent and its skills that are nodes, each once.
func nodeTools(a *agent.Spec) []*agent.Tool {
	var tools []*agent.Tool
	for _, t := range a.AllTools() {
		if t.Node != nil && !slices.Contains(tools, t) {
			tools = append(tools, t)
		}
	}
	return tools
}

// ToolOf returns the tool that runs a child of the agent, nil for other children.
func ToolOf(a *agent.Spec, n *Node) *agent.Tool {
	for _, t := range nodeTools(a) {
		if t.Node == n {
			return t
		}
	}
	return nil
}

// twiceTools returns the span to report for each tool: the tool's own span where the agent has two tools of the same
// node, else the agent's.
func twiceTools(tools []*agent.Tool, a diag.Span) []diag.Span {
	times := map[agent.Flow]int{}
	for _, t := range tools {
		times[t.Node]++
	}
	at := make([]diag.Span, len(tools))
	for i, t := range tools {
		if at[i] = a; times[t.Node] > 1 {
			at[i] = t.Span.Or(a)
		}
	}
	return at
}

// equip places an agent's tool nodes in it and adds the fixers of their calls.
func (s *Session) equip(n *Node) *Node {
	tools, fixers := nodeTools(n.agent), n.agent.Fixers()
	in, out, sound := n.in, n.out, !n.failed
	if len(tools) > 0 && sound {
		nodes := make([]*Node, len(tools))
		for i, t := range tools {
			nodes[i] = t.Node.(*Node)
		}
		n.site.Args = twiceTools(tools, n.site.Span)
		placed := s.structure(n, nodes, func(*Node) bool { return true })
		if placed != n || n.failed {
			return placed
		}
		n.name, n.in, n.out = n.agent.Name, in, out
	} else {
		s.add(n)
	}
	for _, f := range fixers {
		k := f.(*Node)
		n.kids, n.depth = append(n.kids, k), max(n.depth, k.depth+1)
	}
	return n
}
