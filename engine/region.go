package engine

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// A region is a set of values of one type, exactly enough to tell whether conditions leave a
// gap: intervals of numbers, the values of a bool or enum, texts, None. What cannot be told
// (a regular expression, values of any) is left to bounds: see [Predicate.regions].
type region struct {
	numbers []interval
	whole   bool            // the numbers are integers
	keys    map[string]bool // values of bools and enums, as a script writes them
	texts   *texts          // nil: no text
	none    bool
	other   bool // values that are none of these; all or nothing
}

// interval is a range of numbers between two bounds; a nil bound is open-ended.
type interval struct{ from, to *bound }

// bound is an end of an interval.
type bound struct {
	at   generable.Value
	open bool // at itself is outside
}

// texts is a set of texts: those listed, or all but those.
type texts struct {
	but  bool
	list []string
}

// regionOf is all values of type t.
func regionOf(t *generable.Type) *region {
	r := &region{keys: map[string]bool{}}
	ints, floats := false, false
	for _, c := range cases(t) {
		switch c.Kind {
		case generable.IntType, generable.FloatType:
			r.numbers = []interval{{}}
			ints, floats = ints || c.Kind == generable.IntType, floats || c.Kind == generable.FloatType
		case generable.BoolType, generable.EnumType:
			for _, k := range valuesOf(c) {
				r.keys[k] = true
			}
		case generable.StrType:
			r.texts = &texts{but: true}
		case generable.NoneType:
			r.none = true
		default:
			r.other = true
		}
	}
	r.whole = ints && !floats
	return r
}

// empty reports whether no value is in the region.
func (r *region) empty() bool {
	return len(r.numbers) == 0 && len(r.keys) == 0 && (r.texts == nil || !r.texts.but && len(r.texts.list) == 0) && !r.none && !r.other
}

// minus is what of r is not in q.
func (r *region) minus(q *region) *region {
	out := &region{whole: r.whole, keys: map[string]bool{}, none: r.none && !q.none, other: r.other && !q.other}
	for k := range r.keys {
		if !q.keys[k] {
			out.keys[k] = true
		}
	}
	out.numbers = r.numbers
	for _, cut := range q.numbers {
		var rest []interval
		for _, i := range out.numbers {
			rest = append(rest, i.minus(cut, r.whole)...)
		}
		out.numbers = rest
	}
	out.texts = r.texts.minus(q.texts)
	return out
}

// and is what is in both.
func (r *region) and(q *region) *region { return r.minus(r.minus(q)) }

// or is what is in one of both, which are parts of the region all.
func (r *region) or(q, all *region) *region { return all.minus(all.minus(r).minus(q)) }

// minus cuts an interval out of another: up to two pieces are left.
func (i interval) minus(cut interval, whole bool) []interval {
	var out []interval
	if cut.from != nil {
		left := interval{i.from, least(i.to, &bound{cut.from.at, !cut.from.open})}
		if !left.empty(whole) {
			out = append(out, left)
		}
	}
	if cut.to != nil {
		right := interval{greatest(i.from, &bound{cut.to.at, !cut.to.open}), i.to}
		if !right.empty(whole) {
			out = append(out, right)
		}
	}
	return out
}

// least is the tighter of two upper bounds, greatest of two lower ones.
func least(a, b *bound) *bound {
	if a == nil {
		return b
	}
	if c, _ := generable.Compare(a.at, b.at); c < 0 || c == 0 && a.open {
		return a
	}
	return b
}

func greatest(a, b *bound) *bound {
	if a == nil {
		return b
	}
	if c, _ := generable.Compare(a.at, b.at); c > 0 || c == 0 && a.open {
		return a
	}
	return b
}

// empty reports whether no number is in the interval. Between 79 and 80 there is no integer.
func (i interval) empty(whole bool) bool {
	if i.from == nil || i.to == nil {
		return false
	}
	from, to := i.from, i.to
	if whole {
		from, to = from.inward(1), to.inward(-1)
	}
	c, _ := generable.Compare(from.at, to.at)
	return c > 0 || c == 0 && (from.open || to.open)
}

// inward is the nearest integer inside of a bound: up for a lower bound, down for an upper one.
func (b *bound) inward(dir int64) *bound {
	n, ok := b.integer(dir)
	if !ok {
		return b
	}
	if c, _ := generable.Compare(n, b.at); c == 0 && b.open {
		x, _ := n.AsInt()
		if (dir > 0 && x == 1<<63-1) || (dir < 0 && x == -1<<63) {
			return b
		}
		n = generable.IntOf(x + dir)
	}
	return &bound{at: n}
}

// integer rounds a bound in one direction, where the result has 64 bits.
func (b *bound) integer(dir int64) (generable.Value, bool) {
	if x, ok := b.at.AsInt(); ok {
		return generable.IntOf(x), true
	}
	f, ok := b.at.AsFloat()
	if !ok || f < -(1<<62) || f > 1<<62 {
		return generable.Value{}, false
	}
	x := int64(f) // towards zero
	switch {
	case dir > 0 && float64(x) < f:
		x++
	case dir < 0 && float64(x) > f:
		x--
	}
	return generable.IntOf(x), true
}

