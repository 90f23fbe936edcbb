package llm_test

import (
	"testing"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/model"
)

// TestCost: a call has its price, a provider's own price is believed, a server on the user's machine is free, and a
// call without a price is counted, not treated as free.
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
	sum := model.Usage{CostUSD: 0.5, Unpriced: 1}.Add(model.Usage{CostUSD: 0.25})
	if sum.CostUSD != 0.75 || sum.Unpriced != 1 {
		t.Errorf("sum %+v", sum)
	}
}

// A model of the table that is named without its provider leads to a suggestion of its full name.
func TestBareNameIsFound(t *testing.T) {
	r := llm.New(env(), llm.WithPrices(prices.Embedded()))
	if err := r.Check("gpt-5"); err == nil || err.Help != `did you mean "openai/gpt-5"?` {
		t.Errorf("%+v", err)
	}
}

// PriceCall uses the highest price of the models that may answer, and returns none if any of them is unknown; a server
// on the user's machine is free.
func TestPriceCall(t *testing.T) {
	table, err := prices.Embedded().With([]byte(`{"openai/cheap": {"input": 1, "output": 2}, "openai/dear": {"input": 3, "output": 30}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := llm.New(env(), llm.WithPrices(table))
	for name, row := range map[string]struct {
		model    string
		instead  []string
		usd      float64
		unpriced string
	}{
		"one":                         {"openai/cheap", nil, 0.002, ""},
		"the dearest stands in":       {"openai/cheap", []string{"openai/dear"}, 0.018, ""},
		"the dearest comes first":     {"openai/dear", []string{"openai/cheap"}, 0.018, ""},
		"unknown":                     {"openai/of-tomorrow", nil, 0, "openai/of-tomorrow"},
		"one that is unknown":         {"openai/dear", []string{"openai/of-tomorrow"}, 0, "openai/of-tomorrow"},
		"one's own machine":           {"ollama/m", nil, 0, ""},
		"from one's own machine away": {"ollama/m", []string{"openai/cheap"}, 0.002, ""},
		"none is named":               {"", nil, 0, "(none is named)"},
	} {
		usd, unpriced := r.PriceCall(&model.Request{Model: row.model, Fallbacks: row.instead}, model.Usage{In: 1000, Out: 500})
		if usd != row.usd || unpriced != row.unpriced {
			t.Errorf("%s: $%v, %q; want $%v, %q", name, usd, unpriced, row.usd, row.unpriced)
		}
	}
	if usd, unpriced := llm.New(env(), llm.WithPrices(nil)).PriceCall(&model.Request{Model: "openai/cheap"}, model.Usage{In: 1}); usd != 0 || unpriced != "openai/cheap" {
		t.Errorf("without a table: $%v, %q", usd, unpriced)
	}
}
