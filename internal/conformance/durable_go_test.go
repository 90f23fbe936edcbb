package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
)

var updateJournals = flag.Bool("update-journals", false, "write the golden journals of this abi that are not there yet")

const steppedScript = `
a = agent("a", prompt = "Go.")
b = agent("b", prompt = "Go on.")
def main(x = str):
    first = a(x)
    word = wait("word")
    return b(first + " " + word)
`

// parkedRun returns a run of a script that waits.
func parkedRun(t *testing.T, s engine.Store, text string, opts ...agentscript.Option) string {
	t.Helper()
	_, mod := durableScript(t, s, text, opts...)
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ParkRun())
	if _, err := run.Wait(); !errors.Is(err, agentscript.ErrApproval) {
		t.Fatal(err)
	}
	return run.ID()
}

// codeOf returns the code of an error.
func codeOf(err error) diag.Code {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e.Code
	}
	return ""
}

// Promise 30.39 (durable): WithStore, Resume, Fork, Recover, Signal and CancelRun do in Go what the command does.
func TestPromise_30_39_GoFace(t *testing.T) {
	s := store.NewMemory()
	id := parkedRun(t, s, steppedScript)
	eng, _ := durableScript(t, s, steppedScript)
	if err := eng.Signal(t.Context(), id, "word", "", engine.Answer{Result: json.RawMessage(`"on"`)}); err != nil {
		t.Fatal(err)
	}
	fork := eng.Fork(t.Context(), id, agentscript.ParkRun())
	if _, err := fork.Wait(); codeOf(err) != diag.WaitsForValue {
		t.Errorf("a fork has no answers that its parent was sent: %v", err)
	}
	if info, err := eng.Run(t.Context(), fork.ID()); err != nil || info.Parent != id {
		t.Errorf("the parent is %q, %v", info.Parent, err)
	}
	if out, err := eng.Resume(t.Context(), id).Wait(); err != nil || out.Text() != "x on" {
		t.Errorf("%q %v", out.Text(), err)
	}
	if err := eng.CancelRun(t.Context(), fork.ID(), "no need"); err != nil {
		t.Error(err)
	}
	if info, err := eng.Run(t.Context(), fork.ID()); err != nil || info.Status != engine.RunCancelled {
		t.Errorf("%+v %v", info, err)
	}
	if _, err := eng.Resume(t.Context(), "nowhere").Wait(); codeOf(err) != diag.RunNotFound {
		t.Errorf("a run that is not there: %v", err)
	}
	if _, err := eng.Resume(t.Context(), id).Wait(); codeOf(err) != diag.RunExists {
		t.Errorf("a run that has ended: %v", err)
	}

	// A run whose process died is recovered.
	dead := diesAt(s, 2, true)
	_, mod := durableScript(t, dead, steppedScript)
	if _, err := mod.Start(t.Context(), agentscript.Input("y"), agentscript.ID("died")).Wait(); err == nil {
		t.Fatal("it did not die")
	}
	runs, err := eng.Recover(t.Context())
	if err != nil || len(runs) != 1 || runs[0].ID() != "died" {
		t.Fatalf("%v %v", runs, err)
	}
	if err := eng.Signal(t.Context(), "died", "word", "", engine.Answer{Result: json.RawMessage(`"again"`)}); err != nil {
		t.Fatal(err)
	}
	if out, err := runs[0].Wait(); err != nil || out.Text() != "y again" {
		t.Errorf("%q %v", out.Text(), err)
	}
}

// Promise 30.40 (durable): runs of other versions of a script continue with their own version, which is found by the
// hash of their bundle.
func TestPromise_30_40_OtherVersions(t *testing.T) {
	s := store.NewMemory()
	texts := []string{steppedScript, strings.Replace(steppedScript, `word = wait`, `word = "v2 " + wait`, 1)}
	ids := []string{parkedRun(t, s, texts[0]), parkedRun(t, s, texts[1])}
	eng, mod := durableScript(t, s, texts[1])
	for i, want := range []string{"x on", "x v2 on"} {
		if err := eng.Signal(t.Context(), ids[i], "word", "", engine.Answer{Result: json.RawMessage(`"on"`)}); err != nil {
			t.Fatal(err)
		}
		if out, err := eng.Resume(t.Context(), ids[i]).Wait(); err != nil || out.Text() != want {
			t.Errorf("%q %v, want %q", out.Text(), err, want)
		}
	}
	id := parkedRun(t, s, texts[0])
	if _, err := mod.Start(t.Context(), agentscript.ResumeRun(id)).Wait(); codeOf(err) != diag.RunDiverged {
		t.Errorf("another version resumes it: %v", err)
	}
}

