package lenient

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// maxPathSteps bounds the paths of syntax repairs. What lies deeper has the path of the
// container that holds it at this depth.
const maxPathSteps = 64

// pathLevel is an open container on the way to a repair.
type pathLevel struct {
	end   int // tape index behind the container
	obj   bool
	index int // of the last item
	key   int // the last key's place on the tape
	from  int // where the step from this container begins in the path
}

// pathWalk walks over the tape of a candidate from repair to repair, and keeps the path.
type pathWalk struct {
	c     coerce.Coercer
	stack []pathLevel
	text  []byte // the path
	done  int    // levels whose steps are in it
	same  bool   // it was reported
	last  string // as it was last reported
	arena coerce.Arena
}

// setPaths finds the paths of repairs in one walk over the candidate's tape: the innermost
// container that had been opened, and its last member, when the repair was made. Of a path
// only what differs from the one before is made anew.
func (m *Machine) setPaths(cand tape.Candidate, list []tape.SynRepair, out []generable.Repair) {
	tape := m.scan.Tape
	w := pathWalk{same: true, c: coerce.Coercer{Docs: []string{m.src}, Base: []int{0}, Depths: []int{0}, Tape: tape, Quiet: true}}
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

// byNode is the order of the nodes that repairs were made at; nil when they are in order.
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

// visit takes the node at a place into account, and returns the last place that is done with it.
func (w *pathWalk) visit(at int) int {
	for len(w.stack) > 0 && at >= w.stack[len(w.stack)-1].end {
		w.drop(len(w.stack) - 1)
		w.stack = w.stack[:len(w.stack)-1]
	}
	n := &w.c.Tape[at]
	if top := len(w.stack) - 1; top >= 0 {
		switch l := &w.stack[top]; {
		case !l.obj:
			l.index++
			w.drop(top)
		case n.Flags&tape.FlagKey != 0:
			l.key = at
			w.drop(top)
		}
	}
	switch n.Kind {
	case tape.NodeArr, tape.NodeObj:
		if len(w.stack) < maxPathSteps {
			w.stack = append(w.stack, pathLevel{end: at + int(n.Span), obj: n.Kind == tape.NodeObj, index: -1, key: -1})
			return at
		}
		return at + int(n.Span) - 1 // deeper than a path says
	case tape.NodeConcat:
		return at + int(n.Span) - 1
	}
	return at
}

// drop takes the steps from a level on out of the path.
func (w *pathWalk) drop(level int) {
	if w.done > level {
		w.text, w.done, w.same = w.text[:w.stack[level].from], level, false
	}
}

// Path is the path to where the walk is.
func (w *pathWalk) path() string {
	for ; w.done < len(w.stack); w.done++ {
		l := &w.stack[w.done]
		l.from = len(w.text)
		switch {
		case l.obj && l.key >= 0:
			w.text = message.AppendStep(w.text, w.c.Str(l.key))
		case !l.obj && l.index >= 0:
			w.text = message.AppendIndex(w.text, l.index)
		default:
			continue
		}
		w.same = false
	}
	if !w.same {
		w.last, w.same = w.arena.Keep(append(w.arena.Text(len(w.text)), w.text...)), true
	}
	return w.last
}
