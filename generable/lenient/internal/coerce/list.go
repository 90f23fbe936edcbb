package coerce

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/jsonstr"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// enterList begins a list.
func (c *Coercer) enterList(at int, n *tape.Node, t *generable.Type) bool {
	switch n.Kind {
	case tape.NodeArr:
		return c.push(OpList, at, t)
	case tape.NodeNull, tape.NodeMissing:
		if c.O.Level == generable.Loose {
			c.Repair(tape.RepEmptyDefault, at, "null", "[]")
			return c.done(generable.ListOf())
		}
		return c.mismatch(at, t)
	}
	if c.O.Level == generable.Strict {
		return c.mismatch(at, t)
	}
	if root := c.subdoc(at); root >= 0 && c.Tape[root].Kind == tape.NodeArr {
		return c.enterSubdoc(at, root, t)
	}
	if n.Kind == tape.NodeObj && n.Count == 1 && c.Tape[at+2].Kind == tape.NodeArr && !c.TakesKey(t.Elem, c.Str(at+1)) {
		c.Repair(tape.RepUnwrap, at, c.Str(at+1), "")
		return c.enter(at+2, t)
	}
	if c.isPartOf(at, t) {
		return c.mismatch(at, t)
	}
	if c.Affinity(n, t.Elem) == affinityNone { // the kinds must agree
		if c.O.Level == generable.Loose && len(c.Stack) > c.Trials {
			c.Repair(tape.RepDropItem, at, c.show(at), "[]")
			return c.done(generable.ListOf())
		}
		return c.mismatch(at, t)
	}
	c.Repair(tape.RepSingleToList, at, c.show(at), "")
	c.push(OpList, at, t)
	f := c.Stack[len(c.Stack)-1]
	f.cur, f.left, f.keyless = int32(at), 1, len(c.Stack) == 1+c.Trials
	f.Vals = c.Values(1)[:0]
	return false
}

// isPartOf reports whether the value at a node has already become the only item of a list of type t, or the only
// field of an instance of it. A type can contain itself, and wrapping consumes no input: without this check the value
// would be wrapped forever.
func (c *Coercer) isPartOf(at int, t *generable.Type) bool {
	for _, f := range slices.Backward(c.Stack) {
		if int(f.node) != at {
			return false
		}
		if f.Typ == t {
			return true
		}
	}
	return false
}

// TakesKey reports whether an object of type t may have the given key.
func (c *Coercer) TakesKey(t *generable.Type, key string) bool {
	switch t = t.Deref(); t.Kind {
	case generable.RecordType:
		i, _ := c.FindField(t, key)
		return i >= 0
	case generable.UnionType, generable.OneOfType:
		return slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return c.TakesKey(v, key) })
	}
	return false
}

// around looks for the wanted value around or inside the node: in a string that holds its JSON, in a list of one
// item, in an object with a single member.
func (c *Coercer) around(at int, n *tape.Node, t *generable.Type) bool {
	if c.O.Level == generable.Strict {
		return c.mismatch(at, t)
	}
	if t.Kind == generable.StrType {
		return c.textAround(at, n, t)
	}
	scalar := isScalar(t)
	switch {
	case n.Kind == tape.NodeArr && n.Count == 1:
		if child := &c.Tape[at+1]; c.Affinity(child, t) > affinityNone {
			c.Repair(tape.RepListToSingle, at, "", "")
			return c.enter(at+1, t)
		}
	case n.Kind == tape.NodeArr && c.O.Level == generable.Loose && !scalar:
		if nodes := c.fitting(at, n); len(nodes) > 0 {
			return c.tryItems(at, t, nodes)
		}
	case n.Kind == tape.NodeObj && n.Count == 1 && scalar:
		if child := &c.Tape[at+2]; c.Affinity(child, t) > affinityNone {
			c.Repair(tape.RepUnwrap, at, c.Str(at+1), "")
			return c.enter(at+2, t)
		}
	case n.IsText() && !scalar:
		if root := c.subdoc(at); root >= 0 {
			return c.enterSubdoc(at, root, t)
		}
	}
	return c.mismatch(at, t)
}

// textAround finds the text in a list or an object where a text is wanted: the only one in it. An answer that must be
// text is left unchanged; so are, at level Loose, all lists and objects.
func (c *Coercer) textAround(at int, n *tape.Node, t *generable.Type) bool {
	whole := len(c.Stack) == c.Trials
	switch {
	case whole:
	case n.Kind == tape.NodeArr && n.Count == 1 && c.Tape[at+1].IsText():
		c.Repair(tape.RepListToSingle, at, "", "")
		return c.enter(at+1, t)
	case n.Kind == tape.NodeObj && n.Count == 1 && c.Tape[at+2].IsText():
		c.Repair(tape.RepUnwrap, at, c.Str(at+1), "")
		return c.enter(at+2, t)
	}
	s := c.Raw(n)
	if !whole && c.O.Level != generable.Loose && !c.inFence(n) {
		return c.mismatch(at, t)
	}
	c.Repair(tape.RepToString, at, "", s)
	c.Score += 16 // a branch that accepts such values is better
	return c.done(generable.StrOf(c.Str(at)))
}

