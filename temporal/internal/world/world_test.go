package world_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// discardLogger is a log that discards everything.
type discardLogger struct{}

func (discardLogger) Debug(string, ...any) {}
func (discardLogger) Info(string, ...any)  {}
func (discardLogger) Warn(string, ...any)  {}
func (discardLogger) Error(string, ...any) {}

// inWorkflow runs f inside a workflow of the test environment. Its activity "echo" takes as many milliseconds as its
// argument. task lengthens the history, as happens from one task to the next.
func inWorkflow(t *testing.T, f func(ctx workflow.Context, task func())) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(discardLogger{})
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	env.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		length := 0
		f(ctx, func() {
			length++
			env.SetCurrentHistoryLength(length)
		})
		return nil
	}, workflow.RegisterOptions{Name: "flow"})
	env.RegisterActivityWithOptions(func(_ context.Context, ms int) (int, error) {
		time.Sleep(time.Duration(ms) * time.Millisecond)
		return ms, nil
	}, activity.RegisterOptions{Name: "echo"})
	env.ExecuteWorkflow("flow")
	if err := env.GetWorkflowError(); err != nil || !env.IsWorkflowCompleted() {
		t.Fatalf("the workflow ended with %v", err)
	}
}

// beginOrder returns the order in which the activities of a run begin, of which each branch has one, with the given
// sizes.
func beginOrder(t *testing.T, l world.Limits, sizes []int) (order []int) {
	inWorkflow(t, func(ctx workflow.Context, task func()) {
		w := world.New(ctx, l, func() error { return nil })
		w.OnRest(task)
		s := sched.NewIn(w)
		err := s.Par(len(sizes), 0, func(i int, b engine.Sched) error {
			out := b.Do(engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
				var ms int
				a := world.Activity{Name: "echo", Options: workflow.ActivityOptions{StartToCloseTimeout: time.Minute}, Size: sizes[i], Begins: func() { order = append(order, i) }}
				if err := w.Do(ctx, a, i*7%5, &ms); err != nil {
					return engine.Failed(engine.AsError(err))
				}
				return engine.Outcome{}
			}), &engine.Effect{}, nil)
			if out.Err != nil {
				return out.Err
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	return order
}

// Activities begin in the order in which branches reach them, and in the same order in every run, whichever ends first
// and even if a large one does not fit next to small ones.
func TestTurns(t *testing.T) {
	var sizes []int
	for i := range 60 {
		sizes = append(sizes, []int{10, 10, 95, 40, 10}[i%5])
	}
	for _, l := range []world.Limits{{AtOnce: 3, Bytes: 1 << 20}, {AtOnce: 200, Bytes: 100}, {AtOnce: 4, Bytes: 100}} {
		l.Events, l.Size = 1<<20, 1<<30
		t.Run(fmt.Sprintf("%d of %d bytes", l.AtOnce, l.Bytes), func(t *testing.T) {
			for range 3 {
				if order := beginOrder(t, l, sizes); len(order) != len(sizes) || !slices.IsSorted(order) {
					t.Fatalf("they began in the order %v", order)
				}
			}
		})
	}
}
