package flowjson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// checker looks at the graph of a flow.
type checker struct {
	reader
	spec   *Spec
	agents map[string]int // the first of a name
	leaves [][]*edge      // by agent, in the order of the file
	known  []bool         // by agent: all that leaves it leads somewhere
}

// edge is a transition whose agents are known.
type edge struct {
	t    *Transition
	to   int  // -1 for the end
	dead bool // it is never taken
}

// Check tells what is wrong with the graph of a flow.
func (s *Spec) Check() diag.List {
	c := &checker{spec: s, agents: map[string]int{}}
	c.names()
	c.references()
	for i := range s.Agents {
		c.conditions(i)
	}
	if len(s.Agents) > 0 {
		c.reach()
	}
	return c.found
}

// names tells of what is declared twice.
func (c *checker) names() {
	for i, a := range c.spec.Agents {
		first, twice := c.agents[a.Name]
		switch {
		case a.Name == "":
		case twice:
			c.twice("agent", a.Name, a.name, c.spec.Agents[first].name)
		case a.Name == Finish:
			d := c.report(diag.FlowTwice, a.name, a.name.Span, "an agent is called %s, which is the end of a flow", Finish)
			d.Help = []string{"give it another name"}
		default:
			c.agents[a.Name] = i
		}
	}
	tools := map[string]*Value{}
	for _, t := range c.spec.Tools {
		if first := tools[t.Name]; first != nil {
			c.twice("tool", t.Name, t.name, first)
		} else if t.Name != "" {
			tools[t.Name] = t.name
		}
	}
}

func (c *checker) twice(what, name string, at, first *Value) {
	d := c.report(diag.FlowTwice, at, at.Span, "a second %s is called %q", what, name)
	d.Notes = append(d.Notes, diag.Note{Message: "the first one stands", Pos: first.Span.Pos})
	d.Help = []string{"give each a name of its own: what names it means the first"}
}

// references finds what transitions, parallels and agents speak of.
func (c *checker) references() {
	s := c.spec
	c.leaves, c.known = make([][]*edge, len(s.Agents)), make([]bool, len(s.Agents))
	for i := range c.known {
		c.known[i] = true
	}
	for _, t := range s.Transitions {
		from, ok := c.refer(t.from, false)
		to, ok2 := c.refer(t.to, true)
		if ok && !ok2 {
			c.known[from] = false
		}
		if ok && ok2 {
			c.leaves[from] = append(c.leaves[from], &edge{t: t, to: to})
		}
	}
	if len(s.Transitions) == 0 { // one after the other
		for i := range s.Agents[:max(0, len(s.Agents)-1)] {
			c.leaves[i] = []*edge{{t: &Transition{}, to: i + 1}}
		}
	}
	for _, a := range s.Agents {
		for _, child := range a.Children {
			i, ok := c.refer(child, false)
			if ok && s.Agents[i].Type == Parallel {
				d := c.report(diag.FlowAgent, child, child.Span, "%s runs %s, which runs agents at once itself", a.label(), child.Text)
				d.Help = []string{"name its agents here"}
			}
		}
		c.tools(a)
	}
}

// refer finds the agent that a value names.
func (c *checker) refer(v *Value, end bool) (int, bool) {
	if v == nil || v.Kind != String {
		return 0, false
	}
	if end && v.Text == Finish {
		return -1, true
	}
	if i, ok := c.agents[v.Text]; ok {
		return i, true
	}
	names := make([]string, 0, len(c.spec.Agents))
	for _, a := range c.spec.Agents {
		names = append(names, a.Name)
	}
	d := c.report(diag.FlowAgent, v, v.Span, "there is no agent %q", v.Text)
	bare := strings.TrimPrefix(v.Text, "agent.")
	_, prefixed := c.agents[bare]
	switch {
	case !end && v.Text == Finish:
		d.Message = Finish + " is the end of a flow: nothing leads on from it"
		d.Help = []string{"name an agent"}
		return 0, false
	case slices.Contains([]string{"__end__", "end", "END", "finish", "FINISH", "__FINISH__"}, v.Text) && end:
		bare, prefixed = Finish, true
	case prefixed:
	default:
		if end {
			names = append(names, Finish)
		}
		c.meant(d, v, names)
		return 0, false
	}
	d.Help = []string{fmt.Sprintf("write %q", bare)}
	d.Fixes = []diag.Fix{{Message: "write " + bare, Span: v.Span, Replacement: `"` + bare + `"`}}
	return 0, false
}

