package dialect

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// limitsOn returns all limits on t itself, or nil without any.
func limitsOn(t *generable.Type) *generable.Limits {
	var l *generable.Limits
	for t = in.Resolved(t); t.Kind == generable.LimitType; t = in.Resolved(t.Elem) {
		l = both(l, t.Limits)
	}
	return l
}

// both combines two sets of limits. A limit that can exist only once, such as a pattern, becomes a check.
func both(a, b *generable.Limits) *generable.Limits {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	out := *a
	for _, n := range in.Bounds() {
		of := math.Min
		if n.Lower {
			of = math.Max
		}
		*n.Of(&out) = tighter(*n.Of(a), *n.Of(b), of)
	}
	out.MinLen, out.MaxLen = tighter(a.MinLen, b.MinLen, func(x, y int) int { return max(x, y) }), tighter(a.MaxLen, b.MaxLen, func(x, y int) int { return min(x, y) })
	out.Unique = a.Unique || b.Unique
	out.MultipleOf, out.Pattern, out.Format, out.Only = cmp.Or(a.MultipleOf, b.MultipleOf), cmp.Or(a.Pattern, b.Pattern), cmp.Or(a.Format, b.Format), cmp.Or(a.Only, b.Only)
	if b.MultipleOf != nil && *b.MultipleOf != *out.MultipleOf {
		out.Check = bothChecks(out.Check, alone("a multiple of "+message.Number(*b.MultipleOf), generable.Limits{MultipleOf: b.MultipleOf}))
	}
	if b.Pattern != "" && b.Pattern != out.Pattern {
		out.Check = bothChecks(out.Check, alone("text that matches "+b.Pattern, generable.Limits{Pattern: b.Pattern}))
	}
	if b.Format != "" && b.Format != out.Format {
		out.Check = bothChecks(out.Check, alone("of the format "+b.Format, generable.Limits{Format: b.Format}))
	}
	if a.Only != nil && b.Only != nil {
		out.Only = generable.NewList(slices.DeleteFunc(slices.Clone(a.Only.Items()), func(v generable.Value) bool {
			return !slices.ContainsFunc(b.Only.Items(), func(w generable.Value) bool { return generable.Equal(v, w) })
		}))
	}
	out.Check = bothChecks(out.Check, b.Check)
	return &out
}

func tighter[T int | float64](a, b *T, of func(x, y T) T) *T {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	t := of(*a, *b)
	return &t
}

// alone returns a limit as a check.
func alone(says string, l generable.Limits) *generable.Check {
	return &generable.Check{Says: says, Holds: func(v generable.Value) bool {
		return len(generable.CheckLimits(&generable.Field{Limits: &l}, v)) == 0
	}}
}

func bothChecks(a, b *generable.Check) *generable.Check {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &generable.Check{Says: a.Says + " and " + b.Says, Holds: func(v generable.Value) bool { return a.Holds(v) && b.Holds(v) }}
}

// fixedLen returns the number of items that a list must have, or -1 if it is not fixed.
func fixedLen(l *generable.Limits) int {
	if l == nil || l.MinLen == nil || l.MaxLen == nil || *l.MinLen != *l.MaxLen {
		return -1
	}
	return *l.MinLen
}

// limited says which limits apply to the form of a place.
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
		e.sayBounds(at, l)
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

// sayBounds describes the bounds of numbers, and multiples.
func (e *emitter) sayBounds(at spot, l *generable.Limits) {
	for _, b := range in.Bounds() {
		if f := *b.Of(l); f != nil {
			e.say("bounds", at, b.Words+" "+message.Number(*f))
		}
	}
	if l.MultipleOf != nil {
		e.say("bounds", at, "a multiple of "+message.Number(*l.MultipleOf))
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
	if at.limits == nil {
		return m
	}
	own := *at.limits
	kind, _ := m.Get("type")
	whole := generable.Equal(kind, generable.StrOf("integer"))
	if whole && takes { // for integers, exclusive bounds become inclusive ones
		own.Ge, own.Gt = tighter(own.Ge, above(own.Gt), math.Max), nil
		own.Le, own.Lt = tighter(own.Le, below(own.Lt), math.Min), nil
		if e.pairedBounds {
			own.Ge, own.Le = bothBounds(own.Ge, own.Le)
		}
	}
	for _, b := range in.Bounds() {
		f := b.Of(&own)
		if *f == nil || !takes || b.Strict && !e.exclusive {
			continue
		}
		round := math.Floor
		if b.Lower {
			round = math.Ceil
		}
		m.Set(b.Keyword, boundValue(**f, whole, round))
		*f = nil
	}
	if own.MultipleOf != nil && e.multiples {
		m.Set("multipleOf", boundValue(*own.MultipleOf, false, nil))
		own.MultipleOf = nil
	}
	e.sayBounds(at, &own)
	return m
}

// bothBounds adds the missing second bound to a single bound that is far from 0: the limit beyond which no JSON
// reader holds integers exactly. From the single bound alone, llama.cpp makes a grammar that also accepts other
// numbers: -03 for at most -8, 15 for at least 105.
func bothBounds(ge, le *float64) (*float64, *float64) {
	high, low := float64(safeInt), -float64(safeInt)
	switch {
	case le == nil && ge != nil && *ge >= 100 && *ge <= high:
		le = &high
	case ge == nil && le != nil && *le < 0 && *le >= low:
		ge = &low
	}
	return ge, le
}

// above returns the least integer greater than f, below the greatest integer less than f.
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

func (e *emitter) sayUnique(at spot, l *generable.Limits) {
	if l.Unique {
		e.say("unique", at, "items that are all different")
	}
}

// boundValue writes a bound. For integers it is the nearest integer that keeps the bound.
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

// str writes a text with its limits.
func (e *emitter) str(at spot) *generable.Map {
	m := typed("string")
	l := at.limits
	if l == nil {
		return m
	}
	if e.lengths {
		e.length(m, at, "minLength", "maxLength", "characters", e.countLimit(), e.countLimit())
	} else {
		e.sayLengths(at, l.MinLen, l.MaxLen, "characters")
	}
	own := *l
	if l.Pattern != "" && e.takesPattern(l.Pattern) {
		m.Set("pattern", generable.StrOf(l.Pattern))
		e.grammar += 4 * len(l.Pattern)
		own.Pattern = ""
	}
	if l.Format != "" && e.takesFormat(l.Format) {
		m.Set("format", generable.StrOf(l.Format))
		e.grammar += 400
		own.Format = ""
	}
	at.limits = &own
	e.keep(at, limitedText)
	return m
}

// countLimit returns the greatest number that the target counts to.
func (e *emitter) countLimit() int {
	if e.maxRepeat > 0 {
		return e.maxRepeat
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
	if e.maxItems {
		most = e.countLimit()
	}
	e.length(m, at, "minItems", "maxItems", "items", e.minItems, most)
}

// length adds a minimum and a maximum length where the target accepts them. A larger minimum is replaced by the
// greatest one that the target accepts.
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
