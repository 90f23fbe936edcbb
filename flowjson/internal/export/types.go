package export

import (
	"slices"

	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
)

// The format declares no types. The output type of an agent follows from the literals that its conditions compare with:
// numbers, true and false, or texts. The values of an enum are all texts that are compared with equals.

// implied reports an agent whose output type does not follow from the transitions that leave it.
func (x *exporter) implied(s *step) {
	if s.open || s.file.Type == "verify" || s.file.Type == "transform" || s.file.Type == "parallel" {
		return
	}
	t := s.out.Deref()
	cannot := func(help string) {
		x.cannot(s.node, s.node.Site().Span, s.label(), "output = "+text.Clip(t.String(), 60), help)
	}
	s.said(t)
	conds, always := s.conditions()
	literals := text.Each(conds, func(c *condition) generable.Value { return c.literal })
	if s.asked != nil {
		literals = append(literals, *s.asked)
	}
	is := func(kind generable.Kind) bool {
		return len(literals) > 0 && !slices.ContainsFunc(literals, func(v generable.Value) bool { return v.Kind() != kind })
	}
	switch t.Kind {
	case generable.StrType:
		if len(conds) > 0 && !always && !slices.ContainsFunc(conds, func(c *condition) bool { return c.operation != operation.Equals }) {
			cannot("say where all other texts go: otherwise = handler; without it the format takes the texts that are compared for all there are")
		}
	case generable.BoolType:
		if !is(generable.Bool) {
			cannot("branch on it, eq(True): only conditions say that an agent returns true or false; or return str")
		}
	case generable.IntType, generable.FloatType:
		numbers := !slices.ContainsFunc(literals, func(v generable.Value) bool { _, ok := number(v); return !ok })
		whole := !slices.ContainsFunc(literals, func(v generable.Value) bool { n, _ := number(v); return n != float64(int64(n)) })
		switch {
		case len(literals) == 0 || !numbers:
			cannot("branch on it, ge(80): only conditions say that an agent returns a number; or return str")
		case whole && t.Kind == generable.FloatType:
			for _, c := range conds { // otherwise the number would mean an int
				c.float = true
			}
		case !whole && t.Kind == generable.IntType:
			cannot("compare with whole numbers: others mean float")
		}
	case generable.EnumType:
		switch {
		case len(conds) == 0:
			cannot("branch on it, {value: handler}: only conditions say which texts an agent returns; or return str")
		case always || !x.allValues(t, conds):
			cannot("route each value, or return str")
		case t.Doc != "" || t.Description != "" || len(t.Notes) > 0:
			x.cannot(s.node, s.node.Site().Span, s.label(), "what the values of "+t.String()+" mean", "say it in the prompt")
		default:
			s.inOrder(t.Values)
		}
	default:
		cannot("return str, int, float, bool or an enum, and branch on what is not a str; or let verify judge")
	}
}

// said adds conditions that determine the type to a step whose output no condition compares. They lead to the step's
// only target.
func (s *step) said(t *generable.Type) {
	if s.inner || len(s.edges) != 1 || s.edges[0].cond != nil {
		return
	}
	only := s.edges[0]
	add := func(word string, literal generable.Value) {
		s.edges = append(s.edges, &edge{from: s, like: only, cond: &condition{variable: "output", operation: word, literal: literal}})
	}
	switch t.Kind {
	case generable.BoolType:
		add(operation.Equals, generable.BoolOf(true))
	case generable.IntType, generable.FloatType:
		add(operation.MoreOrEqual, generable.IntOf(0))
	case generable.EnumType:
		for _, word := range t.Values {
			add(operation.Equals, generable.StrOf(word))
		}
		only.cond = s.edges[1].cond // no text is left
		s.edges = slices.Delete(s.edges, 1, 2)
		return
	default:
		return
	}
	s.edges = append(s.edges[1:], only)
}

// conditions returns the conditions of a step's transitions. It reports whether a transition has none.
func (s *step) conditions() (conds []*condition, always bool) {
	for _, e := range s.edges {
		if e.cond == nil {
			always = true
		} else {
			conds = append(conds, e.cond)
		}
	}
	return conds, always
}

// allValues reports whether conditions compare with every value of an enum, using equals.
func (x *exporter) allValues(t *generable.Type, conds []*condition) bool {
	var values []string
	for _, c := range conds {
		v, ok := c.literal.AsStr()
		if !ok || c.operation != operation.Equals {
			return false
		}
		values = append(values, v)
	}
	return slices.Equal(slices.Sorted(slices.Values(values)), slices.Sorted(slices.Values(t.Values)))
}

// inOrder sorts the transitions for an enum's values, each for a different value, in the order of the enum, since a
// reader knows no other order.
func (s *step) inOrder(values []string) {
	at := func(e *edge) int {
		v, _ := e.cond.literal.AsStr()
		return slices.Index(values, v)
	}
	sorting.By(s.edges, func(a, b *edge) int { return at(a) - at(b) })
}

// begins reports an input of the flow that is not a text: the format declares no input type.
func (x *exporter) begins() {
	if len(x.steps) == 0 || x.steps[0].node == nil {
		return
	}
	n := x.steps[0].node
	if t := n.In().Deref(); t.Kind != generable.StrType && t.Kind != generable.AnyType && t.Kind != generable.ErrorType {
		x.cannot(n, n.Site().Span, x.steps[0].label(), "input = "+text.Clip(t.String(), 60)+" of a flow", "a flow begins with a text: let its first agent take str")
	}
}

// ends reports a step from which no path leads to the end.
func (x *exporter) ends() {
	if x.found.HasErrors() {
		return
	}
	back := map[*step][]*step{}
	var ending []*step
	reached := map[*step]bool{}
	mark := func(s *step) {
		if !reached[s] {
			reached[s] = true
			ending = append(ending, s)
		}
	}
	for _, s := range x.steps {
		if len(s.edges) == 0 {
			mark(s)
		}
		for _, e := range s.edges {
			if to := e.origin().to; to == nil {
				mark(s)
			} else {
				back[to] = append(back[to], s)
			}
		}
	}
	for ; len(ending) > 0; ending = ending[1:] {
		for _, s := range back[ending[0]] {
			mark(s)
		}
	}
	for _, s := range x.steps {
		if !reached[s] {
			x.cannot(s.node, s.node.Site().Span, s.label(), "a flow that never ends", "let an edge lead to FINISH")
			return
		}
	}
}
