package node

// mostVisits bounds the work of [Graph.Times].
const mostVisits = 5_000_000

// Times returns how often each node is run at most, within the graph's bound: once, unless it can be reached from itself. Such a node
// is not run before the nodes on the shortest way to it, nor again before those of its shortest cycle. Rest reports whether the edges
// of a node leave something over.
func (g *Graph) Times(rest func(i int) bool) []int {
	times := make([]int, g.Nodes)
	before, visits := g.distances(0, -1, rest), mostVisits
	for i := range times {
		switch {
		case before[i] < 0 || before[i] >= g.MaxSteps:
			continue // nothing leads there in so many steps
		case visits <= 0:
			times[i] = g.MaxSteps
			continue
		}
		times[i] = 1
		cycle := g.distances(i, i, rest)
		for _, d := range cycle {
			if d >= 0 {
				visits--
			}
		}
		if round := cycle[i]; round > 0 {
			times[i] += (g.MaxSteps - before[i] - 1) / round
		}
	}
	return times
}

// distances returns how many steps there are from a node to each, -1 where no way leads. That to the node itself is 0, or with to the
// length of its shortest cycle; the search ends where to is reached.
func (g *Graph) distances(from, to int, rest func(i int) bool) []int {
	far := make([]int, g.Nodes)
	for i := range far {
		far[i] = -1
	}
	queue := []int{from}
	if to < 0 {
		far[from] = 0
	}
	for at := 0; at < len(queue); at++ {
		i := queue[at]
		steps := max(far[i], 0)
		if at == 0 {
			steps = 0
		}
		reach := func(k int) {
			if k >= 0 && far[k] < 0 {
				far[k] = steps + 1
				queue = append(queue, k)
			}
		}
		for _, e := range g.Out[i] {
			reach(g.To[e])
		}
		if g.Other >= 0 && len(g.Out[i]) > 0 && rest(i) {
			reach(g.Other)
		}
		if to >= 0 && far[to] > 0 {
			break
		}
	}
	return far
}
