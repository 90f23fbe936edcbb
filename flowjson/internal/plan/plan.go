// Package plan determines what a flow's file leaves open: the types of its agents, the conditions of its edges as
// predicates, and the tools that each agent may call. Both the execution of a flow and its conversion to a script use
// the plan, so that they agree.
package plan

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/generable"
)

// Plan is a sound flow with everything determined.
type Plan struct {
	*spec.Spec
	Agents []*Agent // by the index in the spec; nil for unreachable ones
	Out    *generable.Type

	// Order lists the reachable agents, each after one that leads to it: the order of the spec without those behind
	// conditions that never hold.
	Order []int

	// Stuck reports whether only a run knows if the transitions of some agent take every value.
	Stuck bool
}

// Agent is a step of the flow.
type Agent struct {
	*spec.Agent
	In, Out  *generable.Type
	Edges    []*Edge
	Children []*Agent        // for a parallel, in the order of its list
	Merge    *Merge          // for a parallel; nil means it returns all results
	Result   *generable.Type // for a parallel: the output type of each branch; any if they differ, in which case Mixed is set
	Mixed    bool
	Stuck    bool // only a run knows whether its edges take every value

	Servers []*spec.Tool // servers of tools
	Local   []*spec.Tool
	Offer   []string // names of the servers' tools that it may call; nil for all
}

// Edge is a transition that can be taken.
type Edge struct {
	Spec   *spec.Edge
	Target int // -1 for the end
	// Value or Pred is what it takes; without either it takes everything. Value is a value of a bool or an enum.
	Value *generable.Value
	Pred  *predicate.Predicate
	Part  string // success or feedback: the part of a verdict that it carries; "" for all
}

// New returns the plan of a flow without errors.
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

// reach finds the reachable agents.
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

// agent starts the plan of an agent and of those that it runs.
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

// tools determines what an agent may call.
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
