package coerce

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/internal/naming"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// enterUnion begins a value of a declared union. Only its tag decides the variant, exact or folded, at any position,
// even as the only key around the body. At level Loose, the fit of the body may decide.
func (c *Coercer) enterUnion(at int, n *tape.Node, t *generable.Type) bool {
	switch {
	case n.Kind == tape.NodeObj:
	case n.IsText() && c.O.Level != generable.Strict && c.subdoc(at) < 0:
		// The name of a variant without required fields.
		v, rep := c.VariantNamed(t, c.Str(at))
		if v == nil || !AllOptional(v) {
			return c.around(at, n, t)
		}
		if rep == tape.RepNone {
			rep = tape.RepBareTag
		}
		c.Repair(rep, at, c.show(at), v.Name)
		return c.pushFields(at, at, 0, v)
	default:
		return c.around(at, n, t)
	}
	tagAt := c.findTag(at, t.Tag)
	if tagAt >= 0 {
		return c.enterTagged(at, tagAt, t)
	}
	if n.Count == 1 && c.O.Level != generable.Strict {
		inner := &c.Tape[at+2]
		if v, _ := c.VariantNamed(t, c.Str(at+1)); v != nil {
			return c.enterOuter(at, inner, t, v)
		}
		if inner.Kind == tape.NodeObj && c.findTag(at+2, t.Tag) >= 0 {
			c.Repair(tape.RepUnwrap, at, c.Str(at+1), "")
			return c.enterUnion(at+2, inner, t)
		}
	}
	if c.O.Level == generable.Loose {
		c.Repair(tape.RepNoTag, at, "", "")
		fit := slices.Clone(t.Variants)
		return c.try(at, t, fit[:c.byKeys(at, fit)], nil)
	}
	want := text.Quote(t.Tag) + ": one of " + message.List(in.VariantNames(t))
	return c.failAt(at, want, "an object without "+t.Tag, "")
}

// enterOuter begins the variant named by the only key of an object, around its body.
func (c *Coercer) enterOuter(at int, inner *tape.Node, t, v *generable.Type) bool {
	switch {
	case inner.Kind == tape.NodeObj:
		if tagAt := c.findTag(at+2, t.Tag); tagAt >= 0 && c.Tape[tagAt+1].IsText() {
			name := c.Str(tagAt + 1)
			if says, _ := c.VariantNamed(t, name); says != v {
				return c.failUnder(tagAt+1, text.Quote(v.Name), c.show(tagAt+1), "the key around it says "+v.Name, c.Str(at+1), c.Str(tagAt))
			}
		}
		c.Repair(tape.RepOuterTag, at+1, c.show(at+1), "")
		return c.enterRecord(at+2, inner, v, t.Tag)
	case (inner.Kind == tape.NodeNull || inner.Kind == tape.NodeMissing) && AllOptional(v):
		c.Repair(tape.RepOuterTag, at+1, c.show(at+1), "")
		return c.pushFields(at, at, 0, v)
	case inner.IsText() || inner.Kind == tape.NodeArr: // a list of one, JSON in a string, the only field
		c.Repair(tape.RepOuterTag, at+1, c.show(at+1), "")
		return c.enterRecord(at+2, inner, v, "")
	}
	return c.failAt(at+2, v.Name, c.show(at+2), "")
}

