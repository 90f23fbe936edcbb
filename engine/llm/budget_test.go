package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// limitsSent lists where the providers' forms have the limit of an answer.
var limitsSent = map[string][]string{
	"openai/gpt-4o": {"max_completion_tokens"}, "deepseek/deepseek-chat": {"max_tokens"}, "mistral/m": {"max_tokens"}, "openrouter/x/m": {"max_tokens"},
	"compat/m": {"max_tokens"}, "anthropic/claude-sonnet-4-5": {"max_tokens"}, "google/gemini-2.5-flash": {"generationConfig", "maxOutputTokens"}, "ollama/qwen3": {"options", "num_predict"},
}

// sentLimit returns the limit of the answer in a request, 0 without one.
func sentLimit(t *testing.T, model string, r llmtest.Request) int {
	t.Helper()
	at, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	names := limitsSent[model]
	for _, name := range names[:len(names)-1] {
		at, _ = at[name].(map[string]any)
	}
	n, _ := at[names[len(names)-1]].(float64)
	return int(n)
}

// watched records the effects of models on their way to the registry.
type watched struct {
	engine.Handler
	made []*engine.Effect
	ids  []string
}

func (w *watched) Do(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
	copied := *e
	w.made, w.ids = append(w.made, &copied), append(w.ids, e.ID())
	return w.Handler.Do(ctx, e, k)
}

// priced sets a price of one dollar per thousand tokens, input and output.
func priced(t *testing.T) llm.Option {
	t.Helper()
	rows := map[string]any{}
	for name := range limitsSent {
		rows[name] = map[string]float64{"input": 1000, "output": 1000}
	}
	rows["openai/gpt-5"], rows["google/gemini-2.5-pro"] = rows["openai/gpt-4o"], rows["openai/gpt-4o"]
	rows["anthropic/claude-opus-4-5"] = rows["openai/gpt-4o"]
	data, _ := json.Marshal(rows)
	table, err := prices.Embedded().With(data)
	if err != nil {
		t.Fatal(err)
	}
	return llm.WithPrices(table)
}

// spending runs an agent with a model within limits.
func spending(t *testing.T, w *watched, name string, p model.Params, l engine.Limits) error {
	t.Helper()
	session := flow.NewSession()
	node := session.Agent(site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Be brief.", Params: p})
	session.Seal()
	pricer, _ := w.Handler.(engine.Pricer)
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: node, Input: generable.StrOf("hello"), Handler: w, Pricer: pricer, Model: name, Limits: l})
	return err
}

// Promise 26.70 (sound): a model call under a token or money budget is sent with a limit equal to what it reserved for
// its answer, in every provider's form and never above the script's max_tokens; the limit is in no digest, id or
// canonical request, and a call without such a budget is sent unchanged.
func TestPromise_26_70_TheLimitIsSent(t *testing.T) {
	for name := range limitsSent {
		for _, own := range []int{0, 50, 100_000} {
			for what, l := range map[string]engine.Limits{"tokens": {Tokens: engine.AtMost(1000)}, "money": {USD: engine.Dollars(1)}, "both": {Tokens: engine.AtMost(5000), USD: engine.Dollars(1)}} {
				if strings.HasPrefix(name, "ollama/") && what != "tokens" {
					continue // it is free
				}
				var p model.Params
				if own > 0 {
					p.MaxTokens = &own
				}
				s := server(t, llmtest.Reply{Text: "ok", In: 5, Out: 1, Repeat: true})
				w := &watched{Handler: port(t, s, priced(t))}
				if err := spending(t, w, name, p, l); err != nil {
					t.Fatalf("%s, %s of %d: %v", name, what, own, err)
				}
				e, sent := w.made[0], sentLimit(t, name, s.Requests()[0])
				if left := 1000 - 20; sent != int(e.MaxOut) || own != 50 && (sent < left || sent >= 1000) || own == 50 && (sent != 50 || e.Short) {
					t.Errorf("%s, %s, max_tokens %d: sent %d, reserved %d (short %v)", name, what, own, sent, e.MaxOut, e.Short)
				}
				free := &watched{Handler: w.Handler}
				if err := spending(t, free, name, p, engine.Limits{}); err != nil {
					t.Fatal(err)
				}
				was := sentLimit(t, name, s.Requests()[1])
				if free.ids[0] != w.ids[0] || free.made[0].Req.Digest() != e.Req.Digest() || free.made[0].MaxOut != 0 || was != own && !(own == 0 && strings.HasPrefix(name, "anthropic/")) {
					t.Errorf("%s, %s: ids %s and %s; without a budget it is sent with %d", name, what, w.ids[0], free.ids[0], was)
				}
			}
		}
	}
}

