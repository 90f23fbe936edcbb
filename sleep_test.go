package agentscript_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

const longWait = `
def main():
    began = now("unix")
    sleep("1h")
    return now("unix") - began
`

// Promise 30.34 (durable): sleep waits until a due time that survives a restart: a run resumed after 10 of 60 minutes
// waits the other 50. The time that the script read before is answered from its record.
func TestPromise_30_34_SleepInScripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mod, j, began := flow(t, longWait), &store.Memory{}, time.Now()
		resumed := func(ctx context.Context) (agentscript.Result, error) {
			return mod.Start(ctx, agentscript.RunJournal(j)).Wait()
		}
		first, stop := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Minute, stop)
		go func() {
			synctest.Wait()
			if ids := fmt.Sprint(j.IDs()); !strings.Contains(ids, "main/sleep0@") {
				t.Errorf("while it sleeps the journal holds %s", ids)
			}
		}()
		if _, err := resumed(first); !errors.Is(err, engine.ErrCancelled) || time.Since(began) != 10*time.Minute {
			t.Errorf("a run that is cancelled ends after %s: %v", time.Since(began), err)
		}
		time.Sleep(20 * time.Minute) // it is down
		out, err := resumed(t.Context())
		if err != nil || out.JSON() != "3600.0" || time.Since(began) != time.Hour {
			t.Errorf("%s, %v after %s, want 3600.0 after an hour", out.JSON(), err, time.Since(began))
		}
		time.Sleep(time.Hour)
		again := time.Now()
		if out, err := resumed(t.Context()); err != nil || out.JSON() != "3600.0" || time.Since(again) != 0 {
			t.Errorf("%s, %v, and waits for %s once more", out.JSON(), err, time.Since(again))
		}
	})
}

// A sleep whose due time has passed, as in a run that was down for long, ends at once; an effect after it is new.
func TestSleepThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mod, j := flow(t, longWait), &store.Memory{}
		first, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		_, _ = mod.Start(first, agentscript.RunJournal(j)).Wait()
		time.Sleep(24 * time.Hour)
		again := time.Now()
		if out, err := mod.Start(t.Context(), agentscript.RunJournal(j)).Wait(); err != nil || time.Since(again) != 0 || out.JSON() != "86460.0" {
			t.Errorf("%s, %v after %s", out.JSON(), err, time.Since(again))
		}
	})
}

// A branch that another branch ends stops sleeping, and so does one whose time is up.
func TestSleepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for src, want := range map[string]string{
			"def slow():\n    sleep(\"1h\")\n    return \"slow\"\n\ndef quick():\n    sleep(1)\n    return \"quick\"\n\ndef main():\n    return race([slow, quick])\n": `"quick"`,

			"def wait():\n    \"\"\"Waits.\"\"\"\n    sleep(3600)\n\na = agent(prompt = \"A.\", tools = [tool(wait, timeout = \"1s\")])\ndef main():\n    return a(\"x\")\n": `"slow"`,

			"def main():\n    sleep(0)\n    sleep(\"0s\")\n    sleep(1e-12)\n    sleep(0.5)\n    sleep(\"500ms\")\n    return 1\n": "1",
		} {
			began, slow := time.Now(), "slow"
			mod := flow(t, src, agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "a", Calls: []scripted.Call{{Name: "wait", Args: []byte("{}")}}}, {Agent: "a", Text: &slow}})))
			out, err := mod.Start(t.Context()).Wait()
			if err != nil || out.JSON() != want || time.Since(began) != time.Second {
				t.Errorf("%s, %v after %s, want %s after 1s:\n%s", out.JSON(), err, time.Since(began), want, src)
			}
		}
	})
}

// While a tool sleeps and nothing else proceeds, the time of the agents for which it works stands still, including
// limits that the script sets. A working sibling makes time pass.
func TestSleepInAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct{ budget, want string }{
			{"", "done"},
			{`, budget = budget(wall = "10m")`, "done"},
			{`, budget = budget(wall = "10m", on_limit = "answer")`, "done"},
		} {
			done := "done"
			mod := flow(t, "def wait():\n    \"\"\"Waits.\"\"\"\n    sleep(\"30m\")\n\nmain = agent(\"a\", prompt = \"A.\", tools = [wait]"+tt.budget+")\n",
				agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "a", Calls: []scripted.Call{{Name: "wait", Args: []byte("{}")}}}, {Agent: "a", Text: &done}})))
			out, err := mod.Start(t.Context(), agentscript.Input("x")).Wait()
			if got := out.Text() + fmt.Sprint(err); !strings.Contains(got, tt.want) {
				t.Errorf("%q: %s", tt.budget, got)
			}
		}
	})
}

// In virtual time a sleep takes no time, and the clock begins at 1970.
func TestSleepInVirtualTime(t *testing.T) {
	mod := flow(t, "def main():\n    a = now()\n    sleep(\"8000h\")\n    return [a, now(), now(\"unix\"), now(\"text\")]\n")
	began := time.Now()
	out, err := mod.Start(t.Context(), agentscript.VirtualTime()).Wait()
	if want := `["1970-01-01T00:00:00.000Z","1970-11-30T08:00:00.000Z",28800000.0,"1970-11-30T08:00:00.000Z"]`; err != nil || out.JSON() != want || time.Since(began) > time.Minute {
		t.Errorf("%s, %v after %s, want %s", out.JSON(), err, time.Since(began), want)
	}
}

