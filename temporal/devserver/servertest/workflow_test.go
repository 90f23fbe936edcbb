package servertest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

const queue = "servertest"

func slogDiscard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// counter is an activity that counts how often each step ran.
type counter struct {
	mu    sync.Mutex
	ran   map[int]int
	pause time.Duration
}

func (c *counter) Step(_ context.Context, i int) (int, error) {
	time.Sleep(c.pause)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran[i]++
	return i, nil
}

func (c *counter) steps() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.ran)
}

// steps is a workflow of n activities, one after the other. It sums up what they return.
func steps(ctx workflow.Context, n int) (int, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 3 * time.Second,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond},
	})
	sum := 0
	for i := range n {
		var got int
		if err := workflow.ExecuteActivity(ctx, "Step", i).Get(ctx, &got); err != nil {
			return 0, err
		}
		sum += got
	}
	return sum, nil
}

// asked is a workflow that ends with the value that an update sends.
func asked(ctx workflow.Context) (string, error) {
	answer := ""
	err := workflow.SetUpdateHandler(ctx, "answer", func(_ workflow.Context, text string) (int, error) {
		answer = text
		return len(text), nil
	})
	if err != nil {
		return "", err
	}
	err = workflow.Await(ctx, func() bool { return answer != "" })
	return answer, err
}

// work runs a worker for the test's workflows.
func work(t *testing.T, c client.Client, count *counter, o worker.Options) {
	t.Helper()
	w := worker.New(c, queue, o)
	w.RegisterWorkflow(steps)
	w.RegisterWorkflow(asked)
	w.RegisterActivityWithOptions(count.Step, activity.RegisterOptions{Name: "Step"})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
}

// result returns the result of a run.
func result[T any](t *testing.T, run client.WorkflowRun) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var got T
	if err := run.Get(ctx, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func execute(t *testing.T, c client.Client, o client.StartWorkflowOptions, wf any, args ...any) client.WorkflowRun {
	t.Helper()
	o.TaskQueue = queue
	run, err := c.ExecuteWorkflow(context.Background(), o, wf, args...)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestSequentialSteps holds the server to the configuration that makes a lone workflow fast: with
// the defaults of one shard a step takes 50 to 100 ms.
func TestSequentialSteps(t *testing.T) {
	for name, args := range map[string][]string{
		"memory": nil,
		"file":   {"--db", filepath.Join(t.TempDir(), "t.db")},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, append(args, "--addr", "127.0.0.1:0")...)
			c := dial(t, p, "default")
			count := &counter{ran: map[int]int{}}
			work(t, c, count, worker.Options{})
			result[int](t, execute(t, c, client.StartWorkflowOptions{}, steps, 10)) // warms up
			const n = 200
			begun := time.Now()
			if got := result[int](t, execute(t, c, client.StartWorkflowOptions{}, steps, n)); got != n*(n-1)/2 {
				t.Errorf("sum %d", got)
			}
			per := time.Since(begun) / n
			t.Logf("%v a step", per)
			if per > 30*time.Millisecond {
				t.Errorf("%v a step: the queues are polled at the default rate", per)
			}
		})
	}
}

func TestKilledServerGoesOn(t *testing.T) {
	db := filepath.Join(t.TempDir(), "t.db")
	p := start(t, "--addr", "127.0.0.1:0", "--db", db)
	c := dial(t, p, "default")
	count := &counter{ran: map[int]int{}, pause: 20 * time.Millisecond}
	work(t, c, count, worker.Options{})
	const n = 40
	run := execute(t, c, client.StartWorkflowOptions{ID: "survivor"}, steps, n)
	for deadline := time.Now().Add(30 * time.Second); count.steps() < 10; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the workflow does not advance")
		}
	}
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	if before := count.steps(); before >= n {
		t.Fatalf("killed too late: %d steps", before)
	}
	killed := time.Now()
	start(t, "--addr", p.Address, "--db", db)
	if got := result[int](t, run); got != n*(n-1)/2 {
		t.Errorf("sum %d", got)
	}
	took := time.Since(killed).Round(time.Millisecond)
	count.mu.Lock()
	defer count.mu.Unlock()
	again := 0
	for _, times := range count.ran {
		again += times - 1
	}
	t.Logf("ended %v after the kill, %d steps run again", took, again)
	// The step in flight may run twice, but no step that was answered.
	if len(count.ran) != n || again > 1 {
		t.Errorf("%d different steps, %d run again", len(count.ran), again)
	}
}

func TestUpdate(t *testing.T) {
	p := start(t, "--addr", "127.0.0.1:0")
	c := dial(t, p, "default")
	work(t, c, &counter{ran: map[int]int{}}, worker.Options{})
	run := execute(t, c, client.StartWorkflowOptions{ID: "asked"}, asked)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	update, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: "asked", UpdateName: "answer", Args: []any{"yes"}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		t.Fatal(err)
	}
	var length int
	if err := update.Get(ctx, &length); err != nil || length != 3 {
		t.Errorf("update: %d, %v", length, err)
	}
	if got := result[string](t, run); got != "yes" {
		t.Errorf("result %q", got)
	}
}

// TestDeployment runs a workflow on a worker version that was made the current one.
func TestDeployment(t *testing.T) {
	p := start(t, "--addr", "127.0.0.1:0")
	c := dial(t, p, "default")
	version := worker.WorkerDeploymentVersion{DeploymentName: "flows", BuildID: "b1"}
	work(t, c, &counter{ran: map[int]int{}}, worker.Options{DeploymentOptions: worker.DeploymentOptions{
		UseVersioning: true, Version: version, DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	handle := c.WorkerDeploymentClient().GetHandle(version.DeploymentName)
	for {
		_, err := handle.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: version.BuildID})
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // the version is known once its worker has polled
	}
	run := execute(t, c, client.StartWorkflowOptions{}, steps, 3)
	result[int](t, run)
	described, err := c.DescribeWorkflowExecution(ctx, run.GetID(), run.GetRunID())
	if err != nil {
		t.Fatal(err)
	}
	if got := described.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId(); got != "b1" {
		t.Errorf("ran on build %q", got)
	}
}

// TestSearchAttributes finds workflows by an attribute that the server started with, and by one that a later server
// adds to the same file.
func TestSearchAttributes(t *testing.T) {
	db := filepath.Join(t.TempDir(), "t.db")
	find := func(p *process, name string) {
		t.Helper()
		c := dial(t, p, "default")
		key := temporal.NewSearchAttributeKeyKeyword(name)
		execute(t, c, client.StartWorkflowOptions{
			ID: "by " + name, TypedSearchAttributes: temporal.NewSearchAttributes(key.ValueSet("x")),
		}, asked)
		query := &workflowservice.ListWorkflowExecutionsRequest{Query: name + " = 'x'"}
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			found, err := c.ListWorkflow(context.Background(), query)
			if err != nil {
				t.Fatal(err)
			}
			if len(found.GetExecutions()) == 1 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d workflows found by %s", len(found.GetExecutions()), name)
			}
		}
	}
	p := start(t, "--addr", "127.0.0.1:0", "--db", db, "--search-attribute", "Script=Keyword")
	find(p, "Script")
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.end(t)
	p = start(t, "--addr", "127.0.0.1:0", "--db", db, "--search-attribute", "Script=Keyword", "--search-attribute", "Owner=Keyword")
	find(p, "Owner")
	find(p, "Script")
}