// A budget that leaves more than a model can ever generate does not change the request: providers count a call's limit
// against the account's limits.
func TestAmpleBudgetSendsNoLimit(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "ok", In: 5, Out: 1, Repeat: true})
	w := &watched{Handler: port(t, s, priced(t))}
	for _, l := range []engine.Limits{{}, {Tokens: engine.AtMost(1_000_000), USD: engine.Dollars(1000)}} {
		if err := spending(t, w, "openai/gpt-4o", model.Params{}, l); err != nil {
			t.Fatal(err)
		}
	}
	if r := s.Requests(); string(r[0].Body) != string(r[1].Body) || w.made[1].MaxOut != 16_384 || w.made[1].Short {
		t.Errorf("sent %s\nthen %s, reserved %d", r[0].Body, r[1].Body, w.made[1].MaxOut)
	}
}

// Members that a host or script adds to a request do not lift the limit.
func TestExtraDoesNotLiftTheLimit(t *testing.T) {
	for _, row := range []struct {
		name, extra string
		answers     int
	}{
		{"openai/gpt-4o", `{"max_tokens": 90000, "max_completion_tokens": 80000}`, 1},
		{"anthropic/claude-sonnet-4-5", `{"max_tokens": 64000}`, 1},
		{"google/gemini-2.5-flash", `{"generationConfig": {"maxOutputTokens": 60000, "candidateCount": 4}}`, 4},
		{"google/gemini-2.5-flash", `{"generation_config": {"max_output_tokens": 60000, "candidate_count": 4}}`, 4},
		{"google/gemini-2.5-flash", `{"generationConfig": {"max_output_tokens": 60000}}`, 1},
		{"ollama/qwen3", `{"options": {"num_predict": -1}}`, 1},
		{"compat/m", `{"n": 2}`, 2}, {"compat/m", `{"n": "2"}`, 2}, {"compat/m", `{"n": 2.0}`, 2},
	} {
		s := server(t, llmtest.Reply{Text: "ok", In: 5, Out: 1})
		w := &watched{Handler: port(t, s, priced(t))}
		if err := spending(t, w, row.name, model.Params{Extra: json.RawMessage(row.extra)}, engine.Limits{Tokens: engine.AtMost(1000)}); err != nil {
			t.Fatal(row, err)
		}
		body := string(s.Requests()[0].Body)
		if sent := sentLimit(t, row.name, s.Requests()[0]); sent != int(w.made[0].MaxOut)/row.answers || strings.Contains(body, "60000") || strings.Contains(body, "generation_config") {
			t.Errorf("%v: sent %d of %d: %s", row, sent, w.made[0].MaxOut, body)
		}
	}
	s := server(t, llmtest.Reply{Text: "ok"})
	streamed := effect("openai/gpt-4o", &model.Request{Params: model.Params{Extra: json.RawMessage(`{"stream_options": {"include_usage": false}}`)}, Messages: prompt("x").Messages})
	streamed.Stream = true
	if out := port(t, s).Do(t.Context(), streamed, func(engine.Token) {}); out.Err == nil || !strings.Contains(out.Err.Message, "include_usage") {
		t.Errorf("an answer whose usage is hidden: %+v", out.Err)
	}
}

