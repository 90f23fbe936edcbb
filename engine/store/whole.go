package store

import (
	"context"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Whole is a run with everything that it holds.
type Whole struct {
	Head    engine.RunHead
	Files   *engine.Bundle // stored under Head.Bundle; nil if there are none, or the store already has them
	Steps   []engine.Step  // in the order in which they were committed
	Signals []engine.Signal
	End     *engine.RunEnd // nil if it has not ended
}

// Describe fills in info from what the run holds.
func (w *Whole) Describe(info *engine.RunInfo) {
	info.RunHead = w.Head
	if w.End != nil {
		info.RunEnd = *w.End
	}
	count(info, w.Steps)
}

// count sets the fields of info that sum up steps, which are in order.
func count(info *engine.RunInfo, steps []engine.Step) {
	info.Steps, info.Waiting, info.Usage = len(steps), 0, model.Usage{}
	for _, s := range steps {
		if s.State == engine.StepWaiting {
			info.Waiting++
		}
		info.Usage = info.Usage.Add(s.Usage)
	}
}

// PutRun stores a run that was made elsewhere. Nobody holds it afterwards. Its steps and signals keep their Seq. No
// run with its id may exist.
func (m *MemoryStore) PutRun(ctx context.Context, w Whole) error {
	if err := CheckRunID(w.Head.ID); err != nil {
		return err
	}
	if w.End != nil && !Ends(w.End.Status) {
		return NotAnEnd(w.Head.ID, w.End.Status)
	}
	err := m.begin(ctx)
	defer m.mu.Unlock()
	switch {
	case err != nil:
		return err
	case m.runs[w.Head.ID] != nil:
		return Exists(w.Head.ID)
	}
	if w.Files != nil {
		m.put(w.Head.Bundle, *w.Files)
	}
	r := m.add(w.Head)
	for _, step := range w.Steps {
		r.put(step)
	}
	for _, sent := range w.Signals {
		r.send(sent, m.now())
	}
	if w.End != nil {
		r.end(*w.End, m.now())
	}
	return nil
}
