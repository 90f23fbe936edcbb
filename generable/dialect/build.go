package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// levers are the settings that the compiler lowers step by step until a schema keeps its budgets.
type levers struct {
	depth  int // containers nested deeper become JSON text; 0 means no limit
	unroll int // how often a type that contains itself may be nested in itself
	nest   int // how many such types may be nested in total
	enum   int // enums with more values are not listed
	spending
}

// maxShapes bounds the work on types that lead back to themselves in many ways.
const maxShapes = 4000

// builder makes the shapes of one type.
type builder struct {
	*ruleset
	levers
	memo      map[place]*shape
	open      []opening                 // schemas and unions on the current path
	cyclic    map[*generable.Type]cycle // types that contain themselves
	recursive map[*generable.Type]bool  // cached results of recurs
	numbers   map[*generable.Type]int   // numbers of the unrolled types
	bad       error
}

type opening struct {
	place
	s *shape
}

// place is a type together with the surroundings that affect its form.
type place struct {
	t      *generable.Type
	full   *generable.Type // t with its limits
	tag    string          // of the union of which the schema is a variant
	union  bool            // it is a member of an inline union
	fixed  int             // of a tuple: its number of items; -1 when that is open
	level  int             // of containers, including this one
	opened string          // how often each type is open around it, if that matters
}

func (b *builder) fail(format string, args ...any) {
	if b.bad == nil {
		b.bad = fmt.Errorf(format, args...)
	}
}

// root returns the shape of a whole answer.
func (b *builder) root(t *generable.Type) *shape {
	kind := t.Deref().Kind
	plainRoot := !b.objectRoot || kind == generable.RecordType || kind == generable.DictType && b.dicts
	if plainRoot {
		return b.shape(t, place{level: 1})
	}
	return &shape{form: wrapped, nat: t.Deref(), full: in.Resolved(t), items: b.shape(t, place{level: 2})}
}

// shape returns the wire form of t at place p.
func (b *builder) shape(t *generable.Type, p place) *shape {
	limits := limitsOn(t)
	p.full = in.Resolved(t)
	t = t.Deref()
	p.t = t
	switch t.Kind {
	case generable.RefType:
		b.fail("the type %s is not declared", t.Name)
		return &shape{nat: t, full: t}
	case generable.ErrorType:
		b.fail("the type has an error that was reported where it is declared")
		return &shape{nat: t, full: t}
	}
	if t.Kind != generable.ListType || len(t.Variants) == 0 {
		p.fixed = 0
	} else if p.fixed <= 0 {
		p.fixed = fixedLen(limits)
	}
	if b.depth == 0 {
		p.level = 1
	}
	if s, ends := b.closing(p); ends {
		return s
	}
	p.opened = b.opened(t)
	if s, ok := b.memo[p]; ok {
		s.loop = s.loop || s.filling // T | None around a schema with a field of that type
		return s
	}
	s := &shape{nat: t, full: p.full, limits: limits, tag: p.tag}
	b.memo[p] = s
	opens := b.opens(t)
	if opens {
		b.open = append(b.open, opening{p, s})
	}
	s.filling = true
	b.fill(s, p)
	s.filling = false
	if opens {
		b.open = b.open[:len(b.open)-1]
	}
	return s
}

// opens reports whether a type may occur again inside itself.
func (b *builder) opens(t *generable.Type) bool {
	return t.Kind == generable.RecordType || t.Kind == generable.UnionType || b.cyclic[t] > 0
}

// unrolls reports whether t contains itself in a way that the target does not support.
func (b *builder) unrolls(t *generable.Type) bool {
	return b.cyclic[t] > 0 && (b.recursion == noRecursion || b.recursion == optionalRecursion && b.cyclic[t] == withoutFields)
}

// closing ends recursion. For targets that support it, the result is the shape that is already open.
func (b *builder) closing(p place) (*shape, bool) {
	if !b.opens(p.t) {
		return nil, false
	}
	unrolls := b.unrolls(p.t)
	times, nested := 0, 0
	for _, o := range b.open {
		if o.tag == "" && b.unrolls(o.t) {
			nested++
		}
		if o.t != p.t {
			continue
		}
		if !unrolls && o.tag == p.tag && o.full == p.full && o.fixed == p.fixed && (o.union == p.union || p.t.Kind != generable.DictType) {
			o.s.loop = true
			return o.s, true
		}
		times++
	}
	if unrolls && p.tag == "" && (times >= b.unroll || nested >= b.nest || len(b.memo) > maxShapes) {
		s := *b.text(p)
		s.ends = true
		return &s, true
	}
	return nil, false
}

