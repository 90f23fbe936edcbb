package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/internal/text"
)

// checker checks the graph of a flow.
type checker struct {
	reader
	spec   *Spec
	agents map[string]int // the first agent with a name
	names  []string       // names of the agents
	known  []bool         // by agent: all targets of its transitions are known

	offered    map[string]bool // the local tools
	toolNames  []string        // in the order of the file
	toolsKnown bool            // there are no others: no server provides any
}

// Check reports what is wrong with the graph of a flow.
func (s *Spec) Check() diag.List {
	c := &checker{spec: s, agents: map[string]int{}, offered: map[string]bool{}, toolsKnown: true}
	c.o, s.named = s.Options, c.agents
	c.names = text.Each(s.Agents, func(a *Agent) string { return a.Name })
	for _, t := range s.Tools {
		c.toolsKnown = c.toolsKnown && t.Type == "local"
		c.toolNames = append(c.toolNames, t.Name)
		c.offered[t.Name] = true
	}
	c.declared()
	if len(s.Agents) == 0 { // that was reported: further reports would be noise
		return c.list()
	}
	c.references()
	for i := range s.Agents {
		c.conditions(i)
	}
	c.reach()
	return c.list()
}

// declared reports duplicate declarations.
func (c *checker) declared() {
	for i, a := range c.spec.Agents {
		first, twice := c.agents[a.Name]
		switch {
		case a.Name == "":
		case twice:
			c.twice("agent", a.Name, a.NameAt, c.spec.Agents[first].NameAt)
		case a.Name == Finish:
			c.report(diag.FlowTwice, a.NameAt, "rename it", "an agent is called %s, which is the end of a flow", Finish)
		default:
			c.agents[a.Name] = i
		}
	}
	tools, servers := map[string]*tree.Value{}, map[string]*Tool{}
	for _, t := range c.spec.Tools {
		first := tools[t.Name]
		switch {
		case first != nil:
			c.twice("tool", t.Name, t.NameAt, first)
			continue
		case t.Name != "":
			tools[t.Name] = t.NameAt
		}
		if name := remote.NameOf(t.Name); t.Type == "mcp" && name != "" {
			if other := servers[name]; other != nil {
				d := c.report(diag.FlowTwice, t.NameAt, "let names differ in their letters, digits or _, within the first 32", "the servers %q and %q are both called %s: that is how tools of them are named",
					text.Clip(other.Name, mostShown), text.Clip(t.Name, mostShown), name)
				d.Notef(other.NameAt.Span.Pos, "the first one is")
				continue
			}
			servers[name] = t
		}
	}
}

func (c *checker) twice(what, name string, at, first *tree.Value) {
	c.report(diag.FlowTwice, at, "rename one: its name means the first", "a second %s is called %q", what, text.Clip(name, mostShown)).
		Notef(first.Span.Pos, "the first one is")
}

// references resolves what transitions, parallels and agents refer to.
func (c *checker) references() {
	s := c.spec
	s.Leaves, c.known = make([][]*Edge, len(s.Agents)), make([]bool, len(s.Agents))
	for i := range c.known {
		c.known[i] = true
	}
	for _, t := range s.Transitions {
		from, ok := c.refer(t.From, false)
		to, ok2 := c.refer(t.To, true)
		if ok && !ok2 {
			c.known[from] = false
		}
		if ok && ok2 {
			s.Leaves[from] = append(s.Leaves[from], &Edge{Transition: t, Target: to})
		}
	}
	for _, a := range s.Agents {
		for _, child := range a.Children {
			i, ok := c.refer(child, false)
			if ok && s.Agents[i].Type == Parallel {
				c.report(diag.FlowAgent, child, "name its agents here", "%s runs %s, which runs agents at once itself", a.label(), child.Text)
			}
		}
		c.merge(a)
		c.tools(a)
	}
	if len(s.Transitions) == 0 {
		c.chain()
	}
}

// chain leads from each agent to the next one if the file has no transitions. An agent that a parallel runs is only run
// by it.
func (c *checker) chain() {
	s, inside, before := c.spec, c.inside(), -1
	for i := range s.Agents {
		if inside[i] {
			continue
		}
		if before < 0 {
			s.Start = i
		} else {
			s.Leaves[before] = []*Edge{{Transition: &Transition{}, Target: i}}
		}
		before = i
	}
}

// inside returns the agents that a parallel runs.
func (c *checker) inside() map[int]bool {
	inside := map[int]bool{}
	for _, a := range c.spec.Agents {
		for _, child := range a.Children {
			if i, ok := c.agents[child.Text]; ok {
				inside[i] = true
			}
		}
	}
	return inside
}

// refer finds the agent that a value names.
func (c *checker) refer(v *tree.Value, end bool) (int, bool) {
	if v == nil || v.Kind != tree.String {
		return 0, false
	}
	if end && v.Text == Finish {
		return -1, true
	}
	if i, ok := c.agents[v.Text]; ok {
		return i, true
	}
	d := c.report(diag.FlowAgent, v, "", "there is no agent %q", text.Clip(v.Text, mostShown))
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
		if d.Message == "" {
			return 0, false // the result is not kept
		}
		names := c.names
		if end {
			names = append(slices.Clone(names), Finish)
		}
		meant(d, v, names)
		return 0, false
	}
	d.Help = []string{fmt.Sprintf("write %q", bare)}
	d.Fixes = []diag.Fix{{Message: "write " + bare, Span: v.Span, Replacement: `"` + bare + `"`}}
	return 0, false
}

