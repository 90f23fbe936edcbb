package exec

import (
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
)

// CutOff reports to whoever prepared the answers of models that a branch ended by err, because a sibling ended it or
// before it began: what was prepared for the agents of the nodes that it runs, and for those that functions of these
// may call, may be left over then. Where these are not known, nodes is nil, it is what was prepared for any.
func (b *Branch) CutOff(err error, nodes []*flow.Node) {
	p := b.Run.Spec.Prepared
	if p == nil || p.CutOff == nil || err == nil || !engine.IsControl(b.Sched.Err()) {
		return
	}
	called, all := flow.Called(nodes...)
	if nodes == nil || !all {
		p.CutOff(nil)
		return
	}
	var names []string
	for _, n := range slices.Concat(nodes, called) {
		names = agentsBelow(n, names)
	}
	if len(names) > 0 {
		p.CutOff(names)
	}
}

// agentsBelow adds the names of the agents in a node.
func agentsBelow(n *flow.Node, names []string) []string {
	if a := n.Agent(); a != nil {
		names = append(names, a.Name)
	}
	for _, k := range n.Children() {
		names = agentsBelow(k, names)
	}
	return names
}
