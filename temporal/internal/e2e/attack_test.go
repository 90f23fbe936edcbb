package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/temporal"
	"github.com/agentscript/agentscript/temporal/blob"
)

// inProcessWorker starts a worker in this process, which ends with the test.
func (c *cluster) inProcessWorker(o temporal.Options, w worker.Options, opts ...agentscript.Option) {
	c.t.Helper()
	to, err := client.Dial(client.Options{HostPort: c.server.address, Logger: logger()})
	if err != nil {
		c.t.Fatal(err)
	}
	o.TaskQueue = c.job.Queue
	if o.Blobs == nil {
		o.Blobs = blob.Dir(c.job.Blobs)
	}
	o.Heartbeat = 2 * time.Second
	e := &effects{file: c.job.World, worker: "inside"}
	opts = append([]agentscript.Option{agentscript.WithDefaultModel("test/model"), agentscript.WithModels(e),
		agentscript.WithTool(e.tool("pay", engine.ClassOnce)), agentscript.WithTool(e.tool("look", engine.ClassRead))}, opts...)
	of, err := temporal.NewWorker(to, agentscript.New(opts...), o, w)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := of.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		of.Stop()
		to.Close()
	})
}

// Promise 31.41 (temporal): a run may fail with any error: the server receives valid UTF-8 text of bounded length.
func TestPromise_31_41_Failures(t *testing.T) {
	c := newCluster(t, shared(t))
	c.worker("one")
	for name, text := range map[string]string{"large": `"x" * 2500000`, "both": `("ä" * 1250000)`} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			id := c.startRun("def main():\n    fail(" + text + ")\n")
			info := c.waitEnd(id)
			if info.Status != engine.RunFailed || len(info.Err) == 0 {
				t.Errorf("%s, %d bytes of error", info.Status, len(info.Err))
			}
		})
	}
}

// flakyStore is a blob store that fails now and then.
type flakyStore struct {
	blob.Store
	fails func(op, key string) error
}

func (f flakyStore) Put(ctx context.Context, key string, data []byte) error {
	if err := f.fails("put", key); err != nil {
		return err
	}
	return f.Store.Put(ctx, key, data)
}

func (f flakyStore) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.fails("get", key); err != nil {
		return nil, err
	}
	return f.Store.Get(ctx, key)
}

// Promise 31.42 (temporal): a large answer is not lost if the blob store fails at the moment when it arrives.
func TestPromise_31_42_AnswerWhileBlobsFail(t *testing.T) {
	for _, way := range []string{"update", "signal"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shared(t))
			var down atomic.Bool
			var failed atomic.Int64
			f := flakyStore{blob.Dir(c.job.Blobs), func(op, key string) error {
				if down.Load() && op == "get" {
					if failed.Add(1) == 2 {
						down.Store(false)
					}
					return errors.New("no network")
				}
				return nil
			}}
			id := c.startRun("def main():\n    return str(len(wait('word')))\n")
			if way == "update" {
				c.inProcessWorker(temporal.Options{Blobs: f}, worker.Options{})
				c.waitingStep(id)
			}
			down.Store(way == "update")
			value, _ := json.Marshal(strings.Repeat("x", 1_000_000))
			var err error
			if way == "update" {
				err = journal.Send(t.Context(), c.Store, id, "word", "", "test", time.Now(), engine.Answer{Result: value})
			} else { // no worker is running
				answer, _ := json.Marshal(engine.Answer{Result: value})
				_, err = c.Signal(t.Context(), id, engine.Signal{Name: "word", Dedup: "word#1", Value: answer, By: "test", At: time.Now()})
			}
			if err != nil {
				t.Fatal(err)
			}
			if way == "signal" {
				c.inProcessWorker(temporal.Options{Blobs: flakyStore{blob.Dir(c.job.Blobs), func(op, key string) error {
					if op == "get" && failed.Add(1) == 2 { // the first blob is the script
						return errors.New("no network")
					}
					return nil
				}}}, worker.Options{})
			}
			c.wantDone(id, "1000000")
		})
	}
}