// opened returns how often the types that are unrolled are open around t: the same type has a different shape at each
// turn.
func (b *builder) opened(t *generable.Type) string {
	if b.recursion == unboundedRecursion || len(b.cyclic) == 0 || !b.recurs(t) {
		return ""
	}
	var open []int
	for _, o := range b.open {
		if o.tag == "" && b.unrolls(o.t) {
			n, known := b.numbers[o.t]
			if !known {
				n = len(b.numbers)
				b.numbers[o.t] = n
			}
			open = append(open, n)
		}
	}
	slices.Sort(open)
	var key strings.Builder
	for _, n := range open {
		key.WriteRune(rune(n))
	}
	return key.String()
}

// recurs reports whether t contains a type that contains itself.
func (b *builder) recurs(t *generable.Type) bool {
	if is, known := b.recursive[t]; known {
		return is
	}
	is := false
	generable.Walk(t, func(p *generable.Type) bool {
		is = is || b.cyclic[p] > 0
		return !is
	})
	b.recursive[t] = is
	return is
}

// cycle says how a type contains itself.
type cycle uint8

const (
	throughFields cycle = iota + 1 // through the fields of a schema
	withoutFields                  // through lists, dicts and unions alone
)

// cyclicTypes finds the types inside t that contain themselves. A list in a schema that contains itself is not one of
// them: the cycle closes at the schema.
func cyclicTypes(t *generable.Type) map[*generable.Type]cycle {
	out := make(map[*generable.Type]cycle)
	generable.Walk(t, func(p *generable.Type) bool {
		back := func(fields bool) bool {
			found := false
			in.Parts(p, func(part *generable.Type) { found = found || reaches(part, p, fields) })
			return found
		}
		switch {
		case p.IsNominal() && back(true):
			out[p] = throughFields
		case !p.IsNominal() && p.Kind != generable.LimitType && back(false):
			out[p] = withoutFields
		}
		return true
	})
	return out
}

// reaches reports whether to is t or a part of it, with or without the fields of schemas.
func reaches(t, to *generable.Type, fields bool) bool {
	found := false
	generable.Walk(t, func(p *generable.Type) bool {
		found = found || p == to
		return !found && (fields || p.Kind != generable.RecordType)
	})
	return found
}

// text returns the last resort for a part: its JSON in a string.
func (b *builder) text(p place) *shape {
	f := encoded
	if p.union || p.t.AcceptsText() {
		f = boxed
	}
	key := place{t: p.t, full: p.full, union: f == boxed, level: -1}
	if s, ok := b.memo[key]; ok {
		return s
	}
	s := &shape{form: f, nat: p.t, full: p.full, limits: limitsOn(p.full)}
	b.memo[key] = s
	return s
}

// fill completes the shape of a type.
func (b *builder) fill(s *shape, p place) {
	t := p.t
	tooDeep := func(levels int) bool { return b.depth > 0 && p.level+levels-1 > b.depth }
	part := func(t *generable.Type, levels int) *shape {
		return b.shape(t, place{level: p.level + levels})
	}
	switch t.Kind {
	case generable.AnyType:
		if !b.untyped {
			s.form = boxed
		}
	case generable.EnumType:
		s.wide = len(t.Values) > b.enum || !b.listsText(t.Values...)
	case generable.ListType:
		if tooDeep(1) {
			*s = *b.text(p)
			return
		}
		b.list(s, p, part)
	case generable.DictType:
		b.dict(s, p, tooDeep, part)
	case generable.RecordType:
		if tooDeep(1) && p.tag == "" {
			*s = *b.text(p)
			return
		}
		b.object(s, p)
	case generable.UnionType:
		if tooDeep(1) {
			*s = *b.text(p)
			return
		}
		for _, v := range t.Variants {
			if v = v.Deref(); v.Kind == generable.RecordType {
				s.parts = append(s.parts, b.shape(v, place{tag: t.Tag, level: p.level}))
			}
		}
	case generable.OneOfType:
		for _, v := range t.Variants {
			s.parts = append(s.parts, b.shape(v, place{union: in.NonNone(t) == nil, level: p.level}))
		}
	}
}

