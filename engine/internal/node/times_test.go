package node

import (
	"math/rand/v2"
	"testing"
)

// TestTimes: a node counts exactly as often as the longest possible run of the graph runs it.
func TestTimes(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := r.IntN(6) + 1
		g := &Graph{Nodes: n, Out: make([][]int, n), Other: -1, MaxSteps: r.IntN(12) + 1}
		for i := range n {
			for range r.IntN(3) {
				g.Out[i] = append(g.Out[i], len(g.To))
				g.To = append(g.To, r.IntN(n+1)-1)
			}
		}
		if r.IntN(3) == 0 {
			g.Other = r.IntN(n)
		}
		open := r.IntN(1 << n)
		rest := func(i int) bool { return open&(1<<i) != 0 }
		for v, got := range g.Times(rest) {
			if want := most(g, rest, v); got != want {
				t.Fatalf("seed %d: node %d runs %d times, want %d: %+v", seed, v, got, want, g)
			}
		}
	}
}

// most follows all ways through a graph at once. It returns how often one of them runs a node at most.
func most(g *Graph, rest func(i int) bool, v int) int {
	is := func(i int) int {
		if i == v {
			return 1
		}
		return 0
	}
	at := map[int]int{0: is(0)}
	best := at[0]
	for range g.MaxSteps - 1 {
		next := map[int]int{}
		for i, times := range at {
			reach := func(k int) { next[k] = max(next[k], times+is(k)) }
			for _, e := range g.Out[i] {
				if g.To[e] >= 0 {
					reach(g.To[e])
				}
			}
			if g.Other >= 0 && len(g.Out[i]) > 0 && rest(i) {
				reach(g.Other)
			}
		}
		at = next
		for _, times := range at {
			best = max(best, times)
		}
	}
	return best
}
