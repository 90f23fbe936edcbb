package temporal

import (
	"errors"
	"os"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal/internal/modules"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// Workflow is the workflow type of runs. Runs of another ABI have another type, so that no worker takes up a run that
// it would replay differently.
var Workflow = "agentscript.v" + strconv.Itoa(engine.ABI)

// effectActivity is the activity type of effects.
const effectActivity = "agentscript.effect"

// Worker carries out runs and their effects.
type Worker struct {
	name   string        // for messages
	client client.Client // nil in a test environment
	engine *agentscript.Engine
	opts   Options
	vault  *vault.Vault

	modules modules.Modules
}

// stopTimeout is how long a stopped worker waits for its effects: the outcome of an effect that must not happen twice
// is unknown if the worker ends first.
const stopTimeout = 30 * time.Second

// maxTaskTime is how long a run may compute in one workflow task; the server accepts no longer timeout. The run's own
// limit of steps bounds its computation: with a shorter deadlock timeout, the client library would mistake reading a
// large record on a busy machine for a workflow that hangs.
const maxTaskTime = 2 * time.Minute

// NewWorker returns a worker for the server of a client. The worker has not started: Start, Run and Stop are those of
// the client library. w sets further options.
func NewWorker(c client.Client, e *agentscript.Engine, o Options, w worker.Options) (worker.Worker, error) {
	own, err := newWorker(e, o)
	if err != nil {
		return nil, err
	}
	if w.MaxHeartbeatThrottleInterval == 0 {
		w.MaxHeartbeatThrottleInterval = heartbeatInterval(own.opts.Heartbeat)
	}
	if w.WorkerStopTimeout == 0 {
		w.WorkerStopTimeout = stopTimeout
	}
	if w.DeadlockDetectionTimeout == 0 {
		w.DeadlockDetectionTimeout = maxTaskTime
	}
	w.EnableSessionWorker = true // for runs that are pinned
	own.client = c
	to := worker.New(c, own.opts.TaskQueue, w)
	if own.name = w.Identity; own.name == "" {
		host, _ := os.Hostname() // without a host name, the process id is better than nothing
		own.name = strconv.Itoa(os.Getpid()) + "@" + host
	}
	if !w.DisableWorkflowWorker {
		own.registerWorkflow(to)
	}
	own.registerActivity(to)
	return to, nil
}

func newWorker(e *agentscript.Engine, o Options) (*Worker, error) {
	if e == nil || o.Blobs == nil {
		return nil, errors.New("a worker needs an engine and Options.Blobs")
	}
	o = o.withDefaults()
	return &Worker{engine: e, opts: o, vault: o.vault()}, nil
}

func (w *Worker) registerWorkflow(to worker.WorkflowRegistry) {
	// If the host's worker.Options name a deployment version, a run stays with the version that began it.
	to.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: Workflow, VersioningBehavior: workflow.VersioningBehaviorPinned})
}

func (w *Worker) registerActivity(to worker.ActivityRegistry) {
	to.RegisterActivityWithOptions(w.effect, activity.RegisterOptions{Name: effectActivity})
}

// NewReplayer returns a replayer of run histories for this version of the program. Before a version is rolled out, it
// shows whether the version can continue the runs of the previous one. It carries out no effects. The options are those
// of the workers: what histories refer to is read from their blobs.
func NewReplayer(e *agentscript.Engine, o Options) (worker.WorkflowReplayer, error) {
	w, err := newWorker(e, o)
	if err != nil {
		return nil, err
	}
	w.name = "of replays"
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // see maxTaskTime
	if err != nil {
		return nil, err
	}
	r.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: Workflow})
	return r, nil
}
