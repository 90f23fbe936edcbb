package generable

import "strings"

// enterUnion begins a value of a declared union. Its tag alone decides which variant it is,
// exact or folded, wherever it stands, also as the only key around the body; only at level
// Loose may the fit of the body decide.
func (c *coercer) enterUnion(at int, n *node, t *Type) bool {
	switch {
	case n.kind == nodeObj:
	case n.isText() && c.o.Level != Strict && c.subdoc(at, nodeObj) < 0:
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
		if v, rep := c.variantNamed(t, c.str(at+1)); v != nil {
			switch inner := &c.tape[at+2]; {
			case inner.kind == nodeObj:
				c.repair(repOuterTag, at+1, c.show(at+1), "")
				_ = rep
				return c.enterRecord(at+2, inner, v, t.Tag)
			case (inner.kind == nodeNull || inner.kind == nodeMissing) && allOptional(v):
				c.repair(repOuterTag, at+1, c.show(at+1), "")
				return c.emptyRecord(v)
			}
		}
	}
	if c.partial {
		return c.fail() // the tag may still come
	}
	if c.o.Level == Loose {
		c.repair(repNoTag, at, "", "")
		return c.try(at, t, t.Variants)
	}
	want := string(AppendQuoted(nil, t.Tag)) + ": one of " + listNames(variantNames(t))
	return c.failAt(at, want, "an object without "+t.Tag, "")
}

// enterTagged begins the variant that the tag at tagAt names.
func (c *coercer) enterTagged(at, tagAt int, t *Type) bool {
	key, val := c.str(tagAt), &c.tape[tagAt+1]
	if !val.isText() {
		return c.failUnder(key, tagAt+1, "one of "+listNames(variantNames(t)), c.show(tagAt+1), "the key "+t.Tag+" names the variant")
	}
	if c.partial && val.flags&flagOpen != 0 {
		return c.fail()
	}
	name := c.str(tagAt + 1)
	v, rep := c.variantNamed(t, name)
	if v == nil {
		return c.failUnder(key, tagAt+1, "one of "+listNames(variantNames(t)), c.show(tagAt+1), didYouMean(name, variantNames(t)))
	}
	if rep != repNone {
		c.repair(rep, tagAt+1, c.show(tagAt+1), v.Name)
	}
	if key != t.Tag {
		c.repair(repKeyFold, tagAt, key, t.Tag)
	}
	return c.enterRecord(at, &c.tape[at], v, key)
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
		case folded < 0 && c.o.Level != Strict && len(key) < 2*maxSuggestLen && fold(key) == fold(tag):
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
	if folded, ok := foldMatch(name, variantNames(t)); ok {
		if v := t.Variant(folded); v != nil && v.Kind == RecordType {
			return v, repTagFold
		}
	}
	return nil, repNone
}

func variantNames(t *Type) []string {
	names := make([]string, len(t.Variants))
	for i, v := range t.Variants {
		names[i] = v.Deref().Name
	}
	return names
}

func listNames(names []string) string { return strings.Join(names, ", ") }

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
	return c.done(NewRecord(t, vals).Value())
}
