package predicate

import (
	"github.com/agentscript/agentscript/generable"
)

// Region is the part of a [Space] in which a condition holds: cells of one axis, or joined regions.
type Region struct {
	cells cells
	axis  int
	op    Op // And or Or of kids
	kids  []Region
}

// Region returns the region in which a condition holds.
func (s *Space) Region(p *Predicate) Region { return s.region(p, false) }

// Value returns the region of one value of the case itself.
func (s *Space) Value(v generable.Value) Region {
	at := s.named[""]
	return Region{axis: at, cells: s.axes[at].only(v)}
}

// region returns where a condition holds or, with not, where it does not.
func (s *Space) region(p *Predicate, not bool) Region {
	switch p.op {
	case Not:
		return s.region(p.kids[0], !not)
	case And, Or:
		var kids []Region
		for _, k := range p.operands() {
			kids = append(kids, s.region(k, not))
		}
		return s.join(p.op, not, kids)
	case Ne:
		equal := *p
		equal.op = Eq
		return s.region(&equal, !not)
	case True, False:
		var none cells
		return s.along(s.named[""], none, not == (p.op == False))
	}
	at := s.named[p.field]
	sure, open := s.axes[at].region(p)
	known := s.along(at, sure, not)
	if len(open) == 0 {
		return known
	}
	answer := s.along(s.answer(p), cells{}.add(1, 2), not)
	return s.join(Or, not, []Region{known, s.join(And, not, []Region{s.along(at, open, not), answer})})
}

// answer returns the axis of a test's answer, which is known only at run time.
func (s *Space) answer(p *Predicate) int {
	name := "\x00" + string(p.appendKey(nil))
	if at, ok := s.named[name]; ok {
		return at
	}
	return s.add(name, &axis{test: p, size: 2, parent: -1})
}

// along returns the region of some cells of an axis, or with not that of all others.
func (s *Space) along(at int, c cells, not bool) Region {
	if not {
		c = s.axes[at].without(c)
	}
	s.Visits += len(c)
	return Region{axis: at, cells: c}
}

// join returns the intersection or the union of regions; not swaps And and Or.
func (s *Space) join(op Op, not bool, kids []Region) Region {
	if not {
		op = And + Or - op
	}
	byAxis := map[int][]cells{}
	var order []int
	out := Region{op: op}
	for _, k := range kids {
		if k.kids != nil {
			out.kids = append(out.kids, k)
			continue
		}
		if byAxis[k.axis] == nil {
			order = append(order, k.axis)
		}
		byAxis[k.axis] = append(byAxis[k.axis], k.cells)
	}
	for _, at := range order {
		a, c := s.axes[at], anyOf
		if op == And {
			c = a.allOf
		}
		one := Region{axis: at, cells: c(byAxis[at])}
		switch none, all := len(one.cells) == 0, len(a.without(one.cells)) == 0; {
		case op == And && none, op == Or && all:
			return one
		case none || all: // it changes nothing
			if len(out.kids) == 0 && at == order[len(order)-1] {
				return one
			}
		default:
			out.kids = append(out.kids, one)
		}
	}
	if len(out.kids) == 1 {
		return out.kids[0]
	}
	return out
}

// box is a part of a space: what is left of each axis, nil for an axis of which everything is left.
type box []*left

func (s *Space) at(b *box, axis int) *left {
	for len(*b) <= axis {
		*b = append(*b, nil)
	}
	if (*b)[axis] == nil {
		(*b)[axis] = newLeft(s.axes[axis].size, &s.Visits)
	}
	return (*b)[axis]
}

// minus returns a box without some cells of an axis, and false if nothing remains.
func (s *Space) minus(b box, axis int, c cells) (box, bool) {
	s.Visits += len(b)
	out := append(box(nil), b...)
	l := s.at(&out, axis).clone()
	l.take(c)
	out[axis] = l
	return out, !l.empty()
}

// split divides a box into the parts inside and outside a region. Past the budget it returns the box as both.
func (s *Space) split(b box, r Region) (in, out []box) {
	if s.Visits > s.budget {
		return []box{b}, []box{b}
	}
	if r.kids == nil {
		if rest, ok := s.minus(b, r.axis, s.axes[r.axis].without(r.cells)); ok {
			in = append(in, rest)
		}
		if rest, ok := s.minus(b, r.axis, r.cells); ok {
			out = append(out, rest)
		}
		return in, out
	}
	in = []box{b}
	for _, k := range r.kids {
		var next []box
		for _, b := range in {
			yes, no := s.split(b, k)
			if r.op == Or {
				yes, no = no, yes
			}
			next, out = append(next, yes...), append(out, no...)
		}
		in = next
	}
	if r.op == Or {
		return out, in
	}
	return in, out
}

// possible reports whether a box can contain values: a value can have the field a.b only if it has a.
func (s *Space) possible(b box) bool {
	if !s.nested {
		return true
	}
	for i := len(s.axes) - 1; i >= 0; i-- {
		a := s.axes[i]
		if a.parent < 0 {
			continue
		}
		l := s.at(&b, i)
		gone := a.absent >= 0 && l.has(a.absent)
		first := l.from(0)
		there := first < a.size && first != a.absent
		var never cells // of the parent axis
		switch {
		case !there && !a.loose:
			never = a.home
		case !gone:
			never = s.axes[a.parent].without(a.home)
		}
		ok := there || gone
		if ok && len(never) > 0 {
			b, ok = s.minus(b, a.parent, never)
		}
		if !ok {
			return false
		}
	}
	return true
}
