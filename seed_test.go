package agentscript_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
)

const draws = `
def draw(i):
    return [uuid(), str(random()), str(random(1000000)), uuid()]

step = fn(lambda s: s + uuid(), input = str, output = str)

def main():
    out = draw(0) + draw(0)
    for found in parallel(draw, range(8)):
        out += found
    out.append(race([lambda: uuid(), lambda: fail("no")]))
    for _ in range(3):
        out.append(step(""))
    return out
`

// What a run draws follows from its seed and the positions: it is the same on every scheduler and in every order of
// branches, and different at each position and for each seed.
func TestDrawsFollowFromTheSeed(t *testing.T) {
	mod := flow(t, draws)
	drawn := func(opts ...agentscript.RunOption) []string {
		t.Helper()
		res, err := mod.Start(t.Context(), opts...).Wait()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		if err := json.Unmarshal([]byte(res.JSON()), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	of := func(seed uint64) []string { return drawn(agentscript.Seed(seed)) }
	first := of(7)
	for range 20 {
		if again := of(7); !slices.Equal(again, first) {
			t.Fatalf("another run draws\n%q\nthe first\n%q", again, first)
		}
	}
	for seed := range uint64(20) {
		if got := drawn(agentscript.Seed(7), agentscript.Cooperative(seed)); !slices.Equal(got, first) {
			t.Fatalf("order %d draws\n%q\nanother one\n%q", seed, got, first)
		}
	}
	if got := drawn(agentscript.Seed(7), agentscript.VirtualTime()); !slices.Equal(got, first) {
		t.Errorf("virtual time draws\n%q\nthe machine's\n%q", got, first)
	}
	if got := drawn(agentscript.Seed(7), agentscript.Scheduler(sched.NewCoopSched(3))); !slices.Equal(got, first) {
		t.Errorf("a host's scheduler draws\n%q\nours\n%q", got, first)
	}
	all := append(slices.Clone(first), of(8)...)
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) {
		t.Errorf("of %d draws %d are different: %q", len(all), n, all)
	}
}

// A run has its own seed, unless it must be the same every time.
func TestSeeds(t *testing.T) {
	mod := flow(t, "def main():\n    return uuid()\n")
	text := "x"
	answers := agentscript.HandlerFor("model", scripted.New([]scripted.Row{{Agent: "*", Text: &text, Repeat: true}}))
	seed := func(opts ...agentscript.RunOption) uint64 {
		run := mod.Start(t.Context(), opts...)
		if _, err := run.Wait(); err != nil {
			t.Fatal(err)
		}
		return run.Seed()
	}
	resumed := seed(agentscript.ID("order-17"), agentscript.RunJournal(&store.Memory{}))
	for name, tt := range map[string]struct {
		opts []agentscript.RunOption
		want uint64
	}{
		"given":                    {[]agentscript.RunOption{agentscript.Seed(5)}, 5},
		"given 0":                  {[]agentscript.RunOption{agentscript.Seed(0)}, 0},
		"virtual time":             {[]agentscript.RunOption{agentscript.VirtualTime()}, 0},
		"virtual time, given":      {[]agentscript.RunOption{agentscript.VirtualTime(), agentscript.Seed(5)}, 5},
		"cooperative":              {[]agentscript.RunOption{agentscript.Cooperative(3)}, 0},
		"resumed by its id":        {[]agentscript.RunOption{agentscript.ID("order-17"), agentscript.RunJournal(&store.Memory{})}, resumed},
		"of a host's scheduler":    {[]agentscript.RunOption{agentscript.ID("order-17"), agentscript.Scheduler(sched.NewGoSched(context.Background()))}, resumed},
		"answers that are written": {[]agentscript.RunOption{answers}, 0},
	} {
		if got := seed(tt.opts...); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
	others := []uint64{seed(), seed(), resumed, seed(agentscript.ID("order-18"), agentscript.RunJournal(&store.Memory{}))}
	slices.Sort(others)
	if n := len(slices.Compact(slices.Clone(others))); n != len(others) {
		t.Errorf("runs share seeds: %d", others)
	}
}

// Promise 30.35 (durable): now() is recorded. uuid() and random() are derived from the seed and the position, and
// nothing is recorded for them.
func TestPromise_30_35_NowUuidRandom(t *testing.T) {
	mod, j := flow(t, draws), &store.Memory{}
	var out [2]string
	for i := range out {
		res, err := mod.Start(t.Context(), agentscript.ID("one"), agentscript.RunJournal(j)).Wait()
		if err != nil {
			t.Fatal(err)
		}
		out[i] = res.JSON()
	}
	if ids := j.IDs(); out[0] != out[1] || len(ids) != 1 { // which call of the race won
		t.Errorf("%s\n%s\n%q", out[0], out[1], ids)
	}
}
