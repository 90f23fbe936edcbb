package agentscript_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/generable"
)

// stores opens each kind of store.
func stores(t *testing.T, each func(t *testing.T, s engine.Store)) {
	t.Run("memory", func(t *testing.T) { each(t, store.NewMemory()) })
	t.Run("sqlite", func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		each(t, s)
	})
}

const twoSteps = `
def main(topic = str):
    first = poet(topic)
    answer = wait("go", int)
    second = poet(first + str(answer))
    return second

poet = agent(prompt = "Write.")
`

// A run that waits is parked, and continues in another engine with the answer: what was recorded is not done again.
func TestARunIsParkedAndResumed(t *testing.T) {
	stores(t, func(t *testing.T, s engine.Store) {
		var calls atomic.Int32
		models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			calls.Add(1)
			said := model.TextIn(e.Req.(*model.Request).Messages[0].Parts)
			return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "<" + said + ">"}}}, Attempt: 1}
		})
		host := func() *agentscript.Engine {
			return agentscript.New(agentscript.WithStore(s), agentscript.WithModels(models), agentscript.WithDefaultModel("test/model"))
		}
		mod, err := host().Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(twoSteps)}}, "main.star")
		if err != nil {
			t.Fatal(err)
		}
		run := mod.Start(t.Context(), agentscript.Args(map[string]any{"topic": "rain"}), agentscript.ParkRun())
		if _, err := run.Wait(); !errors.Is(err, agentscript.ErrApproval) {
			t.Fatalf("the run ended by %v", err)
		}
		info, err := host().Run(t.Context(), run.ID())
		if err != nil || info.Status != engine.RunParked || info.Waiting != 1 || info.Steps != 2 {
			t.Fatalf("%+v %v", info, err)
		}
		if err := host().Signal(t.Context(), run.ID(), "go", "", engine.Answer{Result: []byte("7")}); err != nil {
			t.Fatal(err)
		}
		if err := host().Signal(t.Context(), run.ID(), "go", "", engine.Answer{Result: []byte("7")}); err != nil {
			t.Errorf("an equal answer: %v", err)
		}
		if err := host().Signal(t.Context(), run.ID(), "go", "", engine.Answer{Result: []byte("8")}); err == nil {
			t.Error("another answer is taken")
		}
		out, err := host().Resume(t.Context(), run.ID()).Wait()
		if err != nil || !generable.Equal(out.Value, generable.StrOf("<<rain>7>")) || calls.Load() != 2 {
			t.Fatalf("%v %v after %d calls", out.Value, err, calls.Load())
		}
		if info, err = host().Run(t.Context(), run.ID()); err != nil || info.Status != engine.RunDone || info.Text != "<<rain>7>" {
			t.Errorf("%+v %v", info, err)
		}
	})
}

// A run can be cancelled through the store by its id, and a run that another owner has taken ends.
func TestARunIsEndedFromOutside(t *testing.T) {
	stores(t, func(t *testing.T, s engine.Store) {
		begun := make(chan struct{}, 4)
		models := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			if e.Agent == "second" {
				begun <- struct{}{}
				<-ctx.Done()
				return engine.Failed(engine.AsError(context.Cause(ctx)))
			}
			return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "yes"}}}, Attempt: 1}
		})
		eng := agentscript.New(agentscript.WithStore(s), agentscript.WithModels(models), agentscript.WithDefaultModel("test/model"))
		mod, err := eng.Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(`main = agent("first", prompt = "Go.") >> agent("second", prompt = "Go.")`)}}, "main.star")
		if err != nil {
			t.Fatal(err)
		}
		run := mod.Start(t.Context(), agentscript.Input("x"))
		<-begun
		if err := eng.CancelRun(t.Context(), run.ID(), "enough of it"); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(); !errors.Is(err, agentscript.ErrCancelled) || !strings.Contains(err.Error(), "enough of it") {
			t.Errorf("cancelled: %v", err)
		}
		if info, err := eng.Run(t.Context(), run.ID()); err != nil || info.Status != engine.RunCancelled {
			t.Errorf("%+v %v", info, err)
		}
	})
}

// A fork holds what it took from another run, and continues without it when the other run is removed. What it took
// only counts as used by the other run.
func TestAForkHoldsWhatItTook(t *testing.T) {
	stores(t, func(t *testing.T, s engine.Store) {
		var calls atomic.Int32
		models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			calls.Add(1)
			return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "said"}}}, Usage: model.Usage{In: 5}, Attempt: 1}
		})
		host := agentscript.New(agentscript.WithStore(s), agentscript.WithModels(models), agentscript.WithDefaultModel("test/model"))
		mod, err := host.Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(twoSteps)}}, "main.star")
		if err != nil {
			t.Fatal(err)
		}
		first := mod.Start(t.Context(), agentscript.Args(map[string]any{"topic": "rain"}), agentscript.ParkRun())
		if _, err := first.Wait(); !errors.Is(err, agentscript.ErrApproval) {
			t.Fatal(err)
		}
		fork := host.Fork(t.Context(), first.ID(), agentscript.ParkRun())
		if _, err := fork.Wait(); !errors.Is(err, agentscript.ErrApproval) || calls.Load() != 1 {
			t.Fatalf("%v after %d calls", err, calls.Load())
		}
		if info, err := host.Run(t.Context(), fork.ID()); err != nil || info.Steps != 2 || info.Usage.In != 0 || info.Parent != first.ID() {
			t.Errorf("%+v %v", info, err)
		}
		if err := s.DeleteRun(t.Context(), first.ID()); err != nil {
			t.Fatal(err)
		}
		if err := host.Signal(t.Context(), fork.ID(), "go", "", engine.Answer{Result: []byte("7")}); err != nil {
			t.Fatal(err)
		}
		if out, err := host.Resume(t.Context(), fork.ID()).Wait(); err != nil || out.Text() != "said" || calls.Load() != 2 {
			t.Errorf("%v %v after %d calls", out.Value, err, calls.Load())
		}
		again := host.Fork(t.Context(), fork.ID())
		if out, err := again.Wait(); err != nil || out.Text() != "said" || calls.Load() != 2 {
			t.Errorf("%v %v after %d calls", out.Value, err, calls.Load())
		}
		if info, err := host.Run(t.Context(), again.ID()); err != nil || info.Status != engine.RunDone || info.Steps != 3 {
			t.Errorf("a fork that did nothing itself: %+v %v", info, err)
		}
	})
}
