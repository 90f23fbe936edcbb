package journal

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/agentscript/agentscript/engine"
)

// Post is what a run asks for from outside, and what was sent to it and not taken yet.
type Post struct {
	Waits    []engine.Step            // the steps that need an answer that nobody has sent, in the order of the steps
	Answered map[string]engine.Signal // the answers to the other steps that need one, by step id
	Queued   []engine.Signal          // the answers sent to names for which no step waits

	waiting map[string]string // the names of the waits among the steps that need an answer, by step id
	taken   map[string]int64  // by name, the Seq of the last answer that a wait took; answers to a name are taken in order
	signals []engine.Signal   // everything that was sent
}

// Had reports whether a wait with the given name has already taken an answer. If the last answer taken differs from
// a, Had returns an error that says who sent it.
func (p *Post) Had(name string, a engine.Answer) (bool, error) {
	at := slices.IndexFunc(p.signals, func(is engine.Signal) bool { return is.Seq == p.taken[name] })
	if at < 0 {
		return false, nil
	}
	value, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	return true, same(p.signals[at], engine.Signal{Value: value})
}

// Took returns the answer that a step has taken, and whether it has taken one.
func (p *Post) Took(step engine.Step) (is engine.Signal, ok bool) {
	at := slices.IndexFunc(p.signals, func(is engine.Signal) bool { return is.Seq == step.Taken && is.Seq > 0 })
	if at < 0 {
		return is, false
	}
	return p.signals[at], true
}

// ReadPost reads what a run asks for and what was sent to it. What the run asks for includes the outcomes of steps
// whose outcome is unknown, unless a process holds the run: that process may be carrying them out.
func ReadPost(ctx context.Context, s engine.Store, run engine.RunInfo) (*Post, error) {
	return readPost(ctx, s, run, func(engine.Step) {})
}

func readPost(ctx context.Context, s engine.Store, run engine.RunInfo, each func(engine.Step)) (*Post, error) {
	signals, err := s.Signals(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	var asking []engine.Step
	p := &Post{Answered: map[string]engine.Signal{}, waiting: map[string]string{}, taken: map[string]int64{}, signals: signals}
	err = s.Steps(ctx, run.ID, 0, func(step engine.Step) error {
		each(step)
		if step.Kind == engine.EffectWait {
			p.taken[step.Name] = max(p.taken[step.Name], step.Taken)
		}
		if step.State == engine.StepWaiting || unheard(step, run) {
			asking = append(asking, step)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, is := range signals {
		switch at := slices.IndexFunc(asking, func(step engine.Step) bool { return is.Step != "" && step.ID == is.Step }); {
		case is.Step == "" && is.Seq > p.taken[is.Name]:
			p.Queued = append(p.Queued, is)
		case at >= 0 && is.Seq > asking[at].Taken:
			if _, before := p.Answered[is.Step]; !before {
				p.Answered[is.Step] = is
			}
		}
	}
	for _, step := range asking {
		if step.Kind == engine.EffectWait {
			p.waiting[step.ID] = step.Name
		}
		if _, answered := p.Answered[step.ID]; answered {
			continue
		}
		at := slices.IndexFunc(p.Queued, func(is engine.Signal) bool { return step.Kind == engine.EffectWait && is.Name == step.Name })
		if at < 0 {
			p.Waits = append(p.Waits, step)
			continue
		}
		p.Answered[step.ID] = p.Queued[at]
		p.Queued = slices.Delete(p.Queued, at, at+1)
	}
	return p, nil
}

// Untaken lists what was sent and not taken, in the order in which it was sent.
func (p *Post) Untaken() []engine.Signal {
	all := slices.Clone(p.Queued)
	for _, is := range p.Answered {
		all = append(all, is)
	}
	slices.SortFunc(all, func(a, b engine.Signal) int { return int(a.Seq - b.Seq) })
	return all
}

// unheard reports whether a run that nobody holds would ask for the outcome of a step when it is resumed.
func unheard(step engine.Step, run engine.RunInfo) bool {
	if run.Live || run.Status == engine.RunDone || run.Status == engine.RunCancelled {
		return false
	}
	return unknown(step)
}

// unknown reports whether a step may have been carried out without anybody having recorded its outcome. An effect
// that failed and ended the run may have been carried out in part.
func unknown(step engine.Step) bool {
	switch step.State {
	case engine.StepIntent:
		return true
	case engine.StepWaiting, engine.StepLeft:
		return step.Class == engine.ClassOnce
	case engine.StepFailed:
		out, err := engine.DecodeOutcome(step.Outcome, engine.TypesOf().OrMaps())
		return step.Class == engine.ClassOnce && (err != nil || out.Attempt > 0)
	}
	return false
}