// inFence reports whether a node is the whole content of a fence.
func (c *Coercer) inFence(n *tape.Node) bool {
	doc := c.Docs[n.Doc]
	before := strings.TrimRight(doc[max(0, int(n.Start)-lex.MaxLiteral):n.Start], " \t\r\n")
	tag := before[strings.LastIndexByte(before, '`')+1:]
	after := strings.TrimLeft(doc[n.End:min(len(doc), int(n.End)+tape.MaxGap)], " \t\r\n")
	return strings.HasSuffix(before[:len(before)-len(tag)], "```") && lex.IsJSONTag(tag) && strings.HasPrefix(after, "```")
}

// fitting lists the items of a list that are objects, so that each may be the one wanted value.
func (c *Coercer) fitting(at int, n *tape.Node) []int {
	var nodes []int
	child := at + 1
	for range int(n.Count) {
		if c.Tape[child].Kind == tape.NodeObj {
			nodes = append(nodes, child)
		}
		child += int(c.Tape[child].Span)
	}
	return nodes
}

// maxSubdocs bounds the nesting of JSON texts inside JSON texts.
const maxSubdocs = 4

// subdoc is a text that was read as a separate document.
type subdoc struct {
	root    int // index on the tape, -1 when the text is not a document
	repairs []tape.SynRepair
	text    string
}

// enterSubdoc begins a value in the document contained in the text at a node.
func (c *Coercer) enterSubdoc(at, root int, t *generable.Type) bool {
	d := c.Subdocs[at]
	c.Repair(tape.RepStringified, at, c.show(at), "")
	for _, r := range d.repairs {
		c.Repair(r.Kind, at, d.text[r.Off:r.End], "")
	}
	return c.enter(root, t)
}

// subdoc reads the text at a node as a JSON document and returns the tape index of its root, or -1. The text may be
// broken like the input, but must be such a document as a whole; only at level Loose may prose surround it.
func (c *Coercer) subdoc(at int) int {
	n := &c.Tape[at]
	if !n.IsText() || n.Flags&tape.FlagOpen != 0 {
		return -1
	}
	if s := c.Raw(n); len(s) < lex.MaxLiteral && n.Flags&tape.FlagEscape == 0 && !strings.ContainsAny(s, "{[") {
		return -1 // cheaper to look at again than to remember
	}
	d, ok := c.Subdocs[at]
	if !ok {
		if c.Subdocs == nil {
			c.Subdocs = make(map[int]subdoc)
		}
		d = c.readSubdoc(at)
		c.Subdocs[at] = d
	}
	return d.root
}

// readSubdoc scans the text of a node and appends its tape.
func (c *Coercer) readSubdoc(at int) subdoc {
	none := subdoc{root: -1}
	n := c.Tape[at]
	text := strings.TrimSpace(c.Str(at))
	for range maxSubdocs { // JSON inside JSON
		if !lex.StrictString(text) {
			break
		}
		text, _ = jsonstr.Unescape(text[1:len(text)-1], jsonstr.Whole)
		text = strings.TrimSpace(text)
	}
	if len(text) < 2 || !strings.ContainsAny(text, "{[") {
		return none
	}
	loose := c.O.Level == generable.Loose
	if first, last := text[0], text[len(text)-1]; !loose && first != '`' && !(first == '{' && last == '}') && !(first == '[' && last == ']') {
		return none
	}
	depth := c.Depths[n.Doc] + 1
	if depth > maxSubdocs || len(c.Docs) >= 1<<16-1 {
		return none
	}
	s := c.Scan(text)
	if len(s.Cands) != 1 || s.Cands[0].TooDeep || !loose && !coversText(s, text) {
		return none
	}
	from := c.Embed(s, int(n.Start)+c.Base[n.Doc], depth)
	return subdoc{from + s.Cands[0].Node, s.Repairs, text}
}

// maxVisits bounds how often each byte of the input is visited.
const maxVisits = 4

// Scan reads a separate text if the budget of visits allows that, including another visit for the content of its
// strings. Otherwise the scanner has no candidates.
func (c *Coercer) Scan(text string) *tape.Scanner {
	s := tape.NewScanner(c.O.MaxDepth)
	if s.Spare = maxVisits*(len(c.Docs[0])+lex.MaxLiteral) - c.Visits - 2*len(text); s.Spare >= 0 {
		s.Whole, s.Names = true, c.Names
		s.Feed(text)
		s.Close()
		c.Visits += s.Visits()
	}
	return s
}

// Embed adds the tape of a text that was read separately and takes ownership of it. start is the text's offset in the
// input, depth its nesting in other texts. Embed returns the index of its first node.
func (c *Coercer) Embed(s *tape.Scanner, start, depth int) int {
	doc := uint16(len(c.Docs))
	c.Docs = append(c.Docs, s.Src)
	c.Base = append(c.Base, start)
	c.Depths = append(c.Depths, depth)
	for i := range s.Tape {
		s.Tape[i].Doc = doc
	}
	from := len(c.Tape)
	if from == 0 {
		c.Tape = s.Tape
	} else {
		c.Tape = append(c.Tape, s.Tape...)
	}
	return from
}

// coversText reports whether the only candidate, or the fence around it, makes up the whole text.
func coversText(s *tape.Scanner, text string) bool {
	cand := s.Cands[0]
	if cand.Fence < 0 {
		return cand.Start == 0 && cand.End == len(text)
	}
	f := s.Fences[cand.Fence]
	return f.Start == 0 && f.End+f.N == len(text)
}
