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
		case StrType:
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
		if n.count == 1 {
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
	if t = t.Deref(); a == affinityExact && t.Kind == EnumType && n.isText() && slices.Contains(t.Values, c.str(at)) {
		return affinityBest
	}
	return a
}

// enterOneOf begins a value of an inline union. The kind of the node decides if it can; else
// the branches are tried.
func (c *coercer) enterOneOf(at int, n *node, t *Type) bool {
	best, first, more := affinityNone, (*Type)(nil), 0
	for _, v := range t.Variants {
		switch a := c.affinityAt(at, n, v); {
		case a == affinityNone || a < best:
		case a > best:
			best, first, more = a, v, 0
		default:
			more++
		}
	}
	switch {
	case first == nil:
		return c.mismatch(at, t)
	case more == 0:
		return c.enter(at, first)
	}
	fit := make([]*Type, 0, more+1)
	for _, v := range t.Variants {
		if c.affinityAt(at, n, v) == best {
			fit = append(fit, v)
		}
	}
	if n.kind == nodeObj {
		if v := c.saysType(at, n, fit); v != nil {
			return c.enter(at, v)
		}
	}
	return c.try(at, t, fit)
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
}

// trialState is the state of the attempts at the branches of one union at one node.
type trialState struct {
	union *Type
	fit   []*Type
	next  int
	best  *trialResult
	of    *Type   // the branch of best
	ties  []*Type // branches that fit as well as best, with another value
}

// try enters a node as each of the given branches in turn and keeps the best.
func (c *coercer) try(at int, union *Type, fit []*Type) bool {
	if r, ok := c.memo[trialKey{at, union}]; ok {
		return c.settle(r)
	}
	if c.partial { // the branch is not known before the value is complete
		if c.tape[at].flags&flagOpen != 0 {
			return c.fail()
		}
	}
	c.push(opTrial, at, union)
	f := &c.stack[len(c.stack)-1]
	f.trial = &trialState{union: union, fit: fit}
	f.mark = c.here()
	c.trials++
	return false
}

func (c *coercer) stepTrial(f *coerceFrame) bool {
	st := f.trial
	if st.next < len(st.fit) {
		st.next++
		return c.enter(f.node, st.fit[st.next-1])
	}
	r := st.best
	at := f.node
	c.trials--
	c.pop(Value{}, false)
	if r.ok && len(st.ties) > 0 && c.o.Level != Loose {
		names := []string{st.of.String()}
		for _, t := range st.ties {
			names = append(names, t.String())
		}
		m := c.here()
		c.failAt(at, "a value that fits one of "+st.union.String(), "one that fits "+strings.Join(names, " and "),
			"give it a member that only one of them has, or declare a union with a tag")
		r = &trialResult{errs: slices.Clone(c.errs[m.errs:])}
		c.rollback(m)
	}
	if c.trials > 0 {
		if c.memo == nil {
			c.memo = make(map[trialKey]*trialResult)
		}
		c.memo[trialKey{at, st.union}] = r
	}
	return c.settle(r)
}

// takeTrial notes what the branch tried last came to.
func (c *coercer) takeTrial(f *coerceFrame) {
	st, m := f.trial, f.mark
	r := &trialResult{v: c.ret, ok: c.ok, cost: c.cost - int(m.cost), score: c.score - int(m.score)}
	of := st.fit[st.next-1].Deref()
	better := st.best == nil || (r.ok && !st.best.ok)
	switch {
	case better:
	case r.ok != st.best.ok:
	case r.ok:
		have, now := st.best.cost*8+st.best.score, r.cost*8+r.score
		if now == have && !Equal(r.v, st.best.v) {
			st.ties = append(st.ties, of)
		}
		better = now < have
	default:
		better = len(c.errs)-int(m.errs) < len(st.best.errs)
	}
	if better {
		r.repairs = slices.Clone(c.repairs[m.repairs:])
		r.errs = slices.Clone(c.errs[m.errs:])
		st.best, st.of, st.ties = r, of, nil
	}
	c.rollback(m)
}

// settle completes a union with the result of its best branch.
func (c *coercer) settle(r *trialResult) bool {
	c.repairs = append(c.repairs, r.repairs...)
	c.errs = append(c.errs, r.errs...)
	c.cost += r.cost
	c.score += r.score
	c.ret, c.ok = r.v, r.ok
	return true
}
