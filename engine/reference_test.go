package engine_test

import (
	"fmt"
	"math/rand/v2"
)

// program is a random composition int→int as data. It is built as nodes, and run by the naive
// interpreter, which knows the rules of the algebra and of positions, and nothing of the engine.
type program struct {
	op, name string
	kids     []*program
	k, m     int64 // numbers of the op: what a leaf adds, how often, how many
	fails    bool  // a leaf fails on every fourth input
	policy   int   // of failures: raise, keep, drop
	way      int   // a variant of the op
	edges    []arrow
}

// arrow is an edge of a graph.
type arrow struct {
	from, to int // to: -1 is FINISH
	way      int // of the guard: none, at least, by remainder
	k        int64
	mapped   *program // on the way, or nil
}

const (
	raises = iota
	keeps
	drops
)

// lost is the number of an outcome without a value.
const lost = 1_000_004

// programs makes random ones. Ops are drawn from all; without failures no leaf fails.
type programs struct {
	*rand.Rand
	failures bool
}

var leafOps = []string{"fn", "run", "model", "model"}

var treeOps = []string{"then", "then", "par", "each", "loop", "until", "branch", "handoff", "forum", "consensus", "graph", "graph", "fallback",
	"race", "retry", "attempt", "vote", "wrap", "verify", "calls"}

func (g *programs) make(depth int) *program {
	p := &program{name: []string{"", "a", "b"}[g.IntN(3)], k: int64(g.IntN(97)), m: int64(1 + g.IntN(3)), way: g.IntN(4), policy: g.IntN(3)}
	if depth == 0 {
		p.op = leafOps[g.IntN(len(leafOps))]
		p.fails = g.failures && g.IntN(5) == 0
		return p
	}
	p.op = treeOps[g.IntN(len(treeOps))]
	kids := 1 + g.IntN(3)
	switch p.op {
	case "each", "loop", "retry", "attempt", "verify":
		kids = 1
	case "until", "branch", "handoff", "wrap":
		kids = 2
	case "race":
		kids = 3
	case "consensus":
		kids = 2 + g.IntN(2)
	}
	for range kids {
		p.kids = append(p.kids, g.make(g.IntN(depth)))
	}
	switch p.op {
	case "wrap": // a model student; the teacher may be anything
		p.kids[1] = &program{op: "model", name: "student", k: 1}
	case "verify":
		p.kids[0] = &program{op: "judge", name: "judge", k: p.m + 1}
	case "graph":
		g.arrows(p, depth)
	}
	return p
}

// arrows gives a graph edges such that it is sound: each node is reached, no edge is covered, and
// the end can be reached.
func (g *programs) arrows(p *program, depth int) {
	n := len(p.kids)
	mapped := func() *program {
		if g.IntN(3) == 0 {
			return g.make(g.IntN(depth))
		}
		return nil
	}
	for i := range p.kids {
		if g.IntN(2) == 0 { // data first, so that nothing covers it
			p.edges = append(p.edges, arrow{i, g.IntN(n+1) - 1, 1, int64(g.IntN(900_000)), mapped()})
		}
		if i+1 < n {
			p.edges = append(p.edges, arrow{i, i + 1, 2, int64(g.IntN(3)), mapped()})
		}
		p.edges = append(p.edges, arrow{i, -1, 2, int64(g.IntN(3)), mapped()})
		if g.IntN(3) == 0 {
			p.edges = append(p.edges, arrow{i, g.IntN(n), 0, 0, mapped()})
		}
	}
	p.m = int64(2 + g.IntN(7)) // steps at most
}

// text writes a program for people.
func (p *program) text() string {
	s := fmt.Sprintf("%s:%s(k=%d m=%d way=%d policy=%d fails=%v", p.op, p.name, p.k, p.m, p.way, p.policy, p.fails)
	for _, k := range p.kids {
		s += " " + k.text()
	}
	for _, e := range p.edges {
		s += fmt.Sprintf(" %d→%d/%d,%d", e.from, e.to, e.way, e.k)
		if e.mapped != nil {
			s += e.mapped.text()
		}
	}
	return s + ")"
}
