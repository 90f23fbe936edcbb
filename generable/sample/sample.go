// Package sample makes valid values of types: for answers of a mocked model, example rows, and tests.
package sample

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// Maker makes values, the same for the same seed and order of calls. It varies what a type leaves open: the
// variants of a union, the values of an enum, and true and false alternate. It is not safe for concurrent use.
type Maker struct {
	rng   *rand.Rand
	seed  uint64
	turns map[string]int // number of values made, by what they belong to
	bare  bool           // a skeleton: texts are "…", lists have one item
	made  int            // number of parts of the current value
}

// New returns a Maker.
func New(seed uint64) *Maker {
	return &Maker{rng: rand.New(rand.NewPCG(seed, 0x6d6f636b)), seed: seed, turns: map[string]int{}}
}

// Skeleton returns a value to start writing from: the first variants, lists of one item, and "…" for
// unconstrained texts.
func Skeleton(t *generable.Type) (generable.Value, error) {
	m := New(0)
	m.bare = true
	return m.Value(t, "")
}

// maxParts is the number of parts from which on a value is made as small as its type allows.
const maxParts = 200

// Value returns a valid value of a type. Unconstrained texts name what they belong to, as in "[mock] title of writer"
// for a field of an answer of the agent writer. If no value is found, for example because none satisfies a check, or
// a pattern together with a length, the error names the field.
func (m *Maker) Value(t *generable.Type, of string) (generable.Value, error) {
	height, finite := tallest(t)
	if !finite {
		height = lowest(t) + 4
	}
	if height >= endless {
		return generable.Value{}, fmt.Errorf("%s: no value of %s ends: each holds another", of, t)
	}
	m.made = 0
	v, err := m.value(place{of: of, key: of}, t, nil, height)
	if err != nil {
		return v, err
	}
	if errs := t.Conforms(v); errs != nil { // such as a type with two sets of limits
		return v, fmt.Errorf("%s: no value was found that fits: %w", of, errs)
	}
	return v, nil
}

// place is the place of a value.
type place struct {
	of   string // what the whole value belongs to
	path string // "findings[0].text"
	key  string // the same for all items of a list; alternation is counted by it
}

func (p place) field(name string) place {
	if p.path != "" {
		p.path += "."
	}
	p.path += name
	p.key += "." + name
	return p
}

func (p place) item(i int) place {
	p.path += "[" + strconv.Itoa(i) + "]"
	p.key += "[]"
	return p
}

func (p place) String() string {
	if p.path == "" {
		return p.of
	}
	return p.path + " of " + p.of
}

// turn returns which of n alternatives comes next at a place.
func (m *Maker) turn(at place, n int) int {
	i := m.turns[at.key]
	m.turns[at.key]++
	return int((uint64(i) + m.seed) % uint64(n))
}

// value makes a value whose nesting depth is at most height.
func (m *Maker) value(at place, t *generable.Type, l *generable.Limits, height int) (generable.Value, error) {
	m.made++
	if m.made > maxParts {
		height = min(height, lowest(t))
	}
	if t.Kind == generable.RefType {
		t = t.Deref()
	}
	switch t.Kind {
	case generable.LimitType:
		return m.limited(at, t, l, height)
	case generable.BoolType:
		return m.held(at, t, l, func(int, *generable.Limits) (generable.Value, error) {
			return generable.BoolOf(m.turn(at, 2) == 0), nil
		})
	case generable.IntType, generable.FloatType:
		return m.held(at, t, l, func(n int, l *generable.Limits) (generable.Value, error) { return m.number(t, l, n), nil })
	case generable.StrType, generable.AnyType:
		return m.held(at, t, l, func(n int, l *generable.Limits) (generable.Value, error) { return m.text(at, l, n) })
	case generable.EnumType:
		return m.held(at, t, l, func(int, *generable.Limits) (generable.Value, error) {
			return generable.StrOf(t.Values[m.turn(at, len(t.Values))]), nil
		})
	case generable.ListType:
		return m.held(at, t, l, func(int, *generable.Limits) (generable.Value, error) { return m.list(at, t, l, height) })
	case generable.DictType:
		return m.held(at, t, l, func(int, *generable.Limits) (generable.Value, error) { return m.dict(at, t, l, height) })
	case generable.RecordType:
		return m.held(at, t, l, func(int, *generable.Limits) (generable.Value, error) { return m.record(at, t, height) })
	case generable.UnionType, generable.OneOfType:
		return m.oneOf(at, t, l, height)
	}
	return generable.Value{}, nil // None, or a type whose declaration failed
}

