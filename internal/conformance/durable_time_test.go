package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/hang"
)

// timeWorld uses a clock that the test moves: a model call takes as long as it is asked to work.
type timeWorld struct {
	t     *testing.T
	clock *clock.Manual
	store engine.Store
	mu    sync.Mutex
	began int           // calls that wait for others to begin
	meet  chan struct{} // closed when two of them have
	naps  time.Duration // how long something else must sleep before a call takes its time
}

func newTimeWorld(t *testing.T) *timeWorld {
	return &timeWorld{t: t, clock: clock.NewManual(time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)), store: store.NewMemory(), meet: make(chan struct{})}
}

// Do answers "40m" after 40 minutes, and "both 40m" once two of them were called, which take the same 40 minutes. Any
// other text calls each tool, and is then the answer.
func (w *timeWorld) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	text := ""
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if m.Role == model.RoleUser && p.Text != "" {
				text = p.Text
			}
		}
	}
	if req.Choice.Mode == model.ChoiceNone {
		return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "the last answer"}}}, Attempt: 1}
	}
	work, both := strings.CutPrefix(text, "both ")
	d, err := time.ParseDuration(work)
	if err != nil {
		return callsOnce.Do(ctx, e, sink)
	}
	first := true
	if both {
		w.mu.Lock()
		first = w.began == 0
		if w.began++; w.began == 2 {
			close(w.meet)
		}
		w.mu.Unlock()
		<-w.meet
	}
	if w.naps > 0 {
		w.sleepsUntil(w.naps)
	}
	if first {
		w.clock.Pass(d)
	} else {
		hang.Until(w.t, "the time of the other call passes", func() bool { return !w.clock.Now().Before(w.since().Add(d)) })
	}
	if err := ctx.Err(); err != nil { // its time is over
		return engine.Failed(engine.AsError(err))
	}
	return callsOnce.Do(ctx, e, sink)
}

// since returns when the world began.
func (w *timeWorld) since() time.Time { return time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC) }

func (w *timeWorld) engine(text string) (*agentscript.Engine, *agentscript.Module) {
	w.t.Helper()
	return durableScript(w.t, w.store, text, agentscript.WithClock(w.clock), agentscript.WithModels(w))
}

// sleepsUntil returns when something waits until d from now.
func (w *timeWorld) sleepsUntil(d time.Duration) {
	w.t.Helper()
	ctx, enough := context.WithTimeout(w.t.Context(), time.Minute)
	defer enough()
	if err := w.clock.Awaited(ctx, d); err != nil {
		w.t.Errorf("nothing waits for %s: %v", d, err)
	}
}

// sleeps advances the clock by d once something waits for that.
func (w *timeWorld) sleeps(d time.Duration) {
	w.t.Helper()
	w.sleepsUntil(d)
	w.clock.Pass(d)
}

// parks waits for the end of a run, which must be that it waits.
func (w *timeWorld) parks(run *agentscript.Run) {
	w.t.Helper()
	if out, err := run.Wait(); codeOf(err) != diag.WaitsForValue {
		w.t.Fatalf("it does not wait: %q, %v", out.Text(), err)
	}
}

func (w *timeWorld) answer(eng *agentscript.Engine, id string) {
	w.t.Helper()
	if err := eng.Signal(w.t.Context(), id, "word", "", engine.Answer{Result: json.RawMessage(`"on"`)}); err != nil {
		w.t.Fatal(err)
	}
}

// anHour is a bound of a run. The texts of the tests work for 40 minutes before they wait, and for the input
// afterwards.
func anHour() agentscript.RunOption { return agentscript.RunLimits(engine.Limits{Wall: time.Hour}) }

