package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// A worker that lacks something that others have, such as a grant, a tool, a key or a blob, refuses what it was handed.
// The effect has not begun, so that another worker may take it, whatever its class.
const (
	refusedFailure    = "agentscript.refused" // the type of the activity's failure; its details are a [refusal]
	unreadableFailure = "agentscript.unread"  // the type of the failure of an activity whose store cannot be reached for now
)

// refusal is what one worker lacks.
type refusal struct {
	Worker string       `json:"worker"`
	Why    vault.Sealed `json:"why"`             // an [engine.Error]
	Alone  bool         `json:"alone,omitempty"` // no other worker polls the queue
}

// workerSearch is the search of a run for a worker that has what those that refused lack.
type workerSearch struct {
	Since time.Time `json:"since"`
	Tries int       `json:"tries"`
	By    []refusal `json:"by"` // one for each worker
}

// maxNamedWorkers bounds the workers that a search names.
const maxNamedWorkers = 20

// searchTimeout is how long a run looks for a worker unless it was started with another time. If there is no other
// worker, it looks no longer than searchTimeoutAlone, in case one is starting.
const (
	searchTimeout      = 30 * time.Second
	searchTimeoutAlone = 3 * time.Second
)

func searchTime(longest time.Duration) time.Duration { return cmp.Or(longest, searchTimeout) }

// add adds a refusal. It returns how long to wait before the next worker is asked; more is false when the search is
// over.
func (s *workerSearch) add(r refusal, now time.Time, longest time.Duration) (wait time.Duration, more bool) {
	if s.Tries == 0 {
		s.Since = now
	}
	s.Tries++
	if i := slices.IndexFunc(s.By, func(is refusal) bool { return is.Worker == r.Worker }); i >= 0 {
		s.By[i] = r
	} else if len(s.By) < maxNamedWorkers {
		s.By = append(s.By[:len(s.By):len(s.By)], r)
	}
	left := searchTime(longest) - now.Sub(s.Since)
	if longest == 0 && r.Alone && len(s.By) == 1 {
		left = min(left, searchTimeoutAlone-now.Sub(s.Since))
	}
	return min(250*time.Millisecond<<min(s.Tries-1, 5), 3*time.Second, max(left, 0)), left > 0
}

// failure returns the error of a run, or of an effect, that no worker took. It has the kind and code of the last
// refusal, and names all workers and what they lack.
func (s *workerSearch) failure(what string, now time.Time, last *engine.Error, open func(vault.Sealed) ([]byte, error)) *engine.Error {
	var all []string
	for _, r := range s.By {
		why := "it does not say why"
		var e engine.Error
		if text, err := open(r.Why); err == nil && json.Unmarshal(text, &e) == nil {
			why = e.Error()
		}
		all = append(all, "worker "+r.Worker+": "+why)
	}
	took := ""
	if d := now.Sub(s.Since).Round(time.Second); d > 0 {
		took = " within " + d.String()
	}
	return engine.Errorf(last.Kind, last.Code, "no worker took %s%s: %s", what, took, strings.Join(all, "; ")).
		WithHelp("%s", strings.TrimPrefix(last.Help+"; see that all workers of the task queue have the same", "; "))
}

const refusedMessage = "refused: another worker may take it"

// refuse returns the failure of an activity for which the worker lacks something.
func (w *Worker) refuse(ctx context.Context, what string, e *engine.Error) error {
	info := activity.GetInfo(ctx)
	attrs := []any{"run", info.WorkflowExecution.ID, "effect", what, "lacks", e.Error()}
	if w.opts.Log != nil {
		w.opts.Log.Info(refusedMessage, attrs...)
	} else {
		activity.GetLogger(ctx).Info(refusedMessage, attrs...)
	}
	r := refusal{Worker: w.name, Why: w.sealReason(ctx, e), Alone: w.onlyPoller(ctx, enumspb.TASK_QUEUE_TYPE_ACTIVITY)}
	return temporal.NewApplicationErrorWithOptions(w.failureText(e), refusedFailure, temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{r}, Category: temporal.ApplicationErrorCategoryBenign})
}

