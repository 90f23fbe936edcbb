package interp

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// jump runs a graph: a node, then the first of its edges that takes the output, and so on. Its memory does not grow
// with the steps.
func jump(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	g, at := s.node.Spec().Graph, b.At
	defer func() { b.At = at }()
	k := 0
	for turn := range g.MaxSteps {
		b.At = at.Index(turn)
		out, err := Run(b, s.kids[k], v)
		if err != nil {
			return out, err
		}
		e, err := leave(b, s.node, k, out)
		if err != nil {
			return out, b.Locate(err, s.node)
		}
		if e < 0 {
			if e == finish {
				return out, nil
			}
			k, v = g.Other, out
			continue
		}
		v = out
		if m := s.maps[e]; m != nil {
			if v, err = Run(b, m, out); err != nil {
				return v, err
			}
		}
		if k = g.To[e]; k < 0 {
			return v, nil
		}
	}
	return v, engine.Errorf(engine.KindScript, diag.LoopLimit, "the graph did not end within %s", text.CountInWords(g.MaxSteps, "step")).
		WithHelp("let an edge lead to FINISH earlier, or raise max_steps; of a flow as JSON these are __finish__ and --max-steps")
}

// Results of leave other than an edge.
const (
	finish    = -1
	toTheRest = -2
)

// leave returns the edge by which a value leaves node k.
func leave(b *exec.Branch, n *flow.Node, k int, v generable.Value) (int, error) {
	g := n.Spec().Graph
	if len(g.Out[k]) == 0 {
		return finish, nil
	}
	edges, _ := n.Edges()
	for ordinal, i := range g.Out[k] {
		e := &edges[i]
		if !e.Guarded() {
			chose(b, n, i, n.Children()[k], v)
			return i, nil
		}
		takes, err := takes(b, &e.Guard, ordinal, v)
		if err != nil {
			return 0, err
		}
		if takes {
			chose(b, n, i, n.Children()[k], v)
			return i, nil
		}
	}
	switch {
	case g.Finishes:
		chose(b, n, len(edges), n.Children()[k], v)
		return finish, nil
	case g.Other >= 0:
		chose(b, n, len(edges), n.Children()[k], v)
		return toTheRest, nil
	}
	return 0, stuck(n.Children()[k], edges, g.Out[k], v)
}

// stuck returns the error of a graph in which no edge of a node takes its output.
func stuck(from *flow.Node, edges []flow.Edge, tried []int, v generable.Value) error {
	keys := text.Each(tried, func(i int) string {
		if to := edges[i].To; to != nil {
			return edges[i].Key() + " (to " + to.Label() + ")"
		}
		return edges[i].Key() + " (to the end)"
	})
	shown := text.Clip(generable.JSON(v, nil), 200)
	return engine.Errorf(engine.KindType, diag.NoRoute, "no edge of %s takes %s: it has %s", from.Label(), shown, strings.Join(keys, ", ")).
		WithHelp("end with an edge without a condition, or say what happens with on_no_match")
}
