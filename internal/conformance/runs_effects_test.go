package conformance

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
)

// Promise 5.2 (runs): an effect's id is derived from its position and its request: inserting an unrelated node before
// it does not change the id, and editing the prompt does.
func TestPromise_5_2_StructuralIDs(t *testing.T) {
	// Whatever a and b are asked, they say the same, so that requests change only by edits.
	texts := map[string]string{"a": "from a", "b": "from b", "other": "x"}
	ids := func(src string, opts ...agentscript.RunOption) map[string]string {
		t.Helper()
		mod := loaded(t, agentscript.New(), src)
		set := &idSet{}
		opts = append(opts, input("x"), agentscript.HandlerForAll(replies(texts)), set.listen())
		if _, err := mod.Start(t.Context(), opts...).Wait(); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		by := map[string]string{}
		for _, id := range strings.Split(set.String(), "\n") {
			agent := id[strings.LastIndex(id, "agent:")+len("agent:"):]
			by[agent[:strings.Index(agent, "/")]] = id
		}
		return by
	}
	const decl = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	const other = "other = agent(prompt = \"Other.\")\n"
	base := ids(decl + "main = a >> b")
	if id := base["b#0"]; !regexp.MustCompile(`^main/then:main#0/agent:b#0/llm0@[0-9a-f]{16}$`).MatchString(id) {
		t.Errorf("the id of b's call is %q", id)
	}
	for _, c := range []struct{ name, src, changed string }{
		{"the same again", decl + "main = a >> b", ""},
		{"an unrelated step before", decl + "main = fn(lambda s: s, input = str, output = str) >> a >> b", ""},
		{"an unrelated agent before", decl + other + "main = other >> a >> b", ""},
		{"an unrelated agent between, whose output is not asked about", decl + other +
			"main = a >> other >> fn(lambda s: \"from a\", input = str, output = str) >> b", ""},
		{"other lines", "# a comment\n\n" + other + "b = agent(prompt = \"B.\")\na = agent(prompt = \"A.\")\nmain = a >> b", ""},
		{"the prompt of b", strings.Replace(decl, "B.", "B!", 1) + "main = a >> b", "b#0"},
		{"the prompt of a, which answers the same", strings.Replace(decl, "A.", "A!", 1) + "main = a >> b", "a#0"},
		{"a parameter of a", strings.Replace(decl, `"A."`, `"A.", temperature = 0.5`, 1) + "main = a >> b", "a#0"},
		{"the model of b", strings.Replace(decl, `"B."`, `"B.", model = "x/y"`, 1) + "main = a >> b", "b#0"},
		{"what b is asked", decl + "main = a >> fn(lambda s: s + \"!\", input = str, output = str) >> b", "b#0"},
		{"the position of b", decl + other + "main = a >> (b / other)", "b#0"},
	} {
		got := ids(c.src)
		var changed []string
		for _, agent := range []string{"a#0", "b#0"} {
			if got[agent] != base[agent] {
				changed = append(changed, agent)
			}
		}
		if strings.Join(changed, " ") != c.changed {
			t.Errorf("%s: changes %v, want %q\nbefore %v\nafter  %v", c.name, changed, c.changed, base, got)
		}
	}
	if again := ids(decl+"main = a >> b", agentscript.ID("another run")); again["a#0"] != base["a#0"] {
		t.Errorf("the id holds the run's: %s and %s", again["a#0"], base["a#0"])
	}

	// Calls in a function are counted by node: another node called before changes nothing.
	const calls = decl + other + "def main():\n    return a(\"1\") + b(\"2\") + a(\"3\")\n"
	before := effectsOf(t, loaded(t, agentscript.New(), calls), texts)
	after := effectsOf(t, loaded(t, agentscript.New(), strings.Replace(calls, "return", "s = other(\"0\")\n    return", 1)), texts)
	if strings.Count(before, "\n") != 2 || !strings.Contains(before, "agent:a#1/llm0@") {
		t.Errorf("the effects are\n%s", before)
	}
	for _, id := range strings.Split(before, "\n") {
		if !strings.Contains(after, id) {
			t.Errorf("%s changed:\n%s", id, after)
		}
	}
}

func effectsOf(t *testing.T, mod *agentscript.Module, texts map[string]string) string {
	t.Helper()
	set := &idSet{}
	if _, err := mod.Start(t.Context(), agentscript.HandlerForAll(replies(texts)), set.listen()).Wait(); err != nil {
		t.Fatal(err)
	}
	return set.String()
}

