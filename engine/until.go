package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// until is the condition that ends a loop or a retry: data, which is checked before anything runs,
// or a function.
type until struct {
	data *predicate.Predicate
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
	never, always := u.data.Settled(from.out)
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
