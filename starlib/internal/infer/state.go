package infer

import (
	"slices"

	"github.com/agentscript/agentscript/starlib/internal/possible"
)

// state holds the possible values of a function's names at one place. A nil state is unreachable.
type state struct {
	vars   []*possible.Value // indexed by binding
	region int
	trail  *possible.Trail
	lost   bool // an operation failed before, for all values: the code that follows never runs
}

// A region is a stretch of code in which reaching the start means reaching every part. A mark made in the current
// region is reliable. A branch starts a new region, because its condition may depend on the path of the mark.

// live reports whether some path that leads here has this alternative, whatever else is known.
func (s *state) live(v *possible.Value, a *possible.Alt) bool {
	_, certain := v.Certain()
	return certain || s.marked(a.Mark)
}

func (s *state) marked(m *possible.Mark) bool { return m != nil && m.Region == s.region }

// copy returns a copy of a state for another region.
func (b *body) copy(s *state) *state {
	if s == nil {
		return nil
	}
	b.in.spend(1 + len(s.vars))
	return &state{vars: slices.Clone(s.vars), region: b.region(), trail: s.trail, lost: s.lost}
}

// region returns a new region.
func (b *body) region() int {
	b.in.regions++
	return b.in.regions
}

// arm is one of the paths that meet at a place.
type arm struct {
	*state
	step possible.Step
	from int // the region in which it started; the state's own if nothing was skipped since
}

// meet returns the state where two paths meet that parted at base.
func (b *body) meet(base *state, x, y arm) *state {
	switch {
	case x.state == nil && y.state == nil:
		return nil
	case x.state == nil:
		return b.survivor(y)
	case y.state == nil:
		return b.survivor(x)
	}
	out := &state{vars: x.vars, region: base.region, trail: base.trail, lost: x.lost && y.lost}
	if x.region != x.from || y.region != y.from {
		out.region = b.region()
	}
	b.in.spend(1 + len(out.vars)/16)
	fresh := false
	for i, v := range x.vars {
		if w := y.vars[i]; v != w {
			if !fresh {
				b.in.spend(len(out.vars))
				out.vars, fresh = slices.Clone(out.vars), true
			}
			out.vars[i] = b.onPaths(v, w, x, y, out.region)
		}
	}
	return out
}

// survivor returns the state after a place that only one path leaves.
func (b *body) survivor(x arm) *state {
	out := &state{vars: x.vars, region: b.region(), trail: x.trail, lost: x.lost}
	if x.step.Says != "" {
		out.trail = &possible.Trail{Step: x.step, Before: x.trail}
	}
	return out
}

// onPaths returns a value that is v on one path and w on the other.
func (b *body) onPaths(v, w *possible.Value, x, y arm, region int) *possible.Value {
	if v == nil {
		return w
	}
	if w == nil {
		return v
	}
	b.in.spend(len(v.Alts) + len(w.Alts))
	out := &possible.Value{Any: v.Any || w.Any}
	for _, a := range v.Alts {
		out.Alts = append(out.Alts, marked(a, v, x, region))
	}
	for _, a := range w.Alts {
		a = marked(a, w, y, region)
		i := slices.IndexFunc(out.Alts, func(o possible.Alt) bool { return possible.Alike(&o, &a) })
		if i < 0 {
			out.Alts = append(out.Alts, a)
			continue
		}
		both := possible.Merged(out.Alts[i], a, 0)
		if both.Mark == nil {
			both.Mark = a.Mark
		}
		both.Shape = keysOnPaths(&out.Alts[i], &a, x, y, region)
		out.Alts[i] = both
	}
	return out.Bounded()
}

// marked returns an alternative together with its path.
func marked(a possible.Alt, of *possible.Value, x arm, region int) possible.Alt {
	if x.live(of, &a) && x.step.Says != "" {
		a.Mark = &possible.Mark{Region: region, Steps: possible.Path(a.Mark, x.step)}
	} else {
		a.Mark = nil
	}
	return a
}

// keysOnPaths merges the keys of two dicts. A key that one path does not set is missing on that path.
func keysOnPaths(a, b *possible.Alt, x, y arm, region int) *possible.Shape {
	if a.Shape == nil || b.Shape == nil || a.Shape == b.Shape {
		if a.Shape == b.Shape {
			return a.Shape
		}
		return nil
	}
	out := a.Shape.Unite(b.Shape, 0)
	if out == nil {
		return nil
	}
	for i := range out.Keys {
		e := &out.Keys[i]
		if !e.Maybe {
			continue
		}
		e.Mark = nil
		for _, side := range []struct {
			has *possible.Entry
			arm arm
			on  *possible.Mark // mark of the dict itself
		}{{a.Shape.Find(e.Key), x, a.Mark}, {b.Shape.Find(e.Key), y, b.Mark}} {
			missing := side.has == nil && side.on != nil // on that path the dict is certainly this one
			if missing {
				e.Mark = side.on
			} else if side.has != nil && side.has.Maybe && side.arm.marked(side.has.Mark) {
				e.Mark = &possible.Mark{Region: region, Steps: possible.Path(side.has.Mark, side.arm.step)}
			}
		}
	}
	return out
}

// equal reports whether two states are equal for every name.
func (s *state) equal(o *state) bool {
	for i, v := range s.vars {
		if !possible.EqualValues(v, o.vars[i], 0) {
			return false
		}
	}
	return true
}
