package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/store"
)

const lookedAt = `
Mail = schema("A mail", kind = str, tags = field(list[str], default = []))
def token(t):
    print(t.kind, t.text, t.tool)
def partial(p):
    print("known", p.get("kind", "?"), len(p.get("tags", [])))
def lookup(word = str):
    return word + "!"
sorter = agent(output = Mail, prompt = "Sort.", tools = [lookup], on_token = token, on_partial = partial)
main = sorter
`

// Promise 17.21 (real models): functions of the script receive the pieces of an answer, of thoughts and of calls, and
// the known part of a typed answer, while it arrives. Anything they must not do, or do for too long, is logged and
// costs the run nothing, and when a kept run is resumed, the answers that it has call none of these functions.
func TestPromise_17_21_Onlookers(t *testing.T) {
	answers := []llmtest.Reply{
		{Calls: []llmtest.Call{{Name: "lookup", Args: `{"word": "x"}`}}, In: 1, Out: 1},
		{Reasoning: "hm", Text: `{"kind": "ad", "tags": ["a", "b"]}`, ByRunes: true, In: 1, Out: 1},
	}
	for _, model := range everyModel {
		var said []string
		res, _, err := over(t, serving(t, answers...), model, lookedAt,
			agentscript.OnEvent(engine.EventLog, func(e engine.Event) { said = append(said, e.Text()) }))
		if err != nil || res.JSON() != `{"kind":"ad","tags":["a","b"]}` {
			t.Fatalf("%s: %s, %v", model, res.JSON(), err)
		}
		all := strings.Join(said, "\n")
		for _, want := range []string{"call ", " lookup", "reasoning h", "text {", "known ad 0", "known ad 2"} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in\n%s", model, want, all)
			}
		}
		if slices.Contains(said, "known ad 2") && slices.Index(said, "known ad 0") > slices.Index(said, "known ad 2") {
			t.Errorf("%s: what is known shrinks:\n%s", model, all)
		}
	}

	eng := agentscript.New(agentscript.WithModels(allProviders(t, serving(t, answers...))), agentscript.WithDefaultModel("openai/m"), agentscript.WithStore(store.NewMemory()))
	mod := loaded(t, eng, strings.Replace(lookedAt, "main = sorter", "def main(input):\n    mail = sorter(input)\n    wait(\"go\", int)\n    return mail", 1))
	printed := 0
	onLog := agentscript.OnEvent(engine.EventLog, func(engine.Event) { printed++ })
	r := mod.Start(t.Context(), input("x"), agentscript.ParkRun(), onLog)
	if _, err := r.Wait(); !errors.Is(err, agentscript.ErrApproval) || printed == 0 {
		t.Fatalf("%v after %d prints", err, printed)
	}
	if err := eng.Signal(t.Context(), r.ID(), "go", "", engine.Answer{Result: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	printed = 0
	if res, err := eng.Resume(t.Context(), r.ID(), onLog).Wait(); err != nil || res.JSON() != `{"kind":"ad","tags":["a","b"]}` || printed > 0 {
		t.Errorf("resumed: %s, %v; the recorded answer calls functions, which print %d times", res.JSON(), err, printed)
	}

	const good = `{"kind": "ad"}`
	for body, want := range map[string]string{
		"other(t.text)":                               "belongs to the flow",
		"agent(prompt = 'x')":                         "belongs to the flow",
		"parallel([(other, 'x')])":                    "belongs to the flow",
		"budget.remaining()":                          "belongs to the flow",
		"[].append(1)\n    fail(\"no\")":              "no",
		"x = [0]\n    while True:\n        x[0] += 1": "takes too long",
		"seen.append(t.text)":                         "frozen",
	} {
		src := fmt.Sprintf("seen = []\nother = agent(run = lambda s: s)\ndef token(t):\n    %s\nmain = agent(name = \"sorter\", output = schema(\"Mail\", kind = str), prompt = \"Sort.\", on_token = token)\n", body)
		var said []string
		res, _, err := over(t, serving(t, llmtest.Reply{Text: good, ByRunes: true}), "openai/gpt-5", src,
			agentscript.OnEvent(engine.EventLog, func(e engine.Event) {
				if e.Err() != nil {
					said = append(said, e.Text())
				}
			}))
		if err != nil || res.JSON() != `{"kind":"ad"}` {
			t.Errorf("%s: %s, %v", body, res.JSON(), err)
		}
		if len(said) != 1 || !strings.Contains(said[0], want) || !strings.Contains(said[0], ":4:") && !strings.Contains(said[0], ":5:") && !strings.Contains(said[0], ":6:") {
			t.Errorf("%s says %q, want one that says %q and where", body, said, want)
		}
	}
	for _, src := range []string{
		`def mk(n): return agent(prompt = "A.", on_token = lambda t: print(n))` + "\nmain = mk(1)",
		`main = agent(prompt = "A.", on_partial = lambda p: p)`,
		`main = agent(prompt = "A.", on_token = lambda: 1)`,
		`main = agent(run = lambda s: s, on_token = lambda t: 1)`,
	} {
		if found, _ := checked(src); !found.HasErrors() {
			t.Errorf("no error: %s", src)
		}
	}
}
