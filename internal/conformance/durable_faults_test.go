package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/internal/testenv"
)

// largeEnv makes the test binary a process that runs the large flow in the directory that it names.
const largeEnv = "AGENTSCRIPT_TEST_LARGE"

// largeResult is the number of bytes of a large answer.
const largeResult = 3 << 20

// largeItems is the number of items of each parallel. Under the race detector it is smaller: more of the same shows it
// nothing more.
var largeItems = func() int {
	if testenv.RaceDetector {
		return 2_500
	}
	return 10_000
}()

// largeScript makes twice largeItems steps and four with large results.
var largeScript = fmt.Sprintf(`
say = agent("say", prompt = "Say it.")
many = each(agent("each", prompt = "Say it."), limit = 64)

def main(x = str):
    out = []
    for i in range(%d):
        out += parallel(say, [x + str(i * 100 + k) for k in range(100)])
        if i %% 25 == 0:
            large = say("large %%d" %% i)
            out.append("%%d %%s" %% (len(large), large[-20:]))
    out += many([x + "item" + str(i) for i in range(%d)])
    return "\n".join(out)
`, largeItems/100, largeItems)

// TestLargeProcess is the process that is killed.
func TestLargeProcess(t *testing.T) {
	dir := os.Getenv(largeEnv)
	if dir == "" {
		t.Skip("it is begun by the test of large runs")
	}
	file, err := os.OpenFile(filepath.Join(dir, "world.log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	log := &worldLog{file: file}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	eng, mod := durableScript(t, s, largeScript, agentscript.WithModels(engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		log.add("start", e.Run, e.ID())
		messages := e.Req.(*model.Request).Messages
		text := "said " + messages[len(messages)-1].Parts[0].Text
		if strings.Contains(text, "large") {
			text = strings.Repeat("so large ", largeResult/9) + text
		}
		return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}}, Attempt: 1}
	})), agentscript.WithLimits(engine.Limits{ModelCalls: engine.Unlimited()}))
	err = s.Steps(t.Context(), "one", 0, func(step engine.Step) error {
		if step.State == engine.StepDone {
			log.add("recorded", "one", step.ID)
		}
		return nil
	})
	run := eng.Resume(t.Context(), "one")
	if errors.Is(err, engine.ErrInput) {
		run = mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("one"))
	} else if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("memory %d\n", m.Sys>>20)
}

// largeRun runs the large flow in processes that are killed the given number of times. It returns the result, the
// steps, and the most MB that a process used.
func largeRun(t *testing.T, kills int) (result string, steps, memory int) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "world.log")
	for k := 0; ; k++ {
		cmd := hang.Command(t, os.Args[0], "-test.run=^TestLargeProcess$", "-test.count=1")
		cmd.Env = append(os.Environ(), largeEnv+"="+dir)
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var done atomic.Bool
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait(); done.Store(true) }()
		if k < kills {
			from := size(path)
			more := int64(rand.IntN(60 * largeItems)) // of the log's size at the end
			hang.Until(t, "it has gone on", func() bool { return done.Load() || size(path) > from+more })
			_ = cmd.Process.Kill() // it may have ended
			<-ended
			continue
		}
		if err := <-ended; err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		if _, err := fmt.Sscanf(said.String()[strings.Index(said.String(), "memory "):], "memory %d", &memory); err != nil {
			t.Fatal(said.String(), err)
		}
		break
	}
	doneOnce(t, dir)
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info, err := s.Run(t.Context(), "one")
	if err != nil || info.Status != engine.RunDone {
		t.Fatalf("%s: %v", info.Status, err)
	}
	return info.Text, info.Steps, memory
}

// size returns the size of a file in bytes, 0 if it does not exist.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// Promise 30.47 (durable): a run may have 20,000 steps, results of 3 MB, and an each over 10,000 items.
//
// If it is killed in between, the resumed run has the same result, and nothing that was recorded runs again.
func TestPromise_30_47_LargeRuns(t *testing.T) {
	begun := time.Now()
	want, steps, memory := largeRun(t, 0)
	t.Logf("%d steps in %s with %d MB", steps, time.Since(begun).Round(time.Millisecond), memory)
	if steps != 2*largeItems+largeItems/2500 || strings.Count(want, "\n") != steps-1 || !strings.Contains(want, fmt.Sprint("large said large ", largeItems/100-25)) {
		t.Fatalf("%d steps, a result of %d lines", steps, strings.Count(want, "\n"))
	}
	begun = time.Now()
	got, steps, memory := largeRun(t, min(kills(t, 2, 4), 12))
	t.Logf("%d steps under kills in %s with %d MB", steps, time.Since(begun).Round(time.Millisecond), memory)
	if got != want {
		t.Errorf("the result has %d bytes, and %d without kills", len(got), len(want))
	}
	if memory > 256 {
		t.Errorf("a process has %d MB", memory)
	}
}
