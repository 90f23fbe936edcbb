package export

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/generable"
)

// A transition has one condition. If several must hold together, such as those of a branch after the condition of a
// loop, the order of the transitions can often express that: what would be left over otherwise leaves first. Whether it
// can is determined with samples: one value for all values that the conditions do not distinguish.

// destination is where a value goes.
type destination struct {
	edge *edge // an existing edge that leads there, or
	way  int   // a way of the fork being made
}

// nesting rebuilds the transitions of one step.
type nesting struct {
	s      *step
	t      *generable.Type
	ways   []way
	to     [][]*edge
	values []generable.Value
	goes   []destination // by value
	tests  []*condition  // the tests available to transitions, in the order of the script
	known  map[string]bool
	leads  []lead // the transitions
}

// lead is a transition to be made.
type lead struct {
	cond *condition
	to   destination
}

// nest continues what an edge of a step takes, of type t, along several ways, if the step also has other conditions. It
// reports whether transitions with one condition each can express that.
func nest(s *step, e *edge, t *generable.Type, ways []way, to [][]*edge) bool {
	b := &nesting{s: s, t: t.Deref(), ways: ways, to: to}
	taken, ok := predicatesOf(ways)
	if !ok || !b.sampled(taken) {
		return false
	}
	for _, v := range b.values {
		d, ok := b.follow(v, e, taken)
		if !ok {
			return false
		}
		b.goes = append(b.goes, d)
	}
	if !b.transitions() {
		return false
	}
	b.make()
	return true
}

// combined reports whether the condition of some way combines several tests.
func combined(ways []way, t *generable.Type) bool {
	return slices.ContainsFunc(ways, func(w way) bool {
		if w.route == nil || w.route.Pred == nil || len(w.route.Pred.Operands()) == 0 {
			return false
		}
		_, why := simple(w.route.Pred, t)
		return why != nil
	})
}

// predicatesOf returns the predicate of each way; nil tests nothing.
func predicatesOf(ways []way) ([]*predicate.Predicate, bool) {
	var out []*predicate.Predicate
	for i := range ways {
		w := &ways[i]
		switch r := w.route; {
		case r == nil:
			out = append(out, nil)
		case r.Pred != nil:
			out = append(out, r.Pred)
		case r.Value != nil:
			p, err := predicate.New(predicate.Eq, "", r.Value)
			if err != nil {
				return nil, false
			}
			out = append(out, p)
		default:
			return nil, false
		}
	}
	return out, true
}

// follow finds where a value goes. It returns false if the value must not go anywhere.
func (b *nesting) follow(v generable.Value, e *edge, taken []*predicate.Predicate) (destination, bool) {
	for _, other := range b.s.edges {
		if other.cond != nil && !other.cond.pred.Holds(v) {
			continue
		}
		if other.origin() != e.origin() {
			return destination{edge: other.origin()}, true
		}
		for i, p := range taken {
			if p == nil || p.Op() == predicate.True || p.Holds(v) {
				return destination{way: i}, !b.ways[i].fails
			}
		}
		return destination{}, false
	}
	return destination{}, false
}

// sampled finds the tests in the conditions, and the values that they distinguish.
func (b *nesting) sampled(taken []*predicate.Predicate) bool {
	sound := true
	var literals []generable.Value // of the value, or of feedback
	add := func(p *predicate.Predicate) {
		if p.Op() == predicate.True {
			return
		}
		c, why := simple(p, b.t)
		if why != nil {
			sound = false
			return
		}
		if len(literals) > mostValues {
			sound = false
		}
		if !sound {
			return
		}
		if _, text := c.literal.AsStr(); text && p.Op() != predicate.Eq && p.Op() != predicate.Ne {
			sound = false // a sample does not show which texts an order treats alike
			return
		}
		if !strings.HasSuffix(c.variable, ".success") {
			literals = append(literals, c.literal)
		}
		b.test(p)
		if is, ok := c.literal.AsBool(); ok {
			not := generable.BoolOf(!is)
			if other, err := predicate.New(predicate.Eq, p.Field(), &not); err == nil {
				b.test(other)
			}
		}
		for _, op := range []predicate.Op{opposites[p.Op()], predicate.Eq, predicate.Ne, predicate.Ge, predicate.Gt, predicate.Le, predicate.Lt} {
			if like, err := predicate.New(op, p.Field(), &c.literal); err == nil {
				b.test(like)
			}
		}
	}
	for _, e := range b.s.edges {
		if e.cond != nil {
			tests(e.cond.pred, add)
		}
	}
	for _, p := range taken {
		if p != nil {
			tests(p, add)
		}
	}
	if sound {
		b.sample(literals)
	}
	return sound && len(b.values) > 0
}

// test adds a test that a transition can use.
func (b *nesting) test(p *predicate.Predicate) {
	c, why := simple(p, b.t)
	_, text := c.text()
	if why != nil || text && operation.Orders(c.operation) {
		return
	}
	key := p.String()
	if b.known[key] {
		return
	}
	if b.known == nil {
		b.known = map[string]bool{}
	}
	b.known[key] = true
	b.tests = append(b.tests, c)
}

// text returns the text that a condition compares with, and whether it is one.
func (c *condition) text() (string, bool) {
	if c == nil {
		return "", false
	}
	return c.literal.AsStr()
}

