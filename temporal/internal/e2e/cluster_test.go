package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/temporal"
)

// cluster is a server with a client, a directory of blobs and a file in which effects are recorded.
type cluster struct {
	*temporal.Store
	t      *testing.T
	server *server
	job    job
	client client.Client

	workers []*exec.Cmd
	runs    []string // that were started
}

// queues counts clusters, each of which has its own task queue.
var queues atomic.Int32

// newCluster returns a cluster with its own queue on a server. set changes its job first.
func newCluster(t *testing.T, s *server, set ...func(*job)) *cluster {
	t.Helper()
	dir := t.TempDir()
	cl := &cluster{t: t, server: s, job: job{Address: s.address, Queue: fmt.Sprintf("%s.%d", strings.ReplaceAll(t.Name(), "/", "."), queues.Add(1)), Blobs: filepath.Join(dir, "blobs"), World: filepath.Join(dir, "world"), Sticky: -1}}
	for _, f := range set {
		f(&cl.job)
	}
	c, err := client.Dial(client.Options{HostPort: s.address, Logger: logger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	cl.client = c
	cl.setOptions(cl.job.options())
	t.Cleanup(func() { cl.checkReplays(t) })
	return cl
}

// maxReplayedEvents bounds the events of a run that are replayed after its test.
const maxReplayedEvents = 4000

// checkReplays replays the histories of all runs of a test that passed, up to their current state, and fails the test
// if a replay differs.
func (c *cluster) checkReplays(t *testing.T) {
	if t.Failed() || t.Skipped() || c.server != common { // a test's own server has ended
		return
	}
	if _, err := os.Stat(c.job.Blobs); err != nil { // the test removed them
		return
	}
	r, err := temporal.NewReplayer(recordingEngine(&c.job), c.job.options())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, id := range c.runs {
		n := 0
		for i, events := range c.historiesIn(ctx, t, id) {
			if n += len(events); n > maxReplayedEvents {
				break
			}
			if handedOver(events) {
				continue
			}
			if err := r.ReplayWorkflowHistory(logger(), &historypb.History{Events: events}); err != nil {
				t.Errorf("history %d of run %s is replayed otherwise: %v", i, id, err)
			}
		}
	}
}

// handedOver reports whether a worker that lacked something ended a history before it published the run's status: other
// workers do not end it like that. No worker replays a history that has ended.
func handedOver(events []*historypb.HistoryEvent) bool {
	switch events[len(events)-1].EventType {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:
		return !slices.ContainsFunc(events, func(e *historypb.HistoryEvent) bool {
			return e.EventType == enumspb.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED
		})
	}
	return false
}

// setOptions starts further runs with other options.
func (c *cluster) setOptions(o temporal.Options) {
	c.t.Helper()
	is := c.job.options()
	o.TaskQueue, o.Blobs = is.TaskQueue, is.Blobs
	s, err := temporal.NewStore(c.client, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.Store = s
}

// countListed counts the workflows that match a query.
func (c *cluster) countListed(query string) int {
	c.t.Helper()
	page, err := c.client.ListWorkflow(c.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
	if err != nil {
		c.t.Fatal(err)
	}
	return len(page.Executions)
}

// worker starts a worker process, which ends with the test at the latest.
func (c *cluster) worker(name string, set ...func(*job)) *exec.Cmd {
	c.t.Helper()
	j := c.job
	j.Name = name
	for _, f := range set {
		f(&j)
	}
	cmd := startProcess(c.t, j)
	c.workers = append(c.workers, cmd)
	return cmd
}

// startProcess starts the process of a job.
func startProcess(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the worker said %q, %v", line, err)
	}
	return cmd
}

func bundle(script string) engine.Bundle {
	return engine.Bundle{Entry: "flow.star", Files: map[string][]byte{"flow.star": []byte(script)}}
}

// startRun starts a run of a script.
func (c *cluster) startRun(script string, opts ...agentscript.RunOption) string {
	c.t.Helper()
	m, err := recordingEngine(&c.job).LoadBundle(c.t.Context(), bundle(script), "flow.star")
	if err != nil {
		c.t.Fatal(err)
	}
	id, err := c.Start(c.t.Context(), m, "main", opts...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.runs = append(c.runs, id)
	return id
}

// runTimeout is how long a run of a test may take.
func runTimeout() time.Duration {
	if full() {
		return 20 * time.Minute
	}
	return 5 * time.Minute
}

// full reports whether slow tests run in full.
func full() bool { return os.Getenv("AGENTSCRIPT_TEMPORAL_FULL") != "" && !testing.Short() }

// waitEnd waits for the end of a run.
func (c *cluster) waitEnd(id string) engine.RunInfo {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), runTimeout())
	defer cancel()
	info, err := c.Wait(ctx, id)
	if err != nil {
		c.t.Fatal(err)
	}
	return info
}

// wantDone fails the test unless a run completes with a text, and returns how often each effect began.
func (c *cluster) wantDone(id, text string) (starts map[string]int) {
	c.t.Helper()
	info := c.waitEnd(id)
	if info.Status != engine.RunDone || info.Text != text {
		c.t.Errorf("%s %.200q %s, want %q", info.Status, info.Text, info.Err, text)
	}
	starts, _ = c.counts()
	return starts
}

// wantFailed returns how a run failed.
func (c *cluster) wantFailed(id string) (e engine.Error) {
	c.t.Helper()
	info := c.waitEnd(id)
	if info.Status != engine.RunFailed {
		c.t.Fatalf("%s %.200q %s", info.Status, info.Text, info.Err)
	}
	if err := json.Unmarshal(info.Err, &e); err != nil {
		c.t.Fatalf("%s: %v", info.Err, err)
	}
	return e
}

// wantEffects fails the test unless exactly n effects began, each once.
func (c *cluster) wantEffects(n int) {
	c.t.Helper()
	starts, _ := c.counts()
	for at, n := range starts {
		if n != 1 {
			c.t.Errorf("%s began %d times", at, n)
		}
	}
	if len(starts) != n {
		c.t.Errorf("%d effects began, want %d", len(starts), n)
	}
}

// wantNotRepeated fails the test if a recorded effect began more than once.
func (c *cluster) wantNotRepeated(recorded map[string]bool) {
	c.t.Helper()
	starts, _ := c.counts()
	for at, n := range starts {
		_, id, _ := strings.Cut(at, " ")
		if n > 1 && recorded[id] {
			c.t.Errorf("%s was recorded, and began %d times", id, n)
		}
	}
}

// waitEffects waits until n effects have begun.
func (c *cluster) waitEffects(n int) {
	c.t.Helper()
	hang.Until(c.t, "effects have begun", func() bool { starts, _ := c.counts(); return len(starts) >= n })
}

// histories returns the histories of a run, the first one first. The server lists them with some delay.
func (c *cluster) histories(id string) (all [][]*historypb.HistoryEvent) {
	c.t.Helper()
	return c.historiesIn(c.t.Context(), c.t, id)
}

func (c *cluster) historiesIn(ctx context.Context, t *testing.T, id string) (all [][]*historypb.HistoryEvent) {
	t.Helper()
	is, err := c.client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		t.Fatal(err)
	}
	for run := is.WorkflowExecutionInfo.FirstRunId; run != ""; {
		var one []*historypb.HistoryEvent
		for h := c.client.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); h.HasNext(); {
			e, err := h.Next()
			if err != nil {
				t.Fatal(err)
			}
			one = append(one, e)
		}
		all = append(all, one)
		run = one[len(one)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
	}
	return all
}

// recorded returns the ids of the effects whose outcome is in the histories of a run.
func (c *cluster) recorded(id string) map[string]bool {
	c.t.Helper()
	ids := map[string]bool{}
	for _, events := range c.histories(id) {
		for _, e := range events {
			if done := e.GetActivityTaskCompletedEventAttributes(); done != nil {
				ids[events[done.ScheduledEventId-1].GetActivityTaskScheduledEventAttributes().ActivityId] = true
			}
		}
	}
	return ids
}

// countTypes counts the events of a history by their type.
func countTypes(events []*historypb.HistoryEvent) map[enumspb.EventType]int {
	n := map[enumspb.EventType]int{}
	for _, e := range events {
		n[e.EventType]++
	}
	return n
}

// size returns the size of a run's last history in bytes.
func (c *cluster) size(id string) int64 {
	c.t.Helper()
	is, err := c.client.DescribeWorkflowExecution(c.t.Context(), id, "")
	if err != nil {
		c.t.Fatal(err)
	}
	return is.WorkflowExecutionInfo.HistorySizeBytes
}

// waitingStep returns the step that a run waits for.
func (c *cluster) waitingStep(id string) (step engine.Step) {
	c.t.Helper()
	hang.Until(c.t, "the run waits", func() bool {
		info, err := c.Run(c.t.Context(), id)
		if err != nil || info.Waiting == 0 {
			return false
		}
		err = c.Steps(c.t.Context(), id, 0, func(s engine.Step) error {
			if s.State == engine.StepWaiting {
				step = s
			}
			return nil
		})
		return err == nil && step.ID != ""
	})
	return step
}

func (c *cluster) send(id, to string, a engine.Answer) error {
	return journal.Send(c.t.Context(), c.Store, id, to, "", "test", time.Now(), a)
}

func (c *cluster) answer(id, to string, a engine.Answer) {
	c.t.Helper()
	if err := c.send(id, to, a); err != nil {
		c.t.Fatal(err)
	}
}

// effectLog returns what effects have recorded so far.
func (c *cluster) effectLog() (lines []effectEvent) {
	c.t.Helper()
	text, err := os.ReadFile(c.job.World)
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var s effectEvent
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &s) == nil {
			lines = append(lines, s)
		}
	}
	return lines
}

// counts returns how often each effect began, and ended.
func (c *cluster) counts() (starts, ends map[string]int) {
	starts, ends = map[string]int{}, map[string]int{}
	for _, s := range c.effectLog() {
		switch s.What {
		case "start":
			starts[s.ID]++
		case "end":
			ends[s.ID]++
		}
	}
	return starts, ends
}

func containsText(text []byte, part string) bool { return strings.Contains(string(text), part) }