// Promise 30.36 (durable): wall budgets and --timeout count working time: the time during which a run is parked or down
// does not count, and the time that recorded effects took is counted again.
func TestPromise_30_36_WorkingTime(t *testing.T) {
	const a = "a = agent(\"a\", prompt = \"Work.\")\n"
	plain := a + `
def main(x = str):
    a("40m")
    sleep("10h")
    wait("word")
    return a(x)
`
	around := func(body, bound string) string {
		return a + "def work(x):\n" + body + "\nmain = bounded(fn(work, input = str, output = str), " + bound + ")\n"
	}
	const steps = "    a(\"40m\")\n    sleep(\"10h\")\n    wait(\"word\")\n    return a(x)\n"
	inTool := func(bound string) string {
		return a + "def work():\n    \"\"\"Works.\"\"\"\n    x = \"LAST\"\n" + steps + "\nmain = agent(\"main\", prompt = \"Use it.\", tools = [work], budget = budget(" + bound + "))\n"
	}
	unbounded := agentscript.RunLimits(engine.Limits{Wall: engine.NoWall})
	for _, tt := range []struct {
		name, text string
		opt        agentscript.RunOption // nil: the default, an hour
		code       diag.Code             // the code of what works too long
	}{
		{"a run with a limit", plain, anHour(), diag.Timeout},
		{"a run without one", plain, nil, diag.Timeout},
		{"a node", around(steps, `budget(wall = "1h")`), unbounded, diag.BudgetExceeded},
		{"an agent", inTool(`wall = "1h"`), unbounded, diag.BudgetExceeded},
		{"an agent with a last answer", inTool(`wall = "75m", on_limit = "answer"`), unbounded, ""},
		{"effects that went on at once", strings.ReplaceAll(plain, `a("40m")`, `parallel(a, ["both 40m", "both 40m"])`), anHour(), diag.Timeout},
	} {
		for _, last := range []string{"15m", "25m"} {
			t.Run(tt.name+", "+last, func(t *testing.T) {
				w, x := newTimeWorld(t), last
				if strings.Contains(tt.text, "LAST") { // the surrounding agent is called with the input
					x = "go"
				}
				eng, mod := w.engine(strings.ReplaceAll(tt.text, "LAST", last))
				opts := []agentscript.RunOption{agentscript.ParkRun(), tt.opt}
				run := mod.Start(t.Context(), append(opts, agentscript.Input(x))...)
				w.sleeps(10 * time.Hour)
				w.parks(run)
				w.clock.Pass(24 * time.Hour) // it is stopped
				w.parks(eng.Resume(t.Context(), run.ID(), opts...))
				w.answer(eng, run.ID())
				out, err := eng.Resume(t.Context(), run.ID(), opts...).Wait()
				if late := last == "25m" && tt.code != ""; codeOf(err) != tt.code && late || err != nil && !late {
					t.Errorf("%q, %v", out.Text(), err)
				}
				if asked := out.Text() == "the last answer"; asked != (last == "25m" && tt.code == "") {
					t.Errorf("a last answer was asked for: %v", asked)
				}
				if last == "25m" && tt.code == diag.Timeout { // it continues with more time
					more := agentscript.RunLimits(engine.Limits{Wall: 2 * time.Hour})
					if out, err := eng.Resume(t.Context(), run.ID(), more).Wait(); err != nil || out.Text() != last {
						t.Errorf("with more time: %q, %v", out.Text(), err)
					}
				}
			})
		}
	}

	t.Run("a sleep beside work", func(t *testing.T) {
		for wall, code := range map[time.Duration]diag.Code{30 * time.Minute: diag.Timeout, time.Hour: ""} {
			w := newTimeWorld(t)
			w.naps = 10 * time.Hour
			_, mod := w.engine(a + "def nap():\n    sleep(\"10h\")\ndef work():\n    a(\"40m\")\ndef main(x = str):\n    parallel([nap, work])\n    return x\n")
			run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.RunLimits(engine.Limits{Wall: wall}))
			if code == "" {
				hang.Until(t, "the work is done", func() bool { return w.clock.Now().Sub(w.since()) == 40*time.Minute })
				w.sleeps(9*time.Hour + 20*time.Minute)
			}
			if _, err := run.Wait(); codeOf(err) != code {
				t.Errorf("%s: %v", wall, err)
			}
		}
	})

	t.Run("what is left is recorded", func(t *testing.T) {
		w := newTimeWorld(t)
		const left = "budget.remaining().wall_seconds"
		eng, mod := w.engine(a + "def main(x = str):\n    said = [" + left + "]\n    a(\"40m\")\n    said.append(" + left + ")\n    sleep(\"10h\")\n    said.append(" + left +
			")\n    wait(\"word\")\n    said.append(" + left + ")\n    a(x)\n    said.append(" + left + ")\n    wait(\"word\")\n    return said\n")
		opts := []agentscript.RunOption{agentscript.ParkRun(), anHour()}
		run := mod.Start(t.Context(), append(opts, agentscript.Input("15m"))...)
		w.sleeps(10 * time.Hour)
		w.parks(run)
		for range 2 {
			w.clock.Pass(24 * time.Hour)
			w.answer(eng, run.ID())
			run = eng.Resume(t.Context(), run.ID(), opts...)
			_, _ = run.Wait()
		}
		if out, err := run.Wait(); err != nil || out.JSON() != "[3600.0,1200.0,1200.0,1200.0,300.0]" {
			t.Errorf("%s, %v", out.JSON(), err)
		}
	})

	t.Run("what is unknown, and what is to be approved", func(t *testing.T) {
		w := newTimeWorld(t)
		text := a + "def main(x = str):\n    a(\"40m\")\n    d = approve(\"Go on?\")\n    return a(x) + d.reason\n"
		eng, mod := w.engine(text)
		opts := []agentscript.RunOption{agentscript.ParkRun(), anHour()}
		run := mod.Start(t.Context(), append(opts, agentscript.Input("15m"))...)
		if _, err := run.Wait(); !errors.Is(err, agentscript.ErrApproval) {
			t.Fatal(err)
		}
		w.clock.Pass(24 * time.Hour)
		if err := eng.Signal(t.Context(), run.ID(), waiting(t, w.store, run.ID())[0].ID, "", engine.Answer{Approved: true}); err != nil {
			t.Fatal(err)
		}
		if out, err := eng.Resume(t.Context(), run.ID(), opts...).Wait(); err != nil || out.Text() != "15m" {
			t.Errorf("%q, %v", out.Text(), err)
		}
	})

	t.Run("a run that stays", func(t *testing.T) {
		w := newTimeWorld(t)
		eng, mod := w.engine(around("    a(\"40m\")\n    wait(\"word\")\n    return a(x)\n", `budget(wall = "2h")`))
		run := mod.Start(t.Context(), agentscript.Input("15m"), anHour())
		hang.Until(t, "it waits", func() bool {
			info, err := eng.Run(t.Context(), run.ID())
			return err == nil && info.Waiting == 1
		})
		// The row precedes the rest of the run by a few instructions. All limits stand still together; that of the node has a timer.
		ended, end := context.WithCancel(t.Context())
		end()
		hang.Until(t, "the limits stand still", func() bool { return w.clock.Awaited(ended, 80*time.Minute) != nil })
		w.clock.Pass(24 * time.Hour)
		w.answer(eng, run.ID())
		if out, err := run.Wait(); err != nil || out.Text() != "15m" {
			t.Errorf("%q, %v", out.Text(), err)
		}
	})
}

