package journal

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Reuse lets the journal also answer the effects of another run: those with the same ids. It is for forks, before
// they begin. It returns the Seq of the last step of the other run, which the head of the fork records.
func (j *Journal) Reuse(ctx context.Context, id string) (last int64, err error) {
	j.forked = true
	return j.reuse(ctx, id, 0)
}

// reuse reads the steps of another run up to the Seq upTo, or all of them if upTo is 0. It skips memory effects,
// because a fork repeats what the other run did with notes and in a session: what is read there depends on what was
// written before, which may differ, and what the fork writes belongs in its own notes and session.
func (j *Journal) reuse(ctx context.Context, id string, upTo int64) (last int64, err error) {
	err = j.store.Steps(ctx, id, 0, func(s engine.Step) error {
		if upTo > 0 && s.Seq > upTo {
			return nil
		}
		last = max(last, s.Seq)
		if s.Kind == engine.EffectMemory {
			return nil
		}
		s.Taken = 0 // the answers that the other run took are not this run's
		if err := j.read(s); err != nil {
			return err
		}
		j.rows[s.ID].other = true
		return nil
	})
	return last, err
}

// reuseOfParent lets a resumed fork be answered from the same steps as at its beginning, including those that it had
// not reached. What the parent has done since then is not used: the fork would not have had it either.
func (j *Journal) reuseOfParent(ctx context.Context, head engine.RunHead) error {
	if head.Parent == "" || head.ParentSeq == 0 {
		return nil
	}
	_, err := j.reuse(ctx, head.Parent, head.ParentSeq)
	if failed, ok := errors.AsType[*engine.Error](err); ok && failed.Code == diag.RunNotFound {
		return nil // the parent was removed; the fork keeps what it took
	}
	return err
}

// copied writes the steps that were answered from the run that this one is a fork of, before anything that came after
// them. Steps that cannot be written remain to be written.
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
