package generable

// salvage is what is known of the value at a node that is no value of type t as it stands: the
// parts that fit, as a snapshot would show them. It is null when nothing fits.
func (c *coercer) salvage(at int, t *Type) Value {
	if c.tape[at].kind < nodeArr || isScalar(t.Deref()) {
		return Value{}
	}
	repairs, errs, cost := c.repairs, c.errs, c.cost
	c.stack = c.stack[:0]
	clear(c.memo)
	c.partial = true
	v, ok := c.decode(at, t)
	c.partial = false
	clear(c.memo)
	c.repairs, c.errs, c.cost = repairs, errs, cost
	if !ok {
		return Value{}
	}
	return v
}