// limited makes a value of a type with its own limits and its field's.
func (m *Maker) limited(at place, t *generable.Type, l *generable.Limits, height int) (generable.Value, error) {
	if l == nil {
		return m.value(at, t.Elem, t.Limits, height)
	}
	return m.held(at, t, l, func(int, *generable.Limits) (generable.Value, error) { return m.value(at, t.Elem, t.Limits, height) })
}

// tries bounds the values made until one satisfies the limits.
const tries = 200

// held makes values until one satisfies the limits. make receives the number of the try, and limits extended
// with hints from a check.
func (m *Maker) held(at place, t *generable.Type, l *generable.Limits, make func(try int, l *generable.Limits) (generable.Value, error)) (generable.Value, error) {
	if l == nil {
		return make(0, nil)
	}
	f := &generable.Field{Name: at.of, Type: t, Limits: l}
	var wrong generable.FieldErrors
	var hints []generable.Limits
	if l.Check != nil && l.Check.Hints != nil {
		hints = l.Check.Hints()
	}
	most := tries
	if t.Kind == generable.ListType || t.Kind == generable.DictType || t.Kind == generable.RecordType {
		most = tries / 10 // each of them already makes several values
	}
	for try := range most {
		by := *l
		if len(hints) > 0 {
			by = l.With(hints[m.turn(place{key: at.key + "?"}, len(hints))])
		}
		var v generable.Value
		if by.Only != nil {
			v = by.Only.At(m.turn(place{key: at.key + "="}, by.Only.Len()))
		} else {
			var err error
			if v, err = make(try, &by); err != nil {
				return v, err
			}
		}
		if wrong = generable.CheckLimits(f, v); wrong == nil {
			return v, nil
		}
	}
	return generable.Value{}, fmt.Errorf("%s: of %d values none was %s; the last was %s", at, most, wrong[0].Expected, wrong[0].Got)
}

// oneOf makes a value of the next variant. None comes last, and variants that are too high are skipped.
func (m *Maker) oneOf(at place, t *generable.Type, l *generable.Limits, height int) (generable.Value, error) {
	var fits []*generable.Type
	none := false
	for _, v := range t.Variants {
		switch {
		case v.Deref().Kind == generable.NoneType:
			none = true
		case lowest(v) <= height-1:
			fits = append(fits, v)
		}
	}
	if none {
		fits = append(fits, generable.NoneT)
	}
	if len(fits) == 0 {
		return generable.Value{}, fmt.Errorf("%s: no value of %s ends: each holds another", at, t)
	}
	variant := fits[m.turn(place{key: at.key + "|"}, len(fits))] // the value of a variant alternates on its own
	if variant.Deref().Kind == generable.NoneType {
		return generable.Value{}, nil
	}
	return m.value(at, variant, l, height-1)
}

func (m *Maker) record(at place, t *generable.Type, height int) (generable.Value, error) {
	vals := make([]generable.Value, len(t.Fields))
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Optional && (lowest(f.Type) > height-1 || m.made > maxParts) {
			vals[i] = f.Default
			continue
		}
		v, shown := m.example(at.field(f.Name), f)
		if !shown {
			var err error
			if v, err = m.value(at.field(f.Name), f.Type, f.Limits, height-1); err != nil {
				return v, err
			}
		}
		vals[i] = v
	}
	return generable.NewRecord(t, vals).Value(), nil
}

