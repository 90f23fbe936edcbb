package engine

// mended adds to what an agent asks for what the nodes among its tools may, and what its fixers: each
// call of a tool can be mended in so many steps. A budget over what the agent calls bounds them, too.
func (w *bounding) mended(n *Node, own load) load {
	if len(n.kids) == 0 {
		return own
	}
	calls := n.agent.Budget.ToolCalls.or(DefaultToolCalls)
	inside := load{}
	for _, k := range n.kids {
		times := product(calls, MaxMends)
		if t := n.agent.ToolOf(k); t != nil {
			if times = calls; t.OnError != nil || n.agent.OnToolError != nil { // it may be called again
				times = product(calls, 1+MaxMends)
			}
		}
		inside.add(w.load(k).scaled(times, false))
	}
	for a, s := range inside {
		own[a] = own[a].and(s.atMost(&n.agent.Budget, false))
	}
	return own
}
