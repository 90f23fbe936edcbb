package temporal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/record"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// Store is the store of the runs on a Temporal server. While a run is under way, what it recorded is queried from its
// workflow, which needs a worker; afterwards it is the workflow's result. Only workers take runs.
type Store struct {
	c     client.Client
	opts  Options
	vault *vault.Vault
}

var _ engine.Store = (*Store)(nil)

// NewStore returns the store of a client's runs.
func NewStore(c client.Client, o Options) (*Store, error) {
	if o.Blobs == nil {
		return nil, errors.New("a store of runs needs Options.Blobs")
	}
	o = o.withDefaults()
	return &Store{c, o, o.vault()}, nil
}

// Wait waits for the end of a run, and describes it.
func (s *Store) Wait(ctx context.Context, id string) (engine.RunInfo, error) {
	var out Output
	err := s.c.GetWorkflow(ctx, id, "").Get(ctx, &out)
	if err != nil && ctx.Err() != nil {
		return engine.RunInfo{}, store.Stopped(context.Cause(ctx))
	}
	return s.Run(ctx, id)
}

// Run implements [engine.Store].
func (s *Store) Run(ctx context.Context, id string) (engine.RunInfo, error) {
	is, err := s.describe(ctx, id)
	if err != nil {
		return engine.RunInfo{}, err
	}
	if is.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		info := engine.RunInfo{}
		if err := s.query(ctx, id, infoQuery, &info); err != nil {
			return s.infoOf(is), err // what the server knows by itself
		}
		info.Status, info.Live, info.Owner = s.infoOf(is).Status, true, engine.Owner{Name: "the workers of " + s.opts.TaskQueue}
		return info, nil
	}
	info := s.infoOf(is)
	w, err := s.result(ctx, id)
	if err != nil || w.Head.ID == "" {
		return info, err
	}
	w.Describe(&info)
	return info, nil
}

func (s *Store) describe(ctx context.Context, id string) (*workflowpb.WorkflowExecutionInfo, error) {
	d, err := s.c.DescribeWorkflowExecution(ctx, id, "")
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return nil, store.NotFound(id)
	}
	if err != nil {
		return nil, serverError(err)
	}
	return d.WorkflowExecutionInfo, nil
}

// queueOf returns the task queue of a run, which may be another one than that of this store.
func (s *Store) queueOf(ctx context.Context, id string) string {
	d, err := s.c.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return s.opts.TaskQueue
	}
	return cmp.Or(d.GetExecutionConfig().GetTaskQueue().GetName(), s.opts.TaskQueue)
}

func serverError(err error) error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the Temporal server: %w", err)
}

// open opens what workers have sealed.
func (s *Store) open(ctx context.Context, sealed vault.Sealed) ([]byte, error) {
	text, err := s.vault.Open(ctx, sealed)
	if errors.Is(err, vault.ErrCodec) {
		err = unreadable(err)
	}
	return text, err
}

func unreadable(err error) error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "what the run recorded cannot be read: %w", err)
}

