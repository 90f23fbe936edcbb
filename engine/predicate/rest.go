package predicate

import (
	"slices"
	"strings"
)

// Rest is the part of a [Space] that conditions leave over.
type Rest struct {
	space *Space
	boxes []box // they do not overlap
	vague bool  // it has too many parts to be tracked
}

// Rest returns the whole space.
func (s *Space) Rest() *Rest { return &Rest{space: s, boxes: []box{nil}} }

// Some reports whether a region contains any value.
func (s *Space) Some(r Region) bool {
	if r.kids == nil && !s.nested {
		return len(r.cells) > 0
	}
	return s.Rest().Take(r)
}

// Take removes a region. It reports whether any of it was left.
func (r *Rest) Take(taken Region) bool {
	s, some := r.space, false
	var rest []box
	for i := range r.boxes {
		b := &r.boxes[i]
		if len(r.boxes) > 1 && s.Visits > s.budget {
			r.vague, some = true, true
			rest = append(rest, r.boxes[i:]...)
			break
		}
		if taken.kids == nil && !s.nested && len(r.boxes) == 1 { // the only box, shared with no other
			l := s.at(b, taken.axis)
			some = l.meets(taken.cells)
			l.take(taken.cells)
			if !l.empty() {
				rest = append(rest, *b)
			}
			continue
		}
		in, out := s.split(*b, taken)
		r.vague = r.vague || s.Visits > s.budget
		some = some || slices.ContainsFunc(in, s.possible)
		for _, b := range out {
			if s.possible(b) {
				rest = append(rest, b)
			}
		}
	}
	r.boxes = rest
	return some
}

// Empty reports whether nothing is left.
func (r *Rest) Empty() bool { return len(r.boxes) == 0 }

// Vague reports whether the rest is known only at run time.
func (r *Rest) Vague() bool {
	return r.vague || slices.ContainsFunc(r.boxes, func(b box) bool {
		for i, l := range b {
			if l != nil && r.space.axes[i].test != nil && !(l.has(0) && l.has(1)) {
				return true
			}
		}
		return false
	})
}

// Describe names what is left: "79 < score < 80", "True", "hp > 0 and move = \"talk\"".
func (r *Rest) Describe() []string {
	var out []string
	for _, b := range r.boxes {
		var along [][]string
		for i, l := range b {
			if l == nil {
				continue
			}
			a := r.space.axes[i]
			all := true
			for cell := range a.size {
				all = all && l.has(cell)
			}
			if names := a.describe(l.has); !all && len(names) > 0 {
				along = append(along, names)
			}
		}
		if len(along) == 1 {
			out = append(out, along[0]...)
			continue
		}
		var both []string
		for _, names := range along {
			both = append(both, strings.Join(names, " or "))
		}
		if len(both) > 0 {
			out = append(out, strings.Join(both, " and "))
		}
	}
	return out
}
