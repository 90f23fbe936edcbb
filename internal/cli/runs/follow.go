package runs

import (
	"context"
	"encoding/json"
	"slices"
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
	pause    = 200 * time.Millisecond // how often a run of another process is looked at
	lastLook = time.Second            // how long what a run has told is asked for when it is over
)

// following writes what a run does as it comes: its steps, and what its script prints where that can be asked for.
type following struct {
	*verbs
	s      *keep.Store
	run    string
	values bool
	after  int64
	told   func(ctx context.Context) []engine.Event // nil where nobody says it
	lone   bool                                     // it was said that nobody answers
}

// news is a line about a run, and when that was.
type news struct {
	at   time.Time
	line string
}

// follow writes the steps of a run as they come.
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
		now, err := s.Run(ctx, info.ID) // before the steps, so that none comes after its end was seen
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

// unheard says that nobody says how far the run is. Somebody may take it up.
func (f *following) unheard(err error) {
	if !f.lone {
		e := engine.AsError(err)
		f.c.Report(diag.List{{Severity: diag.Info, Message: e.Message, Help: []string{e.Help}}}, nil)
	}
	f.lone = true
}

// news writes what came since it was called last, in the order in which it happened.
func (f *following) news(ctx context.Context, live bool) error {
	var all []news
	err := f.s.Steps(ctx, f.run, f.after, func(step engine.Step) (err error) {
		f.after = step.Seq
		n := news{line: text.Visible(journal.Position(step.ID)) + stepLine(&step, live) + valueLine(&step, f.values, "  ")}
		if _, sleeps := dueOf(&step); sleeps || step.State == engine.StepIntent || step.State == engine.StepWaiting {
			n.at = step.Begun.Add(1) // behind what was said before it began
		} else {
			n.at = step.Ended
		}
		if f.json {
			n.line, err = lineOf(struct {
				V    int         `json:"v"`
				Step engine.Step `json:"step"`
			}{form, step})
		}
		all = append(all, n)
		return err
	})
	if err != nil {
		return err
	}
	for _, e := range f.said(ctx, live) {
		n := news{e.At, term.Said(e)}
		if f.json {
			n.line, err = lineOf(struct {
				V     int          `json:"v"`
				Event engine.Event `json:"event"`
			}{form, e})
		}
		if err != nil {
			return err
		}
		all = append(all, n)
	}
	slices.SortStableFunc(all, func(a, b news) int { return a.at.Compare(b.at) })
	for _, n := range all {
		if err := f.c.Print(n.line); err != nil {
			return err
		}
	}
	return nil
}

// said returns what the script has printed, and the parts that it began. Of a run that is over nobody may be left to say it.
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

// ended says how a run that was followed stopped.
func (v *verbs) ended(ctx context.Context, s *keep.Store, info engine.RunInfo) error {
	post, err := s.Post(ctx, info.ID)
	if err != nil {
		return err
	}
	waits := v.waits(s, post, info)
	if v.json {
		line, err := lineOf(struct {
			V     int            `json:"v"`
			Run   engine.RunInfo `json:"run"`
			Waits []keep.Waiting `json:"waits"`
		}{form, info, waits})
		if err != nil {
			return err
		}
		return v.c.Print(line)
	}
	return v.c.Print(statusOf(info) + "\n" + strings.Trim(endOf(s, info, waits), "\n"))
}

func lineOf(what any) (string, error) {
	data, err := json.Marshal(what)
	return string(data), err
}
