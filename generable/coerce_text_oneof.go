package generable

import (
	"slices"
	"strings"
)

// affinity says how well the kind of a node suits a type, before its content is looked at.
type affinity uint8

const (
	affinityNone affinity = iota
	affinityPossible
	affinityClose // an integer for a float
	affinityExact
	affinityBest // a string that is one of an enum's values
)

func (c *coercer) affinity(n *node, t *Type) affinity {
	t = t.Deref()
	switch t.Kind {
	case AnyType, ErrorType:
		return affinityClose
	case OneOfType:
		best := affinityNone
		for _, v := range t.Variants {
			best = max(best, c.affinity(n, v))
		}
		return best
	}
	loose := affinityNone
	if c.o.Level != Strict {
		loose = affinityPossible
	}
	if c.o.Level == Loose && t.Kind == RecordType && c.implied(n, t) {
		return affinityPossible
	}
	switch n.kind {
	case nodeNull, nodeMissing:
		if t.Kind == NoneType {
			return affinityExact
		}
		return affinityNone
	case nodeTrue, nodeFalse:
		switch t.Kind {
		case BoolType:
			return affinityExact
		case StrType, EnumType:
			return loose
		}
	case nodeInt, nodeFloat, nodeNumber:
		switch t.Kind {
		case IntType:
			if n.kind == nodeFloat {
				return loose
			}
			return affinityExact
		case FloatType:
			if n.kind == nodeInt {
				return affinityClose
			}
			return affinityExact
		case StrType, BoolType, EnumType:
			return loose
		}
	case nodeStr, nodeWord, nodeConcat:
		switch t.Kind {
		case StrType:
			return affinityExact
		case EnumType:
			return affinityExact
		case NoneType:
			return affinityNone
		}
		return loose
	case nodeArr:
		switch t.Kind {
		case ListType:
			return affinityExact
		case NoneType:
			return affinityNone
		}
		if n.count == 1 || c.o.Level == Loose && (t.Kind == RecordType || t.Kind == UnionType) {
			return loose
		}
	case nodeObj:
		switch t.Kind {
		case RecordType, DictType, UnionType:
			return affinityExact
		case ListType:
			return loose
		case NoneType:
			return affinityNone
		}
		if n.count == 1 {
			return loose
		}
	}
	return affinityNone
}

// affinityAt is the affinity of the node at a place, which may tell an enum's value.
func (c *coercer) affinityAt(at int, n *node, t *Type) affinity {
	a := c.affinity(n, t)
	if t = t.Deref(); a == affinityExact && t.Kind == EnumType && n.isText() && in.HasValue(t, c.str(at)) {
		return affinityBest
	}
	return a
}

// enterOneOf begins a value of an inline union. The kind of the node decides if it can, then
// the key "type" and the keys of an object; else the branches are tried, those first that suit
// the kind best.
func (c *coercer) enterOneOf(at int, n *node, t *Type) bool {
	best, first, fitting, possible := affinityNone, (*Type)(nil), 0, 0
	for _, v := range t.Variants {
		a := c.affinityAt(at, n, v)
		if a == affinityNone {
			continue
		}
		possible++
		switch {
		case a > best:
			best, first, fitting = a, v, 1
		case a == best:
			fitting++
		}
	}
	switch {
	case first == nil:
		return c.noBranch(at, n, t)
	case fitting == 1 && (possible == 1 && !c.mayBeNone(n, t) || !c.mayFail(n, first)):
		return c.enterOnly(at, first, t)
	}
	open := c.partial && n.flags&flagOpen != 0
	if open && n.kind != nodeObj {
		if fitting == 1 {
			return c.enter(at, first)
		}
		return c.fail() // the branch is not known before the value is complete
	}
	// By affinity, best first. Mostly one is left, and nothing of this reaches the heap.
	var fitBuf [8]*Type
	var endsBuf [affinityBest]int
	fit, ends := fitBuf[:0], endsBuf[:0]
	for a := best; a > affinityNone; a-- {
		from := len(fit)
		for _, v := range t.Variants {
			if c.affinityAt(at, n, v) == a {
				fit = append(fit, v)
			}
		}
		if len(fit) > from {
			if n.kind == nodeObj && len(fit) > from+1 {
				fit = fit[:from+c.byKeys(at, fit[from:], open)]
			}
			ends = append(ends, len(fit))
		}
		if open || n.kind >= nodeArr && c.o.Level != Loose {
			break // a list that does not fit is not tried as an item
		}
	}
	if n.kind == nodeObj {
		if v := c.saysType(at, n, fit); v != nil {
			return c.enter(at, v)
		}
	}
	switch {
	case len(fit) == 1 && !c.mayBeNone(n, t):
		return c.enterOnly(at, fit[0], t)
	case open && len(fit) == 1:
		return c.enter(at, fit[0])
	case open:
		return c.fail()
	}
	return c.try(at, t, slices.Clone(fit), slices.Clone(ends))
}

