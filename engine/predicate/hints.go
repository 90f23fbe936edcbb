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

// Hints returns limits for finding values for which the predicate holds, one per alternative: for ge(10) | eq(0) these
// are at least 10, and only 0. Values within the limits may still fail the predicate. Hints is for code that generates
// values.
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

// combined returns the alternatives of either side, or those of both sides together.
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

// spelledHints returns spellings of a text that is compared without regard to case.
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

// orderHints returns limits for texts that are ordered before or after s: texts that begin with s are not before it,
// and texts that begin with a smaller character are not after it. Most other texts may also qualify.
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
	case op == Lt && p.folds() && first > 'A': // capitals are ordered like their small letters
		return []generable.Limits{most, {Pattern: "^[ -@]"}}
	case op == Lt && first > ' ':
		return []generable.Limits{most, {Pattern: fmt.Sprintf(`^[ -\x{%x}]`, first-1)}}
	}
	return []generable.Limits{most}
}
