package sqlite_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// A run that was made elsewhere is stored whole, and a refused one leaves nothing.
func TestPutRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w := store.Whole{Head: engine.RunHead{ID: "one", Bundle: "b", Script: "a.star", Entry: "main", Seed: 7, Parent: "p", ParentSeq: 3},
		Files:   &engine.Bundle{Entry: "a.star", Files: map[string][]byte{"a.star": []byte("main = 1\n"), "empty": nil}},
		Signals: []engine.Signal{{Seq: 9, Name: "n", Value: json.RawMessage(`{"result":7}`), By: "me"}},
		End:     &engine.RunEnd{Status: engine.RunParked, Text: "x"}}
	for i := range 600 {
		w.Steps = append(w.Steps, engine.Step{ID: "s" + strconv.Itoa(i), State: engine.StepDone, Kind: engine.EffectTool, Outcome: json.RawMessage(strconv.Itoa(i))})
	}
	w.Steps = append(w.Steps, engine.Step{ID: "w", State: engine.StepWaiting, Kind: engine.EffectWait, Name: "n"})
	if err := s.PutRun(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	info, err := s.Run(t.Context(), "one")
	if err != nil || info.Live || info.Status != engine.RunParked || info.Steps != 601 || info.Waiting != 1 || info.ParentSeq != 3 || info.Text != "x" {
		t.Errorf("%+v, %v", info, err)
	}
	sent, err := s.Signals(t.Context(), "one")
	if err != nil || len(sent) != 1 || sent[0].Seq != 1 || string(sent[0].Value) != `{"result":7}` {
		t.Errorf("%+v, %v", sent, err)
	}
	if b, err := s.Bundle(t.Context(), "b"); err != nil || len(b.Files) != 2 {
		t.Errorf("%+v, %v", b, err)
	}
	more, err := s.Signal(t.Context(), "one", engine.Signal{Name: "n"})
	if err != nil || more.Seq != 2 {
		t.Errorf("%+v, %v", more, err)
	}
	again := w
	again.Head.Bundle = "other"
	if err := s.PutRun(t.Context(), again); err == nil {
		t.Error("a second run has its id")
	}
	if _, err := s.Bundle(t.Context(), "other"); err == nil {
		t.Error("the bundle of a run that was refused is there")
	}
	run, err := s.TakeRun(t.Context(), "one", engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Put(t.Context(), engine.Step{ID: "w", State: engine.StepDone}, true); err != nil {
		t.Error(err)
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
	w.Head.ID, w.End = "two", nil
	if err := s.PutRun(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if info, err := s.Run(t.Context(), "two"); err != nil || info.Live || info.Status != engine.RunRunning {
		t.Errorf("%+v, %v", info, err)
	}
}
