package record

import (
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
)

// An effect that must not happen twice and has no outcome is retried in the next history only if it had not begun.
func TestLeft(t *testing.T) {
	cancelled, err := engine.Outcome{Err: &engine.Error{Kind: engine.KindCancelled}, Attempt: 1}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	refused, err := engine.Outcome{Err: &engine.Error{Kind: engine.KindTool}, Attempt: 1}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	head := engine.RunHead{ID: "run", ABI: engine.ABI, Begun: time.Unix(1, 0).UTC()}
	r, err := New(time.Now, store.Whole{Head: head}, nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	open, err := r.TakeRun(t.Context(), "run", engine.Owner{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	put := func(id string, class engine.Class, state engine.StepState, outcome []byte) {
		t.Helper()
		if err := open.Put(t.Context(), engine.Step{ID: id, Kind: engine.EffectTool, Name: "pay", Class: class, State: state, Outcome: outcome}, false); err != nil {
			t.Fatal(err)
		}
	}
	r.MarkBegun("begun")
	r.MarkBegun("lost")
	r.MarkLost("lost")
	put("waited", engine.ClassOnce, engine.StepFailed, cancelled)
	put("abandoned", engine.ClassOnce, engine.StepIntent, nil)
	put("begun", engine.ClassOnce, engine.StepFailed, cancelled)
	put("lost", engine.ClassOnce, engine.StepFailed, cancelled)
	put("refused", engine.ClassOnce, engine.StepFailed, refused)
	put("read", engine.ClassRead, engine.StepFailed, cancelled)
	whole, err := r.Since(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	type is struct {
		state    engine.StepState
		attempts int
	}
	want := map[string]is{"waited": {engine.StepFailed, 0}, "abandoned": {engine.StepFailed, 0}, "begun": {engine.StepFailed, 1}, "lost": {engine.StepIntent, 0},
		"refused": {engine.StepFailed, 1}, "read": {engine.StepFailed, 1}}
	for _, s := range whole.Steps {
		got := is{state: s.State}
		if s.Outcome != nil {
			out, err := engine.DecodeOutcome(s.Outcome, engine.TypesOf().OrMaps())
			if err != nil || out.Err == nil {
				t.Fatalf("%s: %s %v", s.ID, s.Outcome, err)
			}
			got.attempts = out.Attempt
		}
		if got != want[s.ID] {
			t.Errorf("%s: %+v, want %+v", s.ID, got, want[s.ID])
		}
		delete(want, s.ID)
	}
	if len(want) > 0 {
		t.Errorf("these are missing: %v", want)
	}
}
