package possible

import (
	"slices"
)

func EqualValues(v, w *Value, depth int) bool {
	if v == w {
		return true
	}
	if v == nil || w == nil || depth > 4 || v.Any != w.Any || len(v.Alts) != len(w.Alts) {
		return false
	}
	for i := range v.Alts {
		a := &v.Alts[i]
		j := slices.IndexFunc(w.Alts, func(o Alt) bool { return Alike(a, &o) })
		if j < 0 {
			return false
		}
		o := &w.Alts[j]
		if !a.Fields.same(o.Fields) || a.Some != o.Some || a.Frozen != o.Frozen || !equalScalars(a.Exact, o.Exact) && a.Exact != o.Exact ||
			!EqualValues(a.Elem, o.Elem, depth+1) || (a.Shape == nil) != (o.Shape == nil) || (a.Items == nil) != (o.Items == nil) ||
			!slices.EqualFunc(a.Items, o.Items, func(x, y *Value) bool { return EqualValues(x, y, depth+1) }) {
			return false
		}
		if a.Shape != nil && a.Shape != o.Shape && !a.Shape.equal(o.Shape, depth) {
			return false
		}
	}
	return true
}

func (s *Shape) equal(o *Shape, depth int) bool {
	if len(s.Keys) != len(o.Keys) {
		return false
	}
	for i := range s.Keys {
		e, other := &s.Keys[i], o.Find(s.Keys[i].Key)
		if other == nil || e.Maybe != other.Maybe || !EqualValues(e.Value, other.Value, depth+1) {
			return false
		}
	}
	return true
}
