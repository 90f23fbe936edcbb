package temporal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// seeking is the search for a worker that carries out one effect.
type seeking struct {
	dispatcher
	search
	e     *engine.Effect
	reads int // that failed
}

// again waits until the effect is handed to a worker once more, false when err is no refusal. What no worker had before is not
// looked for again.
func (s *seeking) again(ctx context.Context, err error) (out engine.Outcome, more, is bool) {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if ok && app.Type() == unread && ctx.Err() == nil { // it is there, and cannot be reached by now
		s.record.Refused(s.e.ID())
		s.reads++
		return s.wait(ctx, min(200*time.Millisecond<<min(s.reads-1, 6), 10*time.Second))
	}
	r, e, is := s.refusalOf(err)
	if !is || ctx.Err() != nil {
		return out, false, false
	}
	s.record.Refused(s.e.ID())
	key := string(e.Code) + " " + e.Message
	wait, more := s.add(r, s.world.Now(), s.in.Find)
	before, known := s.lacking[key]
	switch {
	case known:
		s.By = before
	case !more:
		s.lacking[key] = s.By
	case !s.in.Pin || !ofWorker(s.e): // else no other worker may
		return s.wait(ctx, wait)
	}
	return engine.Failed(s.failure(string(s.e.Kind)+" "+s.e.Name, s.world.Now(), e, s.open)), false, true
}

func (s *seeking) wait(ctx context.Context, d time.Duration) (out engine.Outcome, more, is bool) {
	if clock.Sleep(ctx, d) != nil {
		return engine.Failed(engine.AsError(context.Cause(ctx))), false, true
	}
	return out, true, true
}

// next is the id of the activity that the effect is next.
func (s *seeking) next() string {
	if n := s.Tries + s.reads; n > 0 {
		return short(fmt.Sprintf("%s~%d", s.e.ID(), n+1))
	}
	return short(s.e.ID())
}

// elsewhere has another worker take the run up, which is the error of the workflow. It returns how the run ends when the search
// is over.
func (g *generation) elsewhere(own *engine.Error) (over *engine.Error, again error) {
	var r refusal
	world.Outside(g.ctx, func() { r = refusal{Worker: g.w.name, Why: g.w.said(context.Background(), own)} })
	s := search{}
	if workflow.IsReplaying(g.ctx) { // what happened in this history would be lost with a new one
		g.handOn(own)
		s.add(r, g.world.Now(), g.in.Find)
		return s.failure("the run", g.world.Now(), own, g.open), nil
	}
	g.logs(refuses, "lacks", own.Error())
	if g.in.Search != nil {
		s = *g.in.Search
	}
	wait, more := s.add(r, g.world.Now(), g.in.Find)
	if !more {
		return s.failure("the run", g.world.Now(), own, g.open), nil
	}
	next := g.in
	next.Search = &s
	for to := workflow.GetSignalChannel(g.ctx, signalName); ; {
		var sent vault.Sealed
		if !to.ReceiveAsync(&sent) {
			break
		}
		next.Unread = append(next.Unread[:len(next.Unread):len(next.Unread)], sent)
	}
	next.Cancelled, next.Why = g.ctx.Err() != nil, g.why()
	o := workflow.ContinueAsNewErrorOptions{BackoffStartInterval: wait}
	return nil, workflow.NewContinueAsNewErrorWithOptions(workflow.WithWorkflowTaskTimeout(g.ctx, taskTime(next)), o, Workflow, next)
}

// handedOn stands in the failure of a task, or of a question, that another worker may answer.
const handedOn = "and hands it on"

// handOn fails the task of a run under way that this worker lacks something for, so that the server hands it to the next one. It
// returns when the worker has got it again and again for as long as one is looked for.
func (g *generation) handOn(own *engine.Error) {
	id := workflow.GetInfo(g.ctx).WorkflowExecution.ID
	if !g.w.turns.over(id, g.in.Find) {
		panic(fmt.Errorf("the worker %s lacks what run %s needs, %s: %w", g.w.name, id, handedOn, own))
	}
}

// turns are the runs under way that a worker has handed on.
type turns struct {
	mu sync.Mutex
	of []turn
}

// turn is when a run was handed on first, and last.
type turn struct {
	run         string
	first, last time.Time
}

// forgotten is after how long a run that another worker seems to have taken is forgotten: the server hands on what failed often
// later each time.
const forgotten = 2 * time.Minute

// over reports whether a run was handed on for longer than a worker is looked for.
func (t *turns) over(run string, longest time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	t.of = slices.DeleteFunc(t.of, func(is turn) bool { return now.Sub(is.last) > forgotten })
	i := slices.IndexFunc(t.of, func(is turn) bool { return is.run == run })
	if i < 0 {
		i = len(t.of)
		t.of = append(t.of, turn{run: run, first: now})
	}
	t.of[i].last = now
	return now.Sub(t.of[i].first) >= lookedFor(longest)
}
