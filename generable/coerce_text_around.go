package generable

import "strings"

// enterList begins a list.
func (c *coercer) enterList(at int, n *node, t *Type) bool {
	switch n.kind {
	case nodeArr:
		return c.push(opList, at, t)
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
	if root := c.subdoc(at); root >= 0 && c.tape[root].kind == nodeArr {
		return c.enterSubdoc(at, root, t)
	}
	if n.kind == nodeObj && n.count == 1 && c.tape[at+2].kind == nodeArr && !c.takesKey(t.Elem, c.str(at+1)) {
		c.repair(repUnwrap, at, c.str(at+1), "")
		return c.enter(at+2, t)
	}
	if c.affinity(n, t.Elem) == affinityNone { // the kinds have to agree
		if c.o.Level == Loose && len(c.stack) > c.trials {
			c.repair(repDropItem, at, c.show(at), "[]")
			return c.done(ListOf())
		}
		return c.mismatch(at, t)
	}
	c.repair(repSingleToList, at, c.show(at), "")
	c.push(opList, at, t)
	f := c.stack[len(c.stack)-1]
	f.cur, f.left, f.keyless = int32(at), 1, len(c.stack) == 1+c.trials
	f.vals = c.values(1)[:0]
	return false
}

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
	if t.Kind == StrType {
		return c.textAround(at, n, t)
	}
	scalar := isScalar(t)
	switch {
	case n.kind == nodeArr && n.count == 1:
		if child := &c.tape[at+1]; c.affinity(child, t) > affinityNone {
			c.repair(repListToSingle, at, "", "")
			return c.enter(at+1, t)
		}
	case n.kind == nodeArr && c.o.Level == Loose && !scalar:
		if nodes := c.fitting(at, n, t); len(nodes) > 0 {
			return c.tryItems(at, t, nodes)
		}
	case n.kind == nodeObj && n.count == 1 && scalar:
		if child := &c.tape[at+2]; c.affinity(child, t) > affinityNone {
			c.repair(repUnwrap, at, c.str(at+1), "")
			return c.enter(at+2, t)
		}
	case n.isText() && !scalar:
		if root := c.subdoc(at); root >= 0 {
			return c.enterSubdoc(at, root, t)
		}
	}
	return c.mismatch(at, t)
}

// textAround finds the text in a list or an object where one is wanted: the only one in it. An
// answer that is to be text is left as it is; so are, at level Loose, all lists and objects.
func (c *coercer) textAround(at int, n *node, t *Type) bool {
	whole := len(c.stack) == c.trials
	switch {
	case whole:
	case n.kind == nodeArr && n.count == 1 && c.tape[at+1].isText():
		c.repair(repListToSingle, at, "", "")
		return c.enter(at+1, t)
	case n.kind == nodeObj && n.count == 1 && c.tape[at+2].isText():
		c.repair(repUnwrap, at, c.str(at+1), "")
		return c.enter(at+2, t)
	}
	if c.partial && n.flags&flagOpen != 0 || !whole && c.o.Level != Loose {
		return c.mismatch(at, t)
	}
	s := c.raw(n)
	c.repair(repToString, at, "", s)
	c.score += 16 // a branch that has such values is better
	return c.done(StrOf(c.valid(at, s)))
}

// fitting lists the items of a list that are objects and so may each be the one value wanted.
func (c *coercer) fitting(at int, n *node, t *Type) []int {
	if c.partial {
		return nil
	}
	var nodes []int
	child := at + 1
	for range int(n.count) {
		if c.tape[child].kind == nodeObj {
			nodes = append(nodes, child)
		}
		child += int(c.tape[child].span)
	}
	return nodes
}

// maxSubdocs bounds the nesting of JSON texts inside JSON texts.
const maxSubdocs = 4

// subdoc is a text that was read as a document of its own.
type subdoc struct {
	root    int // on the tape, -1 when the text is no document
	repairs []synRepair
	text    string
}

// enterSubdoc begins a value in the document that the text at a node holds.
func (c *coercer) enterSubdoc(at, root int, t *Type) bool {
	d := c.subdocs[at]
	c.repair(repStringified, at, c.show(at), "")
	for _, r := range d.repairs {
		c.repair(r.kind, at, d.text[r.off:r.end], "")
	}
	return c.enter(root, t)
}

// subdoc reads the text at a node as a JSON document and returns the tape index of its root, or
// -1. The text may be broken as the input may be, but has to be such a document as a whole; only
// at level Loose may prose surround it.
func (c *coercer) subdoc(at int) int {
	n := &c.tape[at]
	if !n.isText() || n.flags&flagOpen != 0 {
		return -1
	}
	if s := c.raw(n); len(s) < maxLiteral && n.flags&flagEscape == 0 && !strings.ContainsAny(s, "{[") {
		return -1 // looked at again rather than remembered
	}
	d, ok := c.subdocs[at]
	if !ok {
		if c.subdocs == nil {
			c.subdocs = make(map[int]subdoc)
		}
		d = c.readSubdoc(at)
		c.subdocs[at] = d
	}
	return d.root
}

// readSubdoc scans the text of a node and appends its tape.
func (c *coercer) readSubdoc(at int) subdoc {
	none := subdoc{root: -1}
	n := c.tape[at]
	text := strings.TrimSpace(c.str(at))
	for range maxSubdocs { // JSON of the JSON
		if !strictString(text) {
			break
		}
		text, _ = unescape(text[1:len(text)-1], endWhole)
		text = strings.TrimSpace(text)
	}
	if len(text) < 2 || !strings.ContainsAny(text, "{[") {
		return none
	}
	loose := c.o.Level == Loose
	if first, last := text[0], text[len(text)-1]; !loose && first != '`' && !(first == '{' && last == '}') && !(first == '[' && last == ']') {
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
	if len(s.cands) != 1 || s.cands[0].tooDeep || !loose && !coversText(s, text) {
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

// coversText reports whether the only candidate, or the fence around it, is all of a text.
func coversText(s *scanner, text string) bool {
	cand := s.cands[0]
	if cand.fence < 0 {
		return cand.start == 0 && cand.end == len(text)
	}
	f := s.fences[cand.fence]
	return f.start == 0 && f.end+f.n == len(text)
}
