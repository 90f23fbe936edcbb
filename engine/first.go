package engine

import (
	"context"
	"encoding/binary"

	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// fallback runs the alternatives in order until one succeeds. Each hears what a forum said
// before, as branches that run at once do.
func (b *branch) fallback(s *step, v generable.Value) (out generable.Value, err error) {
	said, before := b.heard, b.talk
	err = b.inTurn(len(s.kids), func(i int) error {
		b.heard, b.talk = said, before
		out, err = b.exec(s.kids[i], v)
		return err
	})
	return out, err
}

// inTurn does n things one after the other until one succeeds. When all fail, the last error is
// given, with notes of the others; what may not be caught ends it at once.
func (b *branch) inTurn(n int, do func(i int) error) error {
	var failed []*Error
	for i := range n {
		err := do(i)
		if err == nil {
			return nil
		}
		e := b.Catch(err)
		if e == nil {
			return err
		}
		if i == n-1 {
			return withNotes(e, failed)
		}
		failed = append(failed, e)
	}
	return nil
}

// race runs the alternatives at once until one succeeds.
func (b *branch) race(s *step, v generable.Value) (generable.Value, error) {
	at := b.at
	out := make([]generable.Value, len(s.kids))
	won, err := b.compete(b.choice(s, v), len(s.kids), func(i int, sched Sched) *branch {
		return b.fork(sched, at.index(i))
	}, func(i int, br *branch) error {
		return br.guard(func() (err error) {
			out[i], err = br.exec(s.kids[i], v)
			return err
		})
	})
	if err != nil {
		return generable.Value{}, err
	}
	return out[won], nil
}

// compete runs bodies on n branches at once until one succeeds, and gives its index. Which one won
// is recorded as the effect e, unless that is nil, so that a replay does not depend on who is
// faster then, with what the others had used, which a replay does not run.
func (b *branch) compete(e *Effect, n int, branch func(i int, s Sched) *branch, body func(i int, br *branch) error) (int, error) {
	failed := make([]*Error, n)
	used := make([]*budget, n)
	begin := func(i int, s Sched) (bool, error) {
		br := branch(i, s)
		if e != nil {
			br.countApart()
			used[i] = br.budget
		}
		err := body(i, br)
		if failed[i] = br.Catch(err); failed[i] != nil {
			return false, failed[i]
		}
		return !IsControl(err), err // what nobody may handle ends the race
	}
	if i, lost, known := b.chosen(e, n); known {
		if _, err := begin(i, b.sched); failed[i] == nil {
			b.tellBudget(b.budget.settle(estimate{}, lost, b.Wants(EventBudget)), true)
			return i, err
		}
		failed[i] = nil // it would not win any more: run them all
	}
	i, err := b.sched.First(n, begin)
	if i >= 0 {
		if err == nil {
			err = b.choose(e, i, used)
		}
		return i, err
	}
	for _, f := range failed {
		if f != nil && err == error(f) {
			return -1, withNotes(f, failed)
		}
	}
	return -1, err
}

// Choice is the request of an [EffectChoice]: which of several branches won. Nothing handles it;
// it stands in the journal with a list as its value: the index of the branch, and the model calls,
// tool calls, tokens, script steps, turns and money in billionths of a dollar that the others had
// used. A list that ends earlier is of a record from before these were counted.
type Choice struct {
	Of    int             // branches
	Input generable.Value // what they ran on
}

// Digest implements [Payload].
func (c *Choice) Digest() [32]byte {
	return abi.Hash(generable.AppendCanon(binary.AppendUvarint(nil, uint64(c.Of)), c.Input))
}

// choice is the effect by which a race is recorded, nil where nothing is.
func (b *branch) choice(s *step, v generable.Value) *Effect {
	if b.run.spec.Journal == nil {
		return nil
	}
	return (&inFlight{effect: Effect{Kind: EffectChoice, Name: s.word, Run: b.RunID(), At: b.at.child("won", "", 0),
		Req: &Choice{len(s.kids), v}, Class: ClassRead}}).begin()
}

// chosen looks up which of n branches won, and what the others used.
func (b *branch) chosen(e *Effect, n int) (won int, lost estimate, known bool) {
	if e == nil {
		return 0, lost, false
	}
	out, known := b.run.spec.Journal.Answer(e.ID())
	list, ok := out.Value.AsList()
	if !known || !ok || list.Len() > 1+len(lost) || list.Len() < 1+int(resTurns) {
		return 0, lost, false
	}
	i, ok := list.At(0).AsInt()
	for r := range list.Len() - 1 {
		used, counts := list.At(1 + r).AsInt()
		lost[r], ok = used, ok && counts && used >= 0
	}
	return int(i), lost, ok && i >= 0 && i < int64(n)
}

// choose records which branch won, and what the others used.
func (b *branch) choose(e *Effect, won int, used []*budget) error {
	if e == nil {
		return nil
	}
	var lost estimate
	for i, own := range used {
		if i == won {
			continue
		}
		for r, n := range own.spent() {
			lost[r] = plus(lost[r], n)
		}
	}
	record := []generable.Value{generable.IntOf(int64(won))}
	for _, n := range lost {
		record = append(record, generable.IntOf(n))
	}
	out := b.sched.Do(HandlerFunc(func(ctx context.Context, e *Effect, _ Sink) Outcome {
		return commit(ctx, b.run.spec.Journal, e, Outcome{Value: generable.ListOf(record...), Attempt: 1})
	}), e, nil)
	if out.Err != nil {
		return out.Err
	}
	return nil
}
