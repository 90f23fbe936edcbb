package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// durableProgram is a random flow with every structure, from a str to a str.
type durableProgram struct {
	*rand.Rand
	defs  strings.Builder
	names int
}

func (p *durableProgram) name(of string) string {
	p.names++
	return fmt.Sprint(of, p.names)
}

// node returns a node, with structures nested at most depth deep.
func (p *durableProgram) node(depth int) string {
	say := func() string { return fmt.Sprintf("agent(%q, prompt = \"Say.\")", p.name("a")) }
	if depth == 0 {
		return say()
	}
	switch p.IntN(11) {
	case 0, 1:
		return "(" + p.node(depth-1) + " >> " + p.node(depth-1) + ")"
	case 2:
		return "(par(" + p.node(depth-1) + ", " + p.node(depth-1) + ", " + p.node(depth-1) + ") >> fn(joined, input = list[str], output = str))"
	case 3:
		return "fallback(agent(" + fmt.Sprintf("%q", p.name("broken")) + ", prompt = \"Say.\"), " + p.node(depth-1) + ")"
	case 4:
		return "retry(" + p.node(depth-1) + ", 2)"
	case 5:
		return "loop(" + p.node(depth-1) + ", lambda s: None if len(s) % 3 == 0 else s + \".\", max = 9, on_limit = \"last\")"
	case 6:
		return fmt.Sprintf("agent(%q, prompt = \"Use the tools.\", tools = [lookup, put, pay])", p.name("w"))
	case 7:
		return "(fn(split, input = str, output = list[str]) >> each(" + p.node(depth-1) + ") >> fn(joined, input = list[str], output = str))"
	case 8:
		return "branch(" + p.node(depth-1) + ", [when(lambda s: len(s) % 2 == 0, " + p.node(depth-1) + ")], otherwise = " + p.node(depth-1) + ")"
	}
	f, kids := p.name("f"), []string{p.node(depth - 1), p.node(depth - 1)}
	body := []string{
		"    return b(x) + a(x)",
		"    r = attempt(a, x)\n    return b(r.value if r.ok else r.error.message)",
		"    return joined(parallel(lambda s: a(s) + b(s), split(x)))",
		"    return \"%s%d\" % (b(a(x)), len(x))",
		"    return a(x) if approve(\"Go on with %d?\" % len(x)).approved else b(x)",
		"    return fallback([lambda: a(broken(x)), lambda: b(x)])",
	}[p.IntN(6)]
	fmt.Fprintf(&p.defs, "a_%s = %s\nb_%s = %s\ndef %s(x):\n    a, b = a_%s, b_%s\n%s\n", f, kids[0], f, kids[1], f, f, f, body)
	return "fn(" + f + ", input = str, output = str)"
}

// newDurableProgram returns the script of a seed.
func newDurableProgram(seed uint64) string {
	p := &durableProgram{Rand: rand.New(rand.NewPCG(seed, 30))}
	main := p.node(3)
	return `
def joined(l):
    return "+".join(l)
def split(x):
    return [x, x + "1", x + "2"]
broken = agent("broken", prompt = "Say.")
` + p.defs.String() + "main = " + main + "\n"
}

// durableModels answer by the request alone; broken agents are refused.
var durableModels = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	if strings.HasPrefix(e.Agent, "broken") {
		return engine.Failed(engine.Errorf(engine.KindRefused, "", "the model refuses"))
	}
	return engine.Outcome{Response: durableAnswer(e.Req.(*model.Request)), Attempt: 1}
})

// lived is the result of a run.
type lived struct {
	value string
	ids   []string // of what was recorded
	err   error
}

