package export

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/generable"
)

// way is one of the continuations of a value after a node.
type way struct {
	route   *flow.Route // nil for everything that is left
	span    diag.Span
	project string // the part of a verdict that is carried
	fails   bool   // what is left fails, which the format cannot express
}

// fork continues the transitions that leave a node along several ways, of which the first that accepts a value gets it.
// It returns the transitions of each way.
func (x *exporter) fork(n, source *flow.Node, out []*edge, ways []way) [][]*edge {
	to := make([][]*edge, len(ways))
	for _, e := range out {
		s := e.from
		if len(ways) == 1 && ways[0].route == nil && (e.project == "" || ways[0].project == "") {
			if ways[0].project != "" {
				e.project = ways[0].project
			}
			to[0] = append(to[0], e)
			continue
		}
		t := source.Out()
		if s != nil && s.out != nil {
			t = s.out
		}
		alone := s == nil || e.cond == nil && !slices.ContainsFunc(s.edges, func(other *edge) bool { return other.like == e })
		switch {
		case s == nil:
			x.cannot(n, n.Site().Span, n.Label(), "a choice before the first agent", "put an agent in front of it")
			s = &step{open: true, out: source.Out()}
		case s.file.Type == "transform" && isCritique(s.out):
			x.cannot(n, n.Site().Span, n.Label(), "a choice by a verdict after a step that passes it on", "let the edges leave what verify returns")
			s.open = true
		case e.project != "":
			x.cannot(n, n.Site().Span, n.Label(), "a choice by what an edge makes of the value", `put pick("`+e.project+`") there as a node`)
			s.open = true
		case (!alone || combined(ways, t)) && nest(s, e, t, ways, to):
			continue
		case !alone:
			x.cannot(n, n.Site().Span, n.Label(), "a choice after a condition, of "+s.label(), "let another agent choose: a transition has one condition, and no order of them says both")
			s.open = true
		}
		at := slices.Index(s.edges, e)
		if at >= 0 {
			s.edges = slices.Delete(s.edges, at, at+1)
		}
		x.split(n, s, t, ways, to)
	}
	return to
}

// split adds the transitions by which the output of a step, of type t, enters the ways.
func (x *exporter) split(n *flow.Node, s *step, t *generable.Type, ways []way, to [][]*edge) {
	f := x.forking(n, t)
	f.without(s.edges)
	for i := range ways {
		w := &ways[i]
		conds, ok := f.conditions(w)
		if !ok {
			s.open = true
			conds = []*condition{nil}
		}
		for _, c := range conds {
			e := &edge{from: s, cond: c, project: w.project}
			s.edges = append(s.edges, e)
			to[i] = append(to[i], e)
		}
	}
}

// forking follows the values of a type through the ways that accept them.
type forking struct {
	x      *exporter
	n      *flow.Node
	t      *generable.Type
	values []generable.Value    // for a bool or enum: the values that no way has taken yet
	finite bool                 // there are no other values
	before *predicate.Predicate // holds for what earlier ways take; nil for nothing
	passed bool                 // some of that never reaches the choice, since it left the agent before
}

func (x *exporter) forking(n *flow.Node, t *generable.Type) *forking {
	f := &forking{x: x, n: n, t: t}
	switch t = t.Deref(); t.Kind {
	case generable.BoolType:
		f.finite, f.values = true, []generable.Value{generable.BoolOf(true), generable.BoolOf(false)}
	case generable.EnumType:
		f.finite = true
		for _, v := range t.Values {
			f.values = append(f.values, generable.StrOf(v))
		}
	}
	return f
}

// without removes the values that leave the agent before they reach the choice.
func (f *forking) without(edges []*edge) {
	for _, e := range edges {
		switch {
		case e.cond == nil: // it was reported that a choice cannot be expressed here
		case f.finite:
			f.values = slices.DeleteFunc(f.values, e.cond.pred.Holds)
		default:
			f.passed = true
			f.took(e.cond.pred)
		}
	}
}

// took adds the values that a way takes.
func (f *forking) took(p *predicate.Predicate) {
	if f.before == nil {
		f.before = p
	} else {
		f.before = f.before.Or(p)
	}
}

