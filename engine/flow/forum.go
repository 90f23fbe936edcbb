package flow

// participants are the kids of a forum that discuss.
func (n *Node) participants() []*Node {
	if n.Decides() != nil {
		return n.kids[:len(n.kids)-1]
	}
	return n.kids
}