// Promise 31.43 (temporal): all of many answers that arrive while a run continues in one history after the other are
// taken, once each.
func TestPromise_31_43_AnswersAcrossHistories(t *testing.T) {
	c := newCluster(t, shared(t))
	c.setOptions(temporal.Options{Events: 40})
	c.worker("one")
	const n = 150
	id := c.startRun(`
def main(n = int):
    all = []
    for i in range(n):
        all.append(wait("w%d" % i))
    return ",".join(all)
`, agentscript.Args(map[string]any{"n": n}))
	var want []string
	for i := range n {
		want = append(want, fmt.Sprint(i))
		err := journal.Send(t.Context(), c.Store, id, fmt.Sprintf("w%d", i), "", "test", time.Now(), engine.Answer{Result: json.RawMessage(fmt.Sprintf("%q", fmt.Sprint(i)))})
		if err != nil {
			t.Errorf("answer %d: %v", i, err)
		}
	}
	c.wantDone(id, strings.Join(want, ","))
	t.Logf("%d histories", len(c.histories(id)))
}

// Promise 31.44 (temporal): a worker keeps nothing of runs that it no longer has in memory.
func TestPromise_31_44_NothingStaysBehind(t *testing.T) {
	c := newCluster(t, shared(t))
	worker.SetStickyWorkflowCacheSize(2)
	defer worker.SetStickyWorkflowCacheSize(10_000)
	c.inProcessWorker(temporal.Options{}, worker.Options{})
	const script = `
a = agent("a", prompt = "Work.")
one = fn(lambda i: fallback([a, b], "step %d" % i) + wait("w%d" % i), input = int, output = str)
b = agent("b", prompt = "Work.")
many = fn(lambda n: [i for i in range(n)], input = int, output = list[int])
main = bounded(many >> each(one), budget(wall = "1h"))
`
	const simple = `
a = agent("a", prompt = "Work.")
def main():
    a("one")
    return wait("word")
`
	id := c.startRun(simple)
	c.waitingStep(id)
	time.Sleep(time.Second)
	before := runtime.NumGoroutine()
	var ids []string
	for range 40 {
		ids = append(ids, c.startRun(script, agentscript.Input(4)))
	}
	for _, id := range ids {
		hang.Until(t, "the run waits", func() bool {
			info, err := c.Run(t.Context(), id)
			return err == nil && info.Waiting == 4
		})
	}
	time.Sleep(3 * time.Second)
	after := runtime.NumGoroutine()
	t.Logf("%d goroutines, %d before", after, before)
	if after > before+40 {
		var buf = make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d before\n%s", after, before, buf[:min(20000, runtime.Stack(buf, true))])
	}
}

// Promise 31.45 (temporal): a run that has recorded much continues in a new history, and its worker is not taken for
// one that hangs.
func TestPromise_31_45_LargeRecords(t *testing.T) {
	c := newCluster(t, shared(t))
	c.setOptions(temporal.Options{Events: 80})
	c.worker("one")
	id := c.startRun(sequence, agentscript.Args(map[string]any{"n": 24, "words": "size=4000000"}))
	info := c.waitEnd(id)
	if info.Status != engine.RunDone {
		t.Errorf("%s %s", info.Status, info.Err)
	}
	for at, n := range func() map[string]int { s, _ := c.counts(); return s }() {
		if n != 1 {
			t.Errorf("%s began %d times", at, n)
		}
	}
}

// Promise 31.46 (temporal): a tool that ignores the end of its time is retried while its worker still executes the
// first attempt.
func TestPromise_31_46_IgnoresItsTime(t *testing.T) {
	c := newCluster(t, shared(t))
	var calls atomic.Int64
	type args struct {
		What string `json:"what"`
	}
	stubborn, err := agentscript.ToolFunc("stubborn", "Takes its time.", func(ctx context.Context, a args) (string, error) {
		if calls.Add(1) == 1 {
			time.Sleep(8 * time.Second)
		}
		return "slow " + a.What, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stubborn.Class = engine.ClassRead
	c.inProcessWorker(temporal.Options{}, worker.Options{}, agentscript.WithTool(stubborn))
	e := agentscript.New(agentscript.WithDefaultModel("test/model"), agentscript.WithModels(&effects{}), agentscript.WithTool(stubborn))
	m, err := e.LoadBundle(t.Context(), engine.Bundle{Entry: "flow.star", Files: map[string][]byte{"flow.star": []byte(`
a = agent("a", prompt = "Work.", tools = [stubborn])
quick = bounded(a, budget(wall = "1s"))
def main():
    for i in range(3):
        first = attempt(quick, "call stubborn x")
        if first.ok:
            return first.value
    return retry(quick, "call stubborn y")
`)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Start(t.Context(), m, "main")
	if err != nil {
		t.Fatal(err)
	}
	c.wantDone(id, "slow x")
	if n := calls.Load(); n != 2 {
		t.Errorf("the tool was called %d times, want 2", n)
	}
}
