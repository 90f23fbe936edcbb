package temporal

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
)

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
