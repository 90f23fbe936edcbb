package draw

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
)

// add draws a node and everything placed in it.
func (p *picture) add(n *flow.Node) fragment {
	body, label := p.leaf, title(n)
	switch n.Kind() {
	case flow.AgentNode:
		body = p.recovered
	case flow.PipelineNode:
		body, label = p.pipeline, n.Name()
	case flow.FallbackNode, flow.RaceNode:
		body = func(n *flow.Node) fragment { return p.abreast(n.Children()) }
	case flow.RetryNode, flow.AttemptNode, flow.VerifyNode, flow.BoundedNode:
		body = p.within
	case flow.WrapNode:
		body = p.wrap
	case flow.VoteNode:
		body = p.vote
	case flow.ParallelNode:
		body = p.parallel
	case flow.EachNode:
		body = p.each
	case flow.LoopNode:
		body = p.loop
	case flow.ForumNode:
		body = p.forum
	case flow.GraphNode:
		body = p.graph
	case flow.BranchNode, flow.HandoffNode:
		body, label = p.branch, n.Name()
	default:
		label = ""
	}
	if n.History() != nil && n.History().Shared {
		talk := body
		if label == "" || n.Kind() == flow.AgentNode || len(n.Children()) == 0 {
			body, label = func(n *flow.Node) fragment {
				if len(n.Children()) == 0 {
					return p.leaf(n)
				}
				return talk(n)
			}, "conversation"
			if n.Name() != "" && n.Kind() != flow.AgentNode {
				label = n.Name() + ": conversation"
			}
			return p.framed(label, n, body)
		}
		label += ", a conversation"
	}
	switch {
	case len(n.Children()) == 0:
		return p.leaf(n)
	case label == "" || n.Kind() == flow.AgentNode:
		return body(n)
	}
	return p.framed(label, n, body)
}

// title names a structure and its kind, "reviews: parallel", or only the kind.
func title(n *flow.Node) string {
	if n.Name() == "" {
		return n.Kind().String()
	}
	return n.Name() + ": " + n.Kind().String()
}

func (p *picture) leaf(n *flow.Node) fragment {
	s, lines := step, []string{n.Label()}
	if n.Name() != "" && n.Kind() != flow.AgentNode {
		lines = append(lines, n.Detail())
	}
	switch a := n.Agent(); {
	case n.Failed():
		s = broken
	case a != nil && byModel(a):
		s = agentBox
		if a.Model != "" {
			lines = append(lines, a.Model)
		}
	}
	id := p.box(s, lines...)
	return fragment{[]string{id}, []out{{from: id, label: typeText(n.Out())}}}
}

// byModel reports whether a model executes any skill of the agent.
func byModel(a *agent.Spec) bool {
	return len(a.Skills) == 0 && a.Run == nil || slices.ContainsFunc(a.Skills, func(sk *agent.Skill) bool { return sk.Run == nil })
}

func (p *picture) pipeline(n *flow.Node) fragment {
	kids := n.Children()
	first := p.add(kids[0])
	last := first
	for _, k := range kids[1:] {
		next := p.add(k)
		p.connect(last.outs, next.ins)
		last = next
	}
	return fragment{first.ins, last.outs}
}

func (p *picture) parallel(n *flow.Node) fragment {
	kids := n.Children()
	if n.Merge() != nil {
		kids = kids[:len(kids)-1]
	}
	f := p.members(n, kids)
	id := p.box(join, "join")
	p.connect(f.outs, []string{id})
	f.outs = []out{{from: id, label: typeText(n.Out())}}
	if m := n.Merge(); m != nil {
		merge := p.add(m)
		given := m.In()
		if given.Deref().Kind == generable.AnyType && n.Spec().Item != nil { // a function that does not declare its input
			given = generable.ListOfType(n.Spec().Item)
		}
		p.connect([]out{{from: id, label: typeText(given)}}, merge.ins)
		f.outs = merge.outs
	}
	return f
}

// members draws the nodes of a parallel or forum side by side. A structure that was opened by its name is a frame
// around its members.
func (p *picture) members(n *flow.Node, kids []*flow.Node) fragment {
	lead := n.Leads()
	if lead == nil {
		return p.abreast(kids)
	}
	f := p.framed(title(lead), lead, func(*flow.Node) fragment { return p.members(lead, lead.Children()) })
	rest := p.abreast(kids[1:])
	return fragment{append(f.ins, rest.ins...), append(f.outs, rest.outs...)}
}

