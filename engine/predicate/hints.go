package predicate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
)

// maxHints bounds how many alternatives are listed.
const maxHints = 16

// Hints returns limits by which values are found of which the predicate holds, an alternative each: of
// ge(10) | eq(0) at least 10, and 0 alone. Some of what they allow may not hold. It is for those who make values.
func (p *Predicate) Hints() []generable.Limits { return p.hints(false) }

func (p *Predicate) hints(not bool) []generable.Limits {
	op := p.op
	if not {
		switch op {
		case Eq:
			op = Ne
		case Ne:
			op = Eq
		case Gt:
			op = Le
		case Ge:
			op = Lt
		case Lt:
			op = Ge
		case Le:
			op = Gt
		case And:
			op = Or
		case Or:
			op = And
		case Matches, Has, True, False:
			op = Ne // most values
		}
	}
	number, isNumber := p.value.AsFloat()
	if i, ok := p.value.AsInt(); ok {
		number, isNumber = float64(i), true
	}
	s, isText := p.value.AsStr()
	switch {
	case p.op == Not:
		return p.kids[0].hints(!not)
	case op == Or, op == And:
		return p.combined(op, not)
	case p.field != "", p.isConstant():
	case op == Eq && p.folds():
		return p.spelledHints()
	case op == Eq:
		return []generable.Limits{{Only: generable.NewList([]generable.Value{p.value})}}
	case op == Matches:
		return []generable.Limits{{Pattern: s}}
	case op == Has && isText:
		return []generable.Limits{{Pattern: regexp.QuoteMeta(s)}}
	case isText:
		return p.orderHints(op, s)
	case !isNumber:
	case op == Ge:
		return []generable.Limits{{Ge: &number}}
	case op == Gt:
		return []generable.Limits{{Gt: &number}}
	case op == Le:
		return []generable.Limits{{Le: &number}}
	case op == Lt:
		return []generable.Limits{{Lt: &number}}
	}
	return []generable.Limits{{}}
}

// combined are the alternatives of either side, or of both together.
func (p *Predicate) combined(op Op, not bool) []generable.Limits {
	a, b := p.kids[0].hints(not), p.kids[1].hints(not)
	var out []generable.Limits
	if op == Or {
		out = append(a[:len(a):len(a)], b...)
	} else {
		for _, x := range a {
			for _, y := range b {
				out = append(out, x.With(y))
			}
		}
	}
	return out[:min(len(out), maxHints)]
}

// spelledHints are the spellings of a text that is compared without regard to case.
func (p *Predicate) spelledHints() []generable.Limits {
	s, _ := p.value.AsStr()
	var out []generable.Limits
	var known []string
	for _, spelling := range []string{s, p.low, strings.ToUpper(s)} {
		if !slices.Contains(known, spelling) && strings.ToLower(spelling) == p.low {
			known = append(known, spelling)
			out = append(out, generable.Limits{Pattern: "^" + regexp.QuoteMeta(spelling) + "$"})
		}
	}
	return out
}

// orderHints are texts that stand before or behind one: those that begin with it are not before it, and those that begin
// with a smaller character are not behind it. Most others may do as well.
func (p *Predicate) orderHints(op Op, s string) []generable.Limits {
	first, _ := utf8.DecodeRuneInString(s)
	if p.folds() {
		first, _ = utf8.DecodeRuneInString(p.low)
	}
	most := generable.Limits{}
	switch {
	case op == Gt:
		return []generable.Limits{{Pattern: "^" + regexp.QuoteMeta(s) + "[a-z]+"}, most}
	case op == Ge:
		return []generable.Limits{{Pattern: "^" + regexp.QuoteMeta(s) + "[a-z]*"}, most}
	case op == Le:
		return []generable.Limits{most, {Pattern: "^" + regexp.QuoteMeta(s) + "$"}}
	case op == Lt && p.folds() && first > 'A': // capitals stand where their small letters do
		return []generable.Limits{most, {Pattern: "^[ -@]"}}
	case op == Lt && first > ' ':
		return []generable.Limits{most, {Pattern: fmt.Sprintf(`^[ -\x{%x}]`, first-1)}}
	}
	return []generable.Limits{most}
}
