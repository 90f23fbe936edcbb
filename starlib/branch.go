package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// result is what a call on a branch gave: as the script has it, and as data.
type result struct {
	form starlark.Value
	data generable.Value
}

// apart makes calls of the script on a branch that the running callback began. They have a
// thread of their own, so that branches can go on at once; what they give is data, as all that
// leaves a branch. An error is the engine's.
func (e *env) apart(br engine.Branch, what string, body func(thread *starlark.Thread) (starlark.Value, error)) (result, error) {
	around, own := e.strand.(*strand), e.c.newStrand(br)
	own.around = around.around + around.depth
	own.frozen, own.taker = around.frozen, around.taker
	br.SetHost(own)
	s, err := e.c.enter(br)
	if err != nil {
		return result{}, err
	}
	defer s.done()
	out, err := body(s.thread)
	if err != nil {
		return result{}, s.failure(err, diag.ScriptError)
	}
	if err := s.settle(); err != nil {
		return result{}, err
	}
	v, err := toValue(out)
	if err != nil {
		return result{}, s.failure(prefixed(what, err), diag.WrongValue)
	}
	freeze(out, v)
	return result{out, v}, nil
}

// share freezes what branches are to see, and remembers where that was.
func (c *Call) share(values ...starlark.Value) error {
	if err := freezeShared(values...); err != nil {
		return err
	}
	s := c.env.strand.(*strand)
	if c.Thread().CallStackDepth() > 1 {
		s.frozen, s.taker = position(c.Thread().CallFrame(1).Pos), c.row.Name
	}
	return s.settle() // the branches' steps are not charged for it
}

// onErrors are what becomes of the branches when one fails.
const (
	raiseErrors = "raise"
	keepErrors  = "keep"
	dropErrors  = "drop"
)

var onErrorParam = Param{Name: "on_error", Kind: oneOf(raiseErrors, keepErrors, dropErrors), Shape: KeywordOnly, Default: `"raise"`,
	Doc: `what a failure does: "raise" ends the others and fails, "keep" gives an Attempt for each, "drop" leaves the failed ones out`}

// outcomes collects what branches come to, in the order of what they were given.
type outcomes struct {
	policy string
	items  []starlark.Value
}

func (c *Call) newOutcomes(n int) *outcomes {
	o := &outcomes{policy: raiseErrors, items: make([]starlark.Value, n)}
	if c.Has("on_error") {
		o.policy = c.Str("on_error")
	}
	return o
}

// take keeps what branch i came to; the error is what ends all of them.
func (o *outcomes) take(i int, br engine.Branch, r result, err error) error {
	if err == nil {
		o.items[i] = r.form
		if o.policy == keepErrors {
			o.items[i] = attempted(r.data, nil)
		}
		return nil
	}
	if o.policy == raiseErrors {
		return err
	}
	e := br.Catch(err)
	if e == nil {
		return err
	}
	if o.policy == keepErrors {
		o.items[i] = attempted(generable.Value{}, e)
	}
	return nil
}

// list is the list of all, without those that were dropped.
func (o *outcomes) list() starlark.Value {
	kept := o.items[:0]
	for _, v := range o.items {
		if v != nil {
			kept = append(kept, v)
		}
	}
	return starlark.NewList(kept)
}
