package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func oneOwner(t *testing.T, s engine.Store) {
	r := create(t, s, "one")
	_, err := s.TakeRun(t.Context(), "one", engine.Owner{Host: "there", PID: 2, Name: "other"})
	fails(t, "taken twice", err, engine.KindStore, diag.RunHeld)
	fails(t, "removed while it is held", s.DeleteRun(t.Context(), "one"), engine.KindStore, diag.RunHeld)
	put(t, r, true, step(1))
	closeRun(t, r)
	closeRun(t, r)
	fails(t, "put behind the end", r.Put(t.Context(), step(2), true), engine.KindStore, diag.StoreFailed)
	fails(t, "ended behind the end", r.End(t.Context(), engine.RunEnd{Status: engine.RunDone}), engine.KindStore, diag.StoreFailed)
	if got := info(t, s, "one"); got.Live || got.Owner != (engine.Owner{}) || got.Status != engine.RunRunning || got.Steps != 1 {
		t.Errorf("nobody holds it: %+v", got)
	}
	const takers = 8
	got := make(chan engine.OpenRun, takers)
	var all sync.WaitGroup
	for range takers {
		all.Go(func() {
			r, err := s.TakeRun(t.Context(), "one", me)
			if err == nil {
				got <- r
			} else if !errors.Is(err, &engine.Error{Code: diag.RunHeld}) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(got) != 1 {
		t.Fatalf("%d hold it", len(got))
	}
	r = <-got
	if i := r.Info(); i.Epoch != 2 || i.Owner != me || !i.Live || i.Steps != 1 || i.Usage != step(1).Usage {
		t.Errorf("taken again: %+v", i)
	}
	closeRun(t, r)
}

// An owner that takes a run and writes nothing changes nothing.
func givenBack(t *testing.T, s engine.Store) {
	r := create(t, s, "one")
	end := engine.RunEnd{Status: engine.RunParked, Result: raw("1"), Text: "one", Err: raw("{}"), At: begun}
	if err := r.End(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	r = retake(t, s, "one")
	if got := r.Info().RunEnd; !reflect.DeepEqual(got, end) {
		t.Errorf("found %+v, want %+v", got, end)
	}
	if got := info(t, s, "one"); got.Status != engine.RunRunning || !got.At.IsZero() || got.Result != nil || got.Text != "" || got.Err != nil {
		t.Errorf("it goes on as %+v", got)
	}
	closeRun(t, r)
	if got := info(t, s, "one").RunEnd; !reflect.DeepEqual(got, end) {
		t.Errorf("given back as %+v", got)
	}
	r = retake(t, s, "one")
	put(t, r, true, step(1))
	closeRun(t, r)
	if got := info(t, s, "one"); got.Status != engine.RunRunning || got.Live || !got.At.IsZero() || got.Result != nil || got.Err != nil {
		t.Errorf("it went on, and is given back as %+v", got)
	}
}

func ended(t *testing.T, s engine.Store) {
	for _, status := range []engine.RunStatus{engine.RunParked, engine.RunDone, engine.RunFailed, engine.RunCancelled} {
		id := string(status)
		r := create(t, s, id)
		put(t, r, false, step(1))
		end := engine.RunEnd{Status: status, Result: raw(`"r"`), Text: "r", Err: raw(`{"kind":"script"}`), At: begun.Add(time.Hour)}
		if err := r.End(t.Context(), end); err != nil {
			t.Fatal(err)
		}
		closeRun(t, r)
		got := info(t, s, id)
		if !reflect.DeepEqual(got.RunEnd, end) || got.Live || got.Owner != (engine.Owner{}) || got.Steps != 1 {
			t.Errorf("%s: %+v", status, got)
		}
		r = retake(t, s, id)
		put(t, r, true, step(2))
		if err := r.End(t.Context(), engine.RunEnd{Status: engine.RunDone}); err != nil {
			t.Fatal(err)
		}
		if got := info(t, s, id); got.Status != engine.RunDone || got.At.IsZero() || got.Result != nil || got.Text != "" || got.Err != nil {
			t.Errorf("%s, then done: %+v", status, got)
		}
	}
	r := create(t, s, "never")
	for _, status := range []engine.RunStatus{engine.RunRunning, "", "over"} {
		if err := r.End(t.Context(), engine.RunEnd{Status: status}); err == nil {
			t.Errorf("it ended as %q", status)
		}
	}
	put(t, r, true, step(1))
}

// An owner that did not renew its lease may still be alive, and must be kept from writing.
func lostRun(t *testing.T, s engine.Store) {
	e, ok := s.(interface{ Expire(id string) })
	if !ok {
		t.Skip("the store has no way to have a lease end")
	}
	old := create(t, s, "one")
	put(t, old, true, step(1))
	e.Expire("one")
	if got := info(t, s, "one"); got.Live || got.Status != engine.RunRunning {
		t.Errorf("its owner does not answer: %+v", got)
	}
	put(t, old, true, step(2)) // nobody has taken it
	next := retake(t, s, "one")
	fails(t, "a step of the old owner", old.Put(t.Context(), step(3), true), engine.KindStore, diag.RunLost)
	_ = old.Put(t.Context(), step(4), false) // it may report only later that it did nothing
	within(t, "the old owner notices", old.Done())
	fails(t, "why it must stop", old.Err(), engine.KindStore, diag.RunLost)
	fails(t, "its end", old.End(t.Context(), engine.RunEnd{Status: engine.RunFailed}), engine.KindStore, diag.RunLost)
	if err := old.Close(); err != nil {
		t.Errorf("there is nothing to give back: %v", err)
	}
	if got := info(t, s, "one"); got.Steps != 2 || got.Status != engine.RunRunning || !got.Live || got.Epoch != 2 {
		t.Errorf("the old owner changed it to %+v", got)
	}
	put(t, next, true, step(3))
	e.Expire("one")
	within(t, "an owner is told without writing", func() <-chan struct{} { retake(t, s, "one"); return next.Done() }())
	fails(t, "why", next.Err(), engine.KindStore, diag.RunLost)

	gone := create(t, s, "two")
	e.Expire("two")
	if err := s.DeleteRun(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	heir := create(t, s, "two")
	fails(t, "a step of a run that was removed", gone.Put(t.Context(), step(1), true), engine.KindStore, diag.RunLost)
	if got := info(t, s, "two"); got.Steps != 0 || !got.Live {
		t.Errorf("the new run of the name is %+v", got)
	}
	closeRun(t, heir)
}

func signals(t *testing.T, s engine.Store) {
	r := create(t, s, "one")
	select {
	case <-r.Signalled():
		t.Error("it was signalled before anything was sent")
	default:
	}
	first, err := s.Signal(t.Context(), "one", engine.Signal{Step: "main/x", Dedup: "d", Value: raw("1"), By: "ada", At: begun})
	if want := (engine.Signal{Seq: 1, Step: "main/x", Dedup: "d", Value: raw("1"), By: "ada", At: begun}); err != nil || !reflect.DeepEqual(first, want) {
		t.Errorf("sent %+v, %v", first, err)
	}
	within(t, "the owner notices", r.Signalled())
	again, err := s.Signal(t.Context(), "one", engine.Signal{Step: "main/y", Dedup: "d", Value: raw("2"), By: "bob"})
	if err != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("sent twice: %+v, %v", again, err)
	}
	for range 2 { // without a Dedup they are two signals
		if _, err := s.Signal(t.Context(), "one", engine.Signal{Name: "n", Value: raw("3")}); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "the owner notices more", r.Signalled())
	closeRun(t, r)
	late, err := s.Signal(t.Context(), "one", engine.Signal{Name: "n"}) // nobody holds it
	if err != nil || late.Seq != 4 || late.At.IsZero() || late.Value != nil {
		t.Errorf("sent to a run that nobody holds: %+v, %v", late, err)
	}
	all, err := s.Signals(t.Context(), "one")
	if err != nil || len(all) != 4 || !reflect.DeepEqual(all[0], first) || !reflect.DeepEqual(all[3], late) || all[1].Seq != 2 || string(all[2].Value) != "3" {
		t.Errorf("stored %+v, %v", all, err)
	}
	create(t, s, "two")
	if other, err := s.Signal(t.Context(), "two", engine.Signal{Dedup: "d"}); err != nil || other.Seq != 1 {
		t.Errorf("another run: %+v, %v", other, err)
	}
	const senders = 16
	var got sync.Map
	var sent sync.WaitGroup
	for i := range senders {
		sent.Go(func() {
			sig, err := s.Signal(t.Context(), "two", engine.Signal{Dedup: "race", By: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
			}
			got.Store(sig.By, true)
		})
	}
	sent.Wait()
	n := 0
	got.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d of them were the first", n)
	}
}

func cancelling(t *testing.T, s engine.Store) {
	r := create(t, s, "live")
	for _, why := range []string{"too dear", "too late"} {
		if err := s.CancelRun(t.Context(), "live", why); err != nil {
			t.Fatal(err)
		}
	}
	within(t, "the owner is told", r.Done())
	if err := r.Err(); !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, &engine.Error{Message: "run live was cancelled: too dear"}) {
		t.Errorf("told %v", err)
	}
	if got := info(t, s, "live"); got.Status != engine.RunRunning || got.Cancel != "too dear" || !got.Live {
		t.Errorf("it has not ended yet: %+v", got)
	}
	put(t, r, true, step(1)) // it can still write what it has begun
	if err := r.End(t.Context(), engine.RunEnd{Status: engine.RunCancelled}); err != nil {
		t.Fatal(err)
	}
	r = retake(t, s, "live")
	if got := r.Info(); got.Cancel != "" || got.Status != engine.RunCancelled || r.Err() != nil {
		t.Errorf("taken again: %+v, %v", got, r.Err())
	}
	closeRun(t, r)

	if err := create(t, s, "waits").End(t.Context(), engine.RunEnd{Status: engine.RunParked}); err != nil {
		t.Fatal(err)
	}
	r = retake(t, s, "waits")
	if err := s.CancelRun(t.Context(), "waits", "too dear"); err != nil {
		t.Fatal(err)
	}
	closeRun(t, r) // before the run has ended
	r = retake(t, s, "waits")
	within(t, "the next owner is told", r.Done())
	if err := r.Err(); !errors.Is(err, engine.ErrCancelled) {
		t.Errorf("the next owner is told %v", err)
	}
	closeRun(t, r)

	r = create(t, s, "left")
	put(t, r, true, step(1))
	closeRun(t, r)
	if err := s.CancelRun(t.Context(), "left", "no use"); err != nil {
		t.Fatal(err)
	}
	if got := info(t, s, "left"); got.Status != engine.RunCancelled || got.At.IsZero() || got.Cancel != "no use" || got.Steps != 1 {
		t.Errorf("a run that nobody holds: %+v", got)
	}
	for _, status := range []engine.RunStatus{engine.RunDone, engine.RunFailed, engine.RunParked} {
		id := string(status)
		if err := create(t, s, id).End(t.Context(), engine.RunEnd{Status: status, Text: "so far", At: begun}); err != nil {
			t.Fatal(err)
		}
		if err := s.CancelRun(t.Context(), id, "why"); err != nil {
			t.Fatal(err)
		}
		want, text := status, "so far"
		if status == engine.RunParked {
			want, text = engine.RunCancelled, ""
		}
		if got := info(t, s, id); got.Status != want || got.Text != text {
			t.Errorf("%s was cancelled: %+v", status, got)
		}
	}
}

func filters(t *testing.T, s engine.Store) {
	for i, id := range []string{"aa1", "aa2", "ab1", "b\u00e9"} {
		h := head(id)
		h.Begun = begun.Add(time.Duration(i) * time.Minute)
		h.Script, h.Parent = fmt.Sprintf("flows/%d.star", i%2), fmt.Sprint("p", i/2)
		r, err := s.CreateRun(t.Context(), h, me)
		if err != nil {
			t.Fatal(err)
		}
		put(t, r, true, step(i))
		if i != 3 {
			err = r.End(t.Context(), engine.RunEnd{Status: []engine.RunStatus{engine.RunDone, engine.RunFailed, engine.RunParked}[i], Result: raw("1"), Text: "1"})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		f    engine.RunFilter
		want []string
	}{
		{engine.RunFilter{}, []string{"b\u00e9", "ab1", "aa2", "aa1"}},
		{engine.RunFilter{Limit: 2}, []string{"b\u00e9", "ab1"}},
		{engine.RunFilter{Prefix: "aa"}, []string{"aa2", "aa1"}},
		{engine.RunFilter{Prefix: "a", Limit: 1}, []string{"ab1"}},
		{engine.RunFilter{Prefix: "AA"}, nil},
		{engine.RunFilter{Prefix: "%"}, nil},
		{engine.RunFilter{Prefix: "b\u00e9"}, []string{"b\u00e9"}},
		{engine.RunFilter{Script: "1.star"}, []string{"b\u00e9", "aa2"}},
		{engine.RunFilter{Parent: "p0"}, []string{"aa2", "aa1"}},
		{engine.RunFilter{Status: []engine.RunStatus{engine.RunDone, engine.RunRunning}}, []string{"b\u00e9", "aa1"}},
		{engine.RunFilter{Status: []engine.RunStatus{}}, nil},
		{engine.RunFilter{Since: begun.Add(time.Minute), Until: begun.Add(3 * time.Minute)}, []string{"ab1", "aa2"}},
		{engine.RunFilter{Script: "0.star", Parent: "p1", Prefix: "ab", Status: []engine.RunStatus{engine.RunParked}, Limit: 5}, []string{"ab1"}},
	} {
		all, err := s.Runs(t.Context(), c.f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range all {
			got = append(got, r.ID)
			if r.Input != nil || r.Args != nil || r.Settings != nil || r.Session != nil || r.ParentSeq != 0 || r.Result != nil || r.Text != "" || r.Err != nil {
				t.Errorf("a list holds values: %+v", r)
			}
			if r.Steps != 1 || r.Seed != head("").Seed || r.Usage.In != 3 {
				t.Errorf("a list lacks what describes %+v", r)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.f, got, c.want)
		}
	}
}

func removed(t *testing.T, s engine.Store) {
	b := engine.Bundle{Entry: "a.star", Files: map[string][]byte{"a.star": []byte("main = 1")}}
	for range 2 {
		if err := s.PutBundle(t.Context(), "b1", b); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"one", "two"} {
		r := create(t, s, id)
		put(t, r, true, step(1), step(2))
		if _, err := s.Signal(t.Context(), id, engine.Signal{Dedup: "d"}); err != nil {
			t.Fatal(err)
		}
		closeRun(t, r)
	}
	if err := s.DeleteRun(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Run(t.Context(), "one")
	fails(t, "read", err, engine.KindInput, diag.RunNotFound)
	if got := steps(t, s, "two", 0); len(got) != 2 {
		t.Errorf("the other run has %d steps", len(got))
	}
	if _, err := s.Bundle(t.Context(), "b1"); err != nil {
		t.Errorf("the bundle of the other run: %v", err)
	}
	r := create(t, s, "one") // a new one
	if got := steps(t, s, "one", 0); got != nil {
		t.Errorf("it has steps of the old one: %+v", got)
	}
	if got, err := s.Signals(t.Context(), "one"); err != nil || got != nil {
		t.Errorf("it has signals of the old one: %+v, %v", got, err)
	}
	closeRun(t, r)
	for _, id := range []string{"one", "two"} {
		if err := s.DeleteRun(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Bundle(t.Context(), "b1")
	fails(t, "a bundle that no run has", err, engine.KindInput, diag.RunNotFound)
}

func bundles(t *testing.T, s engine.Store) {
	_, err := s.Bundle(t.Context(), "none")
	fails(t, "no bundle", err, engine.KindInput, diag.RunNotFound)
	b := engine.Bundle{Entry: "flows/a.star", Files: map[string][]byte{"flows/a.star": []byte("main = 1"), "empty": {}, "bin": {0, 0xff, '\n'}, "big": make([]byte, 1<<20)}}
	if err := s.PutBundle(t.Context(), "h", b); err != nil {
		t.Fatal(err)
	}
	if err := s.PutBundle(t.Context(), "h", engine.Bundle{Entry: "other"}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutBundle(t.Context(), "h2", engine.Bundle{Entry: "x", Files: map[string][]byte{"x": b.Files["big"]}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Bundle(t.Context(), "h")
	if err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("a bundle came back otherwise: %v, %d files", err, len(got.Files))
	}
	// A bundle kept for a run that is about to be created is not removed with another run.
	h := head("one")
	h.Bundle = "h2"
	r, err := s.CreateRun(t.Context(), h, me)
	if err != nil {
		t.Fatal(err)
	}
	closeRun(t, r)
	if err := s.DeleteRun(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Bundle(t.Context(), "h2"); err == nil {
		t.Error("a bundle stays that no run has")
	}
	if got, err := s.Bundle(t.Context(), "h"); err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("a bundle went with the run of another: %v", err)
	}
}