// A more expensive service that a script selects costs more.
func TestExtraMakesCallsDearer(t *testing.T) {
	r := llm.New(priced(t))
	for extra, want := range map[string]float64{
		``: 1, `{"service_tier": "flex"}`: 1, `{"service_tier": "priority"}`: 2, `{"speed": "fast"}`: 6,
	} {
		usd, unpriced := r.PriceCall(&model.Request{Model: "openai/gpt-4o", Params: model.Params{Extra: json.RawMessage(extra)}}, model.Usage{In: 1000})
		if unpriced != "" || usd != want {
			t.Errorf("%s costs %g %s, want %g", extra, usd, unpriced, want)
		}
	}
}

// Promise 26.72 (sound): a call's reservation includes reasoning tokens; a call whose budget leaves less than its
// provider's minimum, by a table of reasoning budgets and minimum answers, is refused before it is sent.
func TestPromise_26_72_ThoughtsFit(t *testing.T) {
	ints := func(n int) *int { return &n }
	for _, row := range []struct {
		model string
		p     model.Params
		least int // with a limit of one less it is refused
	}{
		{"anthropic/claude-opus-4-5", model.Params{ReasoningTokens: ints(2000)}, 2016},
		{"anthropic/claude-opus-4-5", model.Params{ReasoningTokens: ints(10)}, 1040},
		{"anthropic/claude-sonnet-4-5", model.Params{Effort: "medium"}, 8208},
		{"anthropic/claude-sonnet-4-5", model.Params{Effort: "high", MaxTokens: ints(4000)}, 2016},
		{"anthropic/claude-sonnet-4-5", model.Params{}, 16},
		{"openai/gpt-5", model.Params{}, 144},
		{"openai/gpt-5", model.Params{Effort: "high"}, 528},
		{"openai/gpt-5", model.Params{Effort: "minimal"}, 16},
		{"openai/gpt-5", model.Params{Effort: "high", MaxTokens: ints(100)}, 100}, // the script's own limit
		{"openai/gpt-4o", model.Params{}, 16},
		{"openai/gpt-4o", model.Params{MaxTokens: ints(1)}, 1},
		{"google/gemini-2.5-flash", model.Params{ReasoningTokens: ints(512)}, 528},
		{"google/gemini-2.5-flash", model.Params{ReasoningTokens: ints(0)}, 16},
		{"google/gemini-2.5-pro", model.Params{Effort: "none"}, 144},
		{"openrouter/x/m", model.Params{ReasoningTokens: ints(300)}, 1040},
	} {
		s := server(t, llmtest.Reply{Text: "ok", In: 5, Out: 1, Repeat: true})
		w := &watched{Handler: port(t, s, priced(t))}
		least, most := w.Handler.(*llm.Registry).AnswerSize(&model.Request{Model: row.model, Params: row.p})
		if row.p.MaxTokens != nil {
			least = min(least, *row.p.MaxTokens)
		}
		if least != row.least || most != 0 && most < least {
			t.Errorf("%s %+v: at least %d and at most %d tokens, want %d", row.model, row.p, least, most, row.least)
			continue
		}
		in := 9 // the estimate for the prompt and the input
		err := spending(t, w, row.model, row.p, engine.Limits{Tokens: engine.AtMost(int64(in + least - 1))})
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != diag.BudgetExceeded || !strings.Contains(e.Message, "cannot fit") || len(s.Requests()) != 0 {
			t.Errorf("%s with one token less than %d: %v, %d requests", row.model, least, err, len(s.Requests()))
		}
		if err := spending(t, w, row.model, row.p, engine.Limits{Tokens: engine.AtMost(int64(in + least + 20))}); err != nil {
			t.Errorf("%s with %d tokens: %v", row.model, least, err)
			continue
		}
		body, _ := s.Requests()[0].JSON()
		thinking, _ := body["thinking"].(map[string]any)
		if budget, _ := thinking["budget_tokens"].(float64); budget > 0 && int(budget) >= int(body["max_tokens"].(float64)) {
			t.Errorf("%s: thoughts of %v in %v tokens", row.model, budget, body["max_tokens"])
		}
	}
	// A handler that receives a limit from another process checks it itself.
	s := server(t, llmtest.Reply{Text: "ok"})
	e := effect("anthropic/claude-opus-4-5", &model.Request{Params: model.Params{ReasoningTokens: ints(4000)}, Messages: prompt("x").Messages})
	e.MaxOut, e.Short = 3000, true
	if out := port(t, s).Do(t.Context(), e, nil); out.Err == nil || out.Err.Kind != engine.KindBudget || !strings.Contains(out.Err.Message, "cannot fit") || len(s.Requests()) != 0 {
		t.Errorf("%+v", out.Err)
	}
}