// live runs a module on a scheduler with a seed and a store.
func live(t *testing.T, mod *agentscript.Module, s engine.Store, seed uint64) lived {
	t.Helper()
	types := engine.TypesOf(run.Types()...)
	var j *journal.Journal
	if _, err := s.Run(t.Context(), "r"); err == nil {
		open, err := s.TakeRun(t.Context(), "r", engine.Owner{})
		if err == nil {
			j, err = journal.Resume(t.Context(), s, open, journal.Options{Types: types})
		}
		if err != nil {
			t.Fatal(err)
		}
	} else {
		j = journal.New(s, journal.Options{Types: types}, func(ctx context.Context) (engine.OpenRun, error) {
			return s.CreateRun(ctx, engine.RunHead{ID: "r", ABI: engine.ABI}, engine.Owner{})
		})
	}
	approve := engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) { return engine.Approve(), nil })
	r := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("r"), agentscript.RunJournal(j), agentscript.Cooperative(seed),
		agentscript.HandlerFor(engine.EffectApproval, approve), agentscript.OnUnknown(engine.UnknownRetry))
	out, err := r.Wait()
	if open := j.Run(); open != nil {
		if lost := open.Close(); lost != nil {
			t.Fatal(lost)
		}
	}
	l := lived{value: generable.JSON(out.Value, nil), err: err}
	if err := s.Steps(t.Context(), "r", 0, func(step engine.Step) error {
		l.ids = append(l.ids, step.ID+" "+string(step.State))
		return nil
	}); err != nil && !errors.Is(err, engine.ErrInput) {
		t.Fatal(err)
	}
	slices.Sort(l.ids)
	return l
}

// Promise 30.45 (durable): a random program that is killed at each of its effects in turn and resumed under another
// seed has the same result and ids.
func TestPromise_30_45_KillAtEachEffect(t *testing.T) {
	programs, most, deaths := 100, 20, 0
	if testing.Short() {
		programs, most = 40, 6
	}
	for seed := range uint64(programs) {
		text := newDurableProgram(seed)
		calls := map[string]int{}
		tool := func(name string, class engine.Class) agentscript.Option {
			return durableTool(name, class, func(call agentscript.ToolCallInfo) (string, error) {
				calls[call.ID]++
				return name + " did", nil
			})
		}
		eng := agentscript.New(agentscript.WithModels(durableModels), agentscript.WithDefaultModel("test/model"),
			tool("lookup", engine.ClassRead), tool("put", engine.ClassIdempotent), tool("pay", engine.ClassOnce))
		mod, err := eng.Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(text)}}, "main.star")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		s := store.NewMemory()
		want := live(t, mod, s, seed)
		if want.err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, want.err, text)
		}
		every := 1 + len(want.ids)/most // not every effect of a large program
		for n := 1 + int(seed)%every; n <= len(want.ids)*3+3; n += every {
			for _, after := range []bool{false, true} {
				s := store.NewMemory()
				dies := diesAt(s, n, after)
				first := live(t, mod, dies, seed)
				if !dies.dead.Load() {
					break
				}
				deaths++
				clear(calls)
				done := maps.Collect(recordedIn(t, s))
				got := live(t, mod, s, seed+uint64(n))
				if got.err != nil || got.value != want.value || !slices.Equal(got.ids, want.ids) {
					t.Fatalf("seed %d, killed at write %d (%t) by %v: %s %v, want %s\nids\n%s\nwant\n%s\n%s", seed, n, after, first.err, got.value, got.err, want.value,
						strings.Join(got.ids, "\n"), strings.Join(want.ids, "\n"), text)
				}
				for id := range calls {
					if done[id] {
						t.Errorf("seed %d, killed at write %d: %s was recorded, and is called again", seed, n, id)
					}
				}
			}
		}
	}
	t.Logf("%d deaths in %d programs", deaths, programs)
}

// recordedIn yields the ids of the run's records in a store.
func recordedIn(t *testing.T, s engine.Store) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		if err := s.Steps(t.Context(), "r", 0, func(step engine.Step) error {
			if step.State == engine.StepDone {
				yield(step.ID, true)
			}
			return nil
		}); err != nil && !errors.Is(err, engine.ErrInput) {
			t.Error(err)
		}
	}
}