// tools tells of tools that an agent names and the flow does not have, as far as that is known: a
// server tells its tools when it runs.
func (c *checker) tools(a *Agent) {
	var names []string
	for _, t := range c.spec.Tools {
		if t.Type != "local" {
			return
		}
		names = append(names, t.Name)
	}
	for _, v := range a.Tools {
		if slices.Contains(names, v.Text) {
			continue
		}
		d := c.report(diag.FlowTool, v, v.Span, "%s may call %s, and no tool of the flow offers it", a.label(), v.Text)
		if len(names) == 0 {
			d.Help = []string{`declare where it comes from: "tools": [{"name": "…", "type": "mcp", "parameters": {…}}]`}
			return
		}
		c.meant(d, v, names)
	}
}

// reach tells of agents that nothing leads to, of flows that never end, and of cycles without a bound.
func (c *checker) reach() {
	s, start := c.spec, 0
	if len(s.Transitions) > 0 {
		i, ok := c.agents[s.Transitions[0].at.textOf("from")]
		if !ok {
			return // that is told
		}
		start = i
	}
	inside := map[int]bool{} // run by a parallel
	for _, a := range s.Agents {
		for _, child := range a.Children {
			if i, ok := c.agents[child.Text]; ok {
				inside[i] = true
			}
		}
	}
	back := make([][]int, len(s.Agents))
	ends := []int{}
	reached := make([]bool, len(s.Agents))
	reached[start] = true
	open := false // something leads to what is not known
	for todo := []int{start}; len(todo) > 0; {
		i := todo[0]
		todo = todo[1:]
		open = open || !c.known[i]
		if len(c.leaves[i]) == 0 {
			ends = append(ends, i) // where nothing leads on, the flow ends
		}
		for _, e := range c.leaves[i] {
			switch {
			case e.dead:
			case e.to < 0:
				ends = append(ends, i)
			default:
				back[e.to] = append(back[e.to], i)
				if !reached[e.to] {
					reached[e.to] = true
					todo = append(todo, e.to)
				}
			}
		}
	}
	for i, a := range s.Agents {
		if reached[i] || inside[i] || open || a.Name == "" || c.agents[a.Name] != i {
			continue
		}
		d := c.warn(diag.FlowUnreached, a.at, spanOf(a.name, a.at), "%s is never reached", a.label())
		d.Notes = append(d.Notes, diag.Note{Message: "the flow begins with " + s.Agents[start].label(), Pos: spanOf(s.Agents[start].name, s.Agents[start].at).Pos})
		d.Help = []string{"let a transition lead to it, or leave it out"}
	}
	ending := make([]bool, len(s.Agents))
	for todo := ends; len(todo) > 0; todo = todo[1:] {
		if i := todo[0]; !ending[i] {
			ending[i] = true
			todo = append(todo, back[i]...)
		}
	}
	for i, a := range s.Agents {
		if reached[i] && !ending[i] && !open {
			at := c.leaves[i][0].t.to
			d := c.report(diag.FlowNoEnd, at, at.Span, "from %s on this flow never ends", a.label())
			d.Help = []string{fmt.Sprintf("let a transition lead to %q, or to an agent that none leaves", Finish)}
			break // what comes before it, or goes round with it, has the same reason
		}
	}
	c.cycles(start)
}

// cycles tells of the first transition that leads back, where nothing bounds how often.
func (c *checker) cycles(start int) {
	if slices.ContainsFunc(c.spec.Agents, func(a *Agent) bool { return a.MaxIterations }) {
		return
	}
	const begun, done = 1, 2
	state := make([]int, len(c.spec.Agents))
	type frame struct{ agent, next int }
	state[start] = begun
	for path := []frame{{start, 0}}; len(path) > 0; {
		f := &path[len(path)-1]
		if f.next == len(c.leaves[f.agent]) {
			state[f.agent] = done
			path = path[:len(path)-1]
			continue
		}
		e := c.leaves[f.agent][f.next]
		f.next++
		switch {
		case e.dead || e.to < 0 || state[e.to] == done:
		case state[e.to] == begun:
			at := e.t.to
			if at == nil {
				return
			}
			d := c.warn(diag.FlowCycle, at, at.Span, "%s leads back to %s, and nothing says how often", c.spec.Agents[f.agent].label(), c.spec.Agents[e.to].label())
			d.Help = []string{`bound it: "config": {"maxIterations": 50} in the first agent`}
			return
		default:
			state[e.to] = begun
			path = append(path, frame{e.to, 0})
		}
	}
}
