package generable

import (
	"slices"

	"github.com/agentscript/agentscript/internal/text"
)

// enterUnion begins a value of a declared union. Its tag alone decides which variant it is,
// exact or folded, wherever it stands, also as the only key around the body; only at level
// Loose may the fit of the body decide.
func (c *coercer) enterUnion(at int, n *node, t *Type) bool {
	switch {
	case n.kind == nodeObj:
	case n.isText() && c.o.Level != Strict && !(c.partial && n.flags&flagOpen != 0) && c.subdoc(at) < 0:
		// The name of a variant that needs no fields.
		v, rep := c.variantNamed(t, c.str(at))
		if v == nil || !allOptional(v) {
			return c.around(at, n, t)
		}
		if rep == repNone {
			rep = repBareTag
		}
		c.repair(rep, at, c.show(at), v.Name)
		return c.emptyRecord(v)
	default:
		return c.around(at, n, t)
	}
	tagAt := c.findTag(at, n, t.Tag)
	if tagAt >= 0 {
		return c.enterTagged(at, tagAt, t)
	}
	if n.count == 1 && c.o.Level != Strict {
		inner := &c.tape[at+2]
		if v, _ := c.variantNamed(t, c.str(at+1)); v != nil {
			return c.enterOuter(at, inner, t, v)
		}
		if inner.kind == nodeObj && c.findTag(at+2, inner, t.Tag) >= 0 {
			c.repair(repUnwrap, at, c.str(at+1), "")
			return c.enterUnion(at+2, inner, t)
		}
	}
	if c.partial {
		return c.fail() // the tag may still come
	}
	if c.o.Level == Loose {
		c.repair(repNoTag, at, "", "")
		fit := slices.Clone(t.Variants)
		return c.try(at, t, fit[:c.byKeys(at, fit, false)], nil)
	}
	want := text.Quote(t.Tag) + ": one of " + listNames(in.VariantNames(t))
	return c.failAt(at, want, "an object without "+t.Tag, "")
}

// enterOuter begins the variant that the only key of an object names, around its body.
func (c *coercer) enterOuter(at int, inner *node, t, v *Type) bool {
	switch {
	case inner.kind == nodeObj:
		if tagAt := c.findTag(at+2, inner, t.Tag); tagAt >= 0 && c.tape[tagAt+1].isText() {
			name := c.str(tagAt + 1)
			if says, _ := c.variantNamed(t, name); says != v && !(c.partial && c.tape[tagAt+1].flags&flagOpen != 0) {
				return c.failUnder(tagAt+1, text.Quote(v.Name), c.show(tagAt+1), "the key around it says "+v.Name, c.str(at+1), c.str(tagAt))
			}
		}
		c.repair(repOuterTag, at+1, c.show(at+1), "")
		return c.enterRecord(at+2, inner, v, t.Tag)
	case c.partial:
		return c.fail()
	case (inner.kind == nodeNull || inner.kind == nodeMissing) && allOptional(v):
		c.repair(repOuterTag, at+1, c.show(at+1), "")
		return c.emptyRecord(v)
	case inner.isText() || inner.kind == nodeArr: // a list of one, JSON in a string, the only field
		c.repair(repOuterTag, at+1, c.show(at+1), "")
		return c.enterRecord(at+2, inner, v, "")
	}
	return c.failAt(at+2, v.Name, c.show(at+2), "")
}

