package lenient

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// maxPathSteps bounds the paths of syntax repairs. Anything deeper has the path of its container at this depth.
const maxPathSteps = 64

// pathLevel is an open container on the way to a repair.
type pathLevel struct {
	end   int // tape index after the container
	obj   bool
	index int // of the last item
	key   int // the last key's index on the tape
}

// pathWalk walks over the tape of a candidate from repair to repair and tracks the path.
type pathWalk struct {
	c     coerce.Coercer
	stack []pathLevel
	text  []byte // buffer for paths
	last  string // the last one
	arena coerce.Arena
}

// setPaths finds the paths of repairs in one walk over the candidate's tape: the innermost container that was open
// when the repair was made, and its last member.
func (m *Machine) setPaths(cand tape.Candidate, list []tape.SynRepair, out []generable.Repair) {
	tape := m.scan.Tape
	w := pathWalk{c: coerce.Coercer{Docs: []string{m.src}, Base: []int{0}, Depths: []int{0}, Tape: tape, Quiet: true}}
	at, stop := cand.Node, min(len(tape), cand.Node+int(tape[cand.Node].Span))
	order := byNode(list)
	for i := range list {
		if order != nil {
			i = order[i]
		}
		for to := min(stop, int(list[i].Node)); at < to; at++ {
			at = w.visit(at)
		}
		out[i].Path = w.path()
	}
}

// byNode returns the order of the nodes that repairs were made at, or nil when they are in order.
func byNode(list []tape.SynRepair) []int {
	compare := func(a, b tape.SynRepair) int { return int(a.Node) - int(b.Node) }
	if slices.IsSortedFunc(list, compare) {
		return nil
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(list[a], list[b]) })
	return order
}

// visit processes the node at index at, and returns the last index that is covered by it.
func (w *pathWalk) visit(at int) int {
	for len(w.stack) > 0 && at >= w.stack[len(w.stack)-1].end {
		w.stack = w.stack[:len(w.stack)-1]
	}
	n := &w.c.Tape[at]
	if top := len(w.stack) - 1; top >= 0 {
		switch l := &w.stack[top]; {
		case !l.obj:
			l.index++
		case n.Flags&tape.FlagKey != 0:
			l.key = at
		}
	}
	switch n.Kind {
	case tape.NodeArr, tape.NodeObj:
		if len(w.stack) < maxPathSteps {
			w.stack = append(w.stack, pathLevel{end: at + int(n.Span), obj: n.Kind == tape.NodeObj, index: -1, key: -1})
			return at
		}
		return at + int(n.Span) - 1 // deeper than paths go
	case tape.NodeConcat:
		return at + int(n.Span) - 1
	}
	return at
}

// path returns the path to the current place of the walk.
func (w *pathWalk) path() string {
	b := w.text[:0]
	for _, l := range w.stack {
		switch {
		case l.obj && l.key >= 0:
			b = message.AppendStep(b, w.c.Str(l.key))
		case !l.obj && l.index >= 0:
			b = message.AppendIndex(b, l.index)
		}
	}
	if w.text = b; string(b) != w.last {
		w.last = w.arena.Keep(append(w.arena.Text(len(b)), b...))
	}
	return w.last
}
