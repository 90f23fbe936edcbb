package cli

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/runs"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/temporal"
)

const (
	pause      = 300 * time.Millisecond // between looks at a run
	settled    = time.Second            // how long a run waits before it counts as waiting for a person
	longestEnd = 5 * time.Second        // that workers may take to end a run
)

// following watches a run from its begin to its end.
type following struct {
	*verbs
	o     *setup.RunFlags
	runs  *temporal.Store
	id    string
	after int64                  // the last step that was shown
	waits map[string]engine.Step // by id
	moved time.Time              // when a step was recorded last
	lone  bool                   // it was said that no worker answers
	paid  func()                 // has a second interrupt end the process at once
}

// follow shows a run until it ends, waits for a person or is interrupted. It calls paid once that has reached the server.
func (v *verbs) follow(ctx context.Context, s *setup.Script, o *setup.RunFlags, from *temporal.Store, id string, paid func()) error {
	var to *output.File
	if o.Output != "" {
		var problem *term.Failure
		if to, problem = output.Create("--output", o.Output, s.File, o.InputFile); problem != nil {
			return problem
		}
		defer to.Abandon()
	}
	f := &following{verbs: v, o: o, runs: from, id: id, waits: map[string]engine.Step{}, moved: time.Now(), paid: paid}
	if !o.Quiet && !o.JSON {
		v.say("run %s", id)
	}
	info, err := f.watch(ctx)
	if err != nil {
		return v.failure(err)
	}
	if info.Status == engine.RunDone {
		if to != nil {
			return to.Write(v.c.Hidden(info.Text) + "\n")
		}
		return v.c.Print(info.Text)
	}
	failed := s.RunFailure(errorOf(info))
	if t, ok := errors.AsType[*term.Failure](failed); ok && len(t.Found) > 0 {
		t.Found[0].Help = append(t.Found[0].Help, v.over(from).Line("show", id)+" shows what it did; "+v.over(from).Line("fork", id)+" does the rest anew")
	}
	return failed
}

// watch returns how the run ended. An interrupt cancels it: that reaches the server also where a second one ends the process.
func (f *following) watch(ctx context.Context) (engine.RunInfo, error) {
	type end struct {
		info engine.RunInfo
		err  error
	}
	ended := make(chan end, 1)
	waiting, enough := context.WithCancel(context.WithoutCancel(ctx))
	defer enough()
	go func() {
		info, err := f.runs.Wait(waiting, f.id)
		ended <- end{info, err}
	}()
	cancelled := make(chan error, 1)
	unwatched := context.AfterFunc(ctx, func() {
		defer f.paid()
		cancelled <- f.cancel(waiting)
	})
	defer unwatched()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case e := <-ended:
			if e.err == nil {
				f.look(waiting) // what was recorded last
			}
			return e.info, e.err
		case err := <-cancelled:
			if err != nil {
				return engine.RunInfo{}, f.left("the run could not be cancelled: " + err.Error())
			}
			select {
			case e := <-ended:
				return e.info, e.err
			case <-time.After(longestEnd):
				return engine.RunInfo{}, f.left("the run is to be cancelled, and no worker has ended it yet")
			}
		case <-tick.C:
			f.look(waiting)
			if len(f.waits) > 0 && time.Since(f.moved) > settled {
				return engine.RunInfo{}, f.person(ctx)
			}
		}
	}
}

// cancel has the run be cancelled, as soon as the server hears of it.
func (f *following) cancel(ctx context.Context) error {
	ctx, enough := context.WithTimeout(ctx, longestEnd)
	defer enough()
	return f.runs.CancelRun(ctx, f.id, "interrupted")
}

// left is what is said when the command ends before the run.
func (f *following) left(said string) error {
	return &term.Failure{Code: term.ExitInterrupted, Found: diag.List{{Message: said, Help: []string{f.over(f.runs).Line("show", f.id) + " shows how far it is"}}}}
}

// look shows the steps that came. That nobody says how far the run is does not end the command: a worker may come.
func (f *following) look(ctx context.Context) {
	err := f.runs.Steps(ctx, f.id, f.after, func(s engine.Step) error {
		f.after, f.moved = s.Seq, time.Now()
		if delete(f.waits, s.ID); s.State == engine.StepWaiting {
			f.waits[s.ID] = s
		}
		f.show(s)
		return nil
	})
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code == diag.NoWorker && !f.lone {
		f.lone = true
		if !f.o.Quiet {
			f.c.Report(diag.List{{Severity: diag.Info, Message: e.Message, Help: []string{e.Help}}}, nil)
		}
	}
}

func (f *following) show(s engine.Step) {
	switch {
	case f.o.JSON && !f.o.Quiet:
		line, err := json.Marshal(struct {
			V    int         `json:"v"`
			Step engine.Step `json:"step"`
		}{1, s})
		if err == nil { // stderr may be gone
			_, _ = f.c.JSONOut().Write(append([]byte(f.c.Hidden(string(line))), '\n'))
		}
	case !f.o.Quiet:
		f.say("%s", f.c.Hidden(runs.StepLine(&s)))
	}
}

// person is that the run waits for a person, with the lines that answer.
func (f *following) person(ctx context.Context) error {
	kept := f.over(f.runs)
	post, err := kept.Post(ctx, f.id)
	if err != nil {
		return err
	}
	d := &diag.Diagnostic{Code: diag.NeedsApproval, Message: "run " + f.id + " waits for a person, and goes on when it is answered"}
	for _, w := range kept.Waits(post, f.id) {
		d.Notes = append(d.Notes, diag.Note{Message: w.Step + " waits for " + w.For})
		d.Help = append(d.Help, w.Line)
	}
	d.Help = append(d.Help, kept.Line("show", f.id, "--follow")+" goes on watching")
	return &term.Failure{Code: term.ExitWaiting, Found: diag.List{d}}
}