// enterTagged begins the variant that the tag at tagAt names.
func (c *coercer) enterTagged(at, tagAt int, t *Type) bool {
	key, val := c.str(tagAt), &c.tape[tagAt+1]
	if !val.isText() {
		return c.failUnder(tagAt+1, "one of "+listNames(in.VariantNames(t)), c.show(tagAt+1), "the key "+t.Tag+" names the variant", key)
	}
	if c.partial && val.flags&flagOpen != 0 {
		return c.fail()
	}
	name := c.str(tagAt + 1)
	v, rep := c.variantNamed(t, name)
	if v == nil {
		return c.failUnder(tagAt+1, "one of "+listNames(in.VariantNames(t)), c.show(tagAt+1), c.nearest(name, in.VariantNames(t)), key)
	}
	if rep != repNone {
		c.repair(rep, tagAt+1, c.show(tagAt+1), v.Name)
	}
	if key != t.Tag {
		c.repair(repKeyFold, tagAt, key, t.Tag)
	}
	if body := c.adjacent(at, tagAt, v); body >= 0 {
		c.repair(repUnwrap, body-1, c.str(body-1), "")
		return c.enterRecord(body, &c.tape[body], v, t.Tag)
	}
	if other := c.contradicts(at, tagAt, t, v); other != nil {
		return c.failUnder(tagAt+1, "the variant whose fields are given", c.show(tagAt+1)+" with the fields of "+other.Name, "", key)
	}
	return c.enterRecord(at, &c.tape[at], v, key)
}

// adjacent finds the body of variant v beside the tag: the only other member, when it is no
// field of v but an object that has some. It returns -1 when the tag stands among the fields.
func (c *coercer) adjacent(at, tagAt int, v *Type) int {
	if c.o.Level == Strict || c.tape[at].count != 2 {
		return -1
	}
	keyAt := at + 1
	if keyAt == tagAt {
		keyAt += 1 + int(c.tape[tagAt+1].span)
	}
	if i, _ := c.findField(v, c.str(keyAt)); i < 0 && c.hasFieldOf(keyAt+1, v) {
		return keyAt + 1
	}
	return -1
}

// hasFieldOf reports whether an object stands at a node with a key that is a field of v.
func (c *coercer) hasFieldOf(at int, v *Type) bool {
	n := &c.tape[at]
	if n.kind != nodeObj {
		return false
	}
	child := at + 1
	for range int(n.count) {
		if i, _ := c.findField(v, c.str(child)); i >= 0 {
			return true
		}
		child += 1 + int(c.tape[child+1].span)
	}
	return false
}

// contradicts finds the variant that an object is by its fields, when it has none of those of
// v, which its tag names, and v would be made of defaults alone.
func (c *coercer) contradicts(at, tagAt int, t, v *Type) *Type {
	if c.partial || c.tape[at].count < 2 || !allOptional(v) || c.hasFieldOf(at, v) {
		return nil
	}
	for _, other := range t.Variants {
		if other = other.Deref(); other != v && len(other.Fields) > 0 && c.hasFieldOf(at, other) && !c.lacks(at, other) {
			return other
		}
	}
	return nil
}

// findTag finds the discriminator among the keys of the object at a node: the last one with
// the very name, else one that is the same when folded. It returns -1 when there is none.
func (c *coercer) findTag(at int, n *node, tag string) int {
	exact, folded := -1, -1
	child := at + 1
	for range int(n.count) {
		switch key := c.str(child); {
		case key == tag:
			exact = child
		case folded < 0 && c.o.Level != Strict && len(key) < 2*maxSuggestLen && sameFolded(key, tag):
			folded = child
		}
		child += 1 + int(c.tape[child+1].span)
	}
	if exact >= 0 {
		return exact
	}
	return folded
}

// variantNamed finds the variant of a union by its name, exact or folded.
func (c *coercer) variantNamed(t *Type, name string) (*Type, repairKind) {
	if v := t.Variant(name); v != nil && v.Kind == RecordType {
		return v, repNone
	}
	if c.o.Level == Strict {
		return nil, repNone
	}
	if i := in.Names(t).find(name); i >= 0 {
		if v := t.Variants[i].Deref(); v.Kind == RecordType {
			return v, repTagFold
		}
	}
	return nil, repNone
}

func allOptional(t *Type) bool {
	for i := range t.Fields {
		if t.Fields[i].Required() {
			return false
		}
	}
	return true
}

// emptyRecord completes an instance of t with its defaults alone.
func (c *coercer) emptyRecord(t *Type) bool {
	vals := c.values(len(t.Fields))
	for i := range t.Fields {
		vals[i] = t.Fields[i].Default
	}
	return c.done(c.record(t, vals))
}
