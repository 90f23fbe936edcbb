package predicate

import (
	"slices"
	"sort"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// axis is the values of one subject, divided into cells so finely that each of its tests holds for all values of a cell
// or for none. The cells are the named numbers and the intervals between them, each value of a bool or enum, each named
// text, the other spellings of a text that is compared without regard to case, and all other texts. If both ints and
// floats are possible, a number that is compared exactly has two cells, one for the int and one for the float. An
// answer that is known only at run time, such as that of a regular expression, is an axis of two cells: see [Space].
//
// The cells are numbered: numbers in their order, values, texts, spellings, all other texts, values of other kinds,
// None, missing fields. A test then holds for a few ranges of cells.
type axis struct {
	subject string
	test    *Predicate // the test whose answer the axis is, nil for the values of a subject

	points  []generable.Value // the numbers that conditions name, in order
	numbers []interval        // the cells of numbers; none is empty
	first   []int             // by position, 2*i+1 for points[i] and 2*i for the interval below it: the first cell from there on
	whole   bool              // the numbers are integers
	floats  bool              // all numbers are floats

	values      []generable.Value // of bools and enums; their cells follow the numbers
	texts       []generable.Value // that conditions name; their cells follow the values
	value, text map[string]int    // by how a script writes them
	spelled     []generable.Value // in lower case, texts compared without regard to case that have spellings without a cell of their own; their cells follow the texts
	size        int

	// The cells of all other texts, of values of other kinds, of None and of missing fields; -1 if there is none.
	anyText, other, none, absent int
	untyped                      bool // the values of other kinds may be anything

	// The axis of the subject that this one is a field of, or -1, and the cells of that axis that have the field. If
	// loose, some values in these cells lack the field.
	parent int
	home   cells
	loose  bool
}

// newAxis divides the values of a subject of type t by its tests. A nil type means that the field does not exist;
// absent means that some values lack it.
func newAxis(t *generable.Type, absent bool, subject string, tests []*Predicate) *axis {
	s := &axis{subject: subject, value: map[string]int{}, text: map[string]int{}, parent: -1}
	var ints, floats, texts, none, other bool
	var exact, folded []generable.Value
	var cases []*generable.Type
	if t != nil {
		cases = typing.Cases(t)
	}
	for _, c := range cases {
		switch c.Kind {
		case generable.IntType:
			ints = true
		case generable.FloatType:
			floats = true
		case generable.BoolType:
			s.values = once(s.values, s.value, generable.BoolOf(true))
			s.values = once(s.values, s.value, generable.BoolOf(false))
		case generable.EnumType:
			for _, v := range c.Values {
				s.values = once(s.values, s.value, generable.StrOf(v))
			}
		case generable.StrType:
			texts = true
		case generable.NoneType:
			none = true
		default:
			other, s.untyped = true, s.untyped || typing.Untyped(c)
		}
	}
	for _, p := range tests {
		if p.op == Matches || p.op == Has {
			continue
		}
		_, isNumber := p.value.AsNumber()
		_, isText := p.value.AsStr()
		equality := p.op == Eq || p.op == Ne
		switch {
		case isNumber && (ints || floats):
			s.points = append(s.points, p.value)
			if p.exact && ints && floats {
				exact = append(exact, p.value)
			}
		case !isText || !texts || !equality:
		case p.fold:
			folded = append(folded, generable.StrOf(p.low))
		default:
			s.texts = once(s.texts, s.text, p.value)
		}
	}
	s.whole, s.floats = ints && !floats, floats && !ints
	if ints || floats {
		s.divide(exact)
	}
	s.spell(folded)
	s.size = len(s.numbers) + len(s.values) + len(s.texts) + len(s.spelled)
	cell := func(there bool) int {
		if !there {
			return -1
		}
		s.size++
		return s.size - 1
	}
	s.anyText, s.other, s.none, s.absent = cell(texts), cell(other), cell(none), cell(absent)
	return s
}

// once appends a value to a list unless it is in it, and records its index.
func once(list []generable.Value, at map[string]int, v generable.Value) []generable.Value {
	name := typing.Literal(v)
	if _, ok := at[name]; ok {
		return list
	}
	at[name] = len(list)
	return append(list, v)
}

// spell keeps those folded texts that have spellings without a cell of their own.
func (s *axis) spell(folded []generable.Value) {
	named := map[string]int{} // how many spellings have a cell
	for _, v := range s.texts {
		named[lowered(v)]++
	}
	at := map[string]int{}
	for _, v := range folded {
		if low := lowered(v); !spelledBy(low, named[low]) {
			s.spelled = once(s.spelled, at, v)
		}
	}
}

// divide makes the cells of numbers. For each number in exact, the int and the float get separate cells.
func (s *axis) divide(exact []generable.Value) {
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
	apart := map[int]bool{}
	for _, v := range exact {
		apart[s.position(v)/2] = true
	}
	var below *bound
	for i, p := range s.points {
		add(interval{from: below, to: &bound{p, true}})
		if whole, float, both := twins(p); both && apart[i] {
			s.first = append(s.first, len(s.numbers))
			s.numbers = append(s.numbers, interval{&bound{whole, false}, &bound{whole, false}, 1}, interval{&bound{float, false}, &bound{float, false}, -1})
		} else {
			add(interval{from: &bound{p, false}, to: &bound{p, false}})
		}
		below = &bound{p, true}
	}
	add(interval{from: below})
	s.first = append(s.first, len(s.numbers))
}

// position returns the index in first of a number that a condition names.
func (s *axis) position(v generable.Value) int {
	return 2*sort.Search(len(s.points), func(i int) bool {
		c, _ := generable.Compare(s.points[i], v)
		return c >= 0
	}) + 1
}

// region returns the cells for which a test certainly holds, and the cells for which it is known only at run time. Ne
// is the opposite of Eq and left to the caller.
func (s *axis) region(p *Predicate) (sure, open cells) {
	_, isNumber := p.value.AsNumber()
	_, isText := p.value.AsStr()
	_, isBool := p.value.AsBool()
	plain := isNumber || isText || isBool || p.value.IsNull()
	if s.other >= 0 && (s.untyped || !plain || p.op == Has && p.given) {
		open = cells{}.add(s.other, s.other+1)
	}
	switch {
	case p.op == Eq:
		return s.equal(p), open
	case p.op == Has && !p.given:
		there := s.size
		for _, cell := range []int{s.absent, s.none} {
			if cell >= 0 {
				there = cell
			}
		}
		return s.allOf([]cells{cells{}.add(0, there), s.without(open)}), open
	case !isNumber || p.op == Has: // a test of texts
		of := *p
		of.field = ""
		for i, v := range slices.Concat(s.values, s.texts) {
			if of.Holds(v) {
				sure = sure.add(len(s.numbers)+i, len(s.numbers)+i+1)
			}
		}
		sure, texts := s.spellings(p, &of, sure)
		if s.anyText >= 0 {
			texts = texts.add(s.anyText, s.anyText+1)
		}
		return sure, anyOf([]cells{texts, open})
	case len(s.points) == 0:
		return nil, open
	}
	at := s.position(p.value)
	switch p.op {
	case Gt:
		sure = sure.add(s.first[at+1], len(s.numbers))
	case Ge:
		sure = sure.add(s.first[at], len(s.numbers))
	case Lt:
		sure = sure.add(0, s.first[at])
	default:
		sure = sure.add(0, s.first[at+1])
	}
	return sure, open
}

// spellings adds to sure the cells of other spellings for which a test of texts certainly holds, and returns those for
// which it is known only at run time: an order without regard to case is the same for all spellings of a text.
func (s *axis) spellings(p, alone *Predicate, sure cells) (_, open cells) {
	from := len(s.numbers) + len(s.values) + len(s.texts)
	for i, v := range s.spelled {
		switch cell := from + i; {
		case !p.folds():
			open = open.add(cell, cell+1)
		case alone.Holds(v):
			sure = sure.add(cell, cell+1)
		}
	}
	return sure, open
}

// equal returns the cells of the values that equal the value of a test.
func (s *axis) equal(p *Predicate) cells {
	_, isNumber := p.value.AsNumber()
	switch {
	case p.folds():
		var out cells
		for i, v := range slices.Concat(s.values, s.texts, s.spelled) {
			if p.equals(v) {
				out = out.add(len(s.numbers)+i, len(s.numbers)+i+1)
			}
		}
		return out
	case !p.exact || !isNumber || len(s.points) == 0:
		return s.only(p.value)
	case s.whole && isFloat(p.value), s.floats && !isFloat(p.value):
		return nil
	}
	at := s.position(p.value)
	from, to := s.first[at], s.first[at+1]
	switch {
	case to-from < 2: // nothing else equals it
	case isFloat(p.value):
		from = to - 1
	default:
		to = from + 1
	}
	return cells{}.add(from, to)
}

// only returns the cells of one value.
func (s *axis) only(v generable.Value) cells {
	if _, ok := v.AsNumber(); ok {
		if len(s.points) == 0 {
			return nil
		}
		at := s.position(v)
		return cells{}.add(s.first[at], s.first[at+1])
	}
	if v.IsNull() && s.none >= 0 {
		return cells{}.add(s.none, s.none+1)
	}
	var list []cells
	if k, ok := s.value[typing.Literal(v)]; ok {
		list = append(list, cells{}.add(len(s.numbers)+k, len(s.numbers)+k+1))
	}
	if k, ok := s.text[typing.Literal(v)]; ok {
		k += len(s.numbers) + len(s.values)
		list = append(list, cells{}.add(k, k+1))
	}
	return anyOf(list)
}