// Promise 5.3 (runs): a second run with the journal of the first calls no handler.
func TestPromise_5_3_Replay(t *testing.T) {
	counted := func(h engine.Handler, n *atomic.Int64) engine.Handler {
		return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
			n.Add(1)
			return h.Do(ctx, e, s)
		})
	}
	t.Run("models and tools", func(t *testing.T) {
		var tools, all atomic.Int64
		handler := counted(engine.Handlers{engine.EffectModel: shopkeeper, engine.EffectTool: agent.HostTools{"stock": stock(&tools)}}, &all)
		mod := loaded(t, agentscript.New(agentscript.WithTool(*stock(&tools))), toolUser)
		j := &store.Memory{}
		first, err := mod.Start(t.Context(), input("pears"), agentscript.HandlerForAll(handler), agentscript.RunJournal(j)).Wait()
		if err != nil || tools.Load() != 4 || int(all.Load()) != len(j.IDs()) {
			t.Fatalf("%v; %d calls of tools, %d in all, %d recorded", err, tools.Load(), all.Load(), len(j.IDs()))
		}
		before := all.Load()
		for range 3 {
			var replayed, fresh int
			second, err := mod.Start(t.Context(), input("pears"), agentscript.HandlerForAll(handler), agentscript.RunJournal(j),
				agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
					if e.Phase() != engine.PhaseEnd {
						return
					}
					if e.Data.(*event.Effect).Replayed {
						replayed++
					} else {
						fresh++
					}
				})).Wait()
			if err != nil || second.JSON() != first.JSON() || all.Load() != before {
				t.Errorf("%s, %v after %d more calls; first %s", second.JSON(), err, all.Load()-before, first.JSON())
			}
			if replayed != len(j.IDs()) || fresh != 0 {
				t.Errorf("%d events say that an effect was replayed, %d that it was not, of %d effects", replayed, fresh, len(j.IDs()))
			}
		}
	})
	t.Run("a failure is recorded as it was", func(t *testing.T) {
		var n atomic.Int64
		limited := engine.Errorf(engine.KindRateLimit, "AS721", "slow down").WithHelp("wait")
		limited.Model = &engine.Provider{Name: "acme", Model: "x", Status: 429}
		handler := counted(answering(func(context.Context, string, *model.Request) engine.Outcome { return engine.Failed(limited) }), &n)
		mod := loaded(t, agentscript.New(), `main = agent(prompt = "A.")`)
		j := &store.Memory{}
		var texts []string
		for range 2 {
			_, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(handler), agentscript.RunJournal(j)).Wait()
			var e *engine.Error
			if !errors.Is(err, engine.ErrRateLimit) || !errors.As(err, &e) || e.Model == nil || e.Model.Status != 429 || e.Help != "wait" {
				t.Errorf("the error is %#v", err)
			}
			texts = append(texts, err.Error())
		}
		if n.Load() != 1 || texts[0] != texts[1] {
			t.Errorf("%d calls; errors %q", n.Load(), texts)
		}
	})
	t.Run("a run that was cut off goes on from there", func(t *testing.T) {
		mod := loaded(t, agentscript.New(), "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nc = agent(prompt = \"C.\")\nmain = a >> b >> c")
		j := &store.Memory{}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := mod.Start(ctx, input("x"), agentscript.RunJournal(j), agentscript.HandlerForAll(answering(func(ctx context.Context, agent string, _ *model.Request) engine.Outcome {
			if agent == "c" {
				cancel()
				<-ctx.Done()
				return engine.Failed(engine.Errorf(engine.KindCancelled, "AS712", "cut off"))
			}
			return said(agent)
		}))).Wait()
		if !errors.Is(err, engine.ErrCancelled) || len(j.IDs()) != 2 {
			t.Fatalf("%v; recorded %v", err, j.IDs())
		}
		var asked []string
		res, err := mod.Start(t.Context(), input("x"), agentscript.RunJournal(j), agentscript.HandlerForAll(answering(func(_ context.Context, agent string, r *model.Request) engine.Outcome {
			asked = append(asked, agent+" "+r.Messages[0].Parts[0].Text)
			return said("done")
		}))).Wait()
		if err != nil || res.Text() != "done" || strings.Join(asked, ",") != "c b" {
			t.Errorf("%s, %v; asked %q", res.Text(), err, asked)
		}
	})
	t.Run("an edited prompt runs again, with what depends on it", func(t *testing.T) {
		src := "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nc = agent(prompt = \"C.\")\nmain = (a >> b) / c"
		j := &store.Memory{}
		run := func(src string) (asked map[string]bool) {
			t.Helper()
			asked = map[string]bool{}
			set := make(chan string, 9)
			_, err := loaded(t, agentscript.New(), src).Start(t.Context(), input("x"), agentscript.RunJournal(j),
				agentscript.HandlerForAll(answering(func(_ context.Context, agent string, r *model.Request) engine.Outcome {
					set <- agent
					return said(agent + " as " + r.System)
				}))).Wait()
			if err != nil {
				t.Fatal(err)
			}
			close(set)
			for agent := range set {
				asked[agent] = true
			}
			return asked
		}
		if asked := run(src); len(asked) != 3 {
			t.Fatalf("asked %v", asked)
		}
		if asked := run(strings.Replace(src, "A.", "A!", 1)); len(asked) != 2 || !asked["a"] || !asked["b"] {
			t.Errorf("asked %v, want a and b", asked)
		}
	})
}
