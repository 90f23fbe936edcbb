package predicate

import (
	"slices"
	"sort"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Space is the values of one type, divided into cells so finely that each of the conditions it
// was made for takes a cell as a whole or not at all: the numbers between two that are named and
// those themselves, each value of a bool or enum, each text that is named and all others. What
// cannot be told (a regular expression, values of any) is left to bounds: see [Space.Region].
//
// The cells are numbered: numbers in their order, values, texts, what is none of these, None. What
// a condition takes is then a few ranges of cells, and what many conditions leave over is known in
// time that grows as they do.
type Space struct {
	points  []generable.Value // the numbers that conditions name, in order
	numbers []interval        // the cells of numbers; none is empty
	first   []int             // by position, 2*i+1 of points[i] and 2*i of what is below it: the first cell from there on
	whole   bool              // the numbers are integers

	values         []string // of bools and enums, as a script writes them; their cells follow the numbers
	texts          []string // that conditions name; their cells follow the values
	value, text    map[string]int
	anyText, other int // the cell of all other texts, and that of values of other kinds: -1 without
	none           int
	size           int

	Visits int // of ranges, so that a test can hold their growth
}

// NewSpace divides the values of type t by what conditions ask of one subject.
func NewSpace(t *generable.Type, subject string, conditions []*Predicate) *Space {
	s := &Space{value: map[string]int{}, text: map[string]int{}, anyText: -1, other: -1, none: -1}
	var ints, floats, texts, none, other bool
	for _, c := range typing.Cases(t) {
		switch c.Kind {
		case generable.IntType:
			ints = true
		case generable.FloatType:
			floats = true
		case generable.BoolType, generable.EnumType:
			for _, v := range typing.Values(c) {
				s.values = once(s.values, s.value, v)
			}
		case generable.StrType:
			texts = true
		case generable.NoneType:
			none = true
		default:
			other = true
		}
	}
	for _, c := range conditions {
		c.tests(func(p *Predicate) {
			if p.field != subject || p.op == Matches || p.op == Has {
				return
			}
			if _, ok := p.value.AsNumber(); ok && (ints || floats) {
				s.points = append(s.points, p.value)
			} else if text, ok := p.value.AsStr(); ok && texts && (p.op == Eq || p.op == Ne) {
				s.texts = once(s.texts, s.text, text)
			}
		})
	}
	s.whole = ints && !floats
	if ints || floats {
		s.divide()
	}
	s.size = len(s.numbers) + len(s.values) + len(s.texts)
	cell := func(there bool) int {
		if !there {
			return -1
		}
		s.size++
		return s.size - 1
	}
	s.anyText, s.other, s.none = cell(texts), cell(other), cell(none)
	return s
}

// once adds a name to a list unless it is there, and keeps its place.
func once(list []string, at map[string]int, name string) []string {
	if _, ok := at[name]; ok {
		return list
	}
	at[name] = len(list)
	return append(list, name)
}

// divide makes the cells of numbers.
func (s *Space) divide() {
	compare := func(a, b generable.Value) int {
		c, _ := generable.Compare(a, b)
		return c
	}
	slices.SortFunc(s.points, compare)
	s.points = slices.CompactFunc(s.points, func(a, b generable.Value) bool { return compare(a, b) == 0 })
	add := func(i interval) {
		s.first = append(s.first, len(s.numbers))
		if !i.empty(s.whole) {
			s.numbers = append(s.numbers, i)
		}
	}
	var below *bound
	for _, p := range s.points {
		add(interval{below, &bound{p, true}})
		add(interval{&bound{p, false}, &bound{p, false}})
		below = &bound{p, true}
	}
	add(interval{below, nil})
	s.first = append(s.first, len(s.numbers))
}

// position is where a number that a condition names stands in first.
func (s *Space) position(v generable.Value) int {
	return 2*sort.Search(len(s.points), func(i int) bool {
		c, _ := generable.Compare(s.points[i], v)
		return c >= 0
	}) + 1
}

// Region returns the cells for which a predicate holds for certain, and those for which it may hold,
// as far as one subject tells: the value itself or one field of it. Tests of other subjects may
// hold or not.
func (s *Space) Region(p *Predicate, subject string) (sure, may Cells) {
	switch p.op {
	case And, Or:
		var sures, mays []Cells
		for _, k := range p.operands() {
			a, b := s.Region(k, subject)
			sures, mays = append(sures, a), append(mays, b)
			s.Visits += len(a) + len(b)
		}
		if p.op == Or {
			return anyOf(sures), anyOf(mays)
		}
		return s.allOf(sures), s.allOf(mays)
	case Not:
		a, b := s.Region(p.kids[0], subject)
		return s.without(b), s.without(a)
	}
	if p.field != subject {
		return nil, s.all()
	}
	_, text := p.value.AsStr()
	some := s.size // where the cells of what is there end
	if s.none >= 0 {
		some = s.none
	}
	switch {
	case p.op == Has && p.given:
		return nil, s.all()
	case p.op == Has:
		return Cells{}.add(0, some), Cells{}.add(0, some)
	case p.op == Matches, text && p.op != Eq && p.op != Ne: // texts, and what may be some
		return nil, Cells{}.add(len(s.numbers), some)
	}
	_, isNumber := p.value.AsNumber()
	at := 0
	if isNumber && len(s.points) > 0 {
		at = s.position(p.value)
	} else if isNumber || p.op != Eq && p.op != Ne { // there are no numbers
		at = -1
	}
	switch {
	case p.op == Eq || p.op == Ne:
		sure = s.Only(p.value, at)
		if p.op == Ne {
			sure = s.without(sure)
		}
	case at < 0:
	case p.op == Gt:
		sure = sure.add(s.first[at+1], len(s.numbers))
	case p.op == Ge:
		sure = sure.add(s.first[at], len(s.numbers))
	case p.op == Lt:
		sure = sure.add(0, s.first[at])
	default:
		sure = sure.add(0, s.first[at+1])
	}
	if s.other < 0 {
		return sure, sure
	}
	rest := Cells{}.add(s.other, s.other+1) // what is of another kind may be anything
	return s.without(anyOf([]Cells{s.without(sure), rest})), anyOf([]Cells{sure, rest})
}

// Only returns the cell of a value. at is its place among the numbers that conditions name, -1 when it
// is none of them.
func (s *Space) Only(v generable.Value, at int) Cells {
	if at > 0 {
		return Cells{}.add(s.first[at], s.first[at+1])
	}
	if v.IsNull() && s.none >= 0 {
		return Cells{}.add(s.none, s.none+1)
	}
	var list []Cells
	if k, ok := s.value[typing.Literal(v)]; ok {
		list = append(list, Cells{}.add(len(s.numbers)+k, len(s.numbers)+k+1))
	}
	if text, ok := v.AsStr(); ok {
		if k, ok := s.text[text]; ok {
			k += len(s.numbers) + len(s.values)
			list = append(list, Cells{}.add(k, k+1))
		}
	}
	return anyOf(list)
}

// Describe returns names of the values of some cells: "79 < score < 80", "True", "any other text".
func (s *Space) Describe(subject string, in func(cell int) bool) []string {
	name, of := subject, subject+" = "
	if subject == "" {
		name, of = "x", ""
	}
	var out []string
	for i := 0; i < len(s.numbers); i++ {
		if !in(i) {
			continue
		}
		whole := s.numbers[i]
		for i+1 < len(s.numbers) && in(i+1) {
			i++
			whole.to = s.numbers[i].to
		}
		out = append(out, whole.describe(name, s.whole))
	}
	for i, v := range s.values {
		if in(len(s.numbers) + i) {
			out = append(out, of+v)
		}
	}
	var texts []string
	rest := s.anyText >= 0 && in(s.anyText)
	for i, name := range s.texts {
		if in(len(s.numbers)+len(s.values)+i) != rest {
			texts = append(texts, text.Quote(name))
		}
	}
	switch {
	case rest && len(texts) == 0:
		out = append(out, "any text")
	case rest:
		out = append(out, "any text but "+typing.Listed(texts))
	default:
		for _, text := range texts {
			out = append(out, name+" = "+text)
		}
	}
	if s.none >= 0 && in(s.none) {
		out = append(out, of+"None")
	}
	return out
}

// Settled reports whether a condition is false for all values of a type, or true for all, as far as one
// subject of it tells for each case.
func (p *Predicate) Settled(t *generable.Type) (never, always bool) {
	never, always = true, true
	for _, c := range typing.Cases(t) {
		no, yes := false, false
		for _, subject := range p.Subjects() {
			of, why := SubjectType(c, subject)
			if why != "" {
				continue
			}
			space := NewSpace(of, subject, []*Predicate{p})
			sure, may := space.Region(p, subject)
			no, yes = no || len(may) == 0, yes || len(space.without(sure)) == 0
		}
		never, always = never && no, always && yes
	}
	return never, always
}
