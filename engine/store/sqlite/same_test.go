package sqlite_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// subject is a store that is used at random, with the runs that are open in it.
type subject struct {
	engine.Store
	expire func(id string)
	open   map[string][]engine.OpenRun // including runs that were closed or lost
}

// outcome returns what can be compared about a call: the class of its error, and its results without times.
func outcome(err error, values ...any) string {
	var e *engine.Error
	if errors.As(err, &e) {
		return fmt.Sprint(e.Kind, e.Code)
	}
	return fmt.Sprint(err, values)
}

func timeless(i engine.RunInfo) engine.RunInfo {
	i.Updated, i.Until = time.Time{}, time.Time{}
	if !i.At.IsZero() {
		i.At = time.Unix(1, 0)
	}
	if i.Usage.CostUSD != 0 { // the sum may have been added up in another order
		i.Usage.CostUSD = float64(int(i.Usage.CostUSD*1e6+0.5)) / 1e6
	}
	return i
}

// do performs one random operation. Stores that get the same random numbers perform the same one.
func (s *subject) do(t *testing.T, r *rand.Rand) (what, got string) {
	ctx := t.Context()
	id := fmt.Sprint("run", r.IntN(4))
	open := s.open[id]
	text := func() json.RawMessage { return json.RawMessage(fmt.Sprint(r.IntN(100))) }
	if len(open) > 0 && r.IntN(2) == 0 {
		held := open[r.IntN(len(open))]
		switch r.IntN(8) {
		case 0:
			end := engine.RunEnd{Status: []engine.RunStatus{engine.RunDone, engine.RunFailed, engine.RunParked, engine.RunCancelled, engine.RunRunning}[r.IntN(5)], Result: text(), Text: string(text())}
			return "end " + id, outcome(held.End(ctx, end))
		case 1:
			return "close " + id, outcome(held.Close())
		default:
			st := engine.Step{ID: fmt.Sprint("step", r.IntN(6)), State: []engine.StepState{engine.StepDone, engine.StepWaiting, engine.StepIntent}[r.IntN(3)], Outcome: text()}
			if r.IntN(2) == 0 {
				st.Usage = model.Usage{In: r.IntN(50), CostUSD: float64(r.IntN(100)) / 1000}
			}
			return "put " + id, outcome(held.Put(ctx, st, true))
		}
	}
	switch r.IntN(10) {
	case 0, 1, 2:
		h, err := s.CreateRun(ctx, engine.RunHead{ID: id, Bundle: fmt.Sprint("bundle", r.IntN(2)), Input: text(), Begun: time.Unix(1000+int64(r.IntN(3)), 0).UTC()}, engine.Owner{Host: "h", PID: 1, Name: "a"})
		return s.took("create ", id, h, err)
	case 3, 4:
		h, err := s.TakeRun(ctx, id, engine.Owner{Host: "h", PID: 2, Name: "b"})
		return s.took("take ", id, h, err)
	case 5:
		return "cancel " + id, outcome(s.CancelRun(ctx, id, string(text())))
	case 6:
		sig, err := s.Signal(ctx, id, engine.Signal{Name: "n", Dedup: []string{"", "d", "e"}[r.IntN(3)], Value: text()})
		return "signal " + id, outcome(err, sig.Seq, string(sig.Value))
	case 7:
		return "delete " + id, outcome(s.DeleteRun(ctx, id))
	case 8:
		if r.IntN(2) == 0 {
			s.expire(id)
		}
		return "expire " + id, ""
	default:
		name := fmt.Sprint("bundle", r.IntN(2))
		return "bundle " + name, outcome(s.PutBundle(ctx, name, engine.Bundle{Entry: name}))
	}
}

func (s *subject) took(what, id string, h engine.OpenRun, err error) (string, string) {
	if err != nil {
		return what + id, outcome(err)
	}
	s.open[id] = append(s.open[id], h)
	return what + id, fmt.Sprintf("%+v", timeless(h.Info()))
}

// state returns everything that a store holds.
func (s *subject) state(t *testing.T) (all []any) {
	runs, err := s.Runs(t.Context(), engine.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		info, err := s.Run(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, timeless(r), timeless(info))
		if err := s.Steps(t.Context(), r.ID, 0, func(st engine.Step) error { all = append(all, st); return nil }); err != nil {
			t.Fatal(err)
		}
		signals, err := s.Signals(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, sig := range signals {
			sig.At = time.Time{}
			all = append(all, sig)
		}
	}
	for i := range 2 {
		b, err := s.Bundle(t.Context(), fmt.Sprint("bundle", i))
		all = append(all, outcome(err, b))
	}
	return all
}

// TestSameAsInMemory: the store in a file and the one in memory behave the same, whatever is done.
func TestSameAsInMemory(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for seed := range uint64(rounds) {
		file, memory := open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Process()), store.NewMemory()
		one := &subject{file, file.Expire, map[string][]engine.OpenRun{}}
		two := &subject{memory, memory.Expire, map[string][]engine.OpenRun{}}
		a, b := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 1))
		for i := range 80 {
			what, got := one.do(t, a)
			if _, want := two.do(t, b); got != want {
				t.Fatalf("seed %d, %d: %s: in the file %s\nin memory %s", seed, i, what, got, want)
			}
			has, should := one.state(t), two.state(t)
			for j := range min(len(has), len(should)) {
				if !reflect.DeepEqual(has[j], should[j]) {
					t.Fatalf("seed %d, %d: after %s the file has %+v\nmemory has %+v", seed, i, what, has[j], should[j])
				}
			}
			if len(has) != len(should) {
				t.Fatalf("seed %d, %d: after %s the file holds %d things, memory %d", seed, i, what, len(has), len(should))
			}
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
