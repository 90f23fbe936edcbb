package dialect

import (
	"fmt"
	"slices"
	"sort"

	"github.com/agentscript/agentscript/generable"
)

// compilation searches for the form of one type that keeps the budgets of a target and differs least from the type.
type compilation struct {
	rules  *ruleset
	t      *generable.Type
	cyclic map[*generable.Type]cycle
}

// attempt is one candidate form.
type attempt struct {
	root *shape
	e    *emitter
	uses []Use
}

func (a *attempt) over() []Use {
	return slices.DeleteFunc(slices.Clone(a.uses), func(u Use) bool { return !u.Over() })
}

func (c *compilation) run() (*Wire, error) {
	a, err := c.attempt(levers{unroll: unrollDepth, nest: anyCount, enum: anyCount})
	if err != nil {
		return nil, err
	}
	if len(a.over()) == 0 {
		return c.finish(a)
	}
	// Less nesting never needs more, so a binary search finds the first form that fits.
	steps := a.steps()
	last := a
	found := sort.Search(len(steps), func(i int) bool {
		next, failed := c.attempt(steps[i])
		if failed != nil {
			err = failed
			return true
		}
		fits := len(next.over()) == 0
		if fits || i == len(steps)-1 {
			last = next
		}
		return fits
	})
	switch {
	case err != nil:
		return nil, err
	case found == len(steps):
		return nil, &TooLarge{Target: c.rules.target, Type: c.t.String(), Over: last.over()}
	}
	return c.finish(last)
}

// finish writes a form that fits again, this time with its records.
func (c *compilation) finish(a *attempt) (*Wire, error) {
	e := newEmitter(c.rules, a.root, false)
	return e.wire(c.t, a.root, e.root(a.root), a.uses)
}

// attempt builds the form that the levers select, with as many costly optional fields, unions and enums as the
// budgets allow.
func (c *compilation) attempt(l levers) (*attempt, error) {
	l.spending = spending{optional: anyCount, nullable: anyCount, unions: anyCount}
	for {
		b := &builder{ruleset: c.rules, levers: l, memo: make(map[place]*shape), cyclic: c.cyclic,
			recursive: make(map[*generable.Type]bool), numbers: make(map[*generable.Type]int)}
		a := &attempt{root: b.root(c.t)}
		if b.bad != nil {
			return nil, fmt.Errorf("%s has no schema: %w", c.t, b.bad)
		}
		b.settle(a.root)
		a.e = newEmitter(c.rules, a.root, true)
		a.e.root(a.root)
		a.uses = a.e.uses()
		if !l.lower(a) {
			return a, nil
		}
	}
}

// lower lowers the lever for an exceeded budget. It reports false if none is exceeded, or if only less nesting helps.
func (l *levers) lower(a *attempt) bool {
	over := make(map[string]int)
	for _, u := range a.over() {
		over[u.What] = u.Used - u.Limit
	}
	_, values := over[useEnumValues]
	_, chars := over[useEnumChars]
	optionals, unions := over[useOptionals], over[useUnions]
	switch {
	case values || chars:
		return l.lowerEnum(a.root)
	case len(over) == 0 || slices.ContainsFunc([]string{useDepth, useProperties, useChars, useBytes, useGrammar}, func(what string) bool { return over[what] > 0 }):
		return false
	case optionals > 0:
		return l.lowerOptional(a.e.optionals, optionals)
	}
	return l.lowerUnions(a.e.nullables, a.e.choices, unions)
}

// steps returns the settings to try after an attempt that needs too much, each with less nesting than the one before:
// first, types that contain themselves are unrolled less often, then deeply nested parts become text. The root itself
// stays: a schema that only says "text" does not constrain a model.
func (a *attempt) steps() []levers {
	var out []levers
	l := levers{unroll: unrollDepth, nest: anyCount, enum: anyCount}
	deepest := a.e.usage.depth
	if limit := a.e.budgets.depth; limit > 0 && deepest > limit {
		deepest = limit
		l.depth = limit
		out = append(out, l)
	}
	unrolled := false
	a.root.walk(func(s *shape) { unrolled = unrolled || s.ends })
	if unrolled {
		for l.unroll--; l.unroll > 0; l.unroll-- {
			out = append(out, l)
		}
		l.unroll = 1
		for l.nest = maxNested; l.nest > 0; l.nest-- {
			out = append(out, l)
		}
		l.nest = 1
	}
	least := 1
	if a.root.form == wrapped {
		least = 2
	}
	for l.depth = deepest - 1; l.depth >= least; l.depth-- {
		out = append(out, l)
	}
	return out
}

// maxNested is the maximum nesting of types that contain themselves, once budgets count.
const maxNested = 8