// onlyPoller reports whether this worker is the only one that has lately polled its queue for tasks of workflows or of
// activities.
func (w *Worker) onlyPoller(ctx context.Context, sort enumspb.TaskQueueType) bool {
	if w.client == nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	queue, err := w.client.DescribeTaskQueue(ctx, w.opts.TaskQueue, sort)
	if err != nil {
		return false
	}
	pollers := queue.GetPollers()
	return !slices.ContainsFunc(pollers, func(p *taskqueuepb.PollerInfo) bool { return p.Identity != pollers[0].Identity })
}

// sealReason seals why a worker refuses. It is short, so that it reaches the run even if the blob store cannot be
// written.
func (w *Worker) sealReason(ctx context.Context, e *engine.Error) vault.Sealed {
	own := &engine.Error{Kind: e.Kind, Code: e.Code, Message: messageText(e.Message), Help: messageText(e.Help)}
	text, err := json.Marshal(own)
	if err != nil {
		return vault.Sealed{}
	}
	sealed, err := w.vault.Seal(ctx, text, false)
	if err != nil {
		return vault.Sealed{}
	}
	return sealed
}

// failureText returns the text of a failure in the history. If histories are encoded, it is no more than the code.
func (w *Worker) failureText(e *engine.Error) string {
	if w.opts.Codec != nil {
		return "see agentscript explain " + string(e.Code)
	}
	return messageText(e.Error())
}

// lacks reports whether an effect did not begin because the worker lacks something that another one may have. What the
// grants of a run do not allow, no other worker may do.
func lacks(out engine.Outcome, held bool) bool {
	if out.Err == nil || out.Usage.In > 0 {
		return false
	}
	switch out.Err.Code {
	case diag.UngrantedUse:
		return !held && !capability.Redirected(out.Err) // the request before the redirect was made
	case diag.ServerNotGranted:
		return !held
	case diag.UnknownTool, diag.MissingKey, diag.NoModel, diag.UnknownProvider, diag.NoServers, diag.NoSecret, diag.NoSession:
		return out.Err.Kind == engine.KindConfig // the failures of tools have another kind
	}
	return false
}

// refusalOf returns the refusal that an activity failed with, and its error.
func (x *execution) refusalOf(err error) (r refusal, e *engine.Error, is bool) {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if !ok || app.Type() != refusedFailure {
		return r, nil, false
	}
	e = engine.Errorf(engine.KindStore, diag.StoreFailed, "%s", app.Message())
	if app.Details(&r) == nil {
		var own engine.Error
		if text, err := x.open(r.Why); err == nil && json.Unmarshal(text, &own) == nil && own.Code != "" {
			e = &own
		}
	}
	return r, e, true
}

// effectSearch is the search for a worker for one effect.
type effectSearch struct {
	dispatcher
	workerSearch
	e           *engine.Effect
	failedReads int // failed reads of the request
}

// retry waits until the effect is handed to a worker once more. more is false when the search is over, with its
// outcome. is is false if err is no refusal. What no worker had before is not searched for again.
func (s *effectSearch) retry(ctx context.Context, err error) (out engine.Outcome, more, is bool) {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	if ok && app.Type() == unreadableFailure && ctx.Err() == nil { // it exists, and cannot be reached for now
		s.record.MarkRefused(s.e.ID())
		s.failedReads++
		return s.wait(ctx, min(200*time.Millisecond<<min(s.failedReads-1, 6), 10*time.Second))
	}
	r, e, is := s.refusalOf(err)
	if !is || ctx.Err() != nil {
		return out, false, false
	}
	s.record.MarkRefused(s.e.ID())
	key := string(e.Code) + " " + e.Message
	wait, more := s.add(r, s.world.Now(), s.in.Find)
	before, known := s.lacking[key]
	switch {
	case known:
		s.By = before
	case !more:
		s.lacking[key] = s.By
	case !s.in.Pin || !actsOnWorker(s.e): // else no other worker may
		return s.wait(ctx, wait)
	}
	return engine.Failed(s.failure(string(s.e.Kind)+" "+s.e.Name, s.world.Now(), e, s.open)), false, true
}

