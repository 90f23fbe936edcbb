package draw

import "github.com/agentscript/agentscript/engine/flow"

// abreast draws nodes side by side: each is an entry and an exit of the whole.
func (p *picture) abreast(nodes []*flow.Node) fragment {
	var f fragment
	for _, n := range nodes {
		kid := p.add(n)
		f.ins = append(f.ins, kid.ins...)
		f.outs = append(f.outs, kid.outs...)
	}
	return f
}

// within draws the one node inside a structure that changes how it runs or what it returns.
func (p *picture) within(n *flow.Node) fragment {
	kid := p.add(n.Children()[0])
	if n.Kind() == flow.RetryNode {
		p.connect(backwards(kid.outs, "again"), kid.ins)
	}
	f := fragment{ins: kid.ins}
	for _, o := range kid.outs {
		f.outs = append(f.outs, out{from: o.from, label: typeText(n.Out())})
	}
	return f
}

func backwards(outs []out, label string) []out {
	back := make([]out, len(outs))
	for i, o := range outs {
		back[i] = out{from: o.from, label: label, back: true}
	}
	return back
}

// wrap draws the teacher and the student, which both receive the input. The edge from the teacher to the student is the
// student's system text.
func (p *picture) wrap(n *flow.Node) fragment {
	teacher, student := p.add(n.Children()[0]), p.add(n.Children()[1])
	var text []out
	for _, o := range teacher.outs {
		text = append(text, out{from: o.from, label: "prompt"})
	}
	p.connect(text, student.ins)
	return fragment{append(teacher.ins, student.ins...), student.outs}
}

// vote draws the voters and the step that picks an output: the count, or a judge.
func (p *picture) vote(n *flow.Node) fragment {
	kids := n.Children()
	voters := p.add(kids[0])
	if len(kids) > 1 {
		judge := p.add(kids[1])
		p.connect(voters.outs, judge.ins)
		return fragment{voters.ins, judge.outs}
	}
	count := p.box(join, "vote")
	p.connect(voters.outs, []string{count})
	return fragment{voters.ins, []out{{from: count, label: typeText(n.Out())}}}
}

// mended draws an agent and the nodes that fix its tool calls: the agent calls them and receives their answers.
func (p *picture) recovered(n *flow.Node) fragment {
	f := p.leaf(n)
	for _, k := range n.Children() {
		if t := flow.ToolOf(n.Agent(), k); t != nil {
			kid := p.framed("tool "+t.Name, k, p.add)
			p.connect([]out{{from: f.outs[0].from, label: typeText(k.In())}}, kid.ins)
			p.connect(backwards(kid.outs, typeText(k.Out())), f.ins)
			continue
		}
		from := []out{{from: f.outs[0].from, label: "fix"}}
		kid := p.add(k)
		p.connect(from, kid.ins)
		p.connect(backwards(kid.outs, "fixed"), f.ins)
	}
	return f
}
