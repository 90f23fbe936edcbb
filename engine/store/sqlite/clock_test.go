package sqlite_test

import (
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// jumping is a clock that goes on like the machine's, and can be set.
type jumping struct{ ahead atomic.Int64 }

func (j *jumping) now() time.Time        { return time.Now().Add(time.Duration(j.ahead.Load())) }
func (j *jumping) jump(to time.Duration) { j.ahead.Store(int64(to)) }
func (j *jumping) option() sqlite.Option { return sqlite.Clock(j.now) }

func held(err error) bool { return errors.Is(err, &engine.Error{Code: diag.RunHeld}) }

// TestClockJumps: no jump of a clock takes a run from an owner that lives, nor keeps one for longer than a lease.
func TestClockJumps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var here, there jumping
	short := sqlite.Lease(600 * time.Millisecond)
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
		for range 2 {
			if _, err := other.TakeRun(t.Context(), "one", engine.Owner{Name: "other"}); !held(err) {
				t.Fatalf("%s: taken from an owner that lives: %v", c.what, err)
			}
		}
		if err := r.Put(t.Context(), engine.Step{ID: c.what}, true); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
	}

	// A lease that ends far ahead by a clock that was put back since, of an owner of which nothing is known.
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
