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

// Workflow is the type of the workflow of a run. Runs of another abi have another one, so that no worker takes up what it
// would repeat otherwise.
var Workflow = "agentscript.v" + strconv.Itoa(engine.ABI)

// effectActivity is the type of the activity that an effect is.
const effectActivity = "agentscript.effect"

// Worker carries out runs and their effects.
type Worker struct {
	name   string        // in messages
	client client.Client // nil in a test environment
	engine *agentscript.Engine
	opts   Options
	vault  *vault.Vault

	modules modules.Modules
}

// stopWithin is how long a worker that is stopped waits for its effects: one that must not happen twice is unknown if its worker
// ends before it.
const stopWithin = 30 * time.Second

// longestTask is how long a run may compute in one task, of which the server takes no longer one. What bounds it is its own limit
// of steps: the client library would take a large record that is read, on a busy machine, for a workflow that hangs.
const longestTask = 2 * time.Minute

// NewWorker returns a worker of a client's server that has not begun: Start, Run and Stop are those of the client library.
// More can be set in w.
func NewWorker(c client.Client, e *agentscript.Engine, o Options, w worker.Options) (worker.Worker, error) {
	own, err := newWorker(e, o)
	if err != nil {
		return nil, err
	}
	if w.MaxHeartbeatThrottleInterval == 0 {
		w.MaxHeartbeatThrottleInterval = heartbeats(own.opts.Heartbeat)
	}
	if w.WorkerStopTimeout == 0 {
		w.WorkerStopTimeout = stopWithin
	}
	if w.DeadlockDetectionTimeout == 0 {
		w.DeadlockDetectionTimeout = longestTask
	}
	w.EnableSessionWorker = true // for runs that are pinned
	own.client = c
	to := worker.New(c, own.opts.TaskQueue, w)
	if own.name = w.Identity; own.name == "" {
		host, _ := os.Hostname() // the number of the process is something
		own.name = strconv.Itoa(os.Getpid()) + "@" + host
	}
	if !w.DisableWorkflowWorker {
		own.carriesRuns(to)
	}
	own.carriesEffects(to)
	return to, nil
}

func newWorker(e *agentscript.Engine, o Options) (*Worker, error) {
	if e == nil || o.Blobs == nil {
		return nil, errors.New("a worker needs an engine and Options.Blobs")
	}
	o = o.withDefaults()
	return &Worker{engine: e, opts: o, vault: o.vault()}, nil
}

func (w *Worker) carriesRuns(to worker.WorkflowRegistry) {
	// Where the host's worker.Options name a version of a deployment, a run goes on with the one that began it.
	to.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: Workflow, VersioningBehavior: workflow.VersioningBehaviorPinned})
}

func (w *Worker) carriesEffects(to worker.ActivityRegistry) {
	to.RegisterActivityWithOptions(w.effect, activity.RegisterOptions{Name: effectActivity})
}

// NewReplayer returns what replays histories of runs by this version of the program, to see before it is rolled out that it goes
// on with the runs of the one before. No effect is carried out. Options are those of the workers: what histories refer to is
// read from their blobs.
func NewReplayer(e *agentscript.Engine, o Options) (worker.WorkflowReplayer, error) {
	w, err := newWorker(e, o)
	if err != nil {
		return nil, err
	}
	w.name = "of replays"
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true}) // see longestTask
	if err != nil {
		return nil, err
	}
	r.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: Workflow})
	return r, nil
}