// A host can provide the time. An answer that is not a time is an error.
func TestTimeOfTheHost(t *testing.T) {
	mod := flow(t, "def main():\n    return [now(), now(\"unix\")]\n")
	answer := func(v generable.Value) agentscript.RunOption {
		return agentscript.HandlerFor(engine.EffectTime, engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
			return engine.Outcome{Value: v}
		}))
	}
	out, err := mod.Start(t.Context(), answer(generable.StrOf("2026-01-31T10:00:00.1239+01:00"))).Wait()
	if err != nil || out.JSON() != `["2026-01-31T09:00:00.123Z",1769850000.123]` {
		t.Errorf("%s, %v", out.JSON(), err)
	}
	for _, v := range []generable.Value{generable.StrOf("noon"), generable.IntOf(3), {}} {
		if _, err := mod.Start(t.Context(), answer(v)).Wait(); err == nil || !strings.Contains(err.Error(), "is no time") {
			t.Errorf("%s: %v", generable.JSON(v, nil), err)
		}
	}
}

// A record holds the time and the seed, so that its replay returns what the run did, without waiting.
func TestRecordOfTimeAndChance(t *testing.T) {
	const src = `
def one(i):
    sleep(i)
    return [i, now(), uuid(), random(100)]

def main():
    return {"began": now(), "each": parallel(one, [3, 1, 2]), "x": random(), "ended": now("unix")}
`
	mod := flow(t, src)
	var record bytes.Buffer
	var ran agentscript.Result
	synctest.Test(t, func(t *testing.T) {
		var err error
		recorder := cassette.Record(&record, engine.HandlerFunc(nil), nil)
		if ran, err = mod.Start(t.Context(), agentscript.HandlerFor(engine.EffectModel, recorder)).Wait(); err != nil {
			t.Fatal(err)
		}
	})
	if n := strings.Count(record.String(), `"seed":`) - strings.Count(record.String(), `"seed":"0"`); n != 1 {
		t.Errorf("the seed is recorded %d times:\n%s", n, record.String())
	}
	for range 3 {
		replayed, err := cassette.Replay(bytes.NewReader(record.Bytes()), "record", nil)
		if err != nil {
			t.Fatal(err)
		}
		out, err := mod.Start(t.Context(), agentscript.HandlerFor(engine.EffectModel, replayed), agentscript.VirtualTime()).Wait()
		if err != nil || out.JSON() != ran.JSON() || len(replayed.Unused()) > 0 {
			t.Errorf("a replay returns\n%s, %v, and leaves %v\nthe run\n%s", out.JSON(), err, replayed.Unused(), ran.JSON())
		}
	}
	other, err := cassette.Replay(strings.NewReader(`{"v":2,"seed":"many"}`), "record", nil)
	if err == nil || !strings.Contains(err.Error(), `record:1: `) {
		t.Errorf("a record with another seed: %v, %v", other, err)
	}
}

// A run in a store continues with the seed with which it began, and wakes up when the first one would have; a fork
// draws the same numbers, unless it is given another seed.
func TestSleepInAStore(t *testing.T) {
	stores(t, func(t *testing.T, s engine.Store) {
		const src = "def main():\n    id = uuid()\n    began = now()\n    sleep(1)\n    return [id, uuid(), began, wait(\"go\", str)]\n"
		eng := agentscript.New(agentscript.WithStore(s))
		mod, err := eng.Load(t.Context(), script(src), "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		run := mod.Start(t.Context(), agentscript.ParkRun())
		if _, err := run.Wait(); !errors.Is(err, agentscript.ErrApproval) {
			t.Fatalf("the run ended by %v", err)
		}
		if err := eng.Signal(t.Context(), run.ID(), "go", "", engine.Answer{Result: []byte(`"on"`)}); err != nil {
			t.Fatal(err)
		}
		kept := sleepStep(t, s, run.ID())
		resumed := eng.Resume(t.Context(), run.ID())
		out, err := resumed.Wait()
		if err != nil || resumed.Seed() != run.Seed() || run.Seed() == 0 {
			t.Errorf("%s, %v, with the seed %d, at first %d", out.JSON(), err, resumed.Seed(), run.Seed())
		}
		if again := sleepStep(t, s, run.ID()); kept.Seq == 0 || again.Seq != kept.Seq {
			t.Errorf("the resumed run sleeps again: %+v, at first %+v", again, kept)
		}
		fork := eng.Fork(t.Context(), run.ID())
		if again, err := fork.Wait(); err != nil || again.JSON() != out.JSON() || fork.Seed() != run.Seed() {
			t.Errorf("a fork returns %s, %v, the run %s", again.JSON(), err, out.JSON())
		}
		other := eng.Fork(t.Context(), run.ID(), agentscript.Seed(3))
		if again, err := other.Wait(); err != nil || again.JSON() == out.JSON() || other.Seed() != 3 {
			t.Errorf("a fork with another seed returns %s, %v", again.JSON(), err)
		}
	})
}

// sleepStep returns the last sleep that a store has of a run.
func sleepStep(t *testing.T, s engine.Store, id string) (last engine.Step) {
	t.Helper()
	if err := s.Steps(t.Context(), id, 0, func(step engine.Step) error {
		if step.Kind == engine.EffectSleep {
			last = step
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return last
}

// A run in which one branch sleeps and all others wait for answers continues until that branch wakes up.
func TestSleepersAreNotParked(t *testing.T) {
	stores(t, func(t *testing.T, s engine.Store) {
		const src = "def slow():\n    sleep(0.2)\n    print(\"awake\")\n    return wait(\"b\", str)\n\ndef main():\n    return parallel([lambda: wait(\"a\", str), slow])\n"
		mod := flow(t, src, agentscript.WithStore(s))
		awake := false
		_, err := mod.Start(t.Context(), agentscript.ParkRun(), agentscript.OnEvent(engine.EventLog, func(e engine.Event) { awake = awake || e.Text() == "awake" })).Wait()
		if !errors.Is(err, agentscript.ErrApproval) || !awake {
			t.Errorf("%v, awake: %v", err, awake)
		}
	})
}
