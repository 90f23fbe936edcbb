package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/agentscript/agentscript/engine"
)

// Asks implements [engine.DurableJournal].
func (j *Journal) Asks(ctx context.Context, e *engine.Effect, failed *engine.Error) error {
	id := e.ID()
	s, err := j.step(id, e)
	if err != nil {
		return err
	}
	s.State, s.Types = engine.StepWaiting, withResult(s.Types, e)
	if s.Outcome, err = j.encoded(engine.Outcome{Err: failed}); err != nil {
		return err
	}
	if err := j.put(ctx, s, true); err != nil {
		return err
	}
	j.mu.Lock()
	was := j.rows[id]
	own := *e
	j.rows[id] = &row{step: s, live: was != nil && was.live, asks: &own}
	j.left = slices.DeleteFunc(j.left, func(is string) bool { return is == id })
	if ctx.Err() != nil { // its branch has ended in the meantime
		j.leave(id)
	}
	j.mu.Unlock()
	return j.refresh(ctx) // what was sent in the meantime
}

// Answered implements [engine.DurableJournal].
func (j *Journal) Answered(e *engine.Effect) (a engine.Answer, sent bool) {
	id, name := e.ID(), ""
	if w, ok := e.Req.(*engine.WaitRequest); ok {
		name = w.Name
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var last int64
	if r := j.rows[id]; r != nil {
		last = r.step.Taken // signals up to this one are used: the effect refused them, or was carried out again after them
	}
	for _, s := range j.signals {
		of, taken := j.taken[s.Seq]
		switch {
		case taken && of != id, s.Seq <= last:
			continue
		case s.Step == id, s.Step == "" && name != "" && s.Name == name:
		default:
			continue
		}
		if json.Unmarshal(s.Value, &a) != nil {
			j.taken[s.Seq] = ""
			continue
		}
		j.taken[s.Seq] = id
		return a, true
	}
	return a, false
}

// fits returns why an answer does not fit a step that waits for it, or nil if it fits or that is not known.
func (j *Journal) fits(step string, a engine.Answer) *engine.Error {
	j.mu.Lock()
	var asks *engine.Effect
	if r := j.rows[step]; r != nil && r.step.State == engine.StepWaiting {
		asks = r.asks
	}
	j.mu.Unlock()
	if asks == nil || a.Again && asks.Kind != engine.EffectApproval && asks.Kind != engine.EffectWait {
		return nil
	}
	_, wrong := a.Outcome(asks)
	return wrong
}

// Refuse implements [engine.DurableJournal].
func (j *Journal) Refuse(e *engine.Effect) {
	id := e.ID()
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rows[id]
	if r == nil {
		r = &row{}
		j.rows[id] = r
	}
	for seq, of := range j.taken {
		if of == id {
			r.step.Taken = max(r.step.Taken, seq)
		}
	}
}

// Leave implements [engine.DurableJournal].
func (j *Journal) Leave(e *engine.Effect) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.leave(e.ID())
}

// leave marks a step as left if it still waits. The caller holds j.mu.
func (j *Journal) leave(id string) {
	if r := j.rows[id]; r != nil && !r.other && r.step.State == engine.StepWaiting {
		j.left = append(j.left, id)
	}
}

// leaveUnasked leaves the steps that waited in an earlier process and for which this process, in which the whole run
// waits, did not ask: their branches had ended before that could be written.
func (j *Journal) leaveUnasked() {
	j.mu.Lock()
	defer j.mu.Unlock()
	var unasked []engine.Step
	for _, r := range j.rows {
		if r.asks == nil {
			unasked = append(unasked, r.step)
		}
	}
	slices.SortFunc(unasked, func(a, b engine.Step) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, s := range unasked { // in a fixed order: a workflow that is repeated writes the same
		j.leave(s.ID)
	}
}

// dropped writes the steps that are left. It is called when the run continues. A run that fails does not continue: it
// may need the answers when it is resumed.
func (j *Journal) dropped(ctx context.Context, run engine.OpenRun) error {
	j.mu.Lock()
	var left []engine.Step
	for _, id := range j.left {
		if r := j.rows[id]; r.step.State == engine.StepWaiting {
			r.step.State = engine.StepLeft
			left = append(left, r.step)
		}
	}
	j.left = nil
	j.mu.Unlock()
	for _, s := range left {
		if err := run.Put(context.WithoutCancel(ctx), s, false); err != nil {
			return err
		}
	}
	return nil
}

// OnAnswer implements [engine.DurableJournal].
func (j *Journal) OnAnswer(f func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.wake = f
}

// refresh reads the signals of the run.
func (j *Journal) refresh(ctx context.Context) error {
	run := j.run
	if run == nil || j.store == nil {
		return nil
	}
	signals, err := j.store.Signals(ctx, run.Info().ID)
	if err != nil {
		return err
	}
	j.mu.Lock()
	wake := j.wake
	more := len(signals) > len(j.signals)
	j.signals = signals
	j.mu.Unlock()
	if more && wake != nil {
		wake()
	}
	return nil
}

// Told is an [engine.OpenRun] that calls f after signals were stored, on the goroutine that drives the run, as a
// durable workflow does. Only that goroutine ends such a run. fits returns why an answer does not fit the step that
// waits for it.
type Told interface {
	engine.OpenRun
	OnSignal(f func(), fits func(step string, a engine.Answer) *engine.Error)
}

// listen reads signals as they arrive, until the run ends. The caller holds j.opening or has exclusive use of the
// journal.
func (j *Journal) listen() {
	run := j.run
	if told, ok := run.(Told); ok {
		told.OnSignal(func() { _ = j.refresh(context.Background()) }, j.fits) // errors are ignored as below
		return
	}
	go func() {
		signalled, done := run.Signalled(), run.Done()
		for {
			select {
			case <-j.stop:
				return
			case <-done:
				if done = nil; j.opts.Stop != nil {
					j.opts.Stop(run.Err())
				}
			case <-signalled:
				_ = j.refresh(context.Background()) // what cannot be read now is read when the effect asks
			}
		}
	}()
}
