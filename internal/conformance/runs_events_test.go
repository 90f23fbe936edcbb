package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 5.10 (runs): each node and effect reports its start and its end, with its path, in one typed event stream; a
// slow reader of the stream does not stop the run.
func TestPromise_5_10_Events(t *testing.T) {
	const src = `
judge = agent(prompt = "Judge.")
def log(s):
    print("said", s)
    return s
main = (judge / agent(name = "other", prompt = "Other.")) >> fn(lambda xs: "+".join(xs), input = list[str], output = str) >> fn(log, input = str, output = str)
`
	mod := loaded(t, agentscript.New(), src)
	ways := [][]agentscript.RunOption{nil, {agentscript.Cooperative(seeds(1)[0])}}
	t.Run("pairs with paths", func(t *testing.T) {
		for _, way := range ways {
			run := mod.Start(t.Context(), append([]agentscript.RunOption{input("x"), agentscript.ID("r1"), agentscript.HandlerForAll(replies(nil)), agentscript.Watch(engine.EventAll)}, way...)...)
			var all []engine.Event
			for e := range run.Events() {
				all = append(all, e)
			}
			if res, err := run.Wait(); err != nil || res.Text() != "judge(x)+other(x)" {
				t.Fatalf("%s, %v", res.Text(), err)
			}
			open, pairs := map[string]int{}, map[string]int{}
			for i, e := range all {
				if e.Seq != uint64(i+1) || e.Run != "r1" || e.Path == "" || e.At.IsZero() {
					t.Errorf("event %d: %+v", i, e)
				}
				key := e.Kind.String() + " " + e.Path
				switch e.Phase() {
				case engine.PhaseStart:
					open[key]++
				case engine.PhaseEnd:
					if open[key]--; open[key] < 0 {
						t.Errorf("%s ends before it begins", key)
					}
					pairs[key]++
				}
			}
			for key, n := range open {
				if n != 0 {
					t.Errorf("%s does not end", key)
				}
			}
			for _, want := range []string{
				"run main", "node main/then:main#0", "node main/then:main#0/par0", "node main/then:main#0/par0[0]/agent:judge#0", "effect main/then:main#0/par0[0]/agent:judge#0/llm0",
				"node main/then:main#0/par0[1]/agent:other#0", "effect main/then:main#0/par0[1]/agent:other#0/llm0", "node main/then:main#0/fn0", "node main/then:main#0/fn1",
			} {
				if pairs[want] != 1 {
					t.Errorf("%s was seen %d times to end: %v", want, pairs[want], pairs)
				}
				delete(pairs, want)
			}
			if len(pairs) != 0 {
				t.Errorf("also seen: %v", pairs)
			}
			if first, last := all[0], all[len(all)-1]; first.Kind != engine.EventRun || last.Kind != engine.EventRun || last.Phase() != engine.PhaseEnd {
				t.Errorf("the first is %+v, the last %+v", first, last)
			}
			var log, usage string
			for _, e := range all {
				if e.Kind == engine.EventLog {
					log += e.Path + ": " + e.Text()
				}
				if d, ok := e.Data.(*event.Effect); ok && d.Phase == engine.PhaseEnd && strings.HasPrefix(e.ID, e.Path+"@") && e.Attempt == 1 && d.Usage != nil {
					usage += fmt.Sprintf("%d+%d ", d.Usage.In, d.Usage.Out)
				}
			}
			if log != "main/then:main#0/fn1: said judge(x)+other(x)" || usage != "7+3 7+3 " {
				t.Errorf("log %q, usage %q", log, usage)
			}
		}
	})
	t.Run("of what fails", func(t *testing.T) {
		down := answering(func(context.Context, string, *model.Request) engine.Outcome {
			return engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "down"))
		})
		mod := loaded(t, agentscript.New(), `main = fn(lambda s: s, input = str, output = str) >> agent(name = "judge", prompt = "Judge.")`)
		failed := map[string]string{}
		_, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(down), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
			if e.Err() != nil {
				failed[e.Kind.String()+" "+e.Path] = e.Err().Message
			}
		})).Wait()
		if err == nil || len(failed) != 4 || failed["effect main/then:main#0/agent:judge#0/llm0"] != "down" || failed["run main"] != "down" {
			t.Errorf("%v; failures seen: %v", err, failed)
		}
	})
	t.Run("only the kinds asked for", func(t *testing.T) {
		for _, kind := range []engine.EventKind{engine.EventRun, engine.EventNode, engine.EventEffect, engine.EventLog} {
			n := 0
			_, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(replies(nil)), agentscript.OnEvent(kind, func(e engine.Event) {
				n++
				if e.Kind != kind {
					t.Errorf("asked for %s, got %s", kind, e.Kind)
				}
			})).Wait()
			if err != nil || n == 0 {
				t.Errorf("%d events of kind %s, %v", n, kind, err)
			}
		}
	})
	t.Run("a slow reader", func(t *testing.T) {
		mod := loaded(t, agentscript.New(), "main = loop(fn(lambda n: n + 1, input = int, output = int), lambda n: None if n == 500 else n)")
		run := mod.Start(t.Context(), input(0), agentscript.Watch(engine.EventNode))
		next := make(chan engine.Event)
		go func() {
			defer close(next)
			for e := range run.Events() {
				next <- e // nobody takes it before the run has ended
			}
		}()
		select {
		case <-run.Done():
		case <-hang.Context(t).Done():
			t.Fatal("the run waits for a reader of its events")
		}
		n := 0
		for range next {
			n++
		}
		if n != 2*501 {
			t.Errorf("%d events, want those of 500 turns and the loop", n)
		}
	})
	t.Run("a reader that leaves and comes back misses nothing", func(t *testing.T) {
		run := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(replies(nil)), agentscript.Watch(engine.EventAll))
		var seqs []uint64
		for stop := false; !stop; {
			stop = true
			for e := range run.Events() {
				seqs = append(seqs, e.Seq)
				stop = false
				break
			}
		}
		for i, seq := range seqs {
			if seq != uint64(i+1) {
				t.Fatalf("the numbers are %v", seqs)
			}
		}
		if len(seqs) < 10 {
			t.Errorf("only %d events", len(seqs))
		}
	})
	t.Run("as JSON", func(t *testing.T) {
		_, err := mod.Start(t.Context(), input("x"), agentscript.ID("r1"), agentscript.HandlerForAll(replies(nil)), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
			text, err := json.Marshal(e)
			var back map[string]any
			if err != nil || json.Unmarshal(text, &back) != nil || back["kind"] != e.Kind.String() || back["path"] != e.Path || back["run"] != "r1" {
				t.Errorf("%s, %v", text, err)
			}
		})).Wait()
		if err != nil {
			t.Error(err)
		}
	})
}