// Promise 30.41 (durable): editing files does not affect a run. Another abi refuses resume and allows fork. A
// difference at a position is an error that names the position.
func TestPromise_30_41_Pinned(t *testing.T) {
	s := store.NewMemory()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.star")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("lib.star", `prompt = file("prompt.md")`)
	write("prompt.md", "Go.")
	write("main.star", "load(\"lib.star\", \"prompt\")\na = agent(\"a\", prompt = prompt)\ndef main(x = str):\n    return a(x) + wait(\"word\")\n")
	host := func(models engine.Handler) *agentscript.Engine {
		return agentscript.New(agentscript.WithStore(s), agentscript.WithModels(models), agentscript.WithDefaultModel("test/model"))
	}
	mod, err := host(callsOnce).LoadFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ParkRun())
	if _, err := run.Wait(); !errors.Is(err, agentscript.ErrApproval) {
		t.Fatal(err)
	}
	write("prompt.md", "Stop.")
	write("lib.star", "prompt = 1/0")
	write("main.star", "nonsense(")
	eng := host(engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { panic("it was recorded") }))
	if err := eng.Signal(t.Context(), run.ID(), "word", "", engine.Answer{Result: json.RawMessage(`"!"`)}); err != nil {
		t.Fatal(err)
	}
	if out, err := eng.Resume(t.Context(), run.ID()).Wait(); err != nil || out.Text() != "x!" {
		t.Errorf("%q %v", out.Text(), err)
	}

	t.Run("abi", func(t *testing.T) {
		id := parkedRun(t, s, steppedScript)
		other := copiedRun(t, s, id, func(h *engine.RunHead) { h.ABI++ }, nil)
		eng, _ := durableScript(t, s, steppedScript)
		if _, err := eng.Resume(t.Context(), other).Wait(); codeOf(err) != diag.OtherABI {
			t.Errorf("resume: %v", err)
		}
		if _, err := eng.Fork(t.Context(), other, agentscript.ParkRun()).Wait(); codeOf(err) != diag.WaitsForValue {
			t.Errorf("fork: %v", err)
		}
	})
	t.Run("another request", func(t *testing.T) {
		id := parkedRun(t, s, steppedScript)
		other := copiedRun(t, s, id, nil, func(step *engine.Step) {
			if step.Kind == engine.EffectModel {
				step.ID = step.ID[:strings.LastIndex(step.ID, "@")] + "@0000000000000000"
			}
		})
		eng, _ := durableScript(t, s, steppedScript)
		_, err := eng.Resume(t.Context(), other).Wait()
		if codeOf(err) != diag.RunDiverged || !strings.Contains(err.Error(), "main/agent:a#0/llm0") {
			t.Errorf("%v", err)
		}
	})
}

// copiedRun copies a run under another id, with changes.
func copiedRun(t *testing.T, s engine.Store, id string, head func(*engine.RunHead), row func(*engine.Step)) string {
	t.Helper()
	info, err := s.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	info.RunHead.ID += "-copy"
	if head != nil {
		head(&info.RunHead)
	}
	open, err := s.CreateRun(t.Context(), info.RunHead, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Steps(t.Context(), id, 0, func(step engine.Step) error {
		if row != nil {
			row(&step)
		}
		return open.Put(t.Context(), step, true)
	})
	if err = errors.Join(err, open.Close()); err != nil {
		t.Fatal(err)
	}
	return info.RunHead.ID
}

// goldenJournal is a journal of an ABI version: the script, the records of its run, and the run's end.
type goldenJournal struct {
	Script string         `json:"script"`
	Head   engine.RunHead `json:"head"`
	Steps  []engine.Step  `json:"steps"`
	Result string         `json:"result"`
}

// Promise 30.42 (durable): journals of this abi are kept and replayed.
func TestPromise_30_42_GoldenJournals(t *testing.T) {
	file := "testdata/durable/journal_abi1.json"
	tools := []agentscript.Option{}
	for name, class := range map[string]engine.Class{"lookup": engine.ClassRead, "put": engine.ClassIdempotent, "pay": engine.ClassOnce} {
		tools = append(tools, durableTool(name, class, func(agentscript.ToolCallInfo) (string, error) { return name + " did", nil }))
	}
	if *updateJournals {
		writeJournal(t, file, tools)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []goldenJournal
	if err := json.Unmarshal(data, &all); err != nil || len(all) < 10 {
		t.Fatalf("%d journals, %v", len(all), err)
	}
	for _, g := range all {
		s := store.NewMemory()
		open, err := s.CreateRun(t.Context(), g.Head, engine.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range g.Steps {
			if err := open.Put(t.Context(), step, true); err != nil {
				t.Fatal(err)
			}
		}
		if err := open.Close(); err != nil {
			t.Fatal(err)
		}
		live := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			t.Errorf("%s is carried out, though it was recorded", e.ID())
			return engine.Failed(engine.Errorf(engine.KindNetwork, "", "nothing is live"))
		})
		eng := agentscript.New(append(tools, agentscript.WithStore(s), agentscript.WithModels(live), agentscript.WithDefaultModel("test/model"))...)
		mod, err := eng.Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(g.Script)}}, "main.star")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := mod.Start(t.Context(), agentscript.ResumeRun(g.Head.ID), agentscript.HandlerFor(engine.EffectTool, live)).Wait(); err != nil || out.Text() != g.Result {
			t.Errorf("%s: %q %v, want %q\n%s", g.Head.ID, out.Text(), err, g.Result, g.Script)
		}
	}
}

// writeJournal records runs of random programs.
func writeJournal(t *testing.T, file string, tools []agentscript.Option) {
	var all []goldenJournal
	for seed := uint64(1000); len(all) < 12; seed++ {
		g, s := goldenJournal{Script: newDurableProgram(seed)}, store.NewMemory()
		eng := agentscript.New(append(slices.Clone(tools), agentscript.WithStore(s), agentscript.WithModels(durableModels), agentscript.WithDefaultModel("test/model"))...)
		mod, err := eng.Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(g.Script)}}, "main.star")
		if err != nil {
			t.Fatal(err)
		}
		approve := engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) { return engine.Approve(), nil })
		run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.HandlerFor(engine.EffectApproval, approve))
		out, err := run.Wait()
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Run(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		g.Head, g.Result = info.RunHead, out.Text()
		if err := s.Steps(t.Context(), run.ID(), 0, func(step engine.Step) error {
			g.Steps = append(g.Steps, step)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(g.Steps) > 2 && len(g.Steps) < 30 {
			all = append(all, g)
		}
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	if err := errors.Join(enc.Encode(all), w.Flush(), os.WriteFile(file, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}
