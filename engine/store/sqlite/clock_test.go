package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// jumping is a clock that runs like the machine's and can be set.
type jumping struct{ ahead atomic.Int64 }

func (j *jumping) now() time.Time        { return time.Now().Add(time.Duration(j.ahead.Load())) }
func (j *jumping) jump(to time.Duration) { j.ahead.Store(int64(to)) }
func (j *jumping) option() sqlite.Option { return sqlite.Clock(j.now) }

func held(err error) bool { return errors.Is(err, &engine.Error{Code: diag.RunHeld}) }

// Promise 30.49 (durable): a slow disk and a clock that jumps lose nothing.
func TestPromise_30_49_SlowDiskAndClock(t *testing.T) {
	t.Run("clock", clockJumps)
	t.Run("disk", slowDisk)
	t.Run("both", slowDiskAndClock)
}

// clockJumps: no jump of a clock takes a run from a living owner, or keeps a run from others for longer than a lease.
func clockJumps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var here, there jumping
	short := sqlite.Lease(3 * time.Second)
	owner := open(t, path, short, here.option())
	other := open(t, path, short, there.option())
	r, err := owner.CreateRun(t.Context(), engine.RunHead{ID: "one"}, engine.Owner{Name: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what        string
		here, there time.Duration
	}{
		{"as it is", 0, 0},
		{"the other's goes ahead", 0, time.Hour},
		{"both go ahead", time.Hour, time.Hour},
		{"the owner's goes back", -time.Hour, time.Hour},
		{"both are back", -time.Hour, -time.Hour},
		{"the owner's goes ahead", time.Hour, -time.Hour},
	} {
		here.jump(c.here)
		there.jump(c.there)
		if _, err := other.TakeRun(t.Context(), "one", engine.Owner{Name: "other"}); !held(err) {
			t.Fatalf("%s: taken from an owner that lives: %v", c.what, err)
		}
		if err := r.Put(t.Context(), engine.Step{ID: c.what}, true); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
	}

	// The lease of an unknown owner that ends far in the future, because the clock was put back after it was written.
	left, err := owner.CreateRun(t.Context(), engine.RunHead{ID: "two"}, engine.Owner{Name: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	there.jump(0)
	other.HeldBy("two", "elsewhere", time.Now().Add(time.Hour))
	if _, err := other.TakeRun(t.Context(), "two", engine.Owner{Name: "other"}); !held(err) {
		t.Fatalf("taken at once: %v", err)
	}
	if info, err := other.Run(t.Context(), "two"); err != nil || info.Until.After(time.Now().Add(time.Second)) {
		t.Errorf("a lease of 20 ms still ends at %s, %v", info.Until, err)
	}
	time.Sleep(30 * time.Millisecond)
	if _, err := other.TakeRun(t.Context(), "two", engine.Owner{Name: "other"}); err != nil {
		t.Errorf("its lease has ended: %v", err)
	}
}

// slowDisk: an owner whose commits take longer than its lease keeps its run, or loses it as a whole. What was
// acknowledged to it is stored, in its order, before what the next owner writes.
func slowDisk(t *testing.T) {
	const lease = 200 * time.Millisecond
	path := filepath.Join(t.TempDir(), "runs.db")
	owner := open(t, path, sqlite.Lease(lease), sqlite.Slow(func() { time.Sleep(rand.N(3 * lease)) }))
	other := open(t, path, sqlite.Lease(lease))
	r, err := owner.CreateRun(t.Context(), engine.RunHead{ID: "one"}, engine.Owner{Name: "owner"})
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan engine.OpenRun, 1)
	go func() {
		for t.Context().Err() == nil {
			if heir, err := other.TakeRun(t.Context(), "one", engine.Owner{Name: "other"}); err == nil {
				taken <- heir
				return
			}
		}
		close(taken)
	}()
	const n = 12
	told := 0 // how many steps were acknowledged
	for ; told < n; told += 3 {
		for i := range 3 { // the last of them is waited for
			if err = r.Put(t.Context(), engine.Step{ID: fmt.Sprint(told + i), State: engine.StepDone}, i == 2); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	if err != nil && !errors.Is(err, &engine.Error{Code: diag.RunLost}) {
		t.Fatalf("after %d steps: %v", told, err)
	}
	if closing := r.Close(); closing != nil {
		t.Error(closing)
	}
	heir := <-taken
	if heir == nil {
		t.Fatal("nobody could take the run once it was given back")
	}
	if err := heir.Put(t.Context(), engine.Step{ID: "heir", State: engine.StepDone}, true); err != nil {
		t.Error(err)
	}
	ids := stepIDs(t, other, "one")
	t.Logf("%d steps were told of, %d are there, lost: %v", told, len(ids), err)
	if len(ids) < told+1 || ids[len(ids)-1] != "heir" {
		t.Errorf("%d steps were told of, and %q are there", told, ids)
	}
	for i, id := range ids[:len(ids)-1] {
		if id != fmt.Sprint(i) {
			t.Errorf("%s at %d of %q", id, i, ids)
		}
	}
	whole(t, path)
}

// slowDiskAndClock: four stores with slow disks and jumping clocks take many runs from each other in turn. Each step
// was acknowledged to one owner. It is stored once, in the order in which the run's owners wrote.
func slowDiskAndClock(t *testing.T) {
	const lease, per = 100 * time.Millisecond, 40
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	ids := []string{"a", "b", "c"}
	var mu sync.Mutex
	acknowledged := map[string]map[string]bool{"a": {}, "b": {}, "c": {}}
	var all sync.WaitGroup
	for o := range 4 {
		var clock jumping
		s := open(t, path, sqlite.Lease(lease), clock.option(), sqlite.Slow(func() {
			clock.jump(time.Duration(rand.IntN(7200)-3600) * time.Second)
			if rand.IntN(12) == 0 {
				time.Sleep(rand.N(2 * lease))
			}
		}))
		all.Go(func() {
			for i := 0; i < per; {
				id := ids[rand.IntN(len(ids))]
				r, err := s.TakeRun(t.Context(), id, engine.Owner{})
				if errors.Is(err, &engine.Error{Code: diag.RunNotFound}) {
					r, err = s.CreateRun(t.Context(), engine.RunHead{ID: id}, engine.Owner{})
				}
				if err != nil { // others hold it, or have created it
					i++
					time.Sleep(time.Millisecond)
					continue
				}
				for k := range 1 + rand.IntN(5) {
					i++
					name := fmt.Sprint(o, " ", i, " ", k)
					if err := r.Put(t.Context(), engine.Step{ID: name, State: engine.StepDone}, true); err != nil {
						if !errors.Is(err, &engine.Error{Code: diag.RunLost}) {
							t.Error(err)
						}
						break
					}
					mu.Lock()
					acknowledged[id][name] = true
					mu.Unlock()
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	s, total := open(t, path), 0
	for id, told := range acknowledged {
		found := map[string]bool{}
		for _, name := range stepIDs(t, s, id) {
			if found[name] {
				t.Errorf("%s has %s twice", id, name)
			}
			found[name] = true
		}
		for name := range told {
			if !found[name] {
				t.Errorf("%s lost %s", id, name)
			}
		}
		total += len(told)
	}
	if total < per {
		t.Errorf("only %d steps were written", total)
	}
	t.Logf("%d steps", total)
	whole(t, path)
}
