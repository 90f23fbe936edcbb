package runs

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

const (
	pause    = 200 * time.Millisecond // how often a run in another process is checked
	lastLook = time.Second            // how long to ask for the output of a run that has ended
)

// following writes what a run does while it proceeds: its steps and, where available, what its script prints.
type following struct {
	*verbs
	s      *keep.Store
	run    string
	values bool
	after  int64
	told   func(ctx context.Context) []engine.Event // nil if nobody can say it
	lone   bool                                     // it was reported that nobody answers
}

// follow writes the steps of a run as they arrive.
func (v *verbs) follow(ctx context.Context, s *keep.Store, info engine.RunInfo, values bool) error {
	f := &following{verbs: v, s: s, run: info.ID, values: values}
	if v.from != nil && v.from.Told != nil {
		f.told = v.from.Told(info.ID)
	}
	if !v.json {
		if err := v.c.Print(headOf(info)); err != nil {
			return err
		}
	}
	for {
		now, err := s.Run(ctx, info.ID) // before the steps, so that no step comes after the end was seen
		if err == nil {
			err = f.news(ctx, now.Live)
		}
		switch {
		case unheard(err):
			f.unheard(err)
		case err != nil:
			return err
		case !now.Live:
			return v.ended(ctx, s, now)
		}
		select {
		case <-ctx.Done():
			return &term.Failure{Code: term.ExitInterrupted}
		case <-time.After(pause):
		}
	}
}

// unheard reports, once, that nobody can say how far the run is. A worker may still take it up.
func (f *following) unheard(err error) {
	if !f.lone {
		e := engine.AsError(err)
		f.c.Report(diag.List{{Severity: diag.Info, Message: e.Message, Help: []string{e.Help}}}, nil)
	}
	f.lone = true
}

// news writes what is new since the last call. What the script printed appears before the first step that came later.
func (f *following) news(ctx context.Context, live bool) error {
	var steps []engine.Step
	err := f.s.Steps(ctx, f.run, f.after, func(step engine.Step) error {
		f.after, steps = step.Seq, append(steps, step)
		return nil
	})
	if err != nil {
		return err
	}
	said := f.said(ctx, live)
	for i := range steps {
		for len(said) > 0 && said[0].At.Before(saidBefore(&steps[i])) {
			if err := f.print(said[0]); err != nil {
				return err
			}
			said = said[1:]
		}
		if err := f.step(&steps[i], live); err != nil {
			return err
		}
	}
	for _, e := range said {
		if err := f.print(e); err != nil {
			return err
		}
	}
	return nil
}

// saidBefore returns the time before which output of the script belongs before a step. For a completed step this is
// its end; for one that only begins, it includes everything printed until then.
func saidBefore(step *engine.Step) time.Time {
	if _, sleeps := dueOf(step); sleeps || step.State == engine.StepIntent || step.State == engine.StepWaiting {
		return step.Begun.Add(1)
	}
	return step.Ended
}

func (f *following) step(step *engine.Step, live bool) error {
	if f.json {
		return f.line(struct {
			V    int         `json:"v"`
			Step engine.Step `json:"step"`
		}{form, *step})
	}
	return f.c.Print(text.Visible(journal.Position(step.ID)) + stepLine(step, live) + valueLine(step, f.values, "  "))
}

func (f *following) print(e engine.Event) error {
	if f.json {
		return f.line(struct {
			V     int          `json:"v"`
			Event engine.Event `json:"event"`
		}{form, e})
	}
	return f.c.Print(term.Said(e))
}

// said returns what the script has printed, and the parts that it began. If the run has ended, possibly nobody can
// say it.
func (f *following) said(ctx context.Context, live bool) (said []engine.Event) {
	if f.told == nil {
		return nil
	}
	if !live {
		var enough context.CancelFunc
		ctx, enough = context.WithTimeout(ctx, lastLook)
		defer enough()
	}
	for _, e := range f.told(ctx) {
		if e.Kind&(engine.EventLog|engine.EventPhase) != 0 {
			said = append(said, e)
		}
	}
	return said
}

// ended reports how a run that was followed stopped.
func (v *verbs) ended(ctx context.Context, s *keep.Store, info engine.RunInfo) error {
	post, err := s.Post(ctx, info.ID)
	if err != nil {
		return err
	}
	waits := v.waits(s, post, info)
	if v.json {
		return v.line(struct {
			V     int            `json:"v"`
			Run   engine.RunInfo `json:"run"`
			Waits []keep.Waiting `json:"waits"`
		}{form, info, waits})
	}
	return v.c.Print(statusOf(info) + "\n" + strings.Trim(endOf(s, info, waits), "\n"))
}

func (v *verbs) line(what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return v.c.Print(string(data))
}
