package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// until is the condition that ends a loop or a retry: data, which is checked before anything runs,
// or a function.
type until struct {
	data *Predicate
	fn   Func
}

func (u until) given() bool { return u.data != nil || u.fn != nil }

// holds asks the condition of an output; without one, any output will do.
func (b *branch) holds(u until, out generable.Value) (bool, error) {
	switch {
	case u.data != nil:
		return u.data.Holds(out), nil
	case u.fn != nil:
		v, err := b.invokeAs("until", 0, u.fn, out)
		return truth(v, err, "until")
	}
	return true, nil
}

// decides checks a condition on what a node gives: that it can be asked, and that it is not the
// same for all values. One that never holds runs to the bound, one that always does is none.
func (s *Session) decides(at diag.Span, u until, from *Node) bool {
	if u.fn != nil {
		return arity(&s.Reporter, at, u.fn.Info(), 1, "until")
	}
	if u.data == nil || from.failed {
		return true
	}
	if !s.asks(at, u.data, from) {
		return false
	}
	never, always := u.data.settled(from.out)
	if !never && !always {
		return true
	}
	how, mend := "never holds", "remove what contradicts: & needs both, | needs one"
	if always {
		how, mend = "always holds", "test something that can fail, or leave the node alone"
	}
	d := s.Errorf(diag.BadCondition, at, "%s %s for %s", u.data, how, from.out)
	noteDefined(d, from)
	d.Helpf("%s", mend)
	return false
}

// settled tells of a condition that is false for all values of a type, or true for all, as far as
// one subject of it tells for each case.
func (p *Predicate) settled(t *generable.Type) (never, always bool) {
	never, always = true, true
	for _, c := range cases(t) {
		no, yes := false, false
		for _, subject := range p.Subjects() {
			of, why := subjectType(c, subject)
			if why != "" {
				continue
			}
			space := newSpace(of, subject, []*Predicate{p})
			sure, may := space.region(p, subject)
			no, yes = no || len(may) == 0, yes || len(space.without(sure)) == 0
		}
		never, always = never && no, always && yes
	}
	return never, always
}
