package e2e

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 31.12 (temporal): a step of a run costs at most 15 ms more than its effect takes, 50 runs of 10 steps end
// within 5 s, and a waiting run uses at most 200 KB of its worker's memory.
func TestPromise_31_12_Cost(t *testing.T) {
	shared(t)
	t.Run("time", costOfTime)
	t.Run("memory", costOfMemory)
}

func costOfMemory(t *testing.T) {
	n := 300
	if full() {
		n = 1000
	}
	c := newCluster(t, shared(t), func(j *job) { j.Sticky = 2 * n })
	c.worker("one")
	m, err := recordingEngine(&c.job).LoadBundle(t.Context(), bundle("def main():\n    return wait(\"word\")\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	begin := func(n int) {
		for range n {
			id, err := c.Start(t.Context(), m, "main")
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for _, id := range ids[len(ids)-n:] {
			hang.Until(t, "the run waits", func() bool {
				is, err := c.client.DescribeWorkflowExecution(t.Context(), id, "")
				return err == nil && is.WorkflowExecutionInfo.HistoryLength > 3
			})
		}
	}
	begin(20)
	before := resident(t, c.workers[0].Process.Pid)
	begin(n)
	each := (resident(t, c.workers[0].Process.Pid) - before) / n
	t.Logf("%d runs that wait take %d KB each; before them the worker had %d MB", n, each>>10, before>>20)
	if each > 200<<10 {
		t.Errorf("a run that waits takes %d bytes", each)
	}
}

// resident returns the bytes of a process that are in memory.
func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Skip("not here: /proc/PID/statm")
	}
	pages, _ := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize()
}

func costOfTime(t *testing.T) {
	c := newCluster(t, shared(t))
	c.worker("one")
	c.wantDone(c.startRun(sequence, withN(1, "")), "did step 0 ")
	const steps = 100
	round := 0
	bestOf(t, "a step", 15*time.Millisecond, 10, func(t *testing.T) time.Duration {
		id := ""
		took := c.measure(t, 1, func() {
			id = c.startRun(sequence, withN(steps, ""))
			c.wantDone(id, "did step 99 ")
		})
		if round++; round == 1 {
			t.Logf("%d events and %d bytes for %d steps", len(c.histories(id)[0]), c.size(id), steps)
		}
		return took / steps
	})
	m, err := recordingEngine(&c.job).LoadBundle(t.Context(), bundle(sequence), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	bestOf(t, "50 runs of 10 steps", 5*time.Second, 5, func(t *testing.T) time.Duration {
		var all sync.WaitGroup
		one := func() {
			id, err := c.Start(t.Context(), m, "main", withN(10, ""))
			if err == nil {
				err = c.client.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil)
			}
			if err != nil {
				t.Error(err)
			}
		}
		return c.measure(t, runtime.NumCPU(), func() {
			for range 50 {
				all.Go(one)
			}
			all.Wait()
		})
	})
}