// conditions returns the conditions of the transitions that together form a way: none if it takes nothing, and several
// for some values of an enum, each of which is compared separately. A nil condition takes everything. It returns false
// if the way cannot be expressed.
func (f *forking) conditions(w *way) (conds []*condition, ok bool) {
	if f.finite {
		return f.ofValues(w)
	}
	if w.route == nil {
		return f.rest(w)
	}
	p, all, ok := f.predicate(w)
	if !ok || all {
		return []*condition{nil}, ok
	}
	fresh := p
	if f.passed {
		fresh = p.And(f.before.Not())
	}
	if never, _ := fresh.Settled(f.t); never {
		return nil, true // among several agents before the choice, only others return such values
	}
	c, why := simple(p, f.t)
	if why != nil {
		f.x.cannot(f.n, w.span, f.n.Label(), why.what, why.help)
		return nil, false
	}
	f.took(p)
	return []*condition{c}, true
}

// rest returns the condition for everything that is left.
func (f *forking) rest(w *way) ([]*condition, bool) {
	if f.before != nil {
		if _, all := f.before.Settled(f.t); all {
			return nil, true
		}
		if w.fails && f.ordered() {
			return nil, true
		}
	}
	return []*condition{nil}, !w.fails || f.x.failing(f.n, w)
}

// ordered reports whether earlier ways take every text, as far as a reader of the file evaluates orders of texts. If it
// concludes that they take all, nothing is left.
func (f *forking) ordered() bool {
	if f.t.Deref().Kind != generable.StrType || f.before == nil {
		return false
	}
	samples := []string{""}
	tests(f.before, func(p *predicate.Predicate) {
		if v, ok := p.Value(); ok {
			if s, ok := v.AsStr(); ok {
				samples = append(samples, s, s+"\x00")
			}
		}
	})
	return !slices.ContainsFunc(samples, func(s string) bool { return !f.before.Holds(generable.StrOf(s)) })
}

// tests calls a function with each test in a predicate.
func tests(p *predicate.Predicate, f func(*predicate.Predicate)) {
	kids := p.Operands()
	for _, k := range kids {
		tests(k, f)
	}
	if len(kids) == 0 {
		f(p)
	}
}

// failing reports that values without a transition must fail. It returns false, the result of its caller.
func (x *exporter) failing(n *flow.Node, w *way) bool {
	return x.cannot(n, w.span, n.Label(), `on_no_match = "error"`, `end with an edge without when, or say on_no_match = "finish"`)
}

// predicate returns the condition of a way. It reports whether the way takes all values, and whether it can be
// expressed.
func (f *forking) predicate(w *way) (p *predicate.Predicate, all, ok bool) {
	r := w.route
	switch {
	case r.Pred != nil:
		return r.Pred, r.Pred.Op() == predicate.True, true
	case r.Value != nil:
		p, err := predicate.New(predicate.Eq, "", r.Value)
		return p, false, err == nil
	case r.Type != nil && generable.Assignable(f.t, r.Type) == nil:
		return nil, true, true
	case r.Type != nil:
		return nil, false, f.x.cannot(f.n, w.span, f.n.Label(), "a choice by the type "+r.Type.String(), conditionHelp)
	}
	return nil, false, f.x.cannot(f.n, w.span, f.n.Label(), "a choice by a function", conditionHelp)
}

// ofValues returns the conditions for the remaining values of a bool or an enum that a way takes.
func (f *forking) ofValues(w *way) ([]*condition, bool) {
	var takes func(generable.Value) bool
	var written *condition // as written in the script
	if w.route == nil {
		if w.fails && len(f.values) > 0 {
			return nil, f.x.failing(f.n, w)
		}
		takes = func(generable.Value) bool { return true }
	} else {
		p, all, ok := f.predicate(w)
		if !ok {
			return nil, false
		}
		takes = func(v generable.Value) bool { return all || p.Holds(v) }
		if p != nil {
			written, _ = simple(p, f.t)
		}
	}
	var taken, left []generable.Value
	for _, v := range f.values {
		if takes(v) {
			taken = append(taken, v)
		} else {
			left = append(left, v)
		}
	}
	f.values = left
	switch isBool := f.t.Deref().Kind == generable.BoolType; {
	case len(taken) == 0:
		return nil, true
	case isBool && written != nil:
		return []*condition{written}, true
	case isBool && len(left) == 0:
		return []*condition{nil}, true
	}
	conds := make([]*condition, len(taken))
	for i, v := range taken {
		p, err := predicate.New(predicate.Eq, "", &v)
		if err != nil {
			return nil, false // only for regular expressions
		}
		conds[i] = &condition{variable: "output", operation: operation.Equals, literal: v, pred: p}
	}
	return conds, true
}
