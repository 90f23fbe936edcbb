package generable

import "strings"

// enterList begins a list.
func (c *coercer) enterList(at int, n *node, t *Type) bool {
	switch n.kind {
	case nodeArr:
		return c.push(opList, at, t.Elem)
	case nodeNull, nodeMissing:
		if c.o.Level == Loose {
			c.repair(repEmptyDefault, at, "null", "[]")
			return c.done(ListOf())
		}
		return c.mismatch(at, t)
	}
	if c.o.Level == Strict {
		return c.mismatch(at, t)
	}
	if root := c.subdoc(at, nodeArr); root >= 0 {
		c.repair(repStringified, at, c.show(at), "")
		return c.enter(root, t)
	}
	if n.kind == nodeObj && n.count == 1 && c.tape[at+2].kind == nodeArr && !c.takesKey(t.Elem, c.str(at+1)) {
		c.repair(repUnwrap, at, c.str(at+1), "")
		return c.enter(at+2, t)
	}
	if !c.single(n, t.Elem) {
		return c.mismatch(at, t)
	}
	c.repair(repSingleToList, at, c.show(at), "")
	c.push(opList, at, t.Elem)
	f := &c.stack[len(c.stack)-1]
	f.cur, f.left = at, 1
	f.vals = c.values(1)[:0]
	return false
}

// single reports whether a value at n, which is no list, may stand for the only item of a
// list of t: the kinds have to agree.
func (c *coercer) single(n *node, t *Type) bool { return c.affinity(n, t) > affinityNone }

// takesKey reports whether an object of type t may have that key.
func (c *coercer) takesKey(t *Type, key string) bool {
	switch t = t.Deref(); t.Kind {
	case RecordType:
		i, _ := c.findField(t, key)
		return i >= 0
	case UnionType, OneOfType:
		for _, v := range t.Variants {
			if c.takesKey(v, key) {
				return true
			}
		}
	}
	return false
}

// around looks for the wanted value around or inside of the one that is there: in a string
// that holds its JSON, in a list of one item, in an object with a single member.
func (c *coercer) around(at int, n *node, t *Type) bool {
	if c.o.Level == Strict {
		return c.mismatch(at, t)
	}
	scalar := t.Kind == BoolType || t.Kind == IntType || t.Kind == FloatType || t.Kind == StrType || t.Kind == EnumType
	switch {
	case n.kind == nodeArr && n.count == 1:
		if child := &c.tape[at+1]; c.affinity(child, t) > affinityNone {
			c.repair(repListToSingle, at, "", "")
			return c.enter(at+1, t)
		}
	case n.kind == nodeObj && n.count == 1 && scalar:
		if child := &c.tape[at+2]; c.affinity(child, t) > affinityNone {
			c.repair(repUnwrap, at, c.str(at+1), "")
			return c.enter(at+2, t)
		}
	case n.isText() && !scalar:
		if root := c.subdoc(at, nodeObj); root >= 0 {
			c.repair(repStringified, at, c.show(at), "")
			return c.enter(root, t)
		}
	}
	return c.mismatch(at, t)
}

// maxSubdocs bounds the nesting of JSON texts inside JSON texts.
const maxSubdocs = 4

// subdoc is a text that was read as a document of its own.
type subdoc struct {
	root    int // on the tape, -1 when the text is no document
	repairs []synRepair
	text    string
}

// subdoc reads the text at a node as a JSON document of the given kind and returns the tape
// index of its root, or -1. The text may be broken as the input may, but has to begin and
// end like such a document.
func (c *coercer) subdoc(at int, kind nodeKind) int {
	n := &c.tape[at]
	if !n.isText() || n.flags&flagOpen != 0 {
		return -1
	}
	d, ok := c.subdocs[at]
	if !ok {
		if c.subdocs == nil {
			c.subdocs = make(map[int]subdoc)
		}
		d = c.readSubdoc(at)
		c.subdocs[at] = d
	}
	if d.root < 0 || c.tape[d.root].kind != kind {
		return -1
	}
	for _, r := range d.repairs {
		c.repair(r.kind, at, d.text[r.off:r.end], "")
	}
	return d.root
}

// readSubdoc scans the text of a node and appends its tape.
func (c *coercer) readSubdoc(at int) subdoc {
	none := subdoc{root: -1}
	n := c.tape[at]
	text := strings.TrimSpace(c.str(at))
	if len(text) < 2 || !(text[0] == '{' && text[len(text)-1] == '}' || text[0] == '[' && text[len(text)-1] == ']') {
		return none
	}
	depth := c.depths[n.doc] + 1
	if depth > maxSubdocs || len(c.docs) >= 1<<16-1 {
		return none
	}
	s := newScanner(c.o.MaxDepth)
	s.feed(text)
	s.close()
	c.visits += s.visits()
	if len(s.cands) != 1 || s.cands[0].end != len(text) || s.cands[0].tooDeep {
		return none
	}
	doc := uint16(len(c.docs))
	c.docs = append(c.docs, text)
	c.base = append(c.base, int(n.start)+c.base[n.doc])
	c.depths = append(c.depths, depth)
	root := len(c.tape) + s.cands[0].node
	for _, n := range s.tape {
		n.doc = doc
		c.tape = append(c.tape, n)
	}
	return subdoc{root, s.repairs, text}
}
