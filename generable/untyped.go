package generable

// untyped makes the value at a container of which no type is known, without frames: it reads
// the tape from its end, so that the members of a container are there before it. It gives up,
// leaving no trace, where something has to be reported; the frames know the path.
func (c *coercer) untyped(at int) (Value, bool) {
	mark := c.here()
	stack := c.pending[:0]
	defer func() { c.pending = stack[:0] }()
	for i := at + int(c.tape[at].span) - 1; i >= at; i-- {
		n := &c.tape[i]
		if n.flags&flagKey != 0 {
			continue
		}
		v := Value{}
		switch k := int(n.count); n.kind {
		case nodeNull, nodeMissing:
		case nodeTrue, nodeFalse:
			v = BoolOf(n.kind == nodeTrue)
		case nodeInt, nodeFloat, nodeNumber:
			var ok bool
			if v, ok = c.numeral(n); !ok {
				return Value{}, false
			}
		case nodeStr, nodeWord, nodeConcat:
			if n.kind == nodeConcat {
				stack = stack[:len(stack)-k]
			}
			v = StrOf(c.str(i))
		case nodeArr:
			vals := c.values(k)
			top := len(stack)
			for j := range vals {
				vals[j] = stack[top-1-j]
			}
			stack = stack[:top-k]
			v = c.list(vals)
		case nodeObj:
			m := NewMap(k)
			key := i + 1
			for range k {
				m.Set(c.str(key), stack[len(stack)-1])
				stack = stack[:len(stack)-1]
				key += 1 + int(c.tape[key+1].span)
			}
			if m.Len() < k { // a key came twice
				c.rollback(mark)
				return Value{}, false
			}
			v = m.Value()
		default: // no finite number
			c.rollback(mark)
			return Value{}, false
		}
		if len(c.repairs) > int(mark.repairs) || c.cost > int(mark.cost) {
			c.rollback(mark)
			return Value{}, false
		}
		stack = append(stack, v)
	}
	return stack[0], true
}
