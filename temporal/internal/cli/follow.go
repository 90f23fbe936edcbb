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
	pollInterval   = 300 * time.Millisecond // between queries of a run
	idleBeforeExit = time.Second            // how long a run is idle before it counts as waiting for a person
	endTimeout     = 5 * time.Second        // for workers to end a run
)

// follower watches a run from its beginning to its end.
type follower struct {
	*verbs
	s                *setup.Script
	o                *setup.RunFlags
	own              *pflag.FlagSet
	to               *output.File // for the result, nil for stdout
	runs             *temporal.Store
	events           *temporal.Follower
	sink             term.Sink
	id               string
	lastEvent        time.Time // when the last event arrived
	endSeen          bool      // the event of the run's end was received
	noWorkerReported bool      // it was reported that no worker answers
	cancelSent       func()    // lets a second interrupt end the process at once
}

// newFollower prepares to follow a run that is about to begin: if something cannot be shown or written as the flags
// require, the run does not begin. done releases what newFollower has prepared.
func (v *verbs) newFollower(s *setup.Script, o *setup.RunFlags, own *pflag.FlagSet) (f *follower, done func(), problem *term.Failure) {
	f = &follower{verbs: v, s: s, o: o, own: own}
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

// follow shows a run until it ends, waits for a person or is interrupted. It calls cancelSent once the interrupt has
// reached the server.
func (f *follower) follow(ctx context.Context, from *temporal.Store, id string, cancelSent func()) error {
	f.cancelSent = cancelSent
	if !f.o.Quiet && !f.o.JSON {
		f.say("run %s", id)
	}
	sink, restore, problem := telling.To(f.c, f.o, f.own, "")
	if problem != nil {
		return problem
	}
	defer restore() // restores the terminal, whatever happens
	f.runs, f.events, f.sink, f.id, f.lastEvent = from, from.Follow(id), sink, id, time.Now()
	info, err := f.watch(ctx)
	restore()
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
		t.Found[0].Help = append(t.Found[0].Help, f.verbStore(from).Line("show", id)+" shows what it did; "+f.verbStore(from).Line("fork", id)+" does the rest again")
	}
	return failed
}

// watch returns how the run ended. An interrupt cancels it: the cancellation reaches the server even if a second
// interrupt ends the process.
func (f *follower) watch(ctx context.Context) (engine.RunInfo, error) {
	type end struct {
		info engine.RunInfo
		err  error
	}
	ended := make(chan end, 1)
	waitCtx, stopWaiting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWaiting()
	pollCtx, stopPolling := context.WithCancel(ctx) // after the end, only showEnd queries the run
	defer stopPolling()
	go func() {
		info, err := f.runs.Wait(waitCtx, f.id)
		ended <- end{info, err}
		stopPolling()
	}()
	cancelled := make(chan error, 1)
	unwatched := context.AfterFunc(ctx, func() {
		defer f.cancelSent()
		cancelled <- f.cancel(waitCtx)
	})
	defer unwatched()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case e := <-ended:
			f.showEnd(waitCtx, e.info, e.err)
			return e.info, e.err
		case err := <-cancelled:
			if err != nil {
				return engine.RunInfo{}, f.endedEarly("the run could not be cancelled: " + err.Error())
			}
			select {
			case e := <-ended:
				f.showEnd(waitCtx, e.info, e.err)
				return e.info, e.err
			case <-time.After(endTimeout):
				return engine.RunInfo{}, f.endedEarly("the run is to be cancelled, and no worker has ended it yet")
			}
		case <-tick.C:
			f.poll(pollCtx)
			if f.events.Parked && time.Since(f.lastEvent) > idleBeforeExit {
				return engine.RunInfo{}, f.waitsForPerson(ctx)
			}
		}
	}
}

// cancel asks the server to cancel the run.
func (f *follower) cancel(ctx context.Context) error {
	ctx, enough := context.WithTimeout(ctx, endTimeout)
	defer enough()
	return f.runs.CancelRun(ctx, f.id, "interrupted")
}

// endedEarly returns the failure of a command that ends before the run.
func (f *follower) endedEarly(message string) error {
	return &term.Failure{Code: term.ExitInterrupted, Found: diag.List{{Message: message, Help: []string{f.verbStore(f.runs).Line("show", f.id) + " shows how far it is"}}}}
}

// poll shows the new events of the run. The command continues if no worker answers: one may start.
func (f *follower) poll(ctx context.Context) {
	events, err := f.events.Next(ctx)
	for _, e := range events {
		f.lastEvent = time.Now()
		f.endSeen = f.endSeen || e.Kind == engine.EventRun && e.Phase() == engine.PhaseEnd
		telling.Hand(f.c, e, f.sink)
	}
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code == diag.NoWorker && !f.noWorkerReported {
		f.noWorkerReported = true
		if !f.o.Quiet {
			defer f.c.Alone()()
			f.c.Report(diag.List{{Severity: diag.Info, Message: e.Message, Help: []string{e.Help}}}, nil)
		}
	}
}

// showEnd shows the last events of a run. It adds the end of the run if no worker is left to report it.
func (f *follower) showEnd(ctx context.Context, info engine.RunInfo, err error) {
	if err != nil {
		return
	}
	f.noWorkerReported = true // it has ended, so that a missing worker is not reported
	if f.poll(ctx); f.endSeen {
		return
	}
	end := &event.Run{Phase: engine.PhaseEnd}
	if info.Status != engine.RunDone {
		end.Err = engine.AsError(errorOf(info))
	}
	telling.Hand(f.c, engine.Event{Kind: engine.EventRun, Run: f.id, Path: "main", At: info.At, Data: end}, f.sink)
}

// waitsForPerson returns the failure for a run that waits for a person, with the lines that answer it.
func (f *follower) waitsForPerson(ctx context.Context) error {
	kept := f.verbStore(f.runs)
	post, err := kept.Post(ctx, f.id)
	if err != nil {
		return err
	}
	d := &diag.Diagnostic{Code: diag.NeedsApproval, Message: "run " + f.id + " waits for a person, and continues when it is answered"}
	for _, w := range kept.Waits(post, f.id) {
		d.Notes = append(d.Notes, diag.Note{Message: w.Step + " waits for " + w.For})
		d.Help = append(d.Help, w.Line)
	}
	d.Help = append(d.Help, kept.Line("show", f.id, "--follow")+" continues watching")
	return &term.Failure{Code: term.ExitWaiting, Found: diag.List{d}}
}
