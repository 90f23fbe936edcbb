package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/generable"
)

// parallel adds an agent that runs others, which the file lists too.
func (x *exporter) parallel(n *flow.Node, in []*edge, h *agent.History) []*edge {
	members, site := membersOf(n), n.Site().Span
	s := x.add(&step{node: n, out: n.Out(), file: fileAgent{Type: "parallel", Params: &fileParams{}}}, in)
	if n.Spec().Limit > 0 {
		x.cannot(n, site, n.Label(), "how many run at once", "leave limit out")
	}
	if n.OnError() != flow.OnErrorRaise {
		x.cannot(n, site, n.Label(), "on_error", "leave it out: a branch that fails ends the flow")
	}
	var merge *condition
	if m := n.Merge(); m != nil {
		merge = x.merge(n, m, members)
		s.merge = merge
	}
	for i, k := range members {
		if merge != nil && passes(k) && i == len(members)-1 && strings.HasSuffix(merge.variable, ".input") {
			continue // it passes the parallel's input to the merge
		}
		before := len(x.steps)
		out := x.inside(k, h)
		for _, inner := range x.steps[before:] {
			inner.inner = true
			inner.open = inner.open || len(x.steps) > before+1 || len(out) != 1
			if merge != nil && merge.variable == fmt.Sprintf("results.%d.output", i) {
				inner.asked = &merge.literal
			}
		}
	}
	return s.leave()
}

// inside adds a branch of a parallel, which is one agent.
func (x *exporter) inside(k *flow.Node, h *agent.History) []*edge {
	switch k.Kind() {
	case flow.ParallelNode, flow.PipelineNode, flow.BranchNode, flow.LoopNode, flow.GraphNode:
		x.cannot(k, k.Site().Span, k.Label(), "a branch of par that is not an agent", "make each branch one agent, and put what follows after the par")
	case flow.FnNode:
		if passes(k) {
			return x.add(&step{node: k, out: k.Out(), file: fileAgent{Type: "transform"}}, nil).leave()
		}
	}
	return x.node(k, []*edge{{}}, h)
}

// membersOf returns the branches of a parallel, including those of a parallel that was opened by its name.
func membersOf(n *flow.Node) []*flow.Node {
	kids := n.Children()
	if n.Merge() != nil {
		kids = kids[:len(kids)-1]
	}
	var rest [][]*flow.Node // by level, from the outside in
	for n.Leads() != nil {
		rest = append(rest, kids[1:])
		n = n.Leads()
		kids = n.Children()
	}
	members := slices.Clone(kids)
	for i := len(rest) - 1; i >= 0; i-- {
		members = append(members, rest[i]...)
	}
	return members
}

// merge returns the merge of a parallel as a condition, or nil if it is any other function.
func (x *exporter) merge(n, m *flow.Node, branches []*flow.Node) *condition {
	if m.Kind() == flow.FnNode {
		switch f := m.Spec().Func.(type) {
		case Merge:
			if c := conditionOf(f, len(branches)); c != nil {
				return c
			}
		case Selection:
			if c := selected(f, branches); c != nil {
				return c
			}
		}
	}
	x.cannot(n, m.Site().Span, n.Label(), "merge by "+article(m.Kind()), "leave merge out, and let the agent after the par process the list")
	if len(m.Children()) > 0 || m.Agent() != nil {
		x.aside(m, nil)
	}
	return nil
}

// conditionOf returns the condition of a merge, or nil if the format does not have it.
func conditionOf(m Merge, branches int) *condition {
	c := &condition{}
	c.variable, c.operation, c.literal = m.MergeCondition()
	var index int
	var part string
	if _, err := fmt.Sscanf(c.variable, "results.%d.%s", &index, &part); err != nil || index < 0 || index >= branches {
		return nil
	}
	_, why := literalOf(c.literal)
	if why != "" || !slices.Contains([]string{"output", "input", "name"}, part) || !slices.Contains(operation.Words, c.operation) {
		return nil
	}
	f, ok := c.literal.AsFloat()
	c.float = ok && c.literal.Kind() == generable.Float && f == math.Trunc(f)
	return c
}

// selected returns the condition of a merge that returns one result, or nil if the format does not have it. A condition
// that always or never holds compares the name of that branch, which is filled in when all branches have names.
func selected(f Selection, branches []*flow.Node) *condition {
	taken, asked, when, ok := f.Selects()
	last := len(branches) - 1
	if !ok || taken > last || asked > last {
		return nil
	}
	c := &condition{variable: fmt.Sprintf("results.%d.name", taken), operation: operation.Equals, branch: branches[taken]}
	switch {
	case when == nil:
		return c
	case when.Op() == predicate.False:
		c.operation = operation.NotEquals
		return c
	}
	c, why := simple(when, generable.AnyT)
	if why != nil {
		return nil
	}
	c.variable = fmt.Sprintf("results.%d.output", taken)
	if asked != taken { // a branch that passes on the parallel's input
		if asked != last || !passes(branches[last]) {
			return nil
		}
		c.variable = fmt.Sprintf("results.%d.input", taken)
	}
	f64, isFloat := c.literal.AsFloat()
	c.float = isFloat && c.literal.Kind() == generable.Float && f64 == math.Trunc(f64)
	return c
}