// enterOnly begins the only branch of a union that suits a node. Where that is an enum, its
// error tells of null too.
func (c *coercer) enterOnly(at int, branch, union *Type) bool {
	from := len(c.errs)
	done := c.enter(at, branch)
	none := union.Variants[len(union.Variants)-1].Kind == NoneType
	if done && !c.ok && none && branch.Deref().Kind == EnumType && len(c.errs) == from+1 {
		c.errs[from].Expected += " or null"
	}
	return done
}

// mayFail reports whether a node may turn out to be no value of the type that suits it best, so
// that another may serve.
func (c *coercer) mayFail(n *node, t *Type) bool {
	switch t.Deref().Kind {
	case StrType, NoneType, AnyType:
		return false
	case BoolType, IntType, FloatType:
		return n.kind >= nodeStr
	case EnumType, RefType:
		return true
	}
	return c.o.Level == Loose
}

// mayBeNone reports whether None stands in for what does not fit t: for a part of a value, and
// for a scalar that is all there is.
func (c *coercer) mayBeNone(n *node, t *Type) bool {
	return c.o.Level == Loose && !c.partial && t.Variants[len(t.Variants)-1].Kind == NoneType &&
		(len(c.stack) > c.trials || n.kind < nodeArr)
}

// noBranch ends an inline union of which nothing suits the node.
func (c *coercer) noBranch(at int, n *node, t *Type) bool {
	if c.mayBeNone(n, t) {
		c.repair(repBadDefault, at, c.show(at), "null")
		return c.done(Value{})
	}
	return c.mismatch(at, t)
}

// byKeys moves the branches for an object that its keys leave possible to the front and returns
// how many they are; all when the keys leave none. While more keys may come, none is missed.
func (c *coercer) byKeys(at int, fit []*Type, open bool) int {
	n := 0
	for i, v := range fit {
		may := false
		if v = v.Deref(); open {
			may = c.takesKeys(at, v)
		} else {
			may = v.Kind != RecordType || !c.lacks(at, v) && !c.excludes(at, v)
		}
		if may {
			fit[n], fit[i] = fit[i], fit[n]
			n++
		}
	}
	if n == 0 {
		return len(fit)
	}
	return n
}

// lacks reports whether a field of t is missing in the object at a node that has to be there.
func (c *coercer) lacks(at int, t *Type) bool {
	var seen uint64
	child := at + 1
	for range int(c.tape[at].count) {
		if i, _ := c.findField(t, c.str(child)); i >= 0 && i < 64 && c.tape[child+1].kind != nodeMissing {
			seen |= 1 << i
		}
		child += 1 + int(c.tape[child+1].span)
	}
	for i := range t.Fields[:min(len(t.Fields), 64)] {
		f := &t.Fields[i]
		if seen&(1<<i) == 0 && f.Required() && (c.o.Level != Loose || emptyOf(f.Type) == (Value{})) {
			return true
		}
	}
	return false
}

