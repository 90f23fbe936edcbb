package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/internal/cli/output"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/telling"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/temporal"
)

const (
	pause      = 300 * time.Millisecond // between queries of a run
	settled    = time.Second            // how long a run is idle before it counts as waiting for a person
	longestEnd = 5 * time.Second        // for workers to end a run
)

// following watches a run from its beginning to its end.
type following struct {
	*verbs
	s      *setup.Script
	o      *setup.RunFlags
	own    *pflag.FlagSet
	to     *output.File // for the result, nil for stdout
	runs   *temporal.Store
	events *temporal.Follower
	tell   term.Sink
	id     string
	moved  time.Time // when the last event arrived
	closed bool      // the event of the run's end was received
	lone   bool      // it was reported that no worker answers
	paid   func()    // lets a second interrupt end the process at once
}

// follower prepares to follow a run that is about to begin: if something cannot be shown or written as the flags
// require, the run does not begin. done releases what follower has prepared.
func (v *verbs) follower(s *setup.Script, o *setup.RunFlags, own *pflag.FlagSet) (f *following, done func(), problem *term.Failure) {
	f = &following{verbs: v, s: s, o: o, own: own}
	if _, problem := o.Tree(v.c); problem != nil {
		return nil, nil, problem
	}
	if o.Output == "" {
		return f, func() {}, nil
	}
	if f.to, problem = output.Create("--output", o.Output, s.File, o.InputFile); problem != nil {
		return nil, nil, problem
	}
	return f, f.to.Abandon, nil
}

// follow shows a run until it ends, waits for a person or is interrupted. It calls paid once the interrupt has reached
// the server.
func (f *following) follow(ctx context.Context, from *temporal.Store, id string, paid func()) error {
	f.paid = paid
	if !f.o.Quiet && !f.o.JSON {
		f.say("run %s", id)
	}
	tell, told, problem := telling.To(f.c, f.o, f.own, "")
	if problem != nil {
		return problem
	}
	defer told() // restores the terminal, whatever happens
	f.runs, f.events, f.tell, f.id, f.moved = from, from.Follow(id), tell, id, time.Now()
	info, err := f.watch(ctx)
	told()
	if err != nil {
		return f.failure(err)
	}
	if info.Status == engine.RunDone {
		if f.to != nil {
			return f.to.Write(f.c.Hidden(info.Text) + "\n")
		}
		return f.c.Print(info.Text)
	}
	failed := f.s.RunFailure(errorOf(info))
	if t, ok := errors.AsType[*term.Failure](failed); ok && len(t.Found) > 0 {
		t.Found[0].Help = append(t.Found[0].Help, f.over(from).Line("show", id)+" shows what it did; "+f.over(from).Line("fork", id)+" does the rest anew")
	}
	return failed
}

// watch returns how the run ended. An interrupt cancels it: the cancellation reaches the server even if a second
// interrupt ends the process.
func (f *following) watch(ctx context.Context) (engine.RunInfo, error) {
	type end struct {
		info engine.RunInfo
		err  error
	}
	ended := make(chan end, 1)
	waiting, enough := context.WithCancel(context.WithoutCancel(ctx))
	defer enough()
	looking, over := context.WithCancel(ctx) // after the end, only ended queries the run
	defer over()
	go func() {
		info, err := f.runs.Wait(waiting, f.id)
		ended <- end{info, err}
		over()
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
			f.ended(waiting, e.info, e.err)
			return e.info, e.err
		case err := <-cancelled:
			if err != nil {
				return engine.RunInfo{}, f.left("the run could not be cancelled: " + err.Error())
			}
			select {
			case e := <-ended:
				f.ended(waiting, e.info, e.err)
				return e.info, e.err
			case <-time.After(longestEnd):
				return engine.RunInfo{}, f.left("the run is to be cancelled, and no worker has ended it yet")
			}
		case <-tick.C:
			f.look(looking)
			if f.events.Parked && time.Since(f.moved) > settled {
				return engine.RunInfo{}, f.person(ctx)
			}
		}
	}
}

// cancel asks the server to cancel the run.
func (f *following) cancel(ctx context.Context) error {
	ctx, enough := context.WithTimeout(ctx, longestEnd)
	defer enough()
	return f.runs.CancelRun(ctx, f.id, "interrupted")
}

// left returns the failure of a command that ends before the run.
func (f *following) left(said string) error {
	return &term.Failure{Code: term.ExitInterrupted, Found: diag.List{{Message: said, Help: []string{f.over(f.runs).Line("show", f.id) + " shows how far it is"}}}}
}

// look shows the new events of the run. The command continues if no worker answers: one may start.
func (f *following) look(ctx context.Context) {
	events, err := f.events.Next(ctx)
	for _, e := range events {
		f.moved = time.Now()
		f.closed = f.closed || e.Kind == engine.EventRun && e.Phase() == engine.PhaseEnd
		telling.Hand(f.c, e, f.tell)
	}
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code == diag.NoWorker && !f.lone {
		f.lone = true
		if !f.o.Quiet {
			defer f.c.Alone()()
			f.c.Report(diag.List{{Severity: diag.Info, Message: e.Message, Help: []string{e.Help}}}, nil)
		}
	}
}

// ended shows the last events of a run. It adds the end of the run if no worker is left to report it.
func (f *following) ended(ctx context.Context, info engine.RunInfo, err error) {
	if err != nil {
		return
	}
	f.lone = true // it has ended, so that a missing worker is not reported
	if f.look(ctx); f.closed {
		return
	}
	end := &event.Run{Phase: engine.PhaseEnd}
	if info.Status != engine.RunDone {
		end.Err = engine.AsError(errorOf(info))
	}
	telling.Hand(f.c, engine.Event{Kind: engine.EventRun, Run: f.id, Path: "main", At: info.At, Data: end}, f.tell)
}

// person returns the failure for a run that waits for a person, with the lines that answer it.
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