// sample makes one value for all values that comparisons with some literals do not distinguish. It makes none for a
// type on which no choice can be expressed.
func (b *nesting) sample(literals []generable.Value) {
	switch {
	case b.t.Kind == generable.BoolType:
		b.values = []generable.Value{generable.BoolOf(true), generable.BoolOf(false)}
	case b.t.Kind == generable.EnumType:
		for _, v := range b.t.Values {
			b.values = append(b.values, generable.StrOf(v))
		}
	case b.t.Kind == generable.StrType:
		b.values = texts(literals)
	case b.t.Kind == generable.IntType || b.t.Kind == generable.FloatType:
		b.values = numbers(literals, b.t.Kind == generable.IntType)
	case isCritique(b.t):
		for _, success := range []bool{true, false} {
			for _, feedback := range texts(literals) {
				b.values = append(b.values, generable.NewRecord(b.t, []generable.Value{generable.BoolOf(success), feedback, {}}).Value())
			}
		}
	}
}

// texts returns literals, and a text that equals none of them.
func texts(literals []generable.Value) []generable.Value {
	other, seen := "", map[string]bool{} // a text after the last one equals none
	var out []generable.Value
	for _, v := range literals {
		if s, ok := v.AsStr(); ok && !seen[s] {
			seen[s] = true
			out = append(out, v)
			other = max(other, s)
		}
	}
	return append(out, generable.StrOf(other+"\x00"))
}

// numbers returns literals, one number between each two, and one beyond each end.
func numbers(literals []generable.Value, whole bool) []generable.Value {
	var at []float64
	for _, v := range literals {
		if n, ok := number(v); ok {
			at = append(at, n)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	var out []generable.Value
	add := func(n float64) {
		if v, ok := generable.FloatOf(n); ok && (!whole || n == math.Trunc(n)) {
			if whole {
				v = generable.IntOf(int64(n))
			}
			out = append(out, v)
		}
	}
	for i, n := range at {
		if i == 0 {
			add(math.Ceil(n) - 1)
		}
		add(n)
		switch {
		case i == len(at)-1:
			add(math.Floor(n) + 1)
		case whole && math.Floor(n)+1 < at[i+1]:
			add(math.Floor(n) + 1)
		case !whole:
			add(n/2 + at[i+1]/2)
		}
	}
	return out
}

// transitions builds a list of transitions, of which the first that holds sends each value to its destination, and
// reports whether one exists. It is always safe to choose a test for which all remaining values have one destination.
func (b *nesting) transitions() bool {
	if b.t.Kind == generable.EnumType { // one transition per value, as a reader knows the values
		for i := range b.values {
			p, err := predicate.New(predicate.Eq, "", &b.values[i])
			if err != nil {
				return false
			}
			b.leads = append(b.leads, lead{&condition{variable: "output", operation: operation.Equals, literal: b.values[i], pred: p}, b.goes[i]})
		}
		return true
	}
	return b.listed()
}

// mostValues bounds the values that are followed: conditions that distinguish more are not nested.
const mostValues = 2000

// listed builds a list of tests. Each takes as many of the remaining values with one destination as a single test can.
func (b *nesting) listed() bool {
	n := len(b.values)
	if n > mostValues {
		return false
	}
	places := map[destination]set{}
	left := newSet(n)
	for i, d := range b.goes {
		if places[d] == nil {
			places[d] = newSet(n)
		}
		places[d].add(i)
		left.add(i)
	}
	holds := make([]set, len(b.tests))
	for k, c := range b.tests {
		holds[k] = newSet(n)
		for i, v := range b.values {
			if c.pred.Holds(v) {
				holds[k].add(i)
			}
		}
	}
	for {
		first := b.goes[left.first()]
		if len(b.leads) > 0 && left.within(left, places[first]) {
			b.leads = append(b.leads, lead{nil, first})
			return true
		}
		best, most, to := -1, 0, destination{}
		for k, h := range holds {
			size, one := left.meets(h)
			if size > most && left.within(h, places[b.goes[one]]) {
				best, most, to = k, size, b.goes[one]
			}
		}
		if best < 0 {
			return false
		}
		b.leads = append(b.leads, lead{b.tests[best], to})
		if left.remove(holds[best]); left.first() < 0 {
			return true
		}
	}
}

// set holds numbers of values.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

// first returns the lowest number, or -1.
func (s set) first() int {
	for k, word := range s {
		if word != 0 {
			return k*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// meets returns the size of the intersection of two sets, and its lowest number.
func (s set) meets(t set) (size, first int) {
	first = -1
	for k, word := range s {
		if word &= t[k]; word != 0 {
			if size += bits.OnesCount64(word); first < 0 {
				first = k*64 + bits.TrailingZeros64(word)
			}
		}
	}
	return size, first
}

// within reports whether the intersection of two sets is a subset of a third.
func (s set) within(t, of set) bool {
	for k, word := range s {
		if word&t[k]&^of[k] != 0 {
			return false
		}
	}
	return true
}

func (s set) remove(t set) {
	for k := range s {
		s[k] &^= t[k]
	}
}

// make replaces the transitions of the step.
func (b *nesting) make() {
	var made []*edge
	for _, l := range b.leads {
		e := &edge{from: b.s, cond: l.cond}
		switch first := l.to.edge; {
		case first == nil:
			e.project = b.ways[l.to.way].project
			b.to[l.to.way] = append(b.to[l.to.way], e)
		case slices.Contains(made, first):
			e.like = first
		default:
			first.cond, e = l.cond, first
		}
		made = append(made, e)
	}
	b.s.edges = made
}
