// Package predicate represents conditions as data: score >= 80, a text that matches, a field that is present.
//
// A [Predicate] is evaluated on a value with Holds, checked against a type with Mismatches, and written in the syntax
// of scripts with String. A [Space] divides the values of a type by the tests in conditions, so that a branch can be
// checked for gaps and for routes that are never taken.
package predicate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Op is the test that a predicate makes of a value.
type Op uint8

// The operations of predicates. And, Or and Not combine other predicates.
const (
	Eq Op = iota
	Ne
	Gt
	Ge
	Lt
	Le
	Matches // the regular expression matches somewhere in the text
	Has     // a field is not None; with a value: a list holds it, a text contains it, a dict has the key
	And
	Or
	Not
	True  // holds for every value: see [Always]
	False // holds for no value: see [Never]
)

var predNames = [...]string{"eq", "ne", "gt", "ge", "lt", "le", "matches", "has", "&", "|", "~", "always", "never"}

// String returns the word for the operation: the name of the function in scripts, or the operator.
func (op Op) String() string {
	if int(op) < len(predNames) {
		return predNames[op]
	}
	return "?"
}

// Predicate is a condition as data: it can be evaluated, checked against a type, analysed,
// drawn and exported. It is immutable.
type Predicate struct {
	op    Op
	field string // of the value; "" for the value itself, "a.b" for a field of a field
	value generable.Value
	given bool   // value is set
	fold  bool   // it compares without regard to case
	exact bool   // it distinguishes ints from floats
	low   string // the value in lower case, if fold is set and it is a text
	kids  []*Predicate
	size  int // of the operands
	re    *regexp.Regexp
}

// Size returns how many tests a predicate contains when written out: an operand that occurs twice counts twice.
func (p *Predicate) Size() int {
	if len(p.kids) == 0 {
		return 1
	}
	return p.size
}

// Op returns the test that p makes, or how it combines its operands.
func (p *Predicate) Op() Op { return p.op }

// Field returns the path of the field that p tests, "" for the value itself.
func (p *Predicate) Field() string { return p.field }

// Value returns the value that p compares with; given is false for And, Or and Not, and for [Has] without a value.
func (p *Predicate) Value() (v generable.Value, given bool) { return p.value, p.given }

// Operands returns the predicates that And, Or and Not combine, nil for a test.
func (p *Predicate) Operands() []*Predicate { return slices.Clone(p.kids) }

