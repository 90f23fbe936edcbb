package predicate

import (
	"cmp"
	"slices"
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
