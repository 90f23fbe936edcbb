package predicate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
)

// Space is the values of one case of a type, divided by the tests in conditions. It has one axis for each subject,
// which is the value itself or a field of it, and one for each answer that is known only at run time, such as that of a
// regular expression. A condition covers whole cells, so the rest that many conditions leave over is known exactly. Two
// fields of a union inside a field are treated as independent.
type Space struct {
	axes   []*axis
	named  map[string]int // the axes by subject, or by test after a zero byte
	nested bool           // some subjects are fields of others
	budget int            // of visits: the rest of conditions can have very many parts
	Visits int            // of cells and parts, so that a test can bound their growth
}

// NewSpace divides the values of a case by the tests in conditions. values adds the axis of the value itself, for a
// case without fields whose values can be keys.
func NewSpace(of *generable.Type, values bool, conditions []*Predicate) *Space {
	s := &Space{named: map[string]int{}, budget: 10_000}
	tests := map[string][]*Predicate{}
	var subjects []string
	subject := func(name string) {
		if _, ok := tests[name]; !ok {
			subjects, tests[name] = append(subjects, name), nil
		}
	}
	if values {
		subject("")
	}
	for _, c := range conditions {
		c.tests(func(p *Predicate) {
			if s.budget += 1000; p.isConstant() { // it takes all of the axis of the value itself, or nothing of it
				subject("")
				return
			}
			for i, char := range p.field {
				if char == '.' {
					subject(p.field[:i])
				}
			}
			subject(p.field)
			tests[p.field] = append(tests[p.field], p)
		})
	}
	sorting.By(subjects, func(a, b string) int { return cmp.Compare(len(a), len(b)) }) // a before a.b
	for _, name := range subjects {
		t, absent := subjectType(of, name)
		a := newAxis(t, absent, name, tests[name])
		if dot := strings.LastIndexByte(name, '.'); dot > 0 {
			a.parent, s.nested = s.named[name[:dot]], true
			if whole := s.axes[a.parent]; whole.other >= 0 {
				a.home = cells{}.add(whole.other, whole.other+1)
			}
			t, _ := subjectType(of, name[:dot])
			_, a.loose = subjectType(t, name[dot+1:])
		}
		s.add(name, a)
	}
	return s
}

func (s *Space) add(name string, a *axis) int {
	s.named[name] = len(s.axes)
	s.axes = append(s.axes, a)
	return len(s.axes) - 1
}

// subjectType returns the type of the field at a path, nil if no value has it, and whether some values other than None
// lack it.
func subjectType(t *generable.Type, path string) (found *generable.Type, absent bool) {
	if path == "" || t == nil {
		return t, t == nil
	}
	name, rest, _ := strings.Cut(path, ".")
	var types []*generable.Type
	for _, c := range typing.Cases(t) {
		switch c.Kind {
		case generable.AnyType, generable.ErrorType:
			return generable.AnyT, true
		case generable.DictType:
			types, absent = append(types, c.Elem), true
		case generable.RecordType:
			if i := c.FieldIndex(name); i >= 0 {
				types = append(types, c.Fields[i].Type)
				continue
			}
			absent = true
		case generable.NoneType:
		default:
			absent = true
		}
	}
	if len(types) == 0 {
		return nil, true
	}
	all := generable.OneOf(types...)
	isNone := func(c *generable.Type) bool { return c.Kind == generable.NoneType }
	absent = absent || rest != "" && slices.ContainsFunc(typing.Cases(all), isNone)
	found, lacks := subjectType(all, rest)
	return found, absent || lacks
}

// Settled reports whether a condition is false for all values of a type, and whether it is true for all.
func (p *Predicate) Settled(t *generable.Type) (never, always bool) {
	never, always = true, true
	for _, c := range typing.Cases(t) {
		rest := NewSpace(c, false, []*Predicate{p}).Rest()
		some := rest.Take(rest.space.Region(p))
		never, always = never && !some, always && rest.Empty()
	}
	return never, always
}