// enterTagged begins the variant that the tag at tagAt names.
func (c *Coercer) enterTagged(at, tagAt int, t *generable.Type) bool {
	key, val := c.Str(tagAt), &c.Tape[tagAt+1]
	if !val.IsText() {
		return c.failUnder(tagAt+1, "one of "+message.List(in.VariantNames(t)), c.show(tagAt+1), "the key "+t.Tag+" names the variant", key)
	}
	name := c.Str(tagAt + 1)
	v, rep := c.VariantNamed(t, name)
	if v == nil {
		return c.failUnder(tagAt+1, "one of "+message.List(in.VariantNames(t)), c.show(tagAt+1), c.nearest(name, in.VariantNames(t)), key)
	}
	if rep != tape.RepNone {
		c.Repair(rep, tagAt+1, c.show(tagAt+1), v.Name)
	}
	if key != t.Tag {
		c.Repair(tape.RepKeyFold, tagAt, key, t.Tag)
	}
	if body := c.adjacent(at, tagAt, v); body >= 0 {
		c.Repair(tape.RepUnwrap, body-1, c.Str(body-1), "")
		return c.enterRecord(body, &c.Tape[body], v, t.Tag)
	}
	if other := c.contradicts(at, t, v); other != nil {
		return c.failUnder(tagAt+1, "the variant whose fields are given", c.show(tagAt+1)+" with the fields of "+other.Name, "", key)
	}
	return c.enterRecord(at, &c.Tape[at], v, key)
}

// adjacent finds the body of variant v next to the tag: the only other member, if it is not a field of v but an
// object with fields of v. It returns -1 when the tag is among the fields.
func (c *Coercer) adjacent(at, tagAt int, v *generable.Type) int {
	if c.O.Level == generable.Strict || c.Tape[at].Count != 2 {
		return -1
	}
	keyAt := at + 1
	if keyAt == tagAt {
		keyAt += 1 + int(c.Tape[tagAt+1].Span)
	}
	if i, _ := c.FindField(v, c.Str(keyAt)); i < 0 && c.hasFieldOf(keyAt+1, v) {
		return keyAt + 1
	}
	return -1
}

// hasFieldOf reports whether the node is an object with a key that is a field of v, or of a member of the union v.
func (c *Coercer) hasFieldOf(at int, v *generable.Type) bool {
	if c.Tape[at].Kind != tape.NodeObj {
		return false
	}
	for key := range tape.Members(c.Tape, at) {
		if c.TakesKey(v, c.Str(key)) {
			return true
		}
	}
	return false
}

// contradicts finds the variant that matches an object by its fields, if the object has no field of v, which its tag
// names, and v would consist only of defaults.
func (c *Coercer) contradicts(at int, t, v *generable.Type) *generable.Type {
	if c.Tape[at].Count < 2 || !AllOptional(v) || c.hasFieldOf(at, v) {
		return nil
	}
	for _, other := range t.Variants {
		if other = other.Deref(); other != v && len(other.Fields) > 0 && c.hasFieldOf(at, other) && !c.lacks(at, other) {
			return other
		}
	}
	return nil
}

// findTag finds the discriminator among the keys of the object at a node: the last key with exactly that name, else
// one that is equal when folded. It returns -1 without one.
func (c *Coercer) findTag(at int, tag string) int {
	exact, folded := -1, -1
	for keyAt := range tape.Members(c.Tape, at) {
		switch key := c.Str(keyAt); {
		case key == tag:
			exact = keyAt
		case folded < 0 && c.O.Level != generable.Strict && len(key) < 2*message.MaxName && naming.Same(key, tag):
			folded = keyAt
		}
	}
	if exact >= 0 {
		return exact
	}
	return folded
}

// VariantNamed finds the variant of a union by its name, exact or folded.
func (c *Coercer) VariantNamed(t *generable.Type, name string) (*generable.Type, tape.RepairKind) {
	if v := t.Variant(name); v != nil && v.Kind == generable.RecordType {
		return v, tape.RepNone
	}
	if c.O.Level == generable.Strict {
		return nil, tape.RepNone
	}
	if i := in.Names(t).Find(name); i >= 0 {
		if v := t.Variants[i].Deref(); v.Kind == generable.RecordType {
			return v, tape.RepTagFold
		}
	}
	return nil, tape.RepNone
}

func AllOptional(t *generable.Type) bool {
	return !slices.ContainsFunc(t.Fields, func(f generable.Field) bool { return f.Required() })
}