// A host's tests move the time of its runs: a sleep survives, and so do answers that are sent meanwhile.
func TestManualClock(t *testing.T) {
	w := newTimeWorld(t)
	eng, mod := w.engine("def main(x = str):\n    began = now()\n    sleep(\"1h\")\n    one = wait(\"word\")\n    return [began, one, wait(\"word\"), now()]\n")
	unbounded := agentscript.RunLimits(engine.Limits{Wall: engine.NoWall}) // the sleep is recognized by its length of an hour
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ParkRun(), unbounded)
	w.sleepsUntil(time.Hour)
	w.clock.Pass(10 * time.Minute)
	run.Cancel()
	if _, err := run.Wait(); !errors.Is(err, engine.ErrCancelled) {
		t.Fatal(err)
	}
	id := run.ID()
	for _, word := range []string{"one", "two", "one"} { // the third is the same as the first
		if err := eng.Signal(t.Context(), id, "word", "id of "+word, engine.Answer{Result: json.RawMessage(fmt.Sprintf("%q", word))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := eng.Signal(t.Context(), id, "word", "id of one", engine.Answer{Result: json.RawMessage(`"three"`)}); codeOf(err) != diag.BadSignal || !strings.Contains(err.Error(), "09:10") {
		t.Errorf("another answer under the same id: %v", err)
	}
	run = eng.Resume(t.Context(), id, agentscript.ParkRun(), unbounded)
	w.sleeps(50 * time.Minute)
	out, err := run.Wait()
	if err != nil || out.JSON() != `["2026-01-31T09:00:00.000Z","one","two","2026-01-31T10:00:00.000Z"]` {
		t.Errorf("%s, %v", out.JSON(), err)
	}
	info, err := eng.Run(t.Context(), id)
	if err != nil || !info.Begun.Equal(w.since()) || !info.At.Equal(w.since().Add(time.Hour)) {
		t.Errorf("it was from %s to %s, %v", info.Begun, info.At, err)
	}
}
