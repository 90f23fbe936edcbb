package generable

import "github.com/agentscript/agentscript/internal/text"

// repair records a coercion of the value at a node.
func (c *coercer) repair(kind repairKind, at int, before, after string) {
	c.cost += repairInfo[kind].cost
	if c.partial || len(c.repairs) >= maxRepairs {
		return
	}
	c.repairs = append(c.repairs, Repair{
		Kind: kind.String(), Path: c.path(), Offset: c.offset(at),
		Before: shorten(before), After: shorten(after), Cost: repairInfo[kind].cost,
	})
}

// offset is where a node stands in the input. A text inside a string has the offset of the
// string: its own offsets say nothing there.
func (c *coercer) offset(at int) int {
	n := &c.tape[at]
	if n.doc > 0 {
		return c.base[n.doc]
	}
	if n.kind == nodeStr && n.start > 0 && n.flags&flagFenced == 0 {
		return int(n.start) - 1 // the quote
	}
	return int(n.start)
}

// failAt records an error about the value at a node, and reports a complete value that is
// none.
func (c *coercer) failAt(at int, want, got, hint string) bool {
	switch {
	case c.partial:
	case len(c.errs) >= maxErrors:
		c.more++
	default:
		c.errs = append(c.errs, &FieldError{Path: c.path(), Expected: want, Got: got, Hint: hint, Offset: c.offset(at)})
	}
	return c.fail()
}

// maxCompared bounds the names that all hints of one text are chosen from.
const maxCompared = 20_000

// nearest is the hint that names the candidate nearest to a name, as long as errors are recorded
// and not too much has been compared.
func (c *coercer) nearest(name string, candidates []string) string {
	if c.partial || len(c.errs) >= maxErrors || c.compared+len(candidates) > maxCompared {
		return ""
	}
	c.compared += len(candidates)
	return didYouMean(name, candidates)
}

// failUnder records an error about what stands under the given keys in the object being
// entered.
func (c *coercer) failUnder(at int, want, got, hint string, keys ...string) bool {
	n := len(c.errs)
	c.failAt(at, want, got, hint)
	if len(c.errs) > n {
		b := []byte(c.errs[n].Path)
		for _, key := range keys {
			b = appendStep(b, key)
		}
		c.errs[n].Path = string(b)
	}
	return true
}

// mismatch records that the value at a node is of another type than t.
func (c *coercer) mismatch(at int, t *Type) bool {
	want, hint := in.Wanted(t)
	if f := c.top(); f != nil && hint == "" && f.op == opRecord && f.field >= 0 {
		hint = f.typ.Fields[f.field].Guide
	}
	return c.failAt(at, want, c.show(at), hint)
}

func (c *coercer) top() *coerceFrame {
	if len(c.stack) == 0 {
		return nil
	}
	return c.stack[len(c.stack)-1]
}

// show names the value at a node for an error or a repair.
func (c *coercer) show(at int) string {
	n := &c.tape[at]
	switch n.kind {
	case nodeNull:
		return "null"
	case nodeMissing:
		return "nothing"
	case nodeArr:
		return text.Count(int(n.count), "item") + " in a list"
	case nodeObj:
		return "an object"
	case nodeConcat:
		return "a string"
	case nodeStr, nodeWord:
		s := c.raw(n)
		if n.flags&flagEscape != 0 && len(s) < 4*maxShown {
			s, _ = unescape(s, endCut)
		}
		return quoteShort(text.Cut(s, 2*maxShown))
	}
	return shorten(c.raw(n))
}

// appendStep appends the step to a key of the text, which may be of any length: each record
// about what is in there has it in its path.
func appendStep(b []byte, key string) []byte { return appendKey(b, shorten(key)) }
