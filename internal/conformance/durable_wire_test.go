package conformance

import (
	"encoding/json"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/store"
)

// Promise 30.18 (durable): a token limit that a budget sets is only sent on the wire, and changes no id.
func TestPromise_30_18_LimitOutsideDigest(t *testing.T) {
	const plain, bounded = `main = agent("a", prompt = "A.")`, `main = agent("a", prompt = "A.", budget = budget(tokens = 900))`
	type sent struct {
		step  engine.Step
		limit float64 // from the request's body; 0 if it has none
	}
	of := func(model, text string, opts ...agentscript.RunOption) sent {
		t.Helper()
		p, s := llmtest.New(llmtest.Reply{Text: "yes", In: 5, Out: 1}), store.NewMemory()
		defer p.Close()
		mod := loaded(t, agentscript.New(agentscript.WithStore(s), agentscript.WithModels(allProviders(t, p)), agentscript.WithDefaultModel(model)), text)
		run := mod.Start(t.Context(), append(opts, input("x"))...)
		if _, err := run.Wait(); err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		var out sent
		if err := s.Steps(t.Context(), run.ID(), 0, func(step engine.Step) error {
			out.step = step
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		body := map[string]any{}
		if err := json.Unmarshal(p.Requests()[0].Body, &body); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"max_tokens", "max_completion_tokens"} {
			if n, ok := body[name].(float64); ok {
				out.limit = n
			}
		}
		return out
	}
	for _, model := range []string{"openai/gpt-x", "compat/m", "anthropic/claude-x"} {
		free, tokens := of(model, plain), agentscript.RunLimits(engine.Limits{Tokens: engine.AtMost(700)})
		for name, is := range map[string]sent{"of the run": of(model, plain, tokens), "of the agent": of(model, bounded), "of both": of(model, bounded, tokens)} {
			if is.limit <= 0 || is.limit >= 900 || is.limit == free.limit {
				t.Errorf("%s, a limit %s: %v is sent, without it %v", model, name, is.limit, free.limit)
			}
			if is.step.ID != free.step.ID || is.step.Key != free.step.Key || string(is.step.Request) != string(free.step.Request) {
				t.Errorf("%s, a limit %s: the step is %s, key %s,\n%s\nwithout it %s, key %s,\n%s", model, name,
					is.step.ID, is.step.Key, is.step.Request, free.step.ID, free.step.Key, free.step.Request)
			}
		}
	}

	// A limit that the script sets is part of the request.
	if own, free := of("compat/m", `main = agent("a", prompt = "A.", max_tokens = 300)`), of("compat/m", plain); own.step.ID == free.step.ID || own.limit != 300 {
		t.Errorf("max_tokens = 300 sends %v, under the id %s", own.limit, own.step.ID)
	}
}
