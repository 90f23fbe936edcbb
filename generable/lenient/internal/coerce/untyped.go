package coerce

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// untyped makes the value of a container without a known type, without frames: it reads the tape backwards, so that
// the members of a container are complete before it. If something must be reported, it fails without a trace, because
// only frames know the path.
func (c *Coercer) untyped(at int) (generable.Value, bool) {
	mark := c.here()
	stack := c.Pending[:0]
	long := c.Tape[at].Kind == tape.NodeArr && c.Tape[at].Count > OwnBlock
	if long { // its items are built where they stay
		n := int(c.Tape[at].Count)
		stack = make([]generable.Value, 0, n+n/32+OwnBlock)
	} else {
		defer func() { c.Pending = stack[:0] }()
	}
	for i := at + int(c.Tape[at].Span) - 1; i >= at; i-- {
		n := &c.Tape[i]
		if n.Flags&tape.FlagKey != 0 {
			continue
		}
		v, ok := generable.Value{}, true
		switch k := int(n.Count); n.Kind {
		case tape.NodeNull, tape.NodeMissing:
		case tape.NodeTrue, tape.NodeFalse:
			v = generable.BoolOf(n.Kind == tape.NodeTrue)
		case tape.NodeInt, tape.NodeFloat, tape.NodeNumber:
			v, ok = c.numeral(n)
		case tape.NodeStr, tape.NodeWord, tape.NodeConcat:
			if n.Kind == tape.NodeConcat {
				stack = stack[:len(stack)-k]
			}
			v = generable.StrOf(c.Str(i))
		case tape.NodeArr:
			if long && i == at {
				slices.Reverse(stack)
				return c.List(stack[:len(stack):len(stack)]), true
			}
			vals := c.Values(k)[:0]
			for range k {
				vals = append(vals, stack[len(stack)-1])
				stack = stack[:len(stack)-1]
			}
			v = c.List(vals)
			if lists := c.listsAround(at, i); lists >= ManyLists {
				v = in.Nested(v, lists)
				i -= lists
			}
		case tape.NodeObj:
			m := c.newMap(k)
			key := i + 1
			for range k {
				m.Set(c.Str(key), stack[len(stack)-1])
				stack = stack[:len(stack)-1]
				key += 1 + int(c.Tape[key+1].Span)
			}
			v, ok = m.Value(), m.Len() == k // otherwise a key occurred twice
		default: // not a finite number
			ok = false
		}
		if !ok || len(c.Repairs) > int(mark.repairs) || c.Cost > int(mark.cost) {
			c.rollback(mark)
			return generable.Value{}, false
		}
		stack = append(stack, v)
	}
	return stack[0], true
}

// ManyLists is the number of nested lists, each the only item of the next, from which on they are created on demand.
// Within the default nesting limit all of them are created.
const ManyLists = 2 * tape.DefaultDepth

// listsAround returns how many lists directly around the one at a node, up to the value at root, have only one item.
// It counts them only for the innermost list.
func (c *Coercer) listsAround(root, at int) int {
	if n := &c.Tape[at]; n.Count == 1 && c.Tape[at+1].Kind == tape.NodeArr {
		return 0
	}
	n := 0
	for up := at - 1; up >= root && c.Tape[up].Kind == tape.NodeArr && c.Tape[up].Count == 1; up-- {
		n++
	}
	return n
}