// Promise 26.73 (sound): an answer that a budget's limit cuts off, plain or streamed, in its text, in the arguments of a
// call or before its start, is a budget error that keeps the text and the usage; one cut off by the script's own
// max_tokens or by the model's limit is not.
func TestPromise_26_73_CutOff(t *testing.T) {
	words := map[string]string{"openai/gpt-4o": "length", "mistral/m": "length", "anthropic/claude-sonnet-4-5": "max_tokens", "google/gemini-2.5-flash": "MAX_TOKENS", "ollama/qwen3": "length"}
	for name, finish := range words {
		for what, reply := range map[string]llmtest.Reply{
			"text":     {Text: "half an answer"},
			"thoughts": {Reasoning: "let me think", Signature: "s"},
			"call":     {Text: "half an answer", Calls: []llmtest.Call{{ID: "c1", Name: "compile", Args: `{"path":"a"}`}}},
		} {
			for _, stream := range []bool{false, true} {
				for limit, want := range map[int32]engine.ErrKind{300: engine.KindBudget, 900: ""} {
					reply.Finish, reply.In, reply.Out = finish, 20, 300
					s := server(t, reply)
					req := prompt("x")
					req.Tools = tools()
					e := effect(name, req)
					e.MaxOut, e.Short, e.Stream = limit, true, stream
					streamed := ""
					out := port(t, s).Do(t.Context(), e, func(k engine.Token) { streamed += k.Text })
					where := fmt.Sprintf("%s, %s, stream %v, limit %d", name, what, stream, limit)
					if want == "" { // the server stopped by itself
						if out.Err != nil && out.Err.Kind == engine.KindBudget && what == "text" {
							t.Errorf("%s: %v", where, out.Err)
						}
						continue
					}
					if out.Err == nil || out.Err.Kind != want || out.Err.Code != diag.BudgetExceeded || !strings.Contains(out.Err.Message, "cut off at 300 tokens") || out.Err.Help == "" {
						t.Errorf("%s: %+v", where, out.Err)
						continue
					}
					if out.Err.Usage.In != 20 || out.Err.Usage.Out != 300 || out.Usage.Out != 300 || what == "text" && (out.Err.Raw != "half an answer" || stream && streamed != out.Err.Raw) {
						t.Errorf("%s: kept %q and %+v, streamed %q", where, out.Err.Raw, out.Err.Usage, streamed)
					}
				}
			}
		}
		// The script's own limit.
		own := 300
		s := server(t, llmtest.Reply{Text: "half", Finish: finish, In: 20, Out: 300})
		w := &watched{Handler: port(t, s, priced(t))}
		err := spending(t, w, name, model.Params{MaxTokens: &own}, engine.Limits{Tokens: engine.AtMost(100_000)})
		if engine.AsError(err).Kind != engine.KindTruncated {
			t.Errorf("%s, the script's own limit: %v", name, err)
		}
	}
	refusal := `{"error":{"message":"Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.","type":"invalid_request_error"}}`
	s := server(t, llmtest.Reply{Status: 400, Body: refusal, Repeat: true})
	e := effect("openai/gpt-5", prompt("x"))
	if e.MaxOut, e.Short = 200, true; port(t, s).Do(t.Context(), e, nil).Err.Kind != engine.KindBudget {
		t.Error("a refusal for a limit that was too short is no budget error")
	}
	if e.MaxOut, e.Short = 0, false; port(t, s).Do(t.Context(), e, nil).Err.Kind != engine.KindTruncated {
		t.Error("without a budget it is one")
	}
}