// excludes reports whether a member of the object at a node has another value than the enum of
// that field in t allows: a constant that tells the branches apart.
func (c *coercer) excludes(at int, t *Type) bool {
	child := at + 1
	for range int(c.tape[at].count) {
		val := &c.tape[child+1]
		if val.isText() && val.flags&flagOpen == 0 {
			if i, _ := c.findField(t, c.str(child)); i >= 0 {
				if e := t.Fields[i].Type.Deref(); e.Kind == EnumType && c.unlikeEnum(child+1, e) {
					return true
				}
			}
		}
		child += 1 + int(val.span)
	}
	return false
}

func (c *coercer) unlikeEnum(at int, t *Type) bool {
	s := c.str(at)
	return !in.HasValue(t, s) && in.Names(t).aliased(s) < 0 && (c.o.Level == Strict || c.enumNamed(s, t) < 0)
}

// takesKeys reports whether the object at a node, of which more is to come, may be of type t:
// all its keys are fields, and no constant is another.
func (c *coercer) takesKeys(at int, t *Type) bool {
	switch t.Kind {
	case DictType:
		return true
	case RecordType, UnionType:
	default:
		return false
	}
	child := at + 1
	for range int(c.tape[at].count) {
		if c.tape[child+1].kind != nodeMissing {
			key := c.str(child)
			if t.Kind == UnionType && sameFolded(key, t.Tag) {
				return true
			}
			if !c.takesKey(t, key) {
				return false
			}
		}
		child += 1 + int(c.tape[child+1].span)
	}
	return t.Kind != RecordType || !c.excludes(at, t)
}

// saysType finds the branch that an object names by the key "type".
func (c *coercer) saysType(at int, n *node, fit []*Type) *Type {
	tagAt := c.findTag(at, n, DefaultTag)
	if tagAt < 0 || !c.tape[tagAt+1].isText() {
		return nil
	}
	name := c.str(tagAt + 1)
	for _, v := range fit {
		switch v = v.Deref(); {
		case v.Kind == RecordType && v.Name == name && v.FieldIndex(DefaultTag) < 0:
			return v
		case v.Kind == UnionType && v.Tag == DefaultTag && v.Variant(name) != nil:
			return v
		}
	}
	return nil
}

// trialKey is one node tried as one union.
type trialKey struct {
	node int
	typ  *Type
}

// trialResult is what a branch came to, with all that was recorded on the way.
type trialResult struct {
	v       Value
	ok      bool
	cost    int
	score   int
	repairs []Repair
	errs    FieldErrors
	more    int // errors that were not recorded
}

// trialState is the state of the attempts at one node: at the branches of a union, or at the
// items of a list of which one is wanted.
type trialState struct {
	union   *Type
	fit     []*Type
	ends    []int // of the groups of fit; a group is tried only if none fits of those before
	nodes   []int // the nodes to try, when they are not all the same
	next    int
	best    *trialResult
	of      *Type   // the branch of best
	ties    []*Type // branches that fit as well as best, with another value
	partial bool
}

// try enters a node as each of the given branches in turn and keeps the best: the one with the
// least cost, of equals the one with the lower score. The score counts what is no repair but
// speaks against a branch: 1 for each field that takes its default or None because it is not
// there, for an int read as a float, for a 0 or 1 in text read as a bool and for an object read
// as a dict. An eighth of a repair's cost is worth one point of the score. Equals are an error
// that lists them; at level Loose the first counts.
func (c *coercer) try(at int, union *Type, fit []*Type, ends []int) bool {
	if r, ok := c.memo[trialKey{at, union}]; ok {
		return c.settle(r)
	}
	c.pushTrial(at, &trialState{union: union, fit: fit, ends: ends})
	return false
}

// tryItems enters each of some items of a list as type t and keeps the best.
func (c *coercer) tryItems(at int, t *Type, nodes []int) bool {
	fit := make([]*Type, len(nodes))
	for i := range fit {
		fit[i] = t
	}
	c.repair(repListToSingle, at, c.show(at), "")
	c.pushTrial(at, &trialState{union: t, fit: fit, nodes: nodes})
	return false
}

