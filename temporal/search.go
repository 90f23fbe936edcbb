package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
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
	next.Unread = g.unread()
	next.Cancelled, next.Why = g.ctx.Err() != nil, g.why()
	o := workflow.ContinueAsNewErrorOptions{BackoffStartInterval: wait}
	return nil, workflow.NewContinueAsNewErrorWithOptions(workflow.WithWorkflowTaskTimeout(g.ctx, taskTime(next)), o, Workflow, next)
}

// handedOn stands in the failure of a task, or of a question, that another worker may answer.
const handedOn = "and hands it on"

// handOn fails the task of a run under way that this worker lacks something for, so that the server hands it to the next one. It
// returns when that went on for as long as one is looked for.
func (g *generation) handOn(own *engine.Error) {
	if !g.over() {
		panic(fmt.Errorf("the worker %s lacks what run %s needs, %s: %w", g.w.name, workflow.GetInfo(g.ctx).WorkflowExecution.ID, handedOn, own))
	}
}

// patience is how many times as long a task of a run under way is handed on: the server does so every 10 s, and then less often.
const patience = 4

// over reports whether the task at hand of the run was handed from worker to worker for as long as one is looked for, as the server
// says. Where there is no task somebody asks how far the run is, whom another worker may answer.
func (g *generation) over() (is bool) {
	if g.w.client == nil { // in a test environment, which has no other worker
		return true
	}
	world.Outside(g.ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
		defer cancel()
		d, err := g.w.client.DescribeWorkflowExecution(ctx, workflow.GetInfo(g.ctx).WorkflowExecution.ID, "")
		if err != nil || d.PendingWorkflowTask == nil {
			return
		}
		first := d.PendingWorkflowTask.OriginalScheduledTime
		is = first != nil && time.Since(first.AsTime()) >= patience*lookedFor(g.in.Find)
	})
	return is
}
