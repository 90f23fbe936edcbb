package engine

import (
	"context"
	"encoding/binary"

	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// fallback runs the alternatives in order until one succeeds. Each hears what a forum said
// before, as branches that run at once do.
func (b *Branch) fallback(s *step, v generable.Value) (generable.Value, error) {
	said := b.heard
	var failed []*Error
	for i, k := range s.kids {
		b.heard = said
		out, err := b.exec(k, v)
		if err == nil {
			return out, nil
		}
		e := b.Catch(err)
		if e == nil {
			return out, err
		}
		if i == len(s.kids)-1 {
			return out, withNotes(e, failed)
		}
		failed = append(failed, e)
	}
	return v, nil // no fallback is empty
}

// race runs the alternatives at once until one succeeds. Which one won is recorded, so that a
// replay does not depend on who is faster then.
func (b *Branch) race(s *step, v generable.Value) (generable.Value, error) {
	n, at := len(s.kids), b.at
	e := b.choice(s, v)
	out := make([]generable.Value, n)
	failed := make([]*Error, n)
	begin := func(i int, sched Sched) (bool, error) {
		br := b.fork(sched, at.up.index(at.kind, at.name, int(at.n), i))
		err := br.guard(func() (err error) {
			out[i], err = br.exec(s.kids[i], v)
			return err
		})
		if err == nil {
			return true, nil
		}
		if failed[i] = br.Catch(err); failed[i] != nil {
			return false, failed[i]
		}
		return !IsControl(err), err // what nobody may handle ends the race
	}
	if i, known := b.chosen(e, n); known {
		if won, err := begin(i, b.sched); won || err != nil && failed[i] == nil {
			return out[i], err
		}
		failed[i] = nil // it would not win any more: run them all
	}
	i, err := b.sched.First(n, begin)
	if i >= 0 {
		if err != nil {
			return generable.Value{}, err
		}
		return out[i], b.choose(e, i)
	}
	for _, e := range failed {
		if e != nil && err == error(e) {
			err = withNotes(e, failed)
			break
		}
	}
	return generable.Value{}, err
}

// Choice is the request of an [EffectChoice]: which of several branches won. Nothing handles it;
// it stands in the journal with the index of the branch as its value.
type Choice struct {
	Of    int             // branches
	Input generable.Value // what they ran on
}

// Digest implements [Payload].
func (c *Choice) Digest() [32]byte {
	return abi.Hash(generable.AppendCanon(binary.AppendUvarint(nil, uint64(c.Of)), c.Input))
}

// choice is the effect by which a race is recorded, nil where nothing is.
func (b *Branch) choice(s *step, v generable.Value) *Effect {
	if b.run.spec.Journal == nil {
		return nil
	}
	return &Effect{Kind: EffectChoice, Name: s.word, Run: b.RunID(), At: b.at.child("won", "", 0),
		Req: &Choice{len(s.kids), v}, Class: ClassRead}
}

// chosen looks up which of n branches won.
func (b *Branch) chosen(e *Effect, n int) (int, bool) {
	if e == nil {
		return 0, false
	}
	out, known := b.run.spec.Journal.Answer(e.ID())
	i, ok := out.Value.AsInt()
	return int(i), known && ok && i >= 0 && i < int64(n)
}

// choose records which branch won.
func (b *Branch) choose(e *Effect, i int) error {
	if e == nil {
		return nil
	}
	out := b.sched.Do(HandlerFunc(func(ctx context.Context, e *Effect, _ Sink) Outcome {
		return commit(ctx, b.run.spec.Journal, e, Outcome{Value: generable.IntOf(int64(i)), Attempt: 1})
	}), e, nil)
	if out.Err != nil {
		return out.Err
	}
	return nil
}
