package conformance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// ordered is a store that records the order in which rows are put.
type ordered struct {
	engine.Store
	written func() // called when the first row that was awaited is written

	mu   sync.Mutex
	rows []engine.Step
	sync []bool
	once sync.Once
}

type orderedRun struct {
	engine.OpenRun
	of *ordered
}

func (o *ordered) CreateRun(ctx context.Context, head engine.RunHead, by engine.Owner) (engine.OpenRun, error) {
	r, err := o.Store.CreateRun(ctx, head, by)
	return orderedRun{r, o}, err
}

func (r orderedRun) Put(ctx context.Context, s engine.Step, sync bool) error {
	r.of.mu.Lock()
	r.of.rows, r.of.sync = append(r.of.rows, s), append(r.of.sync, sync)
	r.of.mu.Unlock()
	err := r.OpenRun.Put(ctx, s, sync)
	if sync {
		r.of.once.Do(r.of.written)
	}
	return err
}

// locked keeps all others from writing to a store until release is called.
func locked(t *testing.T, path string) (release func()) {
	t.Helper()
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := other.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK")
		if err = errors.Join(err, conn.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Promise 30.3 (durable): rows become durable in the order in which they were committed: a run does not wait for the
// rows of reads, and nothing later survives without them.
func TestPromise_30_3_CommitOrder(t *testing.T) {
	const reads = 40
	path := filepath.Join(t.TempDir(), "runs.db")
	kept, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	began := make(chan int, 3)
	release := make(chan func(), 1)
	rows := &ordered{Store: kept, written: func() { release <- locked(t, path) }}
	models := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
		began <- int(calls.Add(1))
		return callsOnce(ctx, e, s)
	})
	dir, g := grants(t, grant.FS(".", grant.ReadOnly))
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("in the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, mod := durableScript(t, rows, `
say = agent("say", prompt = "Say it.")

def main(x = str):
    say(x)
    for i in range(`+fmt.Sprint(reads/2)+`):
        now()
        fs.read("f")
    say("second")
    now()
    return say("third")
`, agentscript.WithModels(models), agentscript.WithGrants(g))
	run := mod.Start(hang.Context(t), agentscript.Input("first"), agentscript.ID("one"))
	<-began
	free := <-release
	// Nothing can be written now, and the run nevertheless gets through its reads to the second call of the model.
	select {
	case <-began:
	case <-run.Done():
		_, err := run.Wait()
		t.Fatal(err)
	}
	if n := len(stepsOf(t, kept, "one")); n != 1 {
		t.Fatalf("%d rows are written, though nothing can be", n)
	}
	select {
	case <-began:
		t.Error("the third call was made before the second was written")
	case <-time.After(200 * time.Millisecond):
	}
	free()
	if res, err := run.Wait(); err != nil || res.Text() != "third" {
		t.Fatal(res, err)
	}
	var want []string
	for i, s := range rows.rows {
		want = append(want, s.ID)
		if waits := s.Class != engine.ClassRead; waits != rows.sync[i] {
			t.Errorf("%s of class %s is waited for: %v", s.ID, s.Class, rows.sync[i])
		}
	}
	if got := stepsOf(t, kept, "one"); len(want) != reads+4 || !slices.Equal(got, want) {
		t.Errorf("the rows are\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// Whatever part of the log is left, no row exists without those before it.
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for range 60 {
		at := filepath.Join(t.TempDir(), "runs.db")
		if err := errors.Join(os.WriteFile(at, file, 0o600), os.WriteFile(at+"-wal", log[:rand.IntN(len(log)+1)], 0o600)); err != nil {
			t.Fatal(err)
		}
		left, err := sqlite.Open(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := left.Run(t.Context(), "one"); err == nil {
			got := stepsOf(t, left, "one")
			if found[len(got)] = true; !slices.Equal(got, want[:len(got)]) {
				t.Errorf("what is left is\n%s", strings.Join(got, "\n"))
			}
		}
		if err := left.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(found) < 3 {
		t.Errorf("the cuts left only %v rows", found)
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
}

// stepsOf returns the ids of the rows of a run, in their order.
func stepsOf(t *testing.T, s engine.Store, id string) (ids []string) {
	t.Helper()
	if err := s.Steps(t.Context(), id, 0, func(s engine.Step) error {
		ids = append(ids, s.ID)
		return nil
	}); err != nil {
		t.Error(err)
	}
	return ids
}
