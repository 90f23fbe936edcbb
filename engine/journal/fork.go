package journal

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Reuse has the journal answer, beside its own run's, the effects of another run: those whose ids are the same. It is
// for forks, before they begin. It returns the Seq of the last step of the other run that is looked at, which the head of
// the fork keeps.
func (j *Journal) Reuse(ctx context.Context, id string) (last int64, err error) {
	j.forked = true
	return j.reuse(ctx, id, 0)
}

// reuse reads the steps of another run up to one, or all. A fork does anew what the other run did with notes and in a session: what is
// read there follows from what was written before, which may be something else, and what is written is to be in its own.
func (j *Journal) reuse(ctx context.Context, id string, upTo int64) (last int64, err error) {
	err = j.store.Steps(ctx, id, 0, func(s engine.Step) error {
		if upTo > 0 && s.Seq > upTo {
			return nil
		}
		last = max(last, s.Seq)
		if s.Kind == engine.EffectMemory {
			return nil
		}
		s.Taken = 0 // its answers are not this run's
		if err := j.read(s); err != nil {
			return err
		}
		j.rows[s.ID].other = true
		return nil
	})
	return last, err
}

// reuseOfParent has a fork that goes on be answered as it was at its beginning, also from what it had not come to. What the
// other run did since is not taken: the fork would not have had it either.
func (j *Journal) reuseOfParent(ctx context.Context, head engine.RunHead) error {
	if head.Parent == "" || head.ParentSeq == 0 {
		return nil
	}
	_, err := j.reuse(ctx, head.Parent, head.ParentSeq)
	if failed, ok := errors.AsType[*engine.Error](err); ok && failed.Code == diag.RunNotFound {
		return nil // the fork has what it took
	}
	return err
}

// copied writes what was answered from the run that this one is a fork of, before anything that came after it. What
// cannot be written stays to be written.
func (j *Journal) copied(ctx context.Context, run engine.OpenRun, sync bool) error {
	j.copying.Lock()
	defer j.copying.Unlock()
	j.mu.Lock()
	copies := j.copies
	j.mu.Unlock()
	for i, s := range copies {
		if err := run.Put(context.WithoutCancel(ctx), s, sync && i == len(copies)-1); err != nil {
			return err
		}
		j.mu.Lock()
		j.copies = j.copies[1:]
		j.mu.Unlock()
	}
	return nil
}
