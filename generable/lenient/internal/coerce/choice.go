package coerce

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
	"github.com/agentscript/agentscript/internal/text"
)

// affinity says how well the kind of a node suits a type, without looking at its content.
type affinity uint8

const (
	affinityNone affinity = iota
	affinityPossible
	affinityClose // an integer for a float
	AffinityExact
)

func (c *Coercer) Affinity(n *tape.Node, t *generable.Type) affinity {
	t = t.Deref()
	switch t.Kind {
	case generable.AnyType, generable.ErrorType:
		return affinityClose
	case generable.OneOfType:
		best := affinityNone
		for _, v := range t.Variants {
			best = max(best, c.Affinity(n, v))
		}
		return best
	}
	if c.O.Level == generable.Loose && t.Kind == generable.RecordType && c.implied(n, t) {
		return affinityPossible
	}
	a := affinities[n.Kind][t.Kind]
	if a == affinityNone && t.Kind != generable.NoneType {
		around := n.Count == 1 || c.O.Level == generable.Loose && n.Kind == tape.NodeArr && (t.Kind == generable.RecordType || t.Kind == generable.UnionType)
		if n.IsText() || n.Kind >= tape.NodeArr && around { // it may hold such a value
			a = affinityPossible
		}
	}
	if a == affinityPossible && c.O.Level == generable.Strict {
		return affinityNone
	}
	return a
}

// affinities depend on the node alone; affinityPossible applies only to levels other than Strict.
var affinities = [...][generable.ErrorType + 1]affinity{
	tape.NodeNull:    {generable.NoneType: AffinityExact},
	tape.NodeMissing: {generable.NoneType: AffinityExact},
	tape.NodeTrue:    {generable.BoolType: AffinityExact, generable.StrType: affinityPossible, generable.EnumType: affinityPossible},
	tape.NodeFalse:   {generable.BoolType: AffinityExact, generable.StrType: affinityPossible, generable.EnumType: affinityPossible},
	tape.NodeInt:     {generable.IntType: AffinityExact, generable.FloatType: affinityClose, generable.StrType: affinityPossible, generable.BoolType: affinityPossible, generable.EnumType: affinityPossible},
	tape.NodeFloat:   {generable.IntType: affinityPossible, generable.FloatType: AffinityExact, generable.StrType: affinityPossible, generable.BoolType: affinityPossible, generable.EnumType: affinityPossible},
	tape.NodeNumber:  {generable.IntType: AffinityExact, generable.FloatType: AffinityExact, generable.StrType: affinityPossible, generable.BoolType: affinityPossible, generable.EnumType: affinityPossible},
	tape.NodeStr:     {generable.StrType: AffinityExact, generable.EnumType: AffinityExact},
	tape.NodeWord:    {generable.StrType: AffinityExact, generable.EnumType: AffinityExact},
	tape.NodeConcat:  {generable.StrType: AffinityExact, generable.EnumType: AffinityExact},
	tape.NodeArr:     {generable.ListType: AffinityExact},
	tape.NodeObj:     {generable.RecordType: AffinityExact, generable.DictType: AffinityExact, generable.UnionType: AffinityExact, generable.ListType: affinityPossible},
}

