package dialect

import (
	"math"
	"strconv"

	"github.com/agentscript/agentscript/generable"
)

// limited tells which limits concern the form of a place.
type limited uint8

const (
	limitedNumber limited = 1 << iota
	limitedLength
	limitedText
	limitedAll = limitedNumber | limitedLength | limitedText
)

// keep moves the limits that the form of a place cannot express into words.
func (e *emitter) keep(at spot, which limited) {
	l := at.limits
	if l == nil {
		return
	}
	if which&limitedNumber != 0 {
		e.sayBounds(at, l.Ge, l.Le)
		e.sayMore(at, l)
	}
	if which&limitedLength != 0 {
		e.sayLengths(at, l.MinLen, l.MaxLen, "long")
		e.sayUnique(at, l)
	}
	if which&limitedText != 0 {
		if l.Pattern != "" {
			e.say("pattern", at, "matches the regular expression "+l.Pattern)
		}
		if l.Format != "" {
			e.say("format", at, "of the format "+l.Format)
		}
	}
}

func (e *emitter) sayBounds(at spot, ge, le *float64) {
	if ge != nil {
		e.say("bounds", at, "at least "+bound(*ge))
	}
	if le != nil {
		e.say("bounds", at, "at most "+bound(*le))
	}
}

func (e *emitter) sayLengths(at spot, least, most *int, unit string) {
	if least != nil && *least > 0 {
		e.say("length", at, "at least "+strconv.Itoa(*least)+" "+unit)
	}
	if most != nil {
		e.say("length", at, "at most "+strconv.Itoa(*most)+" "+unit)
	}
}

// number adds the bounds of a number.
func (e *emitter) number(m *generable.Map, at spot, takes bool) *generable.Map {
	l := at.limits
	if l == nil {
		return m
	}
	kind, _ := m.Get("type")
	whole := generable.Equal(kind, generable.StrOf("integer"))
	own := *l
	if whole && takes { // the bounds of integers need not be told apart
		own.Ge, own.Gt = tighter(l.Ge, above(l.Gt), math.Max), nil
		own.Le, own.Lt = tighter(l.Le, below(l.Lt), math.Min), nil
		if e.PairedBounds {
			own.Ge, own.Le = bothBounds(own.Ge, own.Le)
		}
	}
	switch {
	case !takes:
		e.sayBounds(at, own.Ge, own.Le)
	default:
		if own.Ge != nil {
			m.Set("minimum", boundValue(*own.Ge, whole, math.Ceil))
		}
		if own.Le != nil {
			m.Set("maximum", boundValue(*own.Le, whole, math.Floor))
		}
	}
	if takes && e.Exclusive {
		if own.Gt != nil {
			m.Set("exclusiveMinimum", boundValue(*own.Gt, whole, math.Ceil))
		}
		if own.Lt != nil {
			m.Set("exclusiveMaximum", boundValue(*own.Lt, whole, math.Floor))
		}
		own.Gt, own.Lt = nil, nil
	}
	if l.MultipleOf != nil && e.Multiples {
		m.Set("multipleOf", boundValue(*l.MultipleOf, false, nil))
		own.MultipleOf = nil
	}
	e.sayMore(at, &own)
	return m
}

// bothBounds gives a bound far from 0 that stands alone its other, beyond which no reader of JSON holds
// integers exactly. Of such a bound alone llama.cpp makes a grammar that takes others as well: -03
// for at most -8, 15 for at least 105.
func bothBounds(ge, le *float64) (*float64, *float64) {
	most, least := float64(safeInt), -float64(safeInt)
	switch {
	case le == nil && ge != nil && *ge >= 100 && *ge <= most:
		le = &most
	case ge == nil && le != nil && *le < 0 && *le >= least:
		ge = &least
	}
	return ge, le
}

// above is the least integer that is more than f, below the greatest that is less.
func above(f *float64) *float64 {
	if f == nil {
		return nil
	}
	g := math.Floor(*f) + 1
	return &g
}

func below(f *float64) *float64 {
	if f == nil {
		return nil
	}
	g := math.Ceil(*f) - 1
	return &g
}

// sayMore tells of bounds that do not belong to the range themselves, and of multiples.
func (e *emitter) sayMore(at spot, l *generable.Limits) {
	if l.Gt != nil {
		e.say("bounds", at, "more than "+bound(*l.Gt))
	}
	if l.Lt != nil {
		e.say("bounds", at, "less than "+bound(*l.Lt))
	}
	if l.MultipleOf != nil {
		e.say("bounds", at, "a multiple of "+bound(*l.MultipleOf))
	}
}

func (e *emitter) sayUnique(at spot, l *generable.Limits) {
	if l.Unique {
		e.say("unique", at, "items that are all different")
	}
}

// boundValue writes a bound; one of integers as an integer, the nearest that keeps it.
func boundValue(f float64, whole bool, round func(float64) float64) generable.Value {
	if whole {
		f = round(f)
	}
	if f == math.Trunc(f) && math.Abs(f) <= safeInt {
		return generable.IntOf(int64(f))
	}
	v, _ := generable.FloatOf(f)
	return v
}

func bound(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// str writes a text with its limits.
func (e *emitter) str(at spot) *generable.Map {
	m := typed("string")
	l := at.limits
	if l == nil {
		return m
	}
	if e.Lengths {
		e.length(m, at, "minLength", "maxLength", "characters", e.countLimit(), e.countLimit())
	} else {
		e.sayLengths(at, l.MinLen, l.MaxLen, "characters")
	}
	switch {
	case l.Pattern == "":
	case e.takesPattern(l.Pattern):
		m.Set("pattern", generable.StrOf(l.Pattern))
		e.grammar += 4 * len(l.Pattern)
	default:
		e.say("pattern", at, "matches the regular expression "+l.Pattern)
	}
	switch {
	case l.Format == "":
	case e.takesFormat(l.Format):
		m.Set("format", generable.StrOf(l.Format))
		e.grammar += 400
	default:
		e.say("format", at, "of the format "+l.Format)
	}
	return m
}

// countLimit is the greatest number that the target counts to.
func (e *emitter) countLimit() int {
	if e.MaxRepeat > 0 {
		return e.MaxRepeat
	}
	return anyCount
}

// items adds the limits of a list's length.
func (e *emitter) items(m *generable.Map, at spot) {
	if at.limits == nil {
		return
	}
	e.sayUnique(at, at.limits)
	most := 0
	if e.MaxItems {
		most = e.countLimit()
	}
	e.length(m, at, "minItems", "maxItems", "items", e.MinItems, most)
}

// length adds a least and a greatest length where the target takes them. The greatest
// minimum that it takes stands for a larger one.
func (e *emitter) length(m *generable.Map, at spot, minKey, maxKey, unit string, least, most int) {
	l := at.limits
	var sayMin, sayMax *int
	if n := l.MinLen; n != nil && *n > 0 {
		if least > 0 {
			m.Set(minKey, generable.IntOf(int64(min(*n, least))))
		}
		if *n > least {
			sayMin = n
		}
	}
	if n := l.MaxLen; n != nil {
		if *n <= most {
			m.Set(maxKey, generable.IntOf(int64(*n)))
		} else {
			sayMax = n
		}
	}
	e.sayLengths(at, sayMin, sayMax, unit)
}
