package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// jump runs a graph: a node, then the first of its edges that takes the output. Its space does
// not grow with the steps.
func (b *branch) jump(s *step, v generable.Value) (generable.Value, error) {
	g, at := s.node.graph, b.at
	defer func() { b.at = at }()
	k := 0
	for turn := range g.maxSteps {
		b.at = at.index(turn)
		out, err := b.exec(s.kids[k], v)
		if err != nil {
			return out, err
		}
		e, err := b.leave(g, k, out)
		if err != nil {
			return out, b.locate(err, s.node)
		}
		if e < 0 {
			if e == finish {
				return out, nil
			}
			k, v = g.other, out
			continue
		}
		v = out
		if m := s.maps[e]; m != nil {
			if v, err = b.exec(m, out); err != nil {
				return v, err
			}
		}
		if k = g.to[e]; k < 0 {
			return v, nil
		}
	}
	return v, Errorf(KindScript, diag.LoopLimit, "the graph did not end within %s", text.CountInWords(g.maxSteps, "step")).
		WithHelp("let an edge lead to FINISH earlier, or raise max_steps")
}

// What leave gives instead of an edge.
const (
	finish    = -1
	toTheRest = -2
)

// leave finds the edge by which a value leaves node k.
func (b *branch) leave(g *graphSpec, k int, v generable.Value) (int, error) {
	if len(g.out[k]) == 0 {
		return finish, nil
	}
	for n, i := range g.out[k] {
		e := &g.edges[i]
		if !e.guarded() {
			return i, nil
		}
		takes, err := b.takes(&e.Guard, n, v)
		if err != nil {
			return 0, err
		}
		if takes {
			return i, nil
		}
	}
	switch g.noMatch {
	case NoMatchFinish:
		return finish, nil
	case NoMatchNode:
		return toTheRest, nil
	}
	return 0, Errorf(KindType, diag.NoRoute, "no edge takes %s", v.TypeName()).
		WithHelp("end with an edge without when, or say what happens with on_no_match")
}
