package dialect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// levers are what the compiler lowers, one step at a time, until a schema keeps its budgets.
type levers struct {
	depth  int // containers nested deeper become JSON text; 0 while it does not matter
	unroll int // how often a type that contains itself may do so
	nest   int // how many such types may be nested in all
	enum   int // enums with more values are not listed
	spending
}

// maxShapes bounds the work on types that lead back to themselves in very many ways.
const maxShapes = 4000

// builder makes the shapes of one type.
type builder struct {
	*Rules
	levers
	memo      map[place]*shape
	open      []opening                // schemas and unions on the way down
	cyclic    map[*generable.Type]bool // types that contain themselves
	recursive map[*generable.Type]bool // known answers of recurs
	bad       error
}

type opening struct {
	t   *generable.Type
	tag string
	s   *shape
}

// place is a type where its surroundings matter for the form it gets.
type place struct {
	t      *generable.Type
	tag    string // of the union that a schema is a variant of
	union  bool   // it stands in an inline union
	level  int    // of containers, this one included
	opened string // how often each type is open around it, where that counts
}

func (b *builder) fail(format string, args ...any) {
	if b.bad == nil {
		b.bad = fmt.Errorf(format, args...)
	}
}

// root gives the shape of a whole answer.
func (b *builder) root(t *generable.Type) *shape {
	t = t.Deref()
	plainRoot := !b.ObjectRoot || t.Kind == generable.RecordType || t.Kind == generable.DictType && b.Dicts
	if plainRoot {
		return b.shape(t, place{level: 1})
	}
	return &shape{form: wrapped, nat: t, items: b.shape(t, place{level: 2})}
}

// shape gives the wire form of t at a place.
func (b *builder) shape(t *generable.Type, p place) *shape {
	t = t.Deref()
	p.t = t
	switch t.Kind {
	case generable.RefType:
		b.fail("the type %s is not declared", t.Name)
		return &shape{nat: t}
	case generable.ErrorType:
		b.fail("the type has an error that was reported where it is declared")
		return &shape{nat: t}
	}
	if b.depth == 0 {
		p.level = 1
	}
	if s, ends := b.closing(p); ends {
		return s
	}
	p.opened = b.opened(t)
	if s, ok := b.memo[p]; ok {
		return s
	}
	s := &shape{nat: t, tag: p.tag}
	b.memo[p] = s
	b.fill(s, p)
	return s
}

// closing ends recursion: under targets that know it, by the shape that is open already.
func (b *builder) closing(p place) (*shape, bool) {
	if p.t.Kind != generable.RecordType && p.t.Kind != generable.UnionType {
		return nil, false
	}
	times, nested := 0, 0
	for _, o := range b.open {
		if b.cyclic[o.t] && o.tag == "" {
			nested++
		}
		if o.t != p.t {
			continue
		}
		if b.Recursion != NoRecursion && o.tag == p.tag {
			o.s.loop = true
			return o.s, true
		}
		times++
	}
	if b.Recursion == NoRecursion && b.cyclic[p.t] && p.tag == "" && (times >= b.unroll || nested >= b.nest || len(b.memo) > maxShapes) {
		s := *b.text(p)
		s.ends = true
		return &s, true
	}
	return nil, false
}

