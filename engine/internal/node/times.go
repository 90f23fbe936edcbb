package node

// mostVisits bounds the work of [Graph.Times]. Beyond it, the shortest possible length is assumed for a cycle.
const mostVisits = 5_000_000

// Times returns the maximum number of runs of each node within the graph's step limit: one, unless the node can be
// reached from itself. A node runs only after the nodes on the shortest path to it, and again only after those of its
// shortest cycle. rest reports whether the edges of a node leave values over.
func (g *Graph) Times(rest func(i int) bool) []int {
	next := make([][]int, g.Nodes)
	for i, out := range g.Out {
		for _, e := range out {
			if g.To[e] >= 0 {
				next[i] = append(next[i], g.To[e])
			}
		}
		if g.Other >= 0 && len(out) > 0 && rest(i) {
			next[i] = append(next[i], g.Other)
		}
	}
	s := &search{next: next, far: make([]int, g.Nodes), stamp: make([]int, g.Nodes)}
	part, size := components(next)
	before := make([]int, g.Nodes)
	for i := range before {
		before[i] = -1
	}
	s.from(0, func(i, far int) bool {
		before[i] = far
		return true
	})
	before[0] = 0
	times := make([]int, g.Nodes)
	visits := 0
	for i := range times {
		if before[i] < 0 || before[i] >= g.MaxSteps {
			continue // it cannot be reached in so many steps
		}
		times[i] = 1
		round := 0
		if visits < mostVisits || size[part[i]] == 1 {
			s.from(i, func(k, far int) bool {
				visits++
				if k == i {
					round = far
				}
				return round == 0 && part[k] == part[i]
			})
		} else {
			round = 2
		}
		if round > 0 {
			times[i] += (g.MaxSteps - before[i] - 1) / round
		}
	}
	return times
}

// search is a breadth-first search from a node.
type search struct {
	next  [][]int
	far   []int // steps to a node, in the search that stamped it
	stamp []int
	nth   int
	queue []int
}

// from calls visit with each node that can be reached from node i, including i itself if it is reached again. If visit
// returns false, the search does not continue from that node.
func (s *search) from(i int, visit func(i, far int) bool) {
	s.nth++
	s.queue = append(s.queue[:0], i)
	for at := 0; at < len(s.queue); at++ {
		k, far := s.queue[at], 0
		if at > 0 {
			if far = s.far[k]; k == i {
				continue
			}
		}
		for _, to := range s.next[k] {
			if s.stamp[to] == s.nth {
				continue
			}
			s.stamp[to], s.far[to] = s.nth, far+1
			if visit(to, far+1) {
				s.queue = append(s.queue, to)
			}
		}
	}
}

// components returns the number of the strongly connected component of each node, and how many nodes each has.
func components(next [][]int) (part, size []int) {
	n := len(next)
	index, low, part := make([]int, n), make([]int, n), make([]int, n)
	for i := range part {
		part[i] = -1
	}
	type frame struct{ node, edge int }
	var stack []int
	count := 0
	for root := range n {
		if index[root] > 0 {
			continue
		}
		frames := []frame{{root, 0}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			if f.edge == 0 {
				count++
				index[f.node], low[f.node] = count, count
				stack = append(stack, f.node)
			}
			if f.edge < len(next[f.node]) {
				to := next[f.node][f.edge]
				f.edge++
				switch {
				case index[to] == 0:
					frames = append(frames, frame{to, 0})
				case part[to] < 0:
					low[f.node] = min(low[f.node], index[to])
				}
				continue
			}
			done := f.node
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				below := frames[len(frames)-1].node
				low[below] = min(low[below], low[done])
			}
			if low[done] < index[done] {
				continue
			}
			members := 0
			for part[done] < 0 {
				top := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				part[top] = len(size)
				members++
			}
			size = append(size, members)
		}
	}
	return part, size
}
