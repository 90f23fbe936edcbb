package shape

import (
	"slices"

	"github.com/agentscript/agentscript/flowjson/internal/plan"
)

// ways are the edges of a flow without their conditions: where each agent may lead, and what all paths to the end have
// in common. The end has the index after the last agent.
type ways struct {
	next, before [][]int
	order        []int // the reachable agents, each after one that leads to it
	rank         []int // by agent: its index in order
	end          int

	dom, post []int // immediate dominators and post-dominators
	in, out   []int // when a walk of the dominator tree enters and leaves
	lost      int   // an agent from which no path leads to the end; -1 if there is none
}

func newWays(p *plan.Plan) *ways {
	n := len(p.Agents)
	w := &ways{next: make([][]int, n+1), before: make([][]int, n+1), end: n, lost: -1}
	for _, i := range p.Order {
		for _, e := range p.Agents[i].Edges {
			to := e.Target
			if to < 0 {
				to = n
			}
			if !slices.Contains(w.next[i], to) || len(w.next[i]) > 64 { // among many, a few duplicates do no harm
				w.next[i] = append(w.next[i], to)
			}
		}
		if len(p.Agents[i].Edges) == 0 {
			w.next[i] = []int{n}
		}
	}
	behind := reversed(w.next, p.Start)
	for _, i := range behind {
		for _, to := range w.next[i] {
			w.before[to] = append(w.before[to], i)
		}
	}
	for _, i := range p.Order {
		if i == p.Start || len(w.before[i]) > 0 {
			w.order = append(w.order, i)
		}
	}
	w.rank = make([]int, n+1)
	for k, i := range w.order {
		w.rank[i] = k
	}
	w.dom = dominators(w.before, behind)
	ahead := reversed(w.before, n)
	w.post = dominators(w.next, ahead)
	for _, i := range w.order {
		if w.post[i] < 0 && w.lost < 0 {
			w.lost = i
		}
	}
	w.walk(p.Start)
	return w
}

// reversed returns what is reachable from a root, each node before all that it leads to, except along back edges.
func reversed(next [][]int, root int) []int {
	type visit struct{ node, at int }
	seen := make([]bool, len(next))
	seen[root] = true
	var out []int
	for stack := []visit{{root, 0}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.at == len(next[top.node]) {
			out = append(out, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		to := next[top.node][top.at]
		top.at++
		if !seen[to] {
			seen[to] = true
			stack = append(stack, visit{to, 0})
		}
	}
	slices.Reverse(out)
	return out
}

// dominators finds the immediate dominator of each node in an order, after Cooper, Harvey and Kennedy. It is -1 for
// other nodes, and the first node is its own.
func dominators(before [][]int, order []int) []int {
	at, dom := make([]int, len(before)), make([]int, len(before))
	for i := range dom {
		dom[i] = -1
	}
	for k, i := range order {
		at[i] = k
	}
	dom[order[0]] = order[0]
	for changed := true; changed; {
		changed = false
		for _, i := range order[1:] {
			best := -1
			for _, b := range before[i] {
				switch {
				case dom[b] < 0:
				case best < 0:
					best = b
				default:
					for x := b; x != best; {
						if at[x] > at[best] {
							x = dom[x]
						} else {
							best = dom[best]
						}
					}
				}
			}
			if best != dom[i] {
				dom[i], changed = best, true
			}
		}
	}
	return dom
}

// walk numbers the dominator tree, so that dominance is decided by one comparison.
func (w *ways) walk(root int) {
	n := len(w.next)
	kids := make([][]int, n)
	for i, d := range w.dom {
		if d >= 0 && d != i {
			kids[d] = append(kids[d], i)
		}
	}
	w.in, w.out = make([]int, n), make([]int, n)
	clock := 0
	type visit struct{ node, at int }
	for stack := []visit{{root, 0}}; len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.at == 0 {
			clock++
			w.in[top.node] = clock
		}
		if top.at == len(kids[top.node]) {
			w.out[top.node] = clock
			stack = stack[:len(stack)-1]
			continue
		}
		top.at++
		stack = append(stack, visit{kids[top.node][top.at-1], 0})
	}
}

// dominates reports whether all paths to b pass through a.
func (w *ways) dominates(a, b int) bool { return w.in[a] <= w.in[b] && w.out[b] <= w.out[a] }

// loop returns the nodes of the loop through a node: all that lead back to it without passing through it. It returns
// nil if there are none, or if one of them can be entered another way.
func (w *ways) loop(head int) map[int]bool {
	var todo []int
	for _, b := range w.before[head] {
		if w.dominates(head, b) {
			todo = append(todo, b)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	in := map[int]bool{head: true}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if in[i] {
			continue
		}
		in[i] = true
		todo = append(todo, w.before[i]...)
	}
	return in
}

// region returns what is reachable from a node without passing through another one, in the order of the flow. ok is
// false if there is another entry, or if something in it already has a place. A loop through its first node is part of
// it, unless the node is the head of a loop being built around it.
func (w *ways) region(from, until int, taken []bool, head bool) (nodes []int, ok bool) {
	in := map[int]bool{from: true}
	for todo := []int{from}; len(todo) > 0; todo = todo[1:] {
		if i := todo[0]; i == w.end || taken[i] {
			return nil, false
		}
		for _, to := range w.next[todo[0]] {
			if to != until && !in[to] {
				in[to] = true
				todo = append(todo, to)
			}
		}
	}
	for i := range in {
		for _, b := range w.before[i] {
			if !in[b] && (i != from || !head && w.dominates(from, b)) {
				return nil, false
			}
		}
		nodes = append(nodes, i)
	}
	slices.SortFunc(nodes, func(a, b int) int { return w.rank[a] - w.rank[b] })
	return nodes, true
}
