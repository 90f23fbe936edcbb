package shape

import (
	"slices"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/generable"
)

// round structures the loop through a node: the part up to the only agent that may leave it is the body, and the part
// after that the repair.
func (b *builder) round(head, until int, in map[int]bool, deep int) (parts []*Shape, next int, ok bool) {
	check, ok := b.check(in)
	if !ok || b.p.Agents[check].Stuck || deep == deepest || until != b.end && in[until] {
		return nil, 0, false
	}
	b.heads[head] = true
	defer delete(b.heads, head)
	body := &Shape{Kind: Seq}
	if check != head {
		if body, ok = b.seq(head, check, deep+1); !ok {
			return nil, 0, false
		}
		if body.Kind != Seq {
			body = &Shape{Kind: Seq, Parts: []*Shape{body}}
		}
	}
	if !b.take(check) {
		return nil, 0, false
	}
	a := b.p.Agents[check]
	if body.Parts = append(body.Parts, &Shape{Kind: Step, Agent: check}); len(body.Parts) == 1 {
		body = body.Parts[0]
	}
	stays := func(e *plan.Edge) bool { return in[b.target(e)] }
	leaves := func(e *plan.Edge) bool { return !stays(e) }
	staying, leaving := slices.DeleteFunc(slices.Clone(a.Edges), leaves), slices.DeleteFunc(slices.Clone(a.Edges), stays)
	repair, ok := b.repair(a, staying, head, deep)
	if !ok {
		return nil, 0, false
	}
	loop := &Shape{Kind: Loop, Of: a, Parts: []*Shape{body, repair}, Until: ends(a.Edges, leaves), Edges: staying}
	return b.leave(loop, check, leaving, until, deep, true)
}

// check finds the only agent from which edges lead out of a loop, while others stay in it.
func (b *builder) check(in map[int]bool) (int, bool) {
	check := -1
	for i := range in {
		for _, to := range b.next[i] {
			if !in[to] && check >= 0 && check != i {
				return 0, false
			}
			if !in[to] {
				check = i
			}
		}
	}
	if check < 0 {
		return 0, false
	}
	return check, slices.ContainsFunc(b.next[check], func(to int) bool { return in[to] })
}

// repair structures what leads from the check of a loop back to its head.
func (b *builder) repair(of *plan.Agent, staying []*plan.Edge, head, deep int) (*Shape, bool) {
	groups := b.grouped(staying)
	if len(groups) == 1 {
		return b.along(staying[0], of, head, deep+1)
	}
	meet := b.meeting(staying, head)
	branch, ok := b.branch(&Shape{Kind: Pass, Of: of}, of, groups, meet, deep+1, true)
	if !ok || meet == head {
		return branch, ok
	}
	rest, ok := b.seq(meet, head, deep+1)
	if !ok {
		return nil, false
	}
	if rest.Kind == Seq {
		return &Shape{Kind: Seq, Parts: append([]*Shape{branch}, rest.Parts...)}, true
	}
	return &Shape{Kind: Seq, Parts: []*Shape{branch, rest}}, true
}

// meeting returns where edges meet on their paths to a node that all of them lead to.
func (b *builder) meeting(edges []*plan.Edge, head int) int {
	at := map[int]int{} // the path of the first one
	for i := b.target(edges[0]); ; i = b.post[i] {
		if at[i] = len(at); i == head || b.post[i] < 0 || b.post[i] == i {
			break
		}
	}
	meet := b.target(edges[0])
	for _, e := range edges[1:] {
		i := b.target(e)
		for at[i] == 0 && i != b.target(edges[0]) && i != head && b.post[i] >= 0 {
			i = b.post[i]
		}
		if at[i] > at[meet] {
			meet = i
		}
	}
	return meet
}

// ends returns when one of the edges that leave takes an agent's output: by its own condition, unless an earlier edge
// that stays takes the same value.
func ends(edges []*plan.Edge, leaves func(*plan.Edge) bool) *predicate.Predicate {
	var out *predicate.Predicate
	var staying []*predicate.Predicate
	whole := false
	for _, e := range edges {
		p := condition(e)
		if !leaves(e) {
			staying = append(staying, p)
			continue
		}
		for _, s := range staying {
			switch {
			case p == nil:
				p = s.Not()
			case !apart(p, s):
				p = p.And(s.Not())
			}
		}
		if p == nil {
			whole = true
			break
		}
		if out == nil {
			out = p
		} else {
			out = out.Or(p)
		}
	}
	if whole {
		return nil
	}
	return out
}

// apart reports whether two tests certainly never hold for the same value: they compare the same thing with different
// values.
func apart(p, q *predicate.Predicate) bool {
	v, _ := p.Value()
	w, _ := q.Value()
	return p.Op() == predicate.Eq && q.Op() == predicate.Eq && p.Field() == q.Field() && !generable.Equal(v, w)
}

// condition returns what an edge takes as a predicate, or nil for everything.
func condition(e *plan.Edge) *predicate.Predicate {
	if e.Value == nil {
		return e.Pred
	}
	p, err := predicate.New(predicate.Eq, "", e.Value)
	if err != nil {
		panic(err) // only for regular expressions
	}
	return p
}

// guard returns what edges take together.
func guard(edges []*plan.Edge) (*generable.Value, *predicate.Predicate) {
	if len(edges) == 1 {
		return edges[0].Value, edges[0].Pred
	}
	var out *predicate.Predicate
	for _, e := range edges {
		p := condition(e)
		switch {
		case p == nil:
			return nil, nil
		case out == nil:
			out = p
		default:
			out = out.Or(p)
		}
	}
	return nil, out
}
