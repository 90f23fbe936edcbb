package dialect

import (
	"math"
	"slices"

	"github.com/agentscript/agentscript/generable"
)

// resolved follows references up to limits, which [generable.Type.Deref] passes through.
func resolved(t *generable.Type) *generable.Type {
	var out *generable.Type
	generable.Walk(t, func(p *generable.Type) bool {
		if out == nil {
			out = p
		}
		return false
	})
	return out
}

// limitsOn are all limits on t itself, nil when there are none.
func limitsOn(t *generable.Type) *generable.Limits {
	var l *generable.Limits
	for t = resolved(t); t.Kind == generable.LimitType; t = resolved(t.Elem) {
		l = both(l, t.Limits)
	}
	return l
}

// both gives limits that say what two say together. What has room for one of the two alone,
// such as a pattern, becomes a check.
func both(a, b *generable.Limits) *generable.Limits {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := *a
	out.Ge, out.Gt = tighter(a.Ge, b.Ge, math.Max), tighter(a.Gt, b.Gt, math.Max)
	out.Le, out.Lt = tighter(a.Le, b.Le, math.Min), tighter(a.Lt, b.Lt, math.Min)
	out.MinLen, out.MaxLen = tighter(a.MinLen, b.MinLen, func(x, y int) int { return max(x, y) }), tighter(a.MaxLen, b.MaxLen, func(x, y int) int { return min(x, y) })
	out.Unique = a.Unique || b.Unique
	var rest []*generable.Check
	if out.MultipleOf == nil {
		out.MultipleOf = b.MultipleOf
	} else if b.MultipleOf != nil && *b.MultipleOf != *a.MultipleOf {
		rest = append(rest, alone("a multiple of "+bound(*b.MultipleOf), generable.Limits{MultipleOf: b.MultipleOf}))
	}
	if out.Pattern == "" {
		out.Pattern = b.Pattern
	} else if b.Pattern != "" && b.Pattern != a.Pattern {
		rest = append(rest, alone("text that matches "+b.Pattern, generable.Limits{Pattern: b.Pattern}))
	}
	if out.Format == "" {
		out.Format = b.Format
	} else if b.Format != "" && b.Format != a.Format {
		rest = append(rest, alone("of the format "+b.Format, generable.Limits{Format: b.Format}))
	}
	switch {
	case out.Only == nil:
		out.Only = b.Only
	case b.Only != nil:
		out.Only = generable.NewList(slices.DeleteFunc(slices.Clone(a.Only.Items()), func(v generable.Value) bool {
			return !slices.ContainsFunc(b.Only.Items(), func(w generable.Value) bool { return generable.Equal(v, w) })
		}))
	}
	for _, c := range append(rest, b.Check) {
		out.Check = bothChecks(out.Check, c)
	}
	return &out
}

func tighter[T int | float64](a, b *T, of func(x, y T) T) *T {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	t := of(*a, *b)
	return &t
}

// alone is a limit as a check.
func alone(says string, l generable.Limits) *generable.Check {
	return &generable.Check{Says: says, Holds: func(v generable.Value) bool {
		return len(generable.CheckLimits(&generable.Field{Limits: &l}, v)) == 0
	}}
}

func bothChecks(a, b *generable.Check) *generable.Check {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return &generable.Check{Says: a.Says + " and " + b.Says, Holds: func(v generable.Value) bool { return a.Holds(v) && b.Holds(v) }}
}

// fixedLen is the number of items that a list has to have; -1 when there may be more or fewer.
func fixedLen(l *generable.Limits) int {
	if l == nil || l.MinLen == nil || l.MaxLen == nil || *l.MinLen != *l.MaxLen {
		return -1
	}
	return *l.MinLen
}

// takesText reports whether a text can be a value of t.
func takesText(t *generable.Type) bool {
	switch t = t.Deref(); t.Kind {
	case generable.StrType, generable.EnumType, generable.AnyType:
		return true
	case generable.OneOfType:
		return slices.ContainsFunc(t.Variants, takesText)
	}
	return false
}