func (p *picture) each(n *flow.Node) fragment {
	body := n.Children()[0]
	in := p.box(fork, "each")
	kid := p.add(body)
	end := p.box(join, "join")
	p.connect([]out{{from: in, label: typeText(body.In())}}, kid.ins)
	p.connect(kid.outs, []string{end})
	return fragment{[]string{in}, []out{{from: end, label: typeText(n.Out())}}}
}

// loop draws the body, the decision after each turn, and the way back, through the repairing node if there is one.
func (p *picture) loop(n *flow.Node) fragment {
	kids := n.Children()
	body := p.add(kids[0])
	again := p.box(decision, "again?")
	p.connect(body.outs, []string{again})
	if len(kids) > 1 {
		repair := p.add(kids[1])
		p.connect([]out{{from: again, label: typeText(kids[0].Out())}}, repair.ins)
		for _, o := range repair.outs {
			p.connect([]out{{from: o.from, label: o.label, back: true}}, body.ins)
		}
	} else {
		p.connect([]out{{from: again, label: "next " + typeText(n.In()), back: true}}, body.ins)
	}
	return fragment{body.ins, []out{{from: again, label: "done " + typeText(n.Out())}}}
}

// forum draws the participants next to each other and the captain after them. The captain also receives the input; the
// frame stands for that.
func (p *picture) forum(n *flow.Node) fragment {
	kids := n.Children()
	last := len(kids) - 1
	if n.Decides() == nil {
		last++
	}
	f := p.members(n, kids[:last])
	said := f.outs
	if n.Consensus() > 0 {
		agree := p.box(decision, fmt.Sprintf("%d agree?", n.Consensus()))
		p.connect(said, []string{agree})
		f.outs = []out{{from: agree, label: typeText(n.Out())}}
		if last < len(kids) {
			other := p.add(kids[last])
			p.connect([]out{{from: agree, label: "otherwise"}}, other.ins)
			f.outs = append(f.outs, other.outs...)
		}
		return f
	}
	captain := p.add(kids[last])
	p.connect(said, captain.ins)
	if last == 0 {
		f.ins = captain.ins
	}
	f.outs = captain.outs
	return f
}

func (p *picture) branch(n *flow.Node) fragment {
	kids := n.Children()
	source := p.add(kids[0])
	which := p.box(decision, n.Kind().String())
	p.connect(source.outs, []string{which})
	f := fragment{ins: source.ins}
	routes, other := n.Routes()
	for i := range routes {
		h := p.add(routes[i].Handler)
		p.connect([]out{{from: which, label: routes[i].Key()}}, h.ins)
		f.outs = append(f.outs, h.outs...)
	}
	if other != nil {
		h := p.add(other)
		p.connect([]out{{from: which, label: "otherwise"}}, h.ins)
		f.outs = append(f.outs, h.outs...)
	}
	return f
}

// graph draws the nodes and their edges, labelled with their conditions. An edge to a node that was drawn before is
// drawn as leading back.
func (p *picture) graph(n *flow.Node) fragment {
	edges, other := n.Edges()
	drawn := map[*flow.Node]fragment{}
	place := map[*flow.Node]int{}
	maps := map[*flow.Node]bool{}
	for _, e := range edges {
		maps[e.Map] = true
	}
	for _, k := range n.Children() {
		if _, twice := drawn[k]; !twice && !maps[k] {
			place[k] = len(drawn)
			drawn[k] = p.add(k)
		}
	}
	f := fragment{ins: drawn[n.Children()[0]].ins}
	leaves := map[*flow.Node]bool{}
	for i := range edges {
		e := &edges[i]
		from := drawn[e.From]
		leaves[e.From] = true
		back := e.To != nil && place[e.To] <= place[e.From]
		var outs []out
		for _, o := range from.outs {
			label := e.Key()
			if label == "" {
				label = o.label
				if t := n.Carried(i); t != nil { // the values that the edges before it leave
					label = typeText(t)
				}
			}
			outs = append(outs, out{from: o.from, label: label, back: back})
		}
		if e.Map != nil {
			m := p.add(e.Map)
			for i := range outs {
				outs[i].back = false
			}
			p.connect(outs, m.ins)
			outs = m.outs
			for i := range outs {
				outs[i].back = back
			}
		}
		if e.To != nil {
			p.connect(outs, drawn[e.To].ins)
		} else {
			f.outs = append(f.outs, outs...)
		}
	}
	for _, k := range n.Children() {
		if d, ok := drawn[k]; ok && !leaves[k] { // no edge leaves it: it finishes the graph
			f.outs = append(f.outs, d.outs...)
		} else if ok && other != nil && k != other {
			for _, o := range d.outs {
				p.connect([]out{{from: o.from, label: "otherwise", back: place[other] <= place[k]}}, drawn[other].ins)
			}
		}
	}
	return f
}
