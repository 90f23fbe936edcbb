// Package node holds what the engine runs a node by, beside what the node shows to everybody: the
// interpreter reads it, hosts do not.
package node

import (
	"slices"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
)

// MaxNesting bounds how deep nodes stand inside each other, in a composition and, by calls
// from callbacks, in a run: a loop that nests must not use up the stack.
const MaxNesting = 10_000

// Spec is what the engine runs a node by, beside what the node shows everybody.
type Spec struct {
	Joint  diag.Span           // the operator that placed the node
	Func   engine.Func         // of a step
	Text   *agent.TemplateText // of a template
	Limit  int                 // of par and each: how many at once, 0 for all
	Rounds int                 // of a forum

	Each  *generable.Type // of par and each: what one branch returns
	Item  *generable.Type // of par, each and vote: what is in the list
	Keeps bool            // of a vote: the list holds attempts, the failed ones too

	Sent  []*generable.Type // what each route or edge takes; nil where nothing is left for it
	Rest  *generable.Type   // what is left for the node that takes everything else; nil as in Sent
	Graph *Graph

	Plan atomic.Value // of the interpreter, which compiles a node when it is first run
}

// Graph is a graph whose nodes are numbered as the kids are. Kids from Nodes on are the maps of edges.
type Graph struct {
	Nodes    int
	Out      [][]int // edges that leave a node, in order
	To       []int   // by edge: the node that it leads to, -1 for the end
	Other    int     // the node for what no edge takes, or -1
	Finishes bool    // what no edge takes ends the graph
	MaxSteps int
	At       []diag.Span // where each node is mentioned first
}

// Cyclic reports whether a node can be reached from itself.
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

// Order lists the nodes so that what leads to one comes before it where it can: the types of
// steps that follow their input are known then.
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

// NoteDefined records where nodes were made.
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

// Unheard is the mistake of an agent that takes a transcript where none arrives, and what helps.
func Unheard(agent string) (message, help string) {
	return "no transcript reaches agent " + agent,
		"let run take the input alone; (input, transcript) is for the members of a forum, a * b or forum(a, b), and there for the first agent of each"
}
