package flowjson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
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

// check reports what is wrong with the graph of a flow.
func (s *Spec) check() diag.List {
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

// names reports what is declared twice.
func (c *checker) names() {
	for i, a := range c.spec.Agents {
		first, twice := c.agents[a.Name]
		switch {
		case a.Name == "":
		case twice:
			c.twice("agent", a.Name, a.name, c.spec.Agents[first].name)
		case a.Name == Finish:
			c.report(diag.FlowTwice, a.name, "give it another name", "an agent is called %s, which is the end of a flow", Finish)
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
	c.report(diag.FlowTwice, at, "give each a name of its own: what names it means the first", "a second %s is called %q", what, name).
		Notef(first.Span.Pos, "the first one stands")
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
				c.report(diag.FlowAgent, child, "name its agents here", "%s runs %s, which runs agents at once itself", a.label(), child.Text)
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
	d := c.report(diag.FlowAgent, v, "", "there is no agent %q", v.Text)
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
		names := text.Each(c.spec.Agents, func(a *Agent) string { return a.Name })
		if end {
			names = append(names, Finish)
		}
		meant(d, v, names)
		return 0, false
	}
	d.Help = []string{fmt.Sprintf("write %q", bare)}
	d.Fixes = []diag.Fix{{Message: "write " + bare, Span: v.Span, Replacement: `"` + bare + `"`}}
	return 0, false
}

// tools reports tools that an agent names and the flow does not have, as far as that is known: a
// server lists its tools when it runs.
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
		d := c.report(diag.FlowTool, v, "", "%s may call %s, and no tool of the flow offers it", a.label(), v.Text)
		if len(names) == 0 {
			d.Help = []string{`declare where it comes from: "tools": [{"name": "…", "type": "mcp", "parameters": {…}}]`}
			return
		}
		meant(d, v, names)
	}
}

// reach reports agents that nothing leads to, flows that never end, and cycles without a bound.
func (c *checker) reach() {
	s, start := c.spec, 0
	if len(s.Transitions) > 0 {
		i, ok := c.agents[s.Transitions[0].at.textOf("from")]
		if !ok {
			return // already reported
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
	ahead, back := make([][]int, len(s.Agents)), make([][]int, len(s.Agents))
	ends := []int{}
	for i, edges := range c.leaves {
		if len(edges) == 0 {
			ends = append(ends, i) // where nothing leads on, the flow ends
		}
		for _, e := range edges {
			switch {
			case e.dead:
			case e.to < 0:
				ends = append(ends, i)
			default:
				ahead[i], back[e.to] = append(ahead[i], e.to), append(back[e.to], i)
			}
		}
	}
	reached, ending := spread(ahead, start), spread(back, ends...)
	for i := range s.Agents {
		if reached[i] && !c.known[i] { // something leads to what is not known
			c.cycles(start)
			return
		}
	}
	for i, a := range s.Agents {
		if reached[i] || inside[i] || a.Name == "" || c.agents[a.Name] != i {
			continue
		}
		d := c.warn(diag.FlowUnreached, a.at, "let a transition lead to it, or leave it out", "%s is never reached", a.label())
		d.Notef(s.Agents[start].span().Pos, "the flow begins with %s", s.Agents[start].label()).Span = a.span()
	}
	for i, a := range s.Agents {
		if reached[i] && !ending[i] {
			help := fmt.Sprintf("let a transition lead to %q, or to an agent that none leaves", Finish)
			c.report(diag.FlowNoEnd, c.leaves[i][0].t.to, help, "from %s on this flow never ends", a.label())
			break // what comes before it, or goes round with it, has the same reason
		}
	}
	c.cycles(start)
}

// spread marks what some lead to, and what those lead to.
func spread(next [][]int, from ...int) []bool {
	marked := make([]bool, len(next))
	for todo := from; len(todo) > 0; todo = todo[1:] {
		if i := todo[0]; !marked[i] {
			marked[i] = true
			todo = append(todo, next[i]...)
		}
	}
	return marked
}

// cycles reports the first transition that leads back, where nothing bounds how often.
func (c *checker) cycles(start int) {
	if slices.ContainsFunc(c.spec.Agents, func(a *Agent) bool { return a.MaxIterations }) {
		return
	}
	const begun, done = 1, 2
	state := make([]int, len(c.spec.Agents))
	var back func(i int) bool // reports whether a transition leads back, and reports it
	back = func(i int) bool {
		state[i] = begun
		for _, e := range c.leaves[i] {
			switch {
			case e.dead || e.to < 0 || state[e.to] == done:
			case state[e.to] == begun:
				c.warn(diag.FlowCycle, e.t.to, `bound it: "config": {"maxIterations": 50} in the first agent`,
					"%s leads back to %s, and nothing says how often", c.spec.Agents[i].label(), c.spec.Agents[e.to].label())
				return true
			case back(e.to):
				return true
			}
		}
		state[i] = done
		return false
	}
	back(start)
}