// example returns the next fitting example of a field, if there is one.
func (m *Maker) example(at place, f *generable.Field) (generable.Value, bool) {
	if len(f.Examples) == 0 {
		return generable.Value{}, false
	}
	v, errs := f.Type.Convert(f.Examples[m.turn(at, len(f.Examples))])
	return v, errs == nil && generable.CheckLimits(f, v) == nil
}

// usual lists the lengths of unconstrained lists and dicts, in turn.
var usual = [...]int{2, 3, 1}

// length returns the number of items to make.
func (m *Maker) length(at place, l *generable.Limits, elem *generable.Type, height int) int {
	n := 1
	if !m.bare {
		n = usual[m.turn(place{key: at.key + "#"}, len(usual))]
	}
	if lowest(elem) > height-1 || m.made > maxParts {
		n = 0
	}
	if l != nil && l.MaxLen != nil {
		n = min(n, *l.MaxLen)
	}
	if l != nil && l.MinLen != nil {
		n = max(n, *l.MinLen)
	}
	return n
}

func (m *Maker) list(at place, t *generable.Type, l *generable.Limits, height int) (generable.Value, error) {
	n := m.length(at, l, t.Elem, height)
	if len(t.Variants) > 0 && (l == nil || l.MinLen == nil) { // a tuple has all its items
		n = len(t.Variants)
	}
	items := make([]generable.Value, 0, n)
	for i := range n {
		elem := t.Elem
		if i < len(t.Variants) {
			elem = t.Variants[i]
		}
		v, err := m.value(at.item(i), elem, nil, height-1)
		if err != nil {
			return v, err
		}
		items = append(items, v)
	}
	return generable.NewList(items).Value(), nil
}

func (m *Maker) dict(at place, t *generable.Type, l *generable.Limits, height int) (generable.Value, error) {
	n := m.length(at, l, t.Elem, height)
	out := generable.NewMap(n)
	for i := range n {
		v, err := m.value(at.item(i), t.Elem, nil, height-1)
		if err != nil {
			return v, err
		}
		out.Set("key"+strconv.Itoa(i+1), v)
	}
	return out.Value(), nil
}

// text makes a text: in a format, matching a pattern, or naming what it belongs to.
func (m *Maker) text(at place, l *generable.Limits, try int) (generable.Value, error) {
	if l == nil {
		return generable.StrOf(m.says(at)), nil
	}
	switch {
	case l.Format != "" && (l.Pattern == "" || try%2 == 0):
		return generable.StrOf(m.formatted(l.Format)), nil
	case l.Pattern != "":
		s, err := m.matching(l, try)
		if err != nil {
			return generable.Value{}, fmt.Errorf("%s: no text is made for the pattern %s: %w", at, l.Pattern, err)
		}
		return generable.StrOf(s), nil
	}
	s := m.says(at)
	if try > 0 && try%2 == 1 { // a check may expect one word, or a number
		s = []string{strconv.Itoa(m.rng.IntN(1000)), m.word(1 + m.rng.IntN(8)), m.word(6) + " " + m.word(4)}[m.rng.IntN(3)]
	}
	runes := []rune(s)
	if l.MaxLen != nil && len(runes) > *l.MaxLen {
		runes = runes[:*l.MaxLen]
	}
	if l.MinLen != nil && len(runes) < *l.MinLen {
		runes = append(runes, []rune(strings.Repeat(" and more", (*l.MinLen-len(runes))/9+1))[:*l.MinLen-len(runes)]...)
	}
	return generable.StrOf(string(runes)), nil
}

// says returns a text that names what it belongs to, with a number if there are several.
func (m *Maker) says(at place) string {
	if m.bare {
		return "…"
	}
	s := "[mock] " + at.String()
	n := m.turns[s]
	m.turns[s]++
	if n > 0 {
		s += " " + strconv.Itoa(n+1)
	}
	return s
}
