package predicate

import (
	"math"
	"math/big"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// tests calls f for each test in a predicate.
func (p *Predicate) tests(f func(*Predicate)) {
	if len(p.kids) == 0 {
		f(p)
	}
	for _, k := range p.kids {
		k.tests(f)
	}
}

// operands returns what a predicate combines by its operation: three for a & b & c.
func (p *Predicate) operands() []*Predicate {
	var out []*Predicate
	for todo := []*Predicate{p}; len(todo) > 0; {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if k.op != p.op {
			out = append(out, k)
			continue
		}
		for i := range k.kids {
			todo = append(todo, k.kids[len(k.kids)-1-i])
		}
	}
	return out
}

// appendKey appends a text that is the same for tests with the same meaning.
func (p *Predicate) appendKey(b []byte) []byte {
	b = append(text.AppendQuoted(append(b, byte('a'+p.op)), p.field), '=')
	if p.folds() {
		b = text.AppendQuoted(append(b, '~'), p.low)
	} else if p.exact {
		b = append(append(b, '='), typing.Literal(p.value)...)
	} else if f, ok := p.value.AsFloat(); ok && p.value.Kind() == generable.Float && f == math.Trunc(f) {
		b = big.NewFloat(f+0).Append(b, 'f', 0) // written like the equal integer, 0 for -0 too
	} else if p.given {
		b = append(b, typing.Literal(p.value)...)
	}
	for _, k := range p.kids {
		b = append(k.appendKey(append(b, '(')), ')')
	}
	return b
}

// Variant returns the variant of a union that a test of its tag means, as in eq("type", "Approved"), or nil.
func (p *Predicate) Variant(t *generable.Type) *generable.Type {
	name, text := p.value.AsStr()
	if _, why := SubjectType(t, p.field); p.op != Eq || !text || p.field != "" && why == "" {
		return nil
	}
	for _, c := range typing.Cases(t) {
		if c.Kind == generable.RecordType && c.Name == name {
			return c
		}
	}
	return nil
}

// NearField returns the field of a type that a test of an unknown field probably meant, or "".
func (p *Predicate) NearField(t *generable.Type) string {
	near := ""
	p.tests(func(k *Predicate) {
		if _, why := SubjectType(t, k.field); why == "" || near != "" {
			return
		}
		for _, c := range typing.Cases(t) {
			if c.Kind != generable.RecordType {
				continue
			}
			if found, ok := diag.Suggest(k.field, c.FieldNames()); ok {
				near = found
			}
		}
	})
	return near
}