func (c *coercer) pushTrial(at int, st *trialState) {
	c.push(opTrial, at, st.union)
	f := c.stack[len(c.stack)-1]
	f.extra().trial, f.mark = st, c.here()
	// The node is complete. What fits is to be judged by the whole.
	st.partial, c.partial = c.partial, false
	c.trials++
}

func (c *coercer) stepTrial(f *coerceFrame) bool {
	st := f.more.trial
	if st.next < len(st.fit) && !(st.best != nil && st.best.ok && slices.Contains(st.ends, st.next)) {
		at := int(f.node)
		if st.nodes != nil {
			at = st.nodes[st.next]
		}
		st.next++
		return c.enter(at, st.fit[st.next-1])
	}
	r := st.best
	at := int(f.node)
	c.trials--
	c.pop(Value{}, false)
	switch m := c.here(); {
	case !r.ok && st.union.Kind == OneOfType && c.mayBeNone(&c.tape[at], st.union):
		c.repair(repBadDefault, at, c.show(at), "null")
		r = c.cutTrial(m, Value{}, true)
	case !r.ok || len(st.ties) == 0:
	case c.o.Level == Loose:
		r.cost += repairInfo[repBestFit].cost
		c.repair(repBestFit, at, "", st.of.String())
		r.repairs = append(r.repairs, c.cutTrial(m, r.v, true).repairs...)
	default:
		names := []string{st.of.String()}
		for _, t := range st.ties {
			names = append(names, t.String())
		}
		c.failAt(at, "a value that fits one of "+st.union.String(), "one that fits "+strings.Join(names, " and "),
			"give it a member that only one of them has, or declare a union with a tag")
		r = c.cutTrial(m, Value{}, false)
	}
	c.partial = st.partial
	if c.trials > 0 && st.nodes == nil {
		if c.memo == nil {
			c.memo = make(map[trialKey]*trialResult)
		}
		c.memo[trialKey{at, st.union}] = r
	}
	return c.settle(r)
}

// takeTrial notes what the branch tried last came to.
func (c *coercer) takeTrial(f *coerceFrame) {
	st, m := f.more.trial, f.mark
	of := st.fit[st.next-1].Deref()
	better := st.best == nil || (c.ok && !st.best.ok)
	switch cost, score := c.cost-int(m.cost), c.score-int(m.score); {
	case better:
	case c.ok != st.best.ok:
	case c.ok:
		have, now := st.best.cost*8+st.best.score, cost*8+score
		if now == have && st.nodes == nil && !Equal(c.ret, st.best.v) {
			st.ties = append(st.ties, of)
		}
		better = now < have
	case len(st.ends) > 0 && st.next > st.ends[0]: // it suits the node less
	default:
		better = len(c.errs)-int(m.errs)+c.more-int(m.more) < len(st.best.errs)+st.best.more
	}
	if better {
		st.best, st.of, st.ties = c.cutTrial(m, c.ret, c.ok), of, nil
		return
	}
	c.rollback(m)
}

// cutTrial takes all that was recorded since a mark away as the result of a trial.
func (c *coercer) cutTrial(m coerceMark, v Value, ok bool) *trialResult {
	r := &trialResult{v: v, ok: ok, cost: c.cost - int(m.cost), score: c.score - int(m.score), more: c.more - int(m.more)}
	if len(c.repairs) > int(m.repairs) {
		r.repairs = slices.Clone(c.repairs[m.repairs:])
	}
	if len(c.errs) > int(m.errs) {
		r.errs = slices.Clone(c.errs[m.errs:])
	}
	c.rollback(m)
	return r
}

// settle completes a union with the result of its best branch.
func (c *coercer) settle(r *trialResult) bool {
	c.repairs = append(c.repairs, r.repairs[:max(0, min(len(r.repairs), maxRepairs-len(c.repairs)))]...)
	n := max(0, min(len(r.errs), maxErrors-len(c.errs)))
	c.errs = append(c.errs, r.errs[:n]...)
	c.more += r.more + len(r.errs) - n
	c.cost += r.cost
	c.score += r.score
	c.ret, c.ok = r.v, r.ok
	return true
}
