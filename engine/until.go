package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// holds asks the condition that ends a loop or a retry of an output: data, which was checked before
// anything runs, or a function. Without one, any output will do.
func (b *branch) holds(data *predicate.Predicate, fn Func, out generable.Value) (bool, error) {
	switch {
	case data != nil:
		return data.Holds(out), nil
	case fn != nil:
		v, err := b.invokeAs("until", 0, fn, out)
		return truth(v, err, "until")
	}
	return true, nil
}

// decides checks a condition on what a node gives: that it can be asked, and that it is not the
// same for all values. One that never holds runs to the bound, one that always does is none.
func (s *Session) decides(at diag.Span, data *predicate.Predicate, fn Func, from *Node) bool {
	if fn != nil {
		return arity(&s.Reporter, at, fn.Info(), 1, "until")
	}
	if data == nil || from.failed {
		return true
	}
	if !s.asks(at, data, from) {
		return false
	}
	never, always := data.Settled(from.out)
	if !never && !always {
		return true
	}
	how, mend := "never holds", "remove what contradicts: & needs both, | needs one"
	if always {
		how, mend = "always holds", "test something that can fail, or leave the node alone"
	}
	d := s.Errorf(diag.BadCondition, at, "%s %s for %s", data, how, from.out)
	NoteDefined(d, from)
	d.Helpf("%s", mend)
	return false
}