// list sets the shapes of a list's items. The positions of a tuple have separate shapes where the target can
// distinguish them; otherwise each item may be what any of them is.
func (b *builder) list(s *shape, p place, part func(*generable.Type, int) *shape) {
	n := len(p.t.Variants)
	switch {
	case n == 0:
	case b.tuples == openTuples:
		for _, v := range p.t.Variants {
			s.parts = append(s.parts, part(v, 1))
		}
		if p.fixed == n {
			return
		}
	case p.fixed == n:
		if b.tuples == noTuples {
			s.form = tupled
		}
		for _, v := range p.t.Variants {
			s.parts = append(s.parts, part(v, 1))
		}
		return
	}
	s.items = part(p.t.Elem, 1)
}

func (b *builder) dict(s *shape, p place, tooDeep func(int) bool, part func(*generable.Type, int) *shape) {
	levels, f := 2, paired
	switch {
	case b.dicts:
		levels, f = 1, asIs
	case p.union:
		levels, f = 3, entered
	}
	if tooDeep(levels) {
		*s = *b.text(p)
		return
	}
	s.form, s.items = f, part(p.t.Elem, levels)
}

func (b *builder) object(s *shape, p place) {
	taken := map[string]bool{p.tag: p.tag != ""}
	for i := range p.t.Fields {
		taken[p.t.Fields[i].Key()] = true
	}
	for i := range p.t.Fields {
		f := &p.t.Fields[i]
		m := member{name: b.wireKey(f.Key(), taken), nat: f}
		if bigInt(f) {
			m.shape = &shape{form: digits, nat: f.Type.Deref(), full: in.Resolved(f.Type), limits: limitsOn(f.Type)}
		} else {
			m.shape = b.shape(f.Type, place{level: p.level + 1, fixed: fixedLen(both(f.Limits, limitsOn(f.Type)))})
		}
		m.presence = b.presence(f, m.shape)
		s.fields = append(s.fields, m)
	}
}

// bigInt reports whether a field is meant for integers that not every JSON reader can hold.
func bigInt(f *generable.Field) bool {
	l := both(f.Limits, limitsOn(f.Type))
	return f.Type.Deref().Kind == generable.IntType && l != nil &&
		(l.Ge != nil && (*l.Ge < -safeInt || *l.Ge > safeInt) || l.Le != nil && (*l.Le > safeInt || *l.Le < -safeInt))
}

// presence decides how a field that may be left out is written; budgets may change it later.
func (b *builder) presence(f *generable.Field, s *shape) presence {
	takesNone := f.Type.AcceptsNone()
	isAny := f.Type.Deref().Kind == generable.AnyType
	differs := f.Optional && takesNone && (!f.Default.IsNull() || f.Omit && isAny) // null and absence differ
	switch {
	case f.Required():
		return required
	case b.requireAll && differs:
		return markedAbsent
	case b.requireAll && takesNone && !f.Omit:
		return required
	case b.requireAll:
		return nullable
	case f.Omit && !isAny:
		return omitted
	case b.dropNull && s.form == boxed && !f.Omit:
		return required
	case b.dropNull && takesNone && !differs:
		return omitted
	}
	return optional
}

// wireKey returns a field's name if the target accepts it, else a key made of the characters that it accepts.
func (b *builder) wireKey(name string, taken map[string]bool) string {
	var key string
	switch {
	case b.keyLen > 0:
		key = plainName(name, b.keyChars, b.keyLen)
	case b.listsText(name):
		return name
	default:
		key = strings.NewReplacer("\"", "_", "\n", "_").Replace(name)
	}
	if key == name {
		return name
	}
	base, most := key, cmp.Or(b.keyLen, anyCount)
	for i := 2; taken[key] || key == ""; i++ {
		end := "_" + strconv.Itoa(i)
		key = base[:min(len(base), most-len(end))] + end
	}
	taken[key] = true
	return key
}