// tools reports tools that an agent names and the flow does not have, as far as that is known: a server lists its tools
// only when it runs.
func (c *checker) tools(a *Agent) {
	if !c.toolsKnown {
		return
	}
	for _, v := range a.Tools {
		if c.offered[v.Text] {
			continue
		}
		d := c.report(diag.FlowTool, v, "", "%s may call %s, and no tool of the flow offers it", a.label(), text.Clip(v.Text, mostShown))
		if len(c.toolNames) == 0 {
			d.Help = []string{`declare where it comes from: "tools": [{"name": "…", "type": "mcp", "parameters": {…}}]`}
			return
		}
		if d.Message != "" {
			meant(d, v, c.toolNames)
		}
	}
	c.choice(a)
}

// choice reports a tool that an agent must call but may not.
func (c *checker) choice(a *Agent) {
	choice := a.Config.ToolChoice
	if choice == "" || slices.Contains(choices, choice) || !a.Models() {
		return
	}
	at := a.Config.At.Get("toolChoice")
	may := slices.ContainsFunc(a.Tools, func(v *tree.Value) bool { return v.Text == choice })
	if may || a.AllTools && c.offered[choice] {
		return
	}
	d := c.report(diag.FlowTool, at, `write "auto", "required", "none" or the name of a tool that it may call`, "%s must call %s, and may call no such tool", a.label(), text.Clip(choice, mostShown))
	if near, ok := diag.Suggest(choice, append(slices.Clone(choices), c.toolNames...)); ok && at.Kind == tree.String {
		d.Span = at.Span
		means(d, near)
	}
}

// reach reports unreachable agents, flows that never end, and cycles without a bound.
func (c *checker) reach() {
	s := c.spec
	if len(s.Transitions) > 0 {
		i, ok := c.agents[s.Transitions[0].At.TextOf("from")]
		if !ok {
			return // already reported
		}
		s.Start = i
	}
	start, inside := s.Start, c.inside()
	ahead, back := make([][]int, len(s.Agents)), make([][]int, len(s.Agents))
	ends := []int{}
	for i, edges := range s.Leaves {
		if len(edges) == 0 {
			ends = append(ends, i) // an agent without transitions ends the flow
		}
		for _, e := range edges {
			switch {
			case e.Dead:
			case e.Target < 0:
				ends = append(ends, i)
			default:
				ahead[i], back[e.Target] = append(ahead[i], e.Target), append(back[e.Target], i)
			}
		}
	}
	order, reached := spread(ahead, start)
	_, ending := spread(back, ends...)
	s.Order = order
	for i := range s.Agents {
		if reached[i] && !c.known[i] { // something leads to an unknown agent
			c.cycles(start)
			return
		}
	}
	for i, a := range s.Agents {
		if reached[i] || inside[i] || a.Name == "" || c.agents[a.Name] != i {
			continue
		}
		d := c.warn(diag.FlowUnreached, a.At, "let a transition lead to it, or leave it out", "%s is never reached", a.label())
		d.Notef(s.Agents[start].Span().Pos, "the flow begins with %s", s.Agents[start].label()).Span = a.Span()
	}
	c.takings()
	for i, a := range s.Agents {
		if reached[i] && !ending[i] {
			help := fmt.Sprintf("let a transition lead to %q, or to an agent that none leaves", Finish)
			c.report(diag.FlowNoEnd, s.Leaves[i][0].To, help, "from %s on this flow never ends", a.label())
			break // agents before it, or in a cycle with it, have the same cause
		}
	}
	c.cycles(start)
}

// takings reports parts of a verdict that are taken from something else.
func (c *checker) takings() {
	s := c.spec
	for i, edges := range s.Leaves {
		from := s.Agents[i]
		verdict := !from.Models() || from.Type == Verify // for what a transform or a parallel passes on, its nodes decide
		for _, e := range edges {
			taken := e.Projection != nil && *e.Projection != ""
			switch {
			case taken && !verdict:
				c.report(diag.FlowCondition, e.At.Get("transformation"), `take it where a "type": "verify" is left`, "%s is part of a verdict, and %s does not return one", *e.Projection, from.label())
			case e.Target < 0 || s.Agents[e.Target].Projection == "":
			case taken || !verdict:
				to := s.Agents[e.Target]
				c.report(diag.FlowCondition, to.At, `let a "type": "verify" lead to it, without a transformation`, "%s takes %s of a verdict, and %s leads to it without one", to.label(), to.Projection, from.label()).Span = to.Span()
			}
		}
	}
}

// spread returns what is reachable from some nodes: in the order in which it is reached, and marked.
func spread(next [][]int, from ...int) (order []int, marked []bool) {
	marked = make([]bool, len(next))
	reach := func(nodes []int) {
		for _, i := range nodes {
			if !marked[i] {
				marked[i] = true
				order = append(order, i)
			}
		}
	}
	reach(from)
	for k := 0; k < len(order); k++ {
		reach(next[order[k]])
	}
	return order, marked
}

// cycles reports the first transition that leads back, if nothing bounds the repetitions.
func (c *checker) cycles(start int) {
	if c.o.Bounded {
		return
	}
	const begun, done = 1, 2
	state := make([]int, len(c.spec.Agents))
	var back func(i int) bool // reports a transition that leads back, and whether there is one
	back = func(i int) bool {
		state[i] = begun
		for _, e := range c.spec.Leaves[i] {
			switch {
			case e.Dead || e.Target < 0 || state[e.Target] == done:
			case state[e.Target] == begun:
				c.add(diag.Info, diag.FlowCycle, e.To, "agentscript run --max-steps 20 bounds it, and MaxSteps where a host runs it; else a run ends after 1000 agents",
					"%s leads back to %s, and the file cannot say how often", []any{c.spec.Agents[i].label(), c.spec.Agents[e.Target].label()})
				return true
			case back(e.Target):
				return true
			}
		}
		state[i] = done
		return false
	}
	back(start)
}