// enterOneOf begins a value of an inline union. The kind of the node decides if it can, then the key "type" and the
// keys of an object. Otherwise the branches are tried, starting with those that suit the kind best.
func (c *Coercer) enterOneOf(at int, n *tape.Node, t *generable.Type) bool {
	best, first, fitting, possible := affinityNone, (*generable.Type)(nil), 0, 0
	for _, v := range t.Variants {
		a := c.Affinity(n, v)
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
	if in.IsNumber(t) && !c.mayBeNone(n, t) {
		return c.scalar(at, n, t)
	}
	// By affinity, best first. Usually one is left, and none of this reaches the heap.
	var fitBuf [8]*generable.Type
	var endsBuf [AffinityExact]int
	fit, ends := fitBuf[:0], endsBuf[:0]
	for a := best; a > affinityNone; a-- {
		from := len(fit)
		for _, v := range t.Variants {
			if c.Affinity(n, v) == a {
				fit = append(fit, v)
			}
		}
		if len(fit) > from {
			if n.Kind == tape.NodeObj && len(fit) > from+1 {
				fit = fit[:from+c.byKeys(at, fit[from:])]
			}
			ends = append(ends, len(fit))
		}
		if n.Kind >= tape.NodeArr && c.O.Level != generable.Loose {
			break // a list that does not fit is not tried as an item
		}
	}
	if n.Kind == tape.NodeObj {
		if v := c.saysType(at, fit); v != nil {
			return c.enter(at, v)
		}
	}
	if len(fit) == 1 && !c.mayBeNone(n, t) {
		return c.enterOnly(at, fit[0], t)
	}
	return c.try(at, t, slices.Clone(fit), slices.Clone(ends))
}

// enterOnly begins the only branch of a union that suits a node. If that branch is an enum, its error also mentions
// null.
func (c *Coercer) enterOnly(at int, branch, union *generable.Type) bool {
	from := len(c.Errs)
	done := c.enter(at, branch)
	none := union.Variants[len(union.Variants)-1].Kind == generable.NoneType
	if done && !c.ok && none && branch.Deref().Kind == generable.EnumType && len(c.Errs) == from+1 {
		c.Errs[from].Expected += " or null"
	}
	return done
}

// mayFail reports whether a node may turn out not to be a value of the type that suits it best, so that another type
// may be needed.
func (c *Coercer) mayFail(n *tape.Node, t *generable.Type) bool {
	switch t.Deref().Kind {
	case generable.StrType, generable.NoneType, generable.AnyType:
		return false
	case generable.BoolType, generable.IntType, generable.FloatType:
		return n.Kind >= tape.NodeStr
	case generable.EnumType, generable.RefType:
		return true
	}
	return c.O.Level == generable.Loose
}

// mayBeNone reports whether None may replace a value that does not fit t: a part of a value, or a scalar that is the
// whole value.
func (c *Coercer) mayBeNone(n *tape.Node, t *generable.Type) bool {
	return c.O.Level == generable.Loose && t.Variants[len(t.Variants)-1].Kind == generable.NoneType &&
		(len(c.Stack) > c.Trials || n.Kind < tape.NodeArr)
}

// noBranch ends an inline union without a branch that suits the node.
func (c *Coercer) noBranch(at int, n *tape.Node, t *generable.Type) bool {
	if c.mayBeNone(n, t) {
		c.Repair(tape.RepBadDefault, at, c.show(at), "null")
		return c.done(generable.Value{})
	}
	return c.mismatch(at, t)
}

// byKeys moves the branches that the keys of an object leave possible to the front and returns their number, or the
// number of all branches if the keys leave none.
func (c *Coercer) byKeys(at int, fit []*generable.Type) int {
	n := 0
	for i, v := range fit {
		if v = v.Deref(); v.Kind != generable.RecordType || !c.lacks(at, v) {
			fit[n], fit[i] = fit[i], fit[n]
			n++
		}
	}
	if n == 0 {
		return len(fit)
	}
	return n
}

// lacks reports whether the object at a node lacks a required field of t.
func (c *Coercer) lacks(at int, t *generable.Type) bool {
	var seen uint64
	for key := range tape.Members(c.Tape, at) {
		if i, _ := c.FindField(t, c.Str(key)); i >= 0 && i < 64 && c.Tape[key+1].Kind != tape.NodeMissing {
			seen |= 1 << i
		}
	}
	for i := range t.Fields[:min(len(t.Fields), 64)] {
		f := &t.Fields[i]
		if seen&(1<<i) == 0 && f.Required() && (c.O.Level != generable.Loose || emptyOf(f) == (generable.Value{})) {
			return true
		}
	}
	return false
}

// IsOf reports whether a text means a value of enum t.
func (c *Coercer) IsOf(s string, t *generable.Type) bool {
	return in.HasValue(t, s) || in.Names(t).Aliased(s) >= 0 || c.O.Level != generable.Strict && c.enumNamed(s, t) >= 0
}

// saysType finds the branch that an object names under the key "type".
func (c *Coercer) saysType(at int, fit []*generable.Type) *generable.Type {
	tagAt := c.findTag(at, generable.DefaultTag)
	if tagAt < 0 || !c.Tape[tagAt+1].IsText() {
		return nil
	}
	name := c.Str(tagAt + 1)
	for _, v := range fit {
		switch v = v.Deref(); {
		case v.Kind == generable.RecordType && v.Name == name && v.FieldIndex(generable.DefaultTag) < 0:
			return v
		case v.Kind == generable.UnionType && v.Tag == generable.DefaultTag && v.Variant(name) != nil:
			return v
		}
	}
	return nil
}

// trialKey identifies one node tried as one union.
type trialKey struct {
	node int
	typ  *generable.Type
}

// trialResult is the result of a branch, with everything that was recorded for it.
type trialResult struct {
	v       generable.Value
	ok      bool
	cost    int
	score   int
	repairs []generable.Repair
	errs    generable.FieldErrors
	more    int // errors that were not recorded
}

// trialState is the state of the attempts at one node: at the branches of a union, or at the items of a list when one
// item is wanted.
type trialState struct {
	union *generable.Type
	fit   []*generable.Type
	ends  []int // ends of the groups in fit; a group is tried only if no branch of the groups before it fits
	nodes []int // the nodes to try, when they differ
	next  int
	best  *trialResult
	of    *generable.Type   // the branch of best
	ties  []*generable.Type // branches that fit as well as best, with another value
}

// try enters a node as each of the given branches in turn and keeps the best: the one with the least cost, among
// equals the one with the lower score. The score covers what is not a repair but counts against a branch: 1 for each
// missing field that takes its default or None, for an int read as a float, for a 0 or 1 in text read as a bool, and
// for an object read as a dict. An eighth of a repair's cost equals one point of the score. Equals are an error that
// lists them; at level Loose the first one wins.
func (c *Coercer) try(at int, union *generable.Type, fit []*generable.Type, ends []int) bool {
	if r, ok := c.Memo[trialKey{at, union}]; ok {
		return c.settle(r)
	}
	c.pushTrial(at, &trialState{union: union, fit: fit, ends: ends})
	return false
}

// tryItems enters each of the given items of a list as type t and keeps the best.
func (c *Coercer) tryItems(at int, t *generable.Type, nodes []int) bool {
	c.Repair(tape.RepListToSingle, at, c.show(at), "")
	c.pushTrial(at, &trialState{union: t, fit: slices.Repeat([]*generable.Type{t}, len(nodes)), nodes: nodes})
	return false
}

func (c *Coercer) pushTrial(at int, st *trialState) {
	c.push(opTrial, at, st.union)
	f := c.Stack[len(c.Stack)-1]
	f.extra().trial, f.mark = st, c.here()
	c.Trials++
}

func (c *Coercer) stepTrial(f *CoerceFrame) bool {
	st := f.More.trial
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
	c.Trials--
	c.pop(generable.Value{}, false)
	switch m := c.here(); {
	case !r.ok && st.union.Kind == generable.OneOfType && c.mayBeNone(&c.Tape[at], st.union):
		c.Repair(tape.RepBadDefault, at, c.show(at), "null")
		r = c.cutTrial(m, generable.Value{}, true)
	case !r.ok || len(st.ties) == 0:
	case c.O.Level == generable.Loose:
		r.cost += tape.RepairInfo[tape.RepBestFit].Cost
		c.Repair(tape.RepBestFit, at, "", st.of.String())
		r.repairs = append(r.repairs, c.cutTrial(m, r.v, true).repairs...)
	default:
		names := text.Each(append([]*generable.Type{st.of}, st.ties...), (*generable.Type).String)
		c.failAt(at, "a value that fits one of "+st.union.String(), "one that fits "+strings.Join(names, " and "),
			"give it a member that only one of them has, or declare a union with a tag")
		r = c.cutTrial(m, generable.Value{}, false)
	}
	if c.Trials > 0 && st.nodes == nil {
		if c.Memo == nil {
			c.Memo = make(map[trialKey]*trialResult)
		}
		c.Memo[trialKey{at, st.union}] = r
	}
	return c.settle(r)
}

// takeTrial records the result of the branch that was tried last.
func (c *Coercer) takeTrial(f *CoerceFrame) {
	st, m := f.More.trial, f.mark
	of := st.fit[st.next-1].Deref()
	better := st.best == nil || (c.ok && !st.best.ok)
	switch cost, score := c.Cost-int(m.cost), c.Score-int(m.score); {
	case better:
	case c.ok != st.best.ok:
	case c.ok:
		have, now := st.best.cost*8+st.best.score, cost*8+score
		if now == have && st.nodes == nil && !generable.Equal(c.ret, st.best.v) {
			st.ties = append(st.ties, of)
		}
		better = now < have
	case len(st.ends) > 0 && st.next > st.ends[0]: // it suits the node less well
	default:
		better = len(c.Errs)-int(m.errs)+c.More-int(m.more) < len(st.best.errs)+st.best.more
	}
	if better {
		st.best, st.of, st.ties = c.cutTrial(m, c.ret, c.ok), of, nil
		return
	}
	c.rollback(m)
}

// cutTrial removes everything recorded since a mark and returns it as the result of a trial.
func (c *Coercer) cutTrial(m coerceMark, v generable.Value, ok bool) *trialResult {
	r := &trialResult{v: v, ok: ok, cost: c.Cost - int(m.cost), score: c.Score - int(m.score), more: c.More - int(m.more)}
	if len(c.Repairs) > int(m.repairs) {
		r.repairs = slices.Clone(c.Repairs[m.repairs:])
	}
	if len(c.Errs) > int(m.errs) {
		r.errs = slices.Clone(c.Errs[m.errs:])
	}
	c.rollback(m)
	return r
}

// settle completes a union with the result of its best branch.
func (c *Coercer) settle(r *trialResult) bool {
	c.Repairs = append(c.Repairs, r.repairs[:max(0, min(len(r.repairs), tape.MaxRepairs-len(c.Repairs)))]...)
	n := max(0, min(len(r.errs), message.MaxErrors-len(c.Errs)))
	c.Errs = append(c.Errs, r.errs[:n]...)
	c.More += r.more + len(r.errs) - n
	c.Cost += r.cost
	c.Score += r.score
	c.ret, c.ok = r.v, r.ok
	return true
}