// If a provider refuses a limit as too long, the call is repeated with the longest accepted one, and later calls use no
// longer one.
func TestLimitsThatAreTooLong(t *testing.T) {
	for message, want := range map[string]int{
		"max_tokens is too large: 32768. This model supports at most 4096 completion tokens, whereas you provided 32768.":                                                                   4096,
		"The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32768 instead.":                      12_288,
		"'max_tokens' or 'max_completion_tokens' is too large: 32768. This model's maximum context length is 32769 tokens and your request has 24235 input tokens (32768 > 32769 - 24235).": 8534,
		"This model's maximum context length is 8192 tokens. However, you requested 32832 tokens (64 in the messages, 32768 in the completion).":                                            8128,
		"max_tokens must be smaller": 16_384,
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": message, "type": "invalid_request_error"}})
		s := server(t, llmtest.Reply{Status: 400, Body: string(body)}, llmtest.Reply{Text: "ok", In: 5, Out: 1, Repeat: true})
		w := &watched{Handler: port(t, s, priced(t))}
		for range 2 {
			if err := spending(t, w, "compat/m", model.Params{}, engine.Limits{Tokens: engine.AtMost(1_000_000)}); err != nil {
				t.Fatalf("%s: %v", message, err)
			}
		}
		r := s.Requests()
		if first, second := sentLimit(t, "compat/m", r[0]), sentLimit(t, "compat/m", r[1]); first != 32_768 || second != want {
			t.Errorf("%s: sent %d, then %d, want %d", message, first, second, want)
		}
		if !strings.Contains(message, "context length") && sentLimit(t, "compat/m", r[2]) != want {
			t.Errorf("%s: forgotten by the next call", message)
		}
	}
	s := server(t, llmtest.Reply{Status: 400, Body: `{"error":{"message":"temperature must be lower than 2 and not 2000"}}`, Repeat: true})
	w := &watched{Handler: port(t, s)}
	if err := spending(t, w, "compat/m", model.Params{}, engine.Limits{Tokens: engine.AtMost(1_000_000)}); err == nil || len(s.Requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(s.Requests()))
	}
}

// After an attempt with usage, another one is made if the budget allows it, with the rest as its limit. Otherwise the
// call fails with the attempt's error, and the error says so.
func TestAttemptsAreReserved(t *testing.T) {
	empty := llmtest.Reply{In: 20, Out: 120}
	again := llm.WithRetry(llm.RetryPolicy{Attempts: 3, First: 1, Most: 1})
	for _, row := range []struct {
		tokens   int64
		requests int
		fails    bool
	}{{100_000, 2, false}, {150, 1, true}} {
		s := server(t, empty, llmtest.Reply{Text: "ok", In: 20, Out: 1})
		w := &watched{Handler: port(t, s, priced(t), again)}
		err := spending(t, w, "openai/gpt-4o", model.Params{}, engine.Limits{Tokens: engine.AtMost(row.tokens)})
		if (err != nil) != row.fails || len(s.Requests()) != row.requests {
			t.Errorf("%d tokens: %v after %d requests", row.tokens, err, len(s.Requests()))
		}
		if row.fails && !strings.Contains(fmt.Sprint(engine.AsError(err).Notes), "no room for another attempt") {
			t.Errorf("%d tokens: notes %v", row.tokens, engine.AsError(err).Notes)
		}
	}
}
