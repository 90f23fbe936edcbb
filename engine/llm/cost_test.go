package llm_test

import (
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/llm/prices"
)

// TestCost: a call has its price, a provider that says it itself is believed, a server on the
// user's machine is free, and what has no price is counted, not taken for nothing.
func TestCost(t *testing.T) {
	table, err := prices.Embedded().With([]byte(`{"openai/m": {"input": 2, "output": 8, "cache_read": 0.5}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		model, usage string
		usd          float64
		unpriced     int
	}{
		"own table":     {"openai/m", `{"prompt_tokens":1000,"completion_tokens":500,"prompt_tokens_details":{"cached_tokens":400}}`, (600*2 + 400*0.5 + 500*8) / 1e6, 0},
		"said":          {"openrouter/x/y", `{"prompt_tokens":1000,"completion_tokens":500,"cost":0.25}`, 0.25, 0},
		"unknown":       {"compat/m", `{"prompt_tokens":1000,"completion_tokens":500}`, 0, 1},
		"nonsense said": {"compat/m", `{"prompt_tokens":1,"completion_tokens":1,"cost":-5}`, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t, llmtest.Reply{Body: `{"model":"m","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":` + row.usage + `}`})
			out := ask(port(t, s, llm.WithPrices(table)), row.model, prompt("x"))
			if u := need(t, out).Usage; u.CostUSD != row.usd || u.Unpriced != row.unpriced || out.Usage != u {
				t.Errorf("cost $%v, %d unpriced; want $%v, %d", u.CostUSD, u.Unpriced, row.usd, row.unpriced)
			}
		})
	}
	s := server(t, llmtest.Reply{Text: "ok"})
	if u := need(t, ask(port(t, s, llm.WithPrices(table)), "ollama/m", prompt("x"))).Usage; u.CostUSD != 0 || u.Unpriced != 0 {
		t.Errorf("ollama: %+v", u)
	}
	sum := engine.Usage{CostUSD: 0.5, Unpriced: 1}.Add(engine.Usage{CostUSD: 0.25})
	if sum.CostUSD != 0.75 || sum.Unpriced != 1 {
		t.Errorf("sum %+v", sum)
	}
}

// A model of the table that is named without its provider is asked about by its full name.
func TestBareNameIsFound(t *testing.T) {
	r := llm.New(env(), llm.WithPrices(prices.Embedded()))
	if err := r.Check("gpt-5"); err == nil || err.Help != `did you mean "openai/gpt-5"?` {
		t.Errorf("%+v", err)
	}
}
