package predicate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// Cells is a set of cells of a [Space], as ranges in order that do not touch.
type Cells []cellRange

// cellRange is the cells from one on up to before another one.
type cellRange struct{ from, to int }

// add adds a range behind all others.
func (c Cells) add(from, to int) Cells {
	switch {
	case from >= to:
		return c
	case len(c) > 0 && c[len(c)-1].to >= from:
		c[len(c)-1].to = max(c[len(c)-1].to, to)
		return c
	}
	return append(c, cellRange{from, to})
}

// anyOf is what is in some of the given ones.
func anyOf(list []Cells) Cells {
	if len(list) == 1 {
		return list[0]
	}
	all := slices.Concat(list...)
	slices.SortFunc(all, func(a, b cellRange) int { return cmp.Compare(a.from, b.from) })
	var out Cells
	for _, r := range all {
		out = out.add(r.from, r.to)
	}
	return out
}

func (s *Space) all() Cells { return Cells{}.add(0, s.size) }

// without is all cells but the given ones.
func (s *Space) without(c Cells) Cells {
	var out Cells
	from := 0
	for _, r := range c {
		out = out.add(from, r.from)
		from = r.to
	}
	return out.add(from, s.size)
}

// allOf is what is in each of the given ones.
func (s *Space) allOf(list []Cells) Cells {
	for i := range list {
		list[i] = s.without(list[i])
	}
	return s.without(anyOf(list))
}

// Remaining is the set of cells that no condition has taken yet. Taking a cell costs as little as asking
// for one, however many there are.
type Remaining struct {
	next   []int // by cell: itself, or one behind which the next that is left stands
	Visits int   // of cells
}

// Remaining returns the set of all cells.
func (s *Space) Remaining() *Remaining {
	r := &Remaining{next: make([]int, s.size+1)}
	for i := range r.next {
		r.next[i] = i
	}
	return r
}

// from is the first cell that is left from the given one on.
func (r *Remaining) from(cell int) int {
	r.Visits++
	for r.next[cell] != cell {
		r.Visits++
		r.next[cell] = r.next[r.next[cell]]
		cell = r.next[cell]
	}
	return cell
}

// Has reports whether a cell is left.
func (r *Remaining) Has(cell int) bool { return r.next[cell] == cell }

// Empty reports whether no cell is left.
func (r *Remaining) Empty() bool { return r.from(0) == len(r.next)-1 }

// Meets reports whether some of the cells are left.
func (r *Remaining) Meets(c Cells) bool {
	return slices.ContainsFunc(c, func(s cellRange) bool { return r.from(s.from) < s.to })
}

// Take removes cells.
func (r *Remaining) Take(c Cells) {
	for _, s := range c {
		for cell := r.from(s.from); cell < s.to; cell = r.from(cell) {
			r.next[cell] = cell + 1
		}
	}
}

// interval is a range of numbers between two bounds; a nil bound is open-ended.
type interval struct{ from, to *bound }

// bound is an end of an interval.
type bound struct {
	at   generable.Value
	open bool // at itself is outside
}

// empty reports whether no number is in the interval. Between 79 and 80 there is no integer.
func (i interval) empty(whole bool) bool {
	if i.from == nil || i.to == nil {
		return false
	}
	from, to := i.ends(whole)
	c, _ := generable.Compare(from.at, to.at)
	return c > 0 || c == 0 && (from.open || to.open)
}

// ends are the bounds, of integers at the first and the last that are inside.
func (i interval) ends(whole bool) (from, to *bound) {
	if !whole {
		return i.from, i.to
	}
	return i.from.inward(1), i.to.inward(-1)
}

// inward is the nearest integer inside of a bound: up for a lower bound, down for an upper one.
func (b *bound) inward(dir int64) *bound {
	if b == nil {
		return nil
	}
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

func (i interval) describe(name string, whole bool) string {
	from, to := i.ends(whole)
	text := func(b *bound) string { return typing.Literal(b.at) }
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
