// Package plan settles what a flow's file leaves open: the types of its agents, the conditions of its edges as
// predicates, the tools that each agent may call. What runs the flow and what writes it as a script both follow it,
// so that they agree.
package plan

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/generable"
)

// Plan is a sound flow with all that was open settled.
type Plan struct {
	*spec.Spec
	Agents []*Agent // by the index of the spec; nil for those that nothing reaches
	Out    *generable.Type

	// Order is the agents that are reached, each behind one that leads to it: those of the spec, but for what
	// conditions lead to that never hold.
	Order []int

	// Stuck says that a run alone knows whether the transitions of some agent take every value.
	Stuck bool
}

// Agent is a step of the flow.
type Agent struct {
	*spec.Agent
	In, Out  *generable.Type
	Edges    []*Edge
	Children []*Agent        // of a parallel, in the order that it names them
	Merge    *Merge          // of a parallel; nil: it returns all results
	Result   *generable.Type // of a parallel: what each of its branches returns; any where they differ, which is mixed
	Mixed    bool
	Stuck    bool // a run alone knows whether its edges take every value

	Servers []*spec.Tool // of tools
	Local   []*spec.Tool
	Offer   []string // the names of what the servers offer that it may call; nil: all
}

// Edge is a transition that can be taken.
type Edge struct {
	Spec   *spec.Edge
	Target int // -1 for the end
	// Value or Pred is what it takes; neither: everything. A value is one of a bool or an enum.
	Value *generable.Value
	Pred  *predicate.Predicate
	Part  string // success or feedback: what it takes of a verdict on the way; "" for all
}

// New settles a flow in which nothing is wrong.
func New(s *spec.Spec) *Plan {
	p := &Plan{Spec: s, Agents: make([]*Agent, len(s.Agents))}
	for _, i := range s.Order {
		p.agent(i)
	}
	for _, i := range s.Order {
		p.edges(p.Agents[i], s.Leaves[i])
	}
	p.reach()
	for _, i := range p.Order {
		p.merge(p.Agents[i])
	}
	p.types()
	return p
}

// reach finds the agents that are reached.
func (p *Plan) reach() {
	reached := make([]bool, len(p.Agents))
	reached[p.Start] = true
	p.Order = []int{p.Start}
	for k := 0; k < len(p.Order); k++ {
		for _, e := range p.Agents[p.Order[k]].Edges {
			if e.Target >= 0 && !reached[e.Target] {
				reached[e.Target] = true
				p.Order = append(p.Order, e.Target)
			}
		}
	}
	for _, i := range p.Spec.Order {
		if !reached[i] {
			p.Agents[i] = nil
		}
	}
}

// agent begins the plan of an agent, and of those that it runs.
func (p *Plan) agent(i int) *Agent {
	a := &Agent{Agent: p.Spec.Agents[i]}
	p.Agents[i] = a
	for _, child := range a.Agent.Children {
		if k, ok := p.Index(child.Text); ok {
			c := &Agent{Agent: p.Spec.Agents[k]}
			p.tools(c)
			a.Children = append(a.Children, c)
		}
	}
	p.tools(a)
	return a
}

// tools finds what an agent may call.
func (p *Plan) tools(a *Agent) {
	if !a.Models() {
		return
	}
	named := map[string]bool{}
	for _, name := range a.Tools {
		named[name.Text] = true
	}
	var servers []*spec.Tool
	for _, t := range p.Spec.Tools {
		switch {
		case t.Type == "mcp":
			servers = append(servers, t)
		case a.AllTools || named[t.Name]:
			a.Local = append(a.Local, t)
			delete(named, t.Name)
		}
	}
	if a.AllTools {
		a.Servers = servers
		return
	}
	for _, name := range a.Tools {
		if named[name.Text] {
			a.Offer = append(a.Offer, name.Text)
			delete(named, name.Text)
		}
	}
	if len(a.Offer) > 0 {
		a.Servers = servers
	}
}
