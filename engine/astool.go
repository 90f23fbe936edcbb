package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Agent declares an agent, see [AgentSpec.Check]. The nodes that are tools of it get their place in it.
func (s *Session) Agent(site Site, spec *AgentSpec) *Node {
	n := &Node{kind: AgentNode, name: spec.Name, site: site, agent: spec}
	n.failed = !spec.Check(&s.Reporter, site.Span)
	n.in, n.out = spec.In, spec.Out
	return s.equip(n)
}

// AsTool makes a node, an agent or any flow, a tool of that name. The fields of a schema that it takes
// are the tool's parameters; what takes anything else has one, input. What it gives is the result.
// It runs at the place of the call, within the budgets around it. The agent whose tool it is gives the
// node its one place.
func AsTool(n *Node, name, doc string) *Tool {
	t := &Tool{Name: name, Doc: doc, Returns: n.out, Span: n.site.Span, Node: n}
	if t.Params = n.in.Deref(); t.Params.Kind != generable.RecordType {
		t.Params = &generable.Type{Kind: generable.RecordType, Name: name, Fields: []generable.Field{{Name: "input", Type: n.in}}}
	}
	return t
}

// nodeTools are the tools of an agent and its skills that are nodes, each once.
func (a *AgentSpec) nodeTools() []*Tool {
	var tools []*Tool
	seen := map[*Tool]bool{}
	add := func(list []*Tool) {
		for _, t := range list {
			if t.Node != nil && !seen[t] {
				seen[t] = true
				tools = append(tools, t)
			}
		}
	}
	add(a.Tools)
	for _, sk := range a.Skills {
		add(sk.Tools)
	}
	return tools
}

// ToolOf gives the tool that a child of the agent is, nil for other children.
func (a *AgentSpec) ToolOf(n *Node) *Tool {
	for _, t := range a.nodeTools() {
		if t.Node == n {
			return t
		}
	}
	return nil
}

// twiceTools says where tools stand of which one agent has two of the same node; the others are where
// the agent is.
func twiceTools(tools []*Tool, agent diag.Span) []diag.Span {
	times := map[Flow]int{}
	for _, t := range tools {
		times[t.Node]++
	}
	at := make([]diag.Span, len(tools))
	for i, t := range tools {
		if at[i] = agent; times[t.Node] > 1 {
			at[i] = t.Span.Or(agent)
		}
	}
	return at
}

// equip gives the nodes that are tools of an agent their place in it, and adds what mends their calls.
func (s *Session) equip(n *Node) *Node {
	tools, fixers := n.agent.nodeTools(), n.agent.fixers()
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
