package sqlite_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// canary is part of everything that a run can hold.
const canary = "canary-4f1c9d"

// places returns the files below a directory that contain the canary.
func places(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(canary)) {
			found = append(found, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// secretive creates a run that has the canary everywhere, in small and large values, and in steps that were replaced.
func secretive(t *testing.T, s *sqlite.Store, id string) engine.OpenRun {
	t.Helper()
	small := json.RawMessage(`"` + canary + `"`)
	large := json.RawMessage(strings.Repeat(canary, 20_000))
	bundle := engine.Bundle{Entry: "a.star", Files: map[string][]byte{"a.star": []byte("# " + canary)}}
	if err := s.PutBundle(t.Context(), canary, bundle); err != nil {
		t.Fatal(err)
	}
	r, err := s.CreateRun(t.Context(), engine.RunHead{ID: id, Bundle: canary, Script: canary, Input: small, Args: large, Settings: small, Session: large}, engine.Owner{Name: canary})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		for _, value := range []json.RawMessage{small, large} {
			st := engine.Step{ID: fmt.Sprint(canary, i), State: engine.StepDone, Name: canary, Key: canary, Request: value, Outcome: value, Types: map[string]string{"output": string(value)}}
			if err := r.Put(t.Context(), st, i%2 == 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, value := range []json.RawMessage{small, large} {
		if _, err := s.Signal(t.Context(), id, engine.Signal{Name: canary, By: canary, Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// TestRemovedLeavesNothing: once a run is removed, none of the files contains what it held, not even the log.
func TestRemovedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "runs.db"))
	fill(t, s, 20)
	for _, how := range []string{"removed", "collected"} {
		r := secretive(t, s, how)
		if err := r.End(t.Context(), engine.RunEnd{Status: engine.RunDone, Result: json.RawMessage(strings.Repeat(canary, 9000)), Text: canary, Err: json.RawMessage(canary)}); err != nil {
			t.Fatal(err)
		}
		if found := places(t, dir); len(found) == 0 {
			t.Fatal("the canary is nowhere: the test finds nothing")
		}
		if how == "removed" {
			if err := s.DeleteRun(t.Context(), how); err != nil {
				t.Fatal(err)
			}
		} else if done, err := s.Collect(t.Context(), sqlite.Retention{Age: time.Nanosecond}); err != nil || done.Runs != 21 {
			t.Fatalf("%+v, %v", done, err)
		}
		if found := places(t, dir); found != nil {
			t.Errorf("%s, and %q is in %q", how, canary, found)
		}
		whole(t, filepath.Join(dir, "runs.db"))
	}
}

// ids returns the ids of all runs, in the order in which they were created.
func ids(t *testing.T, s *sqlite.Store) (all []string) {
	t.Helper()
	runs, err := s.Runs(t.Context(), engine.RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		all = append(all, r.ID)
	}
	slices.Reverse(all)
	return all
}

// TestCollect: old runs are removed, then those with the oldest last write until the file is small enough; a run that
// is held or waits for answers is kept.
func TestCollect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var clock jumping
	s := open(t, path, clock.option())
	const day = 24 * time.Hour
	make := func(id string, age time.Duration, end engine.RunStatus) {
		clock.jump(-age)
		r, err := s.CreateRun(t.Context(), engine.RunHead{ID: id}, engine.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Put(t.Context(), engine.Step{ID: "big", Outcome: bytes.Repeat([]byte(id[:1]), 300_000)}, true); err != nil {
			t.Fatal(err)
		}
		switch end {
		case "live":
			return
		case "left":
			err = r.Close()
		default:
			err = r.End(t.Context(), engine.RunEnd{Status: end})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	make("live", 50*day, "live")
	make("parked", 49*day, engine.RunParked)
	make("old", 48*day, engine.RunDone)
	make("killed", 47*day, "left")
	make("failed", 3*day, engine.RunFailed)
	make("recent", 2*day, engine.RunDone)
	make("new", day, engine.RunDone)
	clock.jump(0)
	if done, err := s.Collect(t.Context(), sqlite.DefaultRetention()); err != nil || done.Runs != 2 || done.Bytes < 500_000 {
		t.Errorf("%+v, %v", done, err)
	}
	if got := fmt.Sprint(ids(t, s)); got != "[live parked failed recent new]" {
		t.Errorf("by age %s are left", got)
	}
	if done, err := s.Collect(t.Context(), sqlite.DefaultRetention()); err != nil || done != (sqlite.Collected{}) {
		t.Errorf("collected again: %+v, %v", done, err)
	}
	if done, err := s.Collect(t.Context(), sqlite.Retention{Bytes: 1_200_000}); err != nil || done.Runs != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	if got := fmt.Sprint(ids(t, s)); got != "[live parked new]" {
		t.Errorf("by size %s are left", got)
	}
	if _, err := s.Collect(t.Context(), sqlite.Retention{Bytes: 1}); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(ids(t, s)); got != "[live parked]" {
		t.Errorf("at most %s can be left", got)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 900_000 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	whole(t, path)
}

// TestLeftHalfRemoved: what a process removed only in part is removed by the next collection.
func TestLeftHalfRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path)
	r := secretive(t, s, "one")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	script(t, path, "PRAGMA secure_delete = 1; INSERT INTO doomed SELECT n FROM runs; DELETE FROM runs; UPDATE bundles SET pending = 0")
	s = open(t, path)
	if _, err := s.Collect(t.Context(), sqlite.DefaultRetention()); err != nil {
		t.Fatal(err)
	}
	if found := places(t, filepath.Dir(path)); found != nil {
		t.Errorf("it is still in %q", found)
	}
}

// TestRemovedFromBetween: rows that moved from page to page, because rows of other runs were inserted next to them,
// leave nothing behind either.
func TestRemovedFromBetween(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "runs.db"))
	var runs []engine.OpenRun
	for i := range 6 {
		r, err := s.CreateRun(t.Context(), engine.RunHead{ID: fmt.Sprint("run", i), Script: []string{"a.star", canary}[i%2]}, engine.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		i := random.IntN(len(runs))
		text := []string{"harmless", canary}[i%2]
		st := engine.Step{ID: fmt.Sprint(text, random.IntN(150)), State: engine.StepDone, Key: text, Outcome: json.RawMessage(strings.Repeat(text, 1+random.IntN(300)))}
		if err := runs[i].Put(t.Context(), st, false); err != nil {
			t.Fatal(err)
		}
		if random.IntN(20) == 0 {
			if _, err := s.Signal(t.Context(), fmt.Sprint("run", i), engine.Signal{Name: text, Dedup: fmt.Sprint(text, random.IntN(50)), Value: st.Outcome}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, r := range runs {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			if err := s.DeleteRun(t.Context(), fmt.Sprint("run", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if found := places(t, dir); found != nil {
		t.Errorf("%q is in %q", canary, found)
	}
	for i := 0; i < len(runs); i += 2 {
		if info, err := s.Run(t.Context(), fmt.Sprint("run", i)); err != nil || info.Steps < 100 {
			t.Errorf("another run lost steps: %+v, %v", info, err)
		}
	}
	whole(t, filepath.Join(dir, "runs.db"))
}
