package predicate

import (
	"strings"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// interval is a range of numbers between two bounds; a nil bound is infinite.
type interval struct {
	from, to *bound
	twin     int // of an int or a float alone: the distance in cells to the number that equals it
}

// bound is an end of an interval.
type bound struct {
	at   generable.Value
	open bool // at itself is outside
}

// empty reports whether the interval contains no number. Between 79 and 80 there is no integer.
func (i interval) empty(whole bool) bool {
	if i.from == nil || i.to == nil {
		return false
	}
	from, to := i.ends(whole)
	c, _ := generable.Compare(from.at, to.at)
	return c > 0 || c == 0 && (from.open || to.open)
}

// ends returns the bounds; for integers these are the first and the last one inside.
func (i interval) ends(whole bool) (from, to *bound) {
	if !whole {
		return i.from, i.to
	}
	return i.from.inward(1), i.to.inward(-1)
}

// inward returns the nearest integer inside a bound: up for a lower bound, down for an upper one.
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

// integer rounds a bound in one direction, if the result fits in 64 bits.
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
