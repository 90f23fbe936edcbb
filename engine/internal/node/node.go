// Package node defines what the engine runs a node by, in addition to the public part of the node: the interpreter
// reads it, hosts do not.
package node

import (
	"slices"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
)

// MaxNesting bounds how deep nodes are nested, in a composition and, through calls from callbacks, in a run: nesting
// must not exhaust the stack.
const MaxNesting = 10_000

// Spec is what the engine runs a node by, in addition to the public part of the node.
type Spec struct {
	Joint  diag.Span           // the operator that placed the node
	Func   engine.Func         // of a step
	Text   *agent.TemplateText // of a template
	Limit  int                 // of par and each: the concurrency limit, 0 for none
	Rounds int                 // of a forum

	Each  *generable.Type // of par and each: what one branch returns
	Item  *generable.Type // of par, each and vote: the type of an item in the list
	Keeps bool            // of a vote: the list contains attempts, including failed ones

	Sent  []*generable.Type // what each route or edge takes; nil if nothing is left for it
	Rest  *generable.Type   // what is left for the node that takes everything else; nil as in Sent
	Graph *Graph

	Plan atomic.Value // of the interpreter, which compiles a node on its first run
}

// Graph is a graph whose nodes have the indices of the kids. Kids from index Nodes on are the maps of edges.
type Graph struct {
	Nodes    int
	Out      [][]int // the edges that leave a node, in order
	To       []int   // by edge: the node that it leads to, -1 for the end
	Other    int     // the node for values that no edge takes, or -1
	Finishes bool    // a value that no edge takes ends the graph
	MaxSteps int
	At       []diag.Span // where each node is first mentioned
}

// Cyclic reports whether any node can be reached from itself.
func (g *Graph) Cyclic() bool {
	into := make([]int, len(g.Out))
	for _, to := range g.To {
		if to >= 0 {
			into[to]++
		}
	}
	var ready []int
	for i, n := range into {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for at := 0; at < len(ready); at++ {
		for _, e := range g.Out[ready[at]] {
			if to := g.To[e]; to >= 0 {
				if into[to]--; into[to] == 0 {
					ready = append(ready, to)
				}
			}
		}
	}
	return len(ready) < len(g.Out)
}

// Order lists each node after the nodes that lead to it, as far as possible: the types of steps that follow their input
// are then known.
func (g *Graph) Order() []int {
	seen := make([]bool, g.Nodes)
	order := make([]int, 0, g.Nodes)
	queue := []int{0}
	seen[0] = true
	for at := 0; ; at++ {
		if at == len(queue) {
			next := slices.Index(seen, false)
			if next < 0 {
				return order
			}
			seen[next] = true
			queue = append(queue, next)
		}
		k := queue[at]
		order = append(order, k)
		for _, i := range g.Out[k] {
			if to := g.To[i]; to >= 0 && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
}

// NoteDefined adds notes that say where nodes were made.
func NoteDefined[N interface {
	Label() string
	Pos() diag.Pos
}](d *diag.Diagnostic, nodes ...N) {
	for _, n := range nodes {
		if n.Pos().IsValid() {
			d.Notef(n.Pos(), "%s is defined", n.Label())
		}
	}
}

// Unheard returns the message and help for an agent that takes a transcript where none arrives.
func Unheard(agent string) (message, help string) {
	return "no transcript reaches agent " + agent,
		"let run take the input alone; (input, transcript) is for the members of a forum, a * b or forum(a, b), and there for the first agent of each"
}
