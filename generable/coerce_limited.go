package generable

// enterLimited begins a value that has to keep limits, of a type that is no field's. Its frame
// waits for the value; [coercer.endLimited] then checks it.
func (c *coercer) enterLimited(at int, t *Type) bool {
	c.push(opLimit, at, t)
	c.enter(at, t.Elem)
	return false
}

func (c *coercer) endLimited(f *coerceFrame) bool {
	v, ok, at := c.ret, c.ok, int(f.node)
	if !ok || c.partial {
		return c.pop(v, ok)
	}
	for _, e := range in.Breaks(f.typ.Limits, v) {
		c.failAt(at, e.Expected, e.Got, e.Hint)
		ok = false
	}
	return c.pop(v, ok)
}
