package predicate

import (
	"cmp"
	"slices"
)

// cells is a set of cells of an axis, as ordered ranges that do not touch.
type cells []cellRange

// cellRange is the cells starting at from and ending before to.
type cellRange struct{ from, to int }

// add appends a range behind all others.
func (c cells) add(from, to int) cells {
	switch {
	case from >= to:
		return c
	case len(c) > 0 && c[len(c)-1].to >= from:
		c[len(c)-1].to = max(c[len(c)-1].to, to)
		return c
	}
	return append(c, cellRange{from, to})
}

// anyOf returns the union of sets of cells.
func anyOf(list []cells) cells {
	if len(list) == 1 {
		return list[0]
	}
	all := slices.Concat(list...)
	slices.SortFunc(all, func(a, b cellRange) int { return cmp.Compare(a.from, b.from) })
	var out cells
	for _, r := range all {
		out = out.add(r.from, r.to)
	}
	return out
}

// without returns all cells but the given ones.
func (s *axis) without(c cells) cells {
	var out cells
	from := 0
	for _, r := range c {
		out = out.add(from, r.from)
		from = r.to
	}
	return out.add(from, s.size)
}

// allOf returns the intersection of sets of cells.
func (s *axis) allOf(list []cells) cells {
	for i := range list {
		list[i] = s.without(list[i])
	}
	return s.without(anyOf(list))
}

// left is the set of cells of an axis that no condition has taken yet. Taking a cell costs as little as testing for
// one, however many there are.
type left struct {
	next   []int // by cell: the cell itself, or one at or before the next cell that is left
	visits *int  // of cells
}

func newLeft(size int, visits *int) *left {
	r := &left{next: make([]int, size+1), visits: visits}
	for i := range r.next {
		r.next[i] = i
	}
	return r
}

func (r *left) clone() *left {
	*r.visits += len(r.next)
	return &left{next: slices.Clone(r.next), visits: r.visits}
}

// from returns the first cell that is left, starting at the given one.
func (r *left) from(cell int) int {
	*r.visits++
	for r.next[cell] != cell {
		*r.visits++
		r.next[cell] = r.next[r.next[cell]]
		cell = r.next[cell]
	}
	return cell
}

// has reports whether a cell is left.
func (r *left) has(cell int) bool { return r.next[cell] == cell }

// empty reports whether no cell is left.
func (r *left) empty() bool { return r.from(0) == len(r.next)-1 }

// meets reports whether some of the cells are left.
func (r *left) meets(c cells) bool {
	return slices.ContainsFunc(c, func(s cellRange) bool { return r.from(s.from) < s.to })
}

// take removes cells.
func (r *left) take(c cells) {
	for _, s := range c {
		for cell := r.from(s.from); cell < s.to; cell = r.from(cell) {
			r.next[cell] = cell + 1
		}
	}
}
