package predicate

import (
	"bytes"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// Always returns the condition that holds for every value, including one without fields.
func Always() *Predicate { return &Predicate{op: True} }

// Never returns the condition that holds for no value.
func Never() *Predicate { return &Predicate{op: False} }

// isConstant reports whether p tests nothing about a value.
func (p *Predicate) isConstant() bool { return p.op == True || p.op == False }

// compares reports whether p compares a value with its own.
func (p *Predicate) compares() bool { return p.op <= Le }

// Folded returns a copy of p that compares texts without regard to case, in equality and in order: both sides are
// converted with [strings.ToLower]. And, Or and Not apply it to each operand. A comparison with a value other than a
// text keeps its meaning, which Mismatches reports; [Matches], [Has] and constants are unchanged.
func (p *Predicate) Folded() *Predicate {
	return p.changed(func(q *Predicate) {
		if !q.compares() {
			return
		}
		q.fold = true
		if s, ok := q.value.AsStr(); ok {
			q.low = strings.ToLower(s)
		}
	})
}

// Exact returns a copy of p in which an int never equals a float: 42 is not 42.0. This includes numbers inside lists,
// dicts and records. And, Or and Not apply it to each operand; tests other than [Eq] and [Ne] are unchanged.
func (p *Predicate) Exact() *Predicate {
	return p.changed(func(q *Predicate) { q.exact = q.op == Eq || q.op == Ne })
}

// IsFolded reports whether the test p compares without regard to case: see [Predicate.Folded].
func (p *Predicate) IsFolded() bool { return p.fold }

// IsExact reports whether the test p distinguishes ints from floats: see [Predicate.Exact].
func (p *Predicate) IsExact() bool { return p.exact }

// changed returns a copy of p in which change was applied to a copy of each test.
func (p *Predicate) changed(change func(*Predicate)) *Predicate {
	q := *p
	if len(p.kids) == 0 {
		change(&q)
		return &q
	}
	q.kids = make([]*Predicate, len(p.kids))
	for i, k := range p.kids {
		q.kids[i] = k.changed(change)
	}
	return &q
}

// folds reports whether p compares a text without regard to case.
func (p *Predicate) folds() bool { return p.fold && p.value.Kind() == generable.Str }

// equals reports whether v equals p's value.
func (p *Predicate) equals(v generable.Value) bool {
	if s, ok := v.AsStr(); ok && p.folds() {
		return strings.ToLower(s) == p.low
	}
	return generable.Equal(v, p.value) && (!p.exact || sameNumbers(v, p.value))
}

// compare orders v and p's value, and reports whether they have an order.
func (p *Predicate) compare(v generable.Value) (int, bool) {
	if s, ok := v.AsStr(); ok && p.folds() {
		return strings.Compare(strings.ToLower(s), p.low), true
	}
	return generable.Compare(v, p.value)
}

// sameNumbers reports whether two equal values have ints and floats in the same places.
func sameNumbers(v, w generable.Value) bool {
	switch v.Kind() {
	case generable.Null, generable.Bool, generable.Str:
		return true
	case generable.Int, generable.Big, generable.Float:
		return isFloat(v) == isFloat(w)
	}
	return bytes.Equal(generable.AppendCanon(nil, v), generable.AppendCanon(nil, w))
}

func isFloat(v generable.Value) bool { return v.Kind() == generable.Float }

// needless returns why folding has no effect on p, or "".
func (p *Predicate) needless() string {
	if !p.fold || p.folds() {
		return ""
	}
	return "fold compares texts without regard to case, and " + typing.Literal(p.value) + " is no text"
}
