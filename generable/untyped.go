package generable

import "slices"

// untyped makes the value at a container of which no type is known, without frames: it reads
// the tape from its end, so that the members of a container are there before it. It gives up,
// leaving no trace, where something has to be reported; the frames know the path. Of a value
// that is still to come, or is cut, it leaves out what may change.
func (c *coercer) untyped(at int) (Value, bool) {
	mark := c.here()
	stack := c.pending[:0]
	long := c.tape[at].kind == nodeArr && c.tape[at].count > ownBlock
	if long { // its items are put together where they stay
		n := int(c.tape[at].count)
		stack = make([]Value, 0, n+n/32+ownBlock)
	} else {
		defer func() { c.pending = stack[:0] }()
	}
	for i := at + int(c.tape[at].span) - 1; i >= at; i-- {
		n := &c.tape[i]
		if n.flags&flagKey != 0 {
			continue
		}
		v, known := Value{}, !c.partial || n.flags&flagOpen == 0 || n.kind >= nodeStr && n.kind != nodeWord
		switch k := int(n.count); n.kind {
		case nodeNull:
		case nodeMissing:
			known = known && !c.partial
		case nodeTrue, nodeFalse:
			v = BoolOf(n.kind == nodeTrue)
		case nodeInt, nodeFloat, nodeNumber:
			w, ok := c.numeral(n)
			if !ok && !c.partial {
				c.rollback(mark)
				return Value{}, false
			}
			v, known = w, known && ok
		case nodeStr, nodeWord, nodeConcat:
			if n.kind == nodeConcat {
				stack = stack[:len(stack)-k]
			}
			v = StrOf(c.str(i))
		case nodeArr:
			if long && i == at {
				return c.list(inOrder(stack)), true
			}
			vals := c.values(k)[:0]
			for range k {
				if item := stack[len(stack)-1]; !in.IsAbsent(item) {
					vals = append(vals, item)
				}
				stack = stack[:len(stack)-1]
			}
			v = c.list(vals)
			if lists := c.listsAround(at, i); lists >= manyLists {
				v = in.Nested(v, lists)
				i -= lists
			}
		case nodeObj:
			m := c.newMap(k)
			key := i + 1
			for range k {
				if member := stack[len(stack)-1]; !in.IsAbsent(member) {
					m.Set(c.str(key), member)
				}
				stack = stack[:len(stack)-1]
				key += 1 + int(c.tape[key+1].span)
			}
			if m.Len() < k && !c.partial { // a key came twice
				c.rollback(mark)
				return Value{}, false
			}
			v = m.Value()
		default: // no finite number
			if !c.partial {
				c.rollback(mark)
				return Value{}, false
			}
			known = false
		}
		if !known {
			v = in.Absent()
		}
		if len(c.repairs) > int(mark.repairs) || c.cost > int(mark.cost) {
			c.rollback(mark)
			return Value{}, false
		}
		stack = append(stack, v)
	}
	return stack[0], !in.IsAbsent(stack[0])
}

// inOrder turns the items of a list around, which were read from the last to the first, and leaves
// out those that are not there.
func inOrder(items []Value) []Value {
	slices.Reverse(items)
	n := 0
	for _, v := range items {
		if !in.IsAbsent(v) {
			items[n] = v
			n++
		}
	}
	return items[:n:n]
}

// manyLists is from how many lists on, each the only item of the next, none is made before it is
// asked for. Within the usual limit of nesting all are.
const manyLists = 2 * defaultDepth

// listsAround is how many lists around the one at a place, up to the value at root, have only one
// item. It counts them for the innermost alone.
func (c *coercer) listsAround(root, at int) int {
	if n := &c.tape[at]; n.count == 1 && c.tape[at+1].kind == nodeArr {
		return 0
	}
	n := 0
	for up := at - 1; up >= root && c.tape[up].kind == nodeArr && c.tape[up].count == 1; up-- {
		n++
	}
	return n
}
