package engine

// mended adds to what an agent asks for what its fixers may: each call of a tool can be mended in so
// many steps. A budget over what the agent calls bounds them, too.
func (w *bounding) mended(n *Node, own load) load {
	if len(n.kids) == 0 {
		return own
	}
	mends := product(n.agent.Budget.ToolCalls.or(DefaultToolCalls), MaxMends)
	for a, s := range w.sum(n.kids).scaled(mends, false) {
		if most, set := n.agent.Budget.ModelCalls.Value(); set {
			s.calls = min(s.calls, most)
		}
		if had, ok := own[a]; ok {
			s = share{plus(had.runs, s.runs), plus(had.calls, s.calls), had.perItem || s.perItem}
		}
		own[a] = s
	}
	return own
}
