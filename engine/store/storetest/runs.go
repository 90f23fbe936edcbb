package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Run checks the stores of runs that open returns. Each call of open must return an empty one, and the test that
// opens a store closes it. If a store has a method Expire(id string), which makes the lease of a run's owner end, Run
// also checks what the contract says about owners that were presumed dead.
//
// A store must document what a test within a process cannot see: what remains after a loss of power. That must be the
// writes committed up to some moment, each of them whole, in the order of their commits across all runs. Unless the
// store says otherwise, it includes everything for which a call has returned. For calls of Put with sync false that
// means: everything put before the run's last call that waited and returned.
func Run(t *testing.T, open func(t *testing.T) engine.Store) {
	for name, test := range map[string]func(*testing.T, engine.Store){
		"a run is made once":                   created,
		"ids":                                  runIDs,
		"steps come back in order":             stepsInOrder,
		"a step is replaced":                   replaced,
		"what was not waited for is written":   unsynced,
		"values are kept byte for byte":        valuesKept,
		"a run has one owner":                  oneOwner,
		"a run that is given back stays as it": givenBack,
		"how a run ended":                      ended,
		"an owner that was taken for dead":     lostRun,
		"signals":                              signals,
		"cancelling":                           cancelling,
		"runs are listed by filters":           filters,
		"a run is removed":                     removed,
		"bundles":                              bundles,
		"contexts":                             contexts,
		"many at once":                         many,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var (
	begun = time.Date(2026, 3, 4, 5, 6, 7, 891011, time.UTC)
	me    = engine.Owner{Host: "here", PID: 1, Name: "test"}
	raw   = func(s string) json.RawMessage { return json.RawMessage(s) }
)

func head(id string) engine.RunHead {
	return engine.RunHead{ID: id, Bundle: "b1", ABI: 3, Script: "flows/a.star", Entry: "main", Seed: 1<<64 - 2, Input: raw(`{"x":1}`), Args: raw(`[1]`),
		Settings: raw(`{"model":"m"}`), Session: raw(`"s"`), Parent: "p", ParentSeq: 1 << 40, Begun: begun}
}

func create(t *testing.T, s engine.Store, id string) engine.OpenRun {
	t.Helper()
	r, err := s.CreateRun(t.Context(), head(id), me)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func retake(t *testing.T, s engine.Store, id string) engine.OpenRun {
	t.Helper()
	r, err := s.TakeRun(t.Context(), id, me)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func put(t *testing.T, r engine.OpenRun, sync bool, steps ...engine.Step) {
	t.Helper()
	for _, s := range steps {
		if err := r.Put(t.Context(), s, sync); err != nil {
			t.Fatal(err)
		}
	}
}

func closeRun(t *testing.T, r engine.OpenRun) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func info(t *testing.T, s engine.Store, id string) engine.RunInfo {
	t.Helper()
	i, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func steps(t *testing.T, s engine.Store, id string, after int64) []engine.Step {
	t.Helper()
	var all []engine.Step
	if err := s.Steps(t.Context(), id, after, func(s engine.Step) error { all = append(all, s); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func fails(t *testing.T, what string, err error, kind engine.ErrKind, code diag.Code) {
	t.Helper()
	if !errors.Is(err, &engine.Error{Kind: kind, Code: code}) {
		t.Errorf("%s: %v, want an error %s %s", what, err, kind, code)
	}
}

// within fails the test unless c is closed or receives soon.
func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("this does not happen: %s", what)
	}
}

func created(t *testing.T, s engine.Store) {
	r := create(t, s, "one")
	want := engine.RunInfo{RunHead: head("one"), RunEnd: engine.RunEnd{Status: engine.RunRunning}, Owner: me, Live: true, Epoch: 1}
	for what, got := range map[string]engine.RunInfo{"made": r.Info(), "described": info(t, s, "one")} {
		if got.Updated.IsZero() {
			t.Errorf("%s without a time", what)
		}
		if got.Updated, got.Until = (time.Time{}), (time.Time{}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", what, got, want)
		}
	}
	_, err := s.CreateRun(t.Context(), head("one"), me)
	fails(t, "made twice", err, engine.KindStore, diag.StoreFailed)
	closeRun(t, r)
	_, err = s.CreateRun(t.Context(), head("one"), me)
	fails(t, "made again", err, engine.KindStore, diag.StoreFailed)
	bare, err := s.CreateRun(t.Context(), engine.RunHead{ID: "bare"}, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if got := info(t, s, "bare"); got.Begun.IsZero() || got.Input != nil || !got.Live {
		t.Errorf("a run without anything: %+v", got)
	}
	closeRun(t, bare)
}

func runIDs(t *testing.T, s engine.Store) {
	for _, id := range []string{"", "a b", "a\x00", "\xff", strings.Repeat("x", 1000)} {
		if _, err := s.CreateRun(t.Context(), engine.RunHead{ID: id}, me); err == nil {
			t.Errorf("a run was made as %q", id)
		}
	}
	for what, err := range map[string]error{
		"run":     second(s.Run(t.Context(), "none")),
		"take":    second(s.TakeRun(t.Context(), "none", me)),
		"steps":   s.Steps(t.Context(), "none", 0, func(engine.Step) error { return nil }),
		"signal":  second(s.Signal(t.Context(), "none", engine.Signal{})),
		"signals": second(s.Signals(t.Context(), "none")),
		"cancel":  s.CancelRun(t.Context(), "none", ""),
		"delete":  s.DeleteRun(t.Context(), "none"),
	} {
		fails(t, what, err, engine.KindInput, diag.RunNotFound)
	}
	create(t, s, "Ab")
	create(t, s, "aB") // ids differ by case
	if _, err := s.Run(t.Context(), "ab"); err == nil {
		t.Error("an id of another case is found")
	}
}

func second[T any](_ T, err error) error { return err }

// step returns a step in which every field but Seq is set.
func step(i int) engine.Step {
	return engine.Step{ID: fmt.Sprintf("main/agent:a#%d/llm0@%x", i, i), State: engine.StepDone, Kind: engine.EffectModel, Name: "m/m", Agent: "a", Class: engine.ClassIdempotent,
		Key: fmt.Sprint("key", i), Taken: int64(i) + 1, Request: raw(fmt.Sprintf(`{"n":%d}`, i)), Types: map[string]string{"output": `{"type":"object"}`}, Outcome: raw(fmt.Sprintf(`{"out":%d}`, i)),
		Usage: model.Usage{In: 3, Out: 4, CostUSD: 0.25}, Begun: begun, Ended: begun.Add(time.Second)}
}

func stepsInOrder(t *testing.T, s engine.Store) {
	for all, i := reflect.ValueOf(step(1)), 0; i < all.NumField(); i++ {
		if name := all.Type().Field(i).Name; name != "Seq" && all.Field(i).IsZero() {
			t.Errorf("the suite does not try the field %s of a step", name)
		}
	}
	r := create(t, s, "one")
	other := create(t, s, "other")
	put(t, r, true, step(3), step(1), step(2))
	put(t, other, true, step(1))
	want := []engine.Step{step(3), step(1), step(2)}
	for i := range want {
		want[i].Seq = int64(i) + 1
	}
	if got := steps(t, s, "one", 0); !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if got := steps(t, s, "one", 1); !reflect.DeepEqual(got, want[1:]) {
		t.Errorf("read behind the first: %+v", got)
	}
	if got := steps(t, s, "one", 3); got != nil {
		t.Errorf("read behind the last: %+v", got)
	}
	if got := info(t, s, "one"); got.Steps != 3 || got.Waiting != 0 || got.Usage != (model.Usage{In: 9, Out: 12, CostUSD: 0.75}) {
		t.Errorf("counted %+v", got)
	}
	enough := errors.New("enough")
	n := 0
	err := s.Steps(t.Context(), "one", 0, func(engine.Step) error { n++; return enough })
	if err != enough || n != 1 {
		t.Errorf("after %d steps: %v", n, err)
	}
	err = s.Steps(t.Context(), "one", 0, func(step engine.Step) error { // the store can be used in the meantime
		if step.Seq == 1 {
			put(t, r, true, engine.Step{ID: "late", State: engine.StepDone})
		}
		return second(s.Run(t.Context(), "one"))
	})
	if err != nil {
		t.Error(err)
	}
	closeRun(t, r)
	r = retake(t, s, "one")
	put(t, r, true, step(4))
	if got := steps(t, s, "one", 4); len(got) != 1 || got[0].Seq != 5 {
		t.Errorf("the next owner goes on with %+v", got)
	}
}

// A step that is put again moves to the end, and only its new state is counted.
func replaced(t *testing.T, s engine.Store) {
	r := create(t, s, "one")
	waits, intent := step(1), step(2)
	waits.State, waits.Outcome, waits.Usage = engine.StepWaiting, nil, model.Usage{}
	intent.State, intent.Outcome, intent.Usage = engine.StepIntent, nil, model.Usage{}
	put(t, r, true, waits, intent, step(3))
	if got := info(t, s, "one"); got.Steps != 3 || got.Waiting != 1 || got.Usage.In != 3 {
		t.Errorf("counted %+v", got)
	}
	closeRun(t, r)
	r = retake(t, s, "one") // a new owner makes no difference
	put(t, r, true, step(1))
	again := step(3)
	again.Usage = model.Usage{In: 100, CostUSD: 0.1}
	put(t, r, false, again)
	put(t, r, true, intent)
	var got []string
	for _, step := range steps(t, s, "one", 0) {
		got = append(got, fmt.Sprint(step.Seq, step.ID, step.State))
	}
	want := []string{fmt.Sprint(4, step(1).ID, engine.StepDone), fmt.Sprint(5, step(3).ID, engine.StepDone), fmt.Sprint(6, step(2).ID, engine.StepIntent)}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := info(t, s, "one"); got.Steps != 3 || got.Waiting != 0 || got.Usage != (model.Usage{In: 103, Out: 4, CostUSD: 0.35}) {
		t.Errorf("counted %+v", got)
	}
	put(t, r, true, waits)
	waits.State = engine.StepLeft
	put(t, r, true, waits)
	if got := info(t, s, "one"); got.Steps != 3 || got.Waiting != 0 {
		t.Errorf("with a step that is left it counts %+v", got)
	}
}

// A step that was put without waiting is stored, in its order, when a later call that waits returns.
func unsynced(t *testing.T, s engine.Store) {
	r := create(t, s, "one")
	const n = 3000 // more than stores write in one group
	for i := range n {
		put(t, r, false, engine.Step{ID: fmt.Sprint(i), State: engine.StepDone, Outcome: raw(fmt.Sprint(i))})
	}
	put(t, r, true, engine.Step{ID: "last", State: engine.StepDone})
	got := steps(t, s, "one", 0)
	if len(got) != n+1 {
		t.Fatalf("%d steps", len(got))
	}
	for i, step := range got[:n] {
		if step.ID != fmt.Sprint(i) || step.Seq != int64(i)+1 || string(step.Outcome) != fmt.Sprint(i) {
			t.Fatalf("at %d: %+v", i, step)
		}
	}
	put(t, r, false, engine.Step{ID: "z", State: engine.StepDone})
	closeRun(t, r)
	if got := info(t, s, "one").Steps; got != n+2 {
		t.Errorf("%d steps once it was given back", got)
	}
}

// To a store a json.RawMessage is bytes of any size; nil and empty are the same. JSON cannot represent invalid UTF-8
// in a string, but a store does not look at the bytes.
func valuesKept(t *testing.T, s engine.Store) {
	big := raw(`"` + strings.Repeat("long \u00e9", 1<<19) + `"`) // 3 MB
	for i, value := range []json.RawMessage{big, raw(" {\n}\x00"), raw("\xff\xfe"), raw(strings.Repeat("x", 64<<10)), raw(strings.Repeat("y", 64<<10+1))} {
		id := fmt.Sprint("run", i)
		h := head(id)
		h.Input, h.Args, h.Settings, h.Session = value, value, value, value
		r, err := s.CreateRun(t.Context(), h, me)
		if err != nil {
			t.Fatal(err)
		}
		one, two := step(1), step(2)
		one.Request, one.Outcome, one.Types = value, value, map[string]string{"input": strings.Repeat("{", 5000), "output": "\u2028"}
		two.Outcome, two.Request, two.Types = value, raw(""), one.Types
		put(t, r, true, one, two)
		got := steps(t, s, id, 0)
		one.Seq, two.Seq, two.Request = 1, 2, nil
		if !reflect.DeepEqual(got, []engine.Step{one, two}) {
			t.Errorf("steps with value %d came back otherwise", i)
		}
		if sig, err := s.Signal(t.Context(), id, engine.Signal{Name: "n", Value: value}); err != nil || string(sig.Value) != string(value) {
			t.Errorf("signal with value %d: %v", i, err)
		}
		if sigs, err := s.Signals(t.Context(), id); err != nil || len(sigs) != 1 || string(sigs[0].Value) != string(value) {
			t.Errorf("signals with value %d: %v", i, err)
		}
		if err := r.End(t.Context(), engine.RunEnd{Status: engine.RunDone, Result: value, Text: string(value), Err: value}); err != nil {
			t.Fatal(err)
		}
		end := info(t, s, id)
		for what, got := range map[string][]byte{"input": end.Input, "args": end.Args, "settings": end.Settings, "session": end.Session, "result": end.Result, "text": []byte(end.Text), "error": end.Err} {
			if string(got) != string(value) {
				t.Errorf("%s with value %d: %d bytes came back", what, i, len(got))
			}
		}
	}
}

func contexts(t *testing.T, s engine.Store) {
	r := create(t, s, "one")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Put(gone, step(1), true); err != nil {
		t.Errorf("an outcome was paid for, and lost by a context: %v", err)
	}
	if err := r.End(gone, engine.RunEnd{Status: engine.RunCancelled}); err != nil {
		t.Errorf("the end was lost by a context: %v", err)
	}
	if got := info(t, s, "one"); got.Steps != 1 || got.Status != engine.RunCancelled {
		t.Errorf("%+v", got)
	}
	for what, err := range map[string]error{
		"create": second(s.CreateRun(gone, head("two"), me)),
		"take":   second(s.TakeRun(gone, "one", me)),
		"run":    second(s.Run(gone, "one")),
		"runs":   second(s.Runs(gone, engine.RunFilter{})),
		"signal": second(s.Signal(gone, "one", engine.Signal{})),
		"delete": s.DeleteRun(gone, "one"),
	} {
		fails(t, what, err, engine.KindStore, diag.StoreFailed)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v is not the end of the context", what, err)
		}
	}
}

func many(t *testing.T, s engine.Store) {
	const flows, each = 16, 40
	var all sync.WaitGroup
	for i := range flows {
		all.Go(func() {
			id := fmt.Sprint("flow", i)
			r, err := s.CreateRun(t.Context(), head(id), me)
			if err != nil {
				t.Error(err)
				return
			}
			var branches sync.WaitGroup
			for b := range 4 {
				branches.Go(func() {
					for j := range each / 4 {
						st := step(b*each + j)
						if err := r.Put(t.Context(), st, j%3 != 0); err != nil {
							t.Error(err)
						}
					}
				})
			}
			if _, err := s.Signal(t.Context(), id, engine.Signal{Name: "n"}); err != nil {
				t.Error(err)
			}
			if _, err := s.Runs(t.Context(), engine.RunFilter{Prefix: "flow"}); err != nil {
				t.Error(err)
			}
			branches.Wait()
			if err := r.End(t.Context(), engine.RunEnd{Status: engine.RunDone}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	runs, err := s.Runs(t.Context(), engine.RunFilter{Status: []engine.RunStatus{engine.RunDone}})
	if err != nil || len(runs) != flows {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		got := steps(t, s, r.ID, 0)
		if r.Steps != each || len(got) != each || got[each-1].Seq != each {
			t.Errorf("%s has %d steps, %d of them read", r.ID, r.Steps, len(got))
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err = s.CreateRun(t.Context(), head("late"), me)
	fails(t, "made in a closed store", err, engine.KindStore, diag.StoreFailed)
}