// New returns a test of a value or, if field is not empty, of one of its fields. Only [Has] accepts a nil value; [True]
// and [False] take neither a field nor a value. A regular expression that does not compile is an error.
// [Predicate.Folded] and [Predicate.Exact] change how a test compares.
func New(op Op, field string, value *generable.Value) (*Predicate, error) {
	p := &Predicate{op: op, field: field}
	if p.isConstant() && (field != "" || value != nil) {
		return nil, fmt.Errorf("%s takes neither a field nor a value", predNames[op])
	}
	if value != nil {
		p.value, p.given = *value, true
	}
	if op == Matches {
		text, ok := p.value.AsStr()
		if !ok {
			return nil, fmt.Errorf("matches takes a regular expression, not %s", p.value.TypeName())
		}
		var err error
		if p.re, err = regexp.Compile(text); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// And returns a predicate that holds when both do.
func (p *Predicate) And(q *Predicate) *Predicate {
	return &Predicate{op: And, kids: []*Predicate{p, q}, size: p.Size() + q.Size()}
}

// Or returns a predicate that holds when at least one does.
func (p *Predicate) Or(q *Predicate) *Predicate {
	return &Predicate{op: Or, kids: []*Predicate{p, q}, size: p.Size() + q.Size()}
}

// Not returns a predicate that holds when p does not.
func (p *Predicate) Not() *Predicate {
	if p.op == Not {
		return p.kids[0]
	}
	return &Predicate{op: Not, kids: []*Predicate{p}, size: p.Size()}
}

// String returns the predicate in the syntax of scripts.
func (p *Predicate) String() string { return string(p.append(nil)) }

func (p *Predicate) append(b []byte) []byte {
	switch p.op {
	case And, Or:
		b = append(p.kids[0].appendWithin(b), ' ')
		return p.kids[1].appendWithin(append(append(b, predNames[p.op]...), ' '))
	case Not:
		return p.kids[0].appendWithin(append(b, '~'))
	case True, False:
		return append(b, predNames[p.op]...)
	}
	b = append(append(b, predNames[p.op]...), '(')
	if p.field != "" {
		b = text.AppendQuoted(b, p.field)
		if p.given {
			b = append(b, ", "...)
		}
	}
	if p.given {
		b = append(b, typing.Literal(p.value)...)
	}
	if p.fold {
		b = append(b, ", fold = True"...)
	}
	if p.exact {
		b = append(b, ", exact = True"...)
	}
	return append(b, ')')
}

func (p *Predicate) appendWithin(b []byte) []byte {
	if p.op == And || p.op == Or {
		return append(p.append(append(b, '(')), ')')
	}
	return p.append(b)
}

// Holds evaluates the predicate. A value without the field, or of another kind than the compared one, is unequal and
// has no order: eq, the orders, matches and has are then false, and ne is true.
func (p *Predicate) Holds(v generable.Value) bool {
	switch p.op {
	case And:
		return p.kids[0].Holds(v) && p.kids[1].Holds(v)
	case Or:
		return p.kids[0].Holds(v) || p.kids[1].Holds(v)
	case Not:
		return !p.kids[0].Holds(v)
	case True, False:
		return p.op == True
	}
	v, found := subjectOf(v, p.field)
	switch p.op {
	case Eq:
		return found && p.equals(v)
	case Ne:
		return !found || !p.equals(v)
	case Matches:
		text, ok := v.AsStr()
		return ok && p.re.MatchString(text)
	case Has:
		return found && !v.IsNull() && (!p.given || contains(v, p.value))
	}
	c, ok := p.compare(v)
	switch {
	case !ok:
		return false
	case p.op == Gt:
		return c > 0
	case p.op == Ge:
		return c >= 0
	case p.op == Lt:
		return c < 0
	}
	return c <= 0
}

// subjectOf returns the value that a predicate tests.
func subjectOf(v generable.Value, path string) (generable.Value, bool) {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		w, ok := typing.Field(v, name)
		if !ok {
			return generable.Value{}, false
		}
		v, path = w, rest
	}
	return v, true
}

func contains(v, item generable.Value) bool {
	if l, ok := v.AsList(); ok {
		return slices.ContainsFunc(l.Items(), func(x generable.Value) bool { return generable.Equal(x, item) })
	}
	key, ok := item.AsStr()
	if !ok {
		return false
	}
	if text, ok := v.AsStr(); ok {
		return strings.Contains(text, key)
	}
	if m, ok := v.AsMap(); ok {
		_, ok = m.Get(key)
		return ok
	}
	return false
}

// Mismatches returns why a predicate can never hold for values of type t, one sentence for each such test in it: a
// missing field, an order of values that have none.
func (p *Predicate) Mismatches(t *generable.Type) []string {
	if len(p.kids) > 0 {
		var out []string
		for _, k := range p.kids {
			out = append(out, k.Mismatches(t)...)
		}
		return out
	}
	if p.isConstant() {
		return nil
	}
	subject, why := SubjectType(t, p.field)
	if why == "" {
		why = p.needless()
	}
	if why != "" {
		return []string{p.String() + ": " + why}
	}
	for _, c := range typing.Cases(subject) {
		if p.suits(c) {
			return nil
		}
	}
	tested := subject.String()
	if subject.Kind == generable.EnumType {
		tested = "one of " + strings.Join(typing.Values(subject), ", ")
	}
	if p.field != "" {
		tested = p.field + ", which is " + tested
	}
	told := fmt.Sprintf("%s can never hold for %s", p, tested)
	if plain := *p; p.exact { // an equal number of the other kind
		plain.exact = false
		if slices.ContainsFunc(typing.Cases(subject), plain.suits) {
			told += ": " + typing.Literal(p.value) + " is of type " + p.value.TypeName()
		}
	}
	return []string{told}
}

// suits reports whether a test may be true for values of type c.
func (p *Predicate) suits(c *generable.Type) bool {
	if typing.Untyped(c) {
		return true
	}
	switch p.op {
	case Eq:
		switch {
		case typing.IsNumber(c):
			_, ok := p.value.AsNumber()
			return ok && (!p.exact || isFloat(p.value) == (c.Kind == generable.FloatType))
		case c.Kind == generable.EnumType && p.folds():
			return slices.ContainsFunc(c.Values, func(s string) bool { return p.equals(generable.StrOf(s)) })
		}
		return c.Conforms(p.value) == nil
	case Ne, True, False:
		return true
	case Matches:
		return c.Kind == generable.StrType || c.Kind == generable.EnumType
	case Has:
		switch c.Kind {
		case generable.NoneType:
			return false
		case generable.ListType, generable.DictType, generable.StrType, generable.EnumType:
			return true
		}
		return !p.given
	}
	if typing.IsNumber(c) {
		_, ok := p.value.AsNumber()
		return ok
	}
	_, ok := p.value.AsStr()
	return ok && (c.Kind == generable.StrType || c.Kind == generable.EnumType)
}

// SubjectType returns the type of the field at a path in values of type t, or t itself for "". If there is no such
// field, it returns why.
func SubjectType(t *generable.Type, path string) (*generable.Type, string) {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		var found []*generable.Type
		var names []string
		for _, c := range typing.Cases(t) {
			switch c.Kind {
			case generable.AnyType, generable.ErrorType:
				return generable.AnyT, ""
			case generable.DictType:
				found = append(found, generable.OneOf(c.Elem, generable.NoneT))
			case generable.RecordType:
				if i := c.FieldIndex(name); i >= 0 {
					found = append(found, c.Fields[i].Type)
				}
				for _, field := range c.FieldNames() {
					if !slices.Contains(names, field) {
						names = append(names, field)
					}
				}
			}
		}
		if len(found) == 0 {
			why := fmt.Sprintf("%s has no field %q", t, name)
			if len(names) > 0 {
				why += "; it has " + strings.Join(names, ", ")
			}
			return nil, why
		}
		t, path = generable.OneOf(found...), rest
	}
	return t.Deref(), ""
}

// Subjects returns the fields that a predicate tests, "" for the value itself; none for a constant.
func (p *Predicate) Subjects() []string {
	if p.isConstant() {
		return nil
	}
	if len(p.kids) == 0 {
		return []string{p.field}
	}
	var out []string
	for _, k := range p.kids {
		for _, f := range k.Subjects() {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}