func (s *effectSearch) wait(ctx context.Context, d time.Duration) (out engine.Outcome, more, is bool) {
	if clock.Sleep(ctx, d) != nil {
		return engine.Failed(engine.AsError(context.Cause(ctx))), false, true
	}
	return out, true, true
}

// nextActivityID returns the id of the effect's next activity.
func (s *effectSearch) nextActivityID() string {
	if n := s.Tries + s.failedReads; n > 0 {
		return activityID(fmt.Sprintf("%s~%d", s.e.ID(), n+1))
	}
	return activityID(s.e.ID())
}

// tryElsewhere lets another worker take up the run: again is the error that the workflow ends with. When the search is
// over, it returns how the run ends.
func (x *execution) tryElsewhere(own *engine.Error) (over *engine.Error, again error) {
	var r refusal
	world.Outside(x.ctx, func() {
		ctx := context.Background()
		r = refusal{Worker: x.w.name, Why: x.w.sealReason(ctx, own), Alone: x.w.onlyPoller(ctx, enumspb.TASK_QUEUE_TYPE_WORKFLOW)}
	})
	s := workerSearch{}
	if workflow.IsReplaying(x.ctx) { // a new history would lose what happened in this one
		x.handOver(own)
		s.add(r, x.world.Now(), x.in.Find)
		return s.failure("the run", x.world.Now(), own, x.open), nil
	}
	x.log(refusedMessage, "lacks", own.Error())
	if x.in.Search != nil {
		s = *x.in.Search
	}
	wait, more := s.add(r, x.world.Now(), x.in.Find)
	if !more {
		return s.failure("the run", x.world.Now(), own, x.open), nil
	}
	next := x.in
	next.Search = &s
	next.Unread = x.pendingSignals()
	next.Cancelled, next.Why = x.ctx.Err() != nil, x.cancelReason()
	o := workflow.ContinueAsNewErrorOptions{BackoffStartInterval: wait}
	return nil, workflow.NewContinueAsNewErrorWithOptions(workflow.WithWorkflowTaskTimeout(x.ctx, taskTime(next)), o, Workflow, next)
}

// handOverText is part of the failure of a task or query that another worker may answer.
const handOverText = "and hands it on"

// handOver fails the task of a run under way for which this worker lacks something, so that the server hands it to the
// next worker. It returns once that has continued for as long as a run looks for one.
func (x *execution) handOver(own *engine.Error) {
	if !x.handOverExpired() {
		panic(fmt.Errorf("the worker %s lacks what run %s needs, %s: %w", x.w.name, workflow.GetInfo(x.ctx).WorkflowExecution.ID, handOverText, own))
	}
}

// handOverFactor is how many times longer a task of a run under way is handed on: the server does so every 10 s, and
// then less often.
const handOverFactor = 4

// handOverExpired reports whether the current task of the run has been handed from worker to worker for as long as a
// run looks for one, according to the server. If there is no task, this is a query, which another worker may answer.
func (x *execution) handOverExpired() (is bool) {
	if x.w.client == nil { // in a test environment, which has no other worker
		return true
	}
	world.Outside(x.ctx, func() {
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		d, err := x.w.client.DescribeWorkflowExecution(ctx, workflow.GetInfo(x.ctx).WorkflowExecution.ID, "")
		if err != nil || d.PendingWorkflowTask == nil {
			return
		}
		first := d.PendingWorkflowTask.OriginalScheduledTime
		is = first != nil && time.Since(first.AsTime()) >= handOverFactor*searchTime(x.in.Find)
	})
	return is
}