func (t *texts) minus(q *texts) *texts {
	if t == nil || q == nil {
		return t
	}
	keep := func(list []string, in bool, of []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(of, s) != in })
	}
	switch {
	case !t.but && !q.but: // listed, without the listed ones
		return &texts{list: keep(t.list, false, q.list)}
	case !t.but: // listed, without all but the listed ones
		return &texts{list: keep(t.list, true, q.list)}
	case !q.but:
		return &texts{but: true, list: append(slices.Clone(t.list), keep(q.list, false, t.list)...)}
	}
	return &texts{list: keep(q.list, false, t.list)}
}

// regions gives the values of type t for which a predicate holds for certain, and those for
// which it may hold, as far as one subject tells: the value itself or one field of it. Tests
// of other subjects may hold or not.
func (p *Predicate) regions(subject string, all *region) (sure, may *region) {
	nothing := &region{whole: all.whole}
	switch p.op {
	case PredAnd, PredOr:
		s1, m1 := p.kids[0].regions(subject, all)
		s2, m2 := p.kids[1].regions(subject, all)
		if p.op == PredAnd {
			return s1.and(s2), m1.and(m2)
		}
		return s1.or(s2, all), m1.or(m2, all)
	case PredNot:
		s, m := p.kids[0].regions(subject, all)
		return all.minus(m), all.minus(s)
	}
	if p.field != subject {
		return nothing, all
	}
	var r *region
	switch p.op {
	case PredEq:
		r = all.only(p.value)
	case PredNe:
		r = all.minus(all.only(p.value))
	case PredHas:
		if p.given {
			return nothing, all
		}
		r = &region{numbers: all.numbers, whole: all.whole, keys: all.keys, texts: all.texts, other: all.other}
	case PredMatches:
		return nothing, &region{texts: all.texts, keys: all.keys, other: all.other}
	default:
		if _, text := p.value.AsStr(); text {
			return nothing, &region{texts: all.texts, keys: all.keys, other: all.other}
		}
		r = (&region{numbers: []interval{p.interval()}, whole: all.whole}).and(all)
	}
	if !all.other {
		return r, r
	}
	sure = &region{numbers: r.numbers, whole: r.whole, keys: r.keys, texts: r.texts, none: r.none, other: p.op == PredHas}
	may = &region{numbers: r.numbers, whole: r.whole, keys: r.keys, texts: r.texts, none: r.none, other: true}
	return sure, may
}

// interval is the numbers that an order allows.
func (p *Predicate) interval() interval {
	switch p.op {
	case PredGt:
		return interval{from: &bound{p.value, true}}
	case PredGe:
		return interval{from: &bound{p.value, false}}
	case PredLt:
		return interval{to: &bound{p.value, true}}
	}
	return interval{to: &bound{p.value, false}}
}

// only is the part of a region that equals a value.
func (r *region) only(v generable.Value) *region {
	out := &region{whole: r.whole, keys: map[string]bool{}}
	if text, ok := v.AsStr(); ok && r.texts != nil {
		out.texts = r.texts.minus((&texts{but: true}).minus(&texts{list: []string{text}}))
	}
	if _, ok := v.AsNumber(); ok {
		out.numbers = (&region{numbers: []interval{{&bound{at: v}, &bound{at: v}}}, whole: r.whole}).within(r.numbers)
	}
	if k := literal(v); r.keys[k] {
		out.keys[k] = true
	}
	out.none = v.IsNull() && r.none
	return out
}

// within is the numbers of r that are in some of the given intervals.
func (r *region) within(list []interval) []interval {
	return (&region{numbers: r.numbers, whole: r.whole}).minus((&region{numbers: r.numbers, whole: r.whole}).minus(&region{numbers: list})).numbers
}

// describe names the values of a region: "79 < score < 80", "True", "any other text".
func (r *region) describe(subject string) []string {
	name := subject
	if name == "" {
		name = "x"
	}
	var out []string
	for _, i := range r.numbers {
		out = append(out, i.describe(name, r.whole))
	}
	keys := make([]string, 0, len(r.keys))
	for k := range r.keys {
		if subject != "" {
			k = subject + " = " + k
		}
		keys = append(keys, k)
	}
	slices.Sort(keys)
	out = append(out, keys...)
	if t := r.texts; t != nil {
		quoted := make([]string, len(t.list))
		for i, s := range t.list {
			quoted[i] = string(generable.AppendQuoted(nil, s))
		}
		switch {
		case t.but && len(quoted) == 0:
			out = append(out, "any text")
		case t.but:
			out = append(out, "any text but "+strings.Join(quoted, ", "))
		default:
			for _, q := range quoted {
				out = append(out, name+" = "+q)
			}
		}
	}
	if r.none {
		if subject != "" {
			out = append(out, subject+" = None")
		} else {
			out = append(out, "None")
		}
	}
	return out
}

func (i interval) describe(name string, whole bool) string {
	from, to := i.from, i.to
	if whole {
		if from != nil {
			from = from.inward(1)
		}
		if to != nil {
			to = to.inward(-1)
		}
	}
	text := func(b *bound) string { return literal(b.at) }
	sign := func(b *bound) string {
		if b.open {
			return "<"
		}
		return "<="
	}
	switch {
	case from == nil && to == nil:
		return "any number"
	case from == nil:
		return name + " " + sign(to) + " " + text(to)
	case to == nil:
		return name + " " + strings.Replace(sign(from), "<", ">", 1) + " " + text(from)
	}
	if c, _ := generable.Compare(from.at, to.at); c == 0 {
		return name + " = " + text(from)
	}
	return text(from) + " " + sign(from) + " " + name + " " + sign(to) + " " + text(to)
}