// opened tells how often the recursive types are open around t. Where recursion is unrolled,
// the same type has another shape at each turn.
func (b *builder) opened(t *generable.Type) string {
	if b.Recursion != NoRecursion || !b.recurs(t) {
		return ""
	}
	var ids []string
	for _, o := range b.open {
		if b.cyclic[o.t] && o.tag == "" {
			ids = append(ids, o.t.ID())
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, ";")
}

// recurs reports whether t contains a type that contains itself.
func (b *builder) recurs(t *generable.Type) bool {
	if is, known := b.recursive[t]; known {
		return is
	}
	is := false
	generable.Walk(t, func(p *generable.Type) bool {
		is = is || b.cyclic[p]
		return !is
	})
	b.recursive[t] = is
	return is
}

// cyclicTypes finds the nominal types inside of t that contain themselves.
func cyclicTypes(t *generable.Type) map[*generable.Type]bool {
	out := make(map[*generable.Type]bool)
	generable.Walk(t, func(p *generable.Type) bool {
		if p.IsNominal() && slices.ContainsFunc(parts(p), func(part *generable.Type) bool { return reaches(part, p) }) {
			out[p] = true
		}
		return true
	})
	return out
}

// parts lists the types that t is made of.
func parts(t *generable.Type) []*generable.Type {
	var out []*generable.Type
	if t.Elem != nil {
		out = append(out, t.Elem)
	}
	out = append(out, t.Variants...)
	for i := range t.Fields {
		out = append(out, t.Fields[i].Type)
	}
	return out
}

// reaches reports whether to is t or a part of it.
func reaches(t, to *generable.Type) bool {
	found := false
	generable.Walk(t, func(p *generable.Type) bool {
		found = found || p == to
		return !found
	})
	return found
}

// text is the last resort for a part: its JSON in a string.
func (b *builder) text(p place) *shape {
	f := encoded
	if p.union || p.t.Kind == generable.AnyType {
		f = boxed
	}
	key := place{t: p.t, union: f == boxed, level: -1}
	if s, ok := b.memo[key]; ok {
		return s
	}
	s := &shape{form: f, nat: p.t}
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
		if !b.Untyped {
			s.form = boxed
		}
	case generable.EnumType:
		s.wide = len(t.Values) > b.enum
	case generable.ListType:
		if tooDeep(1) {
			*s = *b.text(p)
			return
		}
		s.items = part(t.Elem, 1)
	case generable.DictType:
		b.dict(s, p, tooDeep, part)
	case generable.RecordType:
		if tooDeep(1) && p.tag == "" {
			*s = *b.text(p)
			return
		}
		b.open = append(b.open, opening{t, p.tag, s})
		b.object(s, p)
		b.open = b.open[:len(b.open)-1]
	case generable.UnionType:
		if tooDeep(1) {
			*s = *b.text(p)
			return
		}
		b.open = append(b.open, opening{t, "", s})
		for _, v := range t.Variants {
			if v = v.Deref(); v.Kind == generable.RecordType {
				s.parts = append(s.parts, b.shape(v, place{tag: t.Tag, level: p.level}))
			}
		}
		b.open = b.open[:len(b.open)-1]
	case generable.OneOfType:
		for _, v := range t.Variants {
			s.parts = append(s.parts, b.shape(v, place{union: !isOptional(t), level: p.level}))
		}
	}
}

// isOptional reports whether t is T | None.
func isOptional(t *generable.Type) bool {
	return t.Kind == generable.OneOfType && len(t.Variants) == 2 && t.Variants[1].Kind == generable.NoneType
}

func (b *builder) dict(s *shape, p place, tooDeep func(int) bool, part func(*generable.Type, int) *shape) {
	levels, f := 2, paired
	switch {
	case b.Dicts:
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
		taken[p.t.Fields[i].Name] = true
	}
	for i := range p.t.Fields {
		f := &p.t.Fields[i]
		m := member{name: b.wireKey(f.Name, taken), nat: f}
		if bigInt(f) {
			m.shape = &shape{form: digits, nat: f.Type.Deref()}
		} else {
			m.shape = b.shape(f.Type, place{level: p.level + 1})
		}
		m.presence = b.presence(f, m.shape)
		s.fields = append(s.fields, m)
	}
}

// bigInt reports whether a field is meant for integers that not every JSON reader holds.
func bigInt(f *generable.Field) bool {
	l := f.Limits
	return f.Type.Deref().Kind == generable.IntType && l != nil &&
		(l.Ge != nil && (*l.Ge < -safeInt || *l.Ge > safeInt) || l.Le != nil && (*l.Le > safeInt || *l.Le < -safeInt))
}

// presence decides how a field is written that may be left out; budgets may change it later.
func (b *builder) presence(f *generable.Field, s *shape) presence {
	mayLack, takesNone := f.Optional || f.Type.AcceptsNone(), f.Type.AcceptsNone()
	differs := f.Optional && takesNone && !f.Default.IsNull() // null and nothing are not the same
	switch {
	case !mayLack:
		return required
	case b.RequireAll && differs:
		return markedAbsent
	case b.RequireAll && takesNone:
		return required
	case b.RequireAll:
		return nullable
	case b.DropNull && s.form == boxed:
		return required
	case b.DropNull && takesNone && !differs:
		return omitted
	}
	return optional
}

// wireKey is a field's name where the target takes it, else one made of the characters it
// takes.
func (b *builder) wireKey(name string, taken map[string]bool) string {
	if b.KeyLen == 0 {
		return name
	}
	key := plainName(name, b.KeyChars, b.KeyLen)
	if key == name {
		return name
	}
	base := key
	for i := 2; taken[key] || key == ""; i++ {
		end := "_" + strconv.Itoa(i)
		key = base[:min(len(base), b.KeyLen-len(end))] + end
	}
	taken[key] = true
	return key
}