// query queries the workflow of a run.
func (s *Store) query(ctx context.Context, id, query string, to any, args ...any) error {
	text, err := s.queryBytes(ctx, id, query, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

func (s *Store) queryBytes(whole context.Context, id, query string, args ...any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(whole, answerTimeout)
	defer cancel()
	v, err := s.c.QueryWorkflow(ctx, id, "", query, args...)
	for waitsForWorker(err) && ctx.Err() == nil { // for a worker that has what others lack
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
		}
		v, err = s.c.QueryWorkflow(ctx, id, "", query, args...)
	}
	_, late := errors.AsType[*serviceerror.DeadlineExceeded](err)
	_, none := errors.AsType[*serviceerror.FailedPrecondition](err) // no worker has polled the queue lately
	if late || none || ctx.Err() == context.DeadlineExceeded {
		queue := s.queueOf(whole, id)
		return nil, engine.Errorf(engine.KindStore, diag.NoWorker, "run %s is running, and no worker of the task queue %q says how far it is", id, queue).
			WithHelp("start one: agentscript temporal worker --task-queue %s", text.ShellWord(queue))
	}
	if err != nil {
		return nil, serverError(err)
	}
	var sealed vault.Sealed
	if err := v.Get(&sealed); err != nil {
		return nil, err
	}
	return s.open(ctx, sealed)
}

// waitsForWorker reports whether the run waits for a worker that has what others lack: its history begins later, or
// ended before it could be queried, or a worker was queried that cannot carry it out.
func waitsForWorker(err error) bool {
	if err == nil {
		return false
	}
	_, later := errors.AsType[*serviceerror.WorkflowNotReady](err)
	return later || slices.ContainsFunc([]string{"unknown queryType agentscript.", "unknown update agentscript.", handOverText}, func(s string) bool { return strings.Contains(err.Error(), s) })
}

// result returns what a run that has ended recorded. It is empty if the workflow was terminated from outside.
func (s *Store) result(ctx context.Context, id string) (w store.Whole, err error) {
	var out Output
	err = s.c.GetWorkflow(ctx, id, "").Get(ctx, &out)
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.HasDetails() {
		err = app.Details(&out)
	} else if gone, ok := errors.AsType[*temporal.CanceledError](err); ok && gone.HasDetails() {
		err = gone.Details(&out)
	} else if _, ok := errors.AsType[*temporal.WorkflowExecutionError](err); ok {
		return w, nil
	}
	if err != nil {
		return w, serverError(err)
	}
	return record.Whole(out.Run, func(part vault.Sealed) ([]byte, error) { return s.open(ctx, part) })
}

// Steps implements [engine.Store].
func (s *Store) Steps(ctx context.Context, id string, after int64, each func(engine.Step) error) error {
	is, err := s.describe(ctx, id)
	if err != nil {
		return err
	}
	if is.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		w, err := s.result(ctx, id)
		if err != nil {
			return err
		}
		for _, step := range w.Steps {
			if step.Seq > after {
				if err := each(step); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for {
		page, err := s.queryBytes(ctx, id, stepsQuery, after)
		if err != nil || len(page) == 0 {
			return err
		}
		for line := range bytes.Lines(page) {
			step, err := runfile.DecodeStep(line)
			if err == nil {
				after = step.Seq
				err = each(step)
			}
			if err != nil {
				return err
			}
		}
	}
}

// pageOfRuns is how many runs the server lists at once. A page of the server's own size was seen to take longer than
// the server waits.
const pageOfRuns = 100

// Runs implements [engine.Store].
func (s *Store) Runs(ctx context.Context, f engine.RunFilter) ([]engine.RunInfo, error) {
	var all []engine.RunInfo
	for next := []byte(nil); ; {
		page, err := s.c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowType STARTS_WITH 'agentscript.v'", NextPageToken: next, PageSize: pageOfRuns})
		if err != nil {
			return nil, serverError(err)
		}
		for _, is := range page.Executions {
			if is.Status == enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW {
				continue
			}
			info := s.infoOf(is)
			if store.Lets(f, &info) {
				all = append(all, info)
			}
		}
		if next = page.NextPageToken; len(next) == 0 || f.Limit > 0 && len(all) >= f.Limit {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b engine.RunInfo) int { return cmp.Or(b.Begun.Compare(a.Begun), strings.Compare(a.ID, b.ID)) })
	if f.Limit > 0 {
		all = all[:min(len(all), f.Limit)]
	}
	return all, nil
}

// infoOf returns what the server knows about a run by itself.
func (s *Store) infoOf(is *workflowpb.WorkflowExecutionInfo) engine.RunInfo {
	info := engine.RunInfo{RunHead: engine.RunHead{ID: is.Execution.WorkflowId}}
	var m startMemo
	if readMemo(is.Memo, memoKey, &m) {
		info.Script, info.Bundle, info.Entry, info.ABI, info.Seed, info.Parent, info.Begun = m.Script, m.Bundle, m.Entry, m.ABI, m.Seed, m.Parent, m.Begun
	}
	info.Status = statusOf(is.Status)
	info.Live = info.Status == engine.RunRunning
	var at statusMemo
	if readMemo(is.Memo, statusKey, &at) {
		info.Steps, info.Waiting, info.Usage = at.Steps, at.Waiting, at.Usage
		if info.Live {
			info.Status = at.Status
		}
	}
	info.Updated = is.StartTime.AsTime()
	if is.CloseTime != nil {
		info.At, info.Updated = is.CloseTime.AsTime(), is.CloseTime.AsTime()
	}
	return info
}

func statusOf(s enumspb.WorkflowExecutionStatus) engine.RunStatus {
	switch s {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW:
		return engine.RunRunning
	case enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return engine.RunDone
	case enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED:
		return engine.RunCancelled
	}
	return engine.RunFailed
}

// DeleteRun implements [engine.Store]. It keeps the run's blobs, since other runs may need them.
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	is, err := s.describe(ctx, id)
	if err != nil {
		return err
	}
	if is.Status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return store.Held(id, engine.Owner{Name: "the workers of " + s.opts.TaskQueue}, time.Time{})
	}
	_, err = s.c.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{Namespace: s.opts.Namespace, WorkflowExecution: is.Execution})
	if err != nil {
		return serverError(err)
	}
	return nil
}

// PutBundle implements [engine.Store].
func (s *Store) PutBundle(ctx context.Context, hash string, b engine.Bundle) error {
	files, err := json.Marshal(b)
	if err == nil {
		_, err = s.vault.Put(ctx, bundleKey(hash), files)
	}
	return err
}

// Bundle implements [engine.Store].
func (s *Store) Bundle(ctx context.Context, hash string) (b engine.Bundle, err error) {
	files, err := s.open(ctx, vault.Sealed{Blob: bundleKey(hash)})
	if errors.Is(err, blob.ErrGone) {
		return b, store.NoBundle(hash)
	}
	if err == nil {
		err = json.Unmarshal(files, &b)
	}
	return b, err
}

// CreateRun implements [engine.Store].
func (s *Store) CreateRun(context.Context, engine.RunHead, engine.Owner) (engine.OpenRun, error) {
	return nil, workersOnly()
}

// TakeRun implements [engine.Store].
func (s *Store) TakeRun(context.Context, string, engine.Owner) (engine.OpenRun, error) {
	return nil, workersOnly()
}

func workersOnly() error {
	return engine.Errorf(engine.KindStore, diag.RunHeld, "runs on Temporal belong to its workers").WithHelp("begin one with Store.Start, or agentscript temporal run")
}

// Close implements [engine.Store]. It leaves the client open, which belongs to the host.
func (s *Store) Close() error { return nil }
