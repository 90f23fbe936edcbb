package predicate

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/lazy"
)

var comparison = lazy.Regexp(`^\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*(==|=|!=|>=|>|<=|<)\s*(.*\S)\s*$`)

var operators = map[string]Op{"==": Eq, "=": Eq, "!=": Ne, ">=": Ge, ">": Gt, "<=": Le, "<": Lt}

// OfText returns the condition that a comparison in a text means, gt("score", 3) for "score > 3", or nil if the text is
// not a comparison.
func OfText(s string) *Predicate {
	m := comparison().FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	v, ok := literal(m[3])
	if !ok {
		return nil
	}
	return &Predicate{op: operators[m[2]], field: m[1], value: v, given: true}
}

// literal reads a value as code writes it; a word is a text.
func literal(s string) (v generable.Value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "false":
		return generable.BoolOf(strings.EqualFold(s, "true")), true
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return generable.IntOf(i), true
	}
	if i, ok := new(big.Int).SetString(s, 10); ok {
		return generable.BigOf(i), true
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return generable.FloatOf(f)
	}
	if last := len(s) - 1; last > 0 && s[0] == s[last] && (s[0] == '"' || s[0] == '\'') {
		s = s[1:last]
	}
	return generable.StrOf(s), !strings.ContainsAny(s, " \"'<>=()&|")
}

// Alone returns the test applied to the value itself instead of the field.
func (p *Predicate) Alone() *Predicate {
	q := *p
	q.field = ""
	return &q
}

// Mended returns p with its tests fixed that fail for a formal reason: it removes fold from a comparison with a value
// that is not a text, and changes a number of a kind that t does not have to the other kind. It returns nil if it
// changes nothing.
func (p *Predicate) Corrected(t *generable.Type) *Predicate {
	changed := false
	mended := p.changed(func(q *Predicate) {
		if q.needless() != "" {
			q.fold, changed = false, true
		}
		of, why := SubjectType(t, q.field)
		if !q.exact || why != "" || slices.ContainsFunc(typing.Cases(of), q.suits) {
			return
		}
		whole, float, both := twins(q.value)
		for _, v := range []generable.Value{whole, float} {
			other := *q
			if other.value = v; both && slices.ContainsFunc(typing.Cases(of), other.suits) {
				*q, changed = other, true
				return
			}
		}
	})
	if !changed {
		return nil
	}
	return mended
}

// NearValue returns the enum value that a test with an unknown value probably meant, or "".
func (p *Predicate) NearValue(t *generable.Type) string {
	near := ""
	p.tests(func(q *Predicate) {
		if of, why := SubjectType(t, q.field); why == "" && near == "" {
			s, _ := q.value.AsStr()
			for _, c := range typing.Cases(of) {
				if found, ok := diag.Suggest(s, c.Values); ok && c.Kind == generable.EnumType && !q.suits(c) {
					near = found
				}
			}
		}
	})
	return near
}
