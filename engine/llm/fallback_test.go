package llm_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

// asks returns the models that the server was asked for, in order.
func asks(t *testing.T, s *llmtest.Server) string {
	t.Helper()
	var names []string
	for _, r := range s.Requests() {
		body, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		name, _ := body["model"].(string)
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func withFallbacks(models ...string) *model.Request {
	req := prompt("x")
	req.Fallbacks = models
	return req
}

func TestFallback(t *testing.T) {
	ok := llmtest.Reply{Text: "ok"}
	for _, row := range []struct {
		name    string
		replies []llmtest.Reply
		asked   string
		kind    engine.ErrKind
		opts    []llm.Option
	}{
		{"attempts used up", []llmtest.Reply{down(), down(), down(), down(), ok}, "a a a a b", "", nil},
		{"asks to wait for long", []llmtest.Reply{busy("Retry-After", "90"), ok}, "a b", "", nil},
		{"no quota", []llmtest.Reply{openAIError(402, "", "no"), ok}, "a b", "", nil},
		{"not found", []llmtest.Reply{openAIError(404, "model_not_found", "no"), ok}, "a b", "", nil},
		{"too long", []llmtest.Reply{openAIError(400, "context_length_exceeded", "maximum context length is 5"), ok}, "a b", "", nil},
		{"no schema", []llmtest.Reply{openAIError(400, "unsupported_parameter", "response_format"), ok}, "a b", "", nil},
		{"garbage", []llmtest.Reply{{Fault: llmtest.Garbage}, ok}, "a b", "", nil},
		{"a bad key", []llmtest.Reply{openAIError(401, "", "no"), ok}, "a", engine.KindAuth, nil},
		{"a bad request", []llmtest.Reply{openAIError(400, "", "no"), ok}, "a", engine.KindBadRequest, nil},
		{"a refusal", []llmtest.Reply{{Refusal: "no"}, ok}, "a", engine.KindRefused, nil},
		{"a filter", []llmtest.Reply{{Text: "par", Finish: "content_filter"}, ok}, "a", engine.KindRefused, nil},
		{"a refusal, as told", []llmtest.Reply{{Refusal: "no"}, ok}, "a b", "", []llm.Option{llm.WithFallbackOnRefusal()}},
		{"its own limit", []llmtest.Reply{{Reasoning: "hm", Finish: "length"}, ok}, "a", engine.KindTruncated, nil},
		{"on and on", []llmtest.Reply{openAIError(404, "", "no such model"), openAIError(401, "", "no"), ok}, "a b c", "", nil},
		{"the host's", []llmtest.Reply{openAIError(404, "", "no such model"), openAIError(404, "", "no such model"), openAIError(404, "", "no such model"), ok}, "a b c d", "", []llm.Option{llm.WithFallbacks("ollama/b", "openai/d")}},
	} {
		s := server(t, row.replies...)
		r, _ := patient(t, s, row.opts...)
		out := ask(r, "openai/a", withFallbacks("ollama/b", "mistral/c"))
		if got := asks(t, s); got != row.asked {
			t.Errorf("%s: asked %q, want %q", row.name, got, row.asked)
		}
		switch {
		case row.kind == "" && (out.Err != nil || out.Response.Text() != "ok" || out.Attempt != len(s.Requests())):
			t.Errorf("%s: attempt %d, %v", row.name, out.Attempt, out.Err)
		case row.kind != "" && (out.Err == nil || out.Err.Kind != row.kind):
			t.Errorf("%s: %v, want %s", row.name, out.Err, row.kind)
		}
	}
}

// The answer names the model that answered, and each step is reported.
func TestFallbackIsTold(t *testing.T) {
	s := server(t, openAIError(404, "model_not_found", "no"), llmtest.Reply{Text: "ok"})
	r, _ := patient(t, s)
	out, tokens := heard(r, "openai/a", withFallbacks("nowhere/x", "ollama/b"), false)
	if out.Err != nil || out.Response.Provider != "ollama" || out.Response.Model != "b" || out.Attempt != 2 {
		t.Fatalf("%+v %v", out.Response, out.Err)
	}
	var steps []string
	for _, tok := range tokens {
		steps = append(steps, tok.Retry.From+" to "+tok.Retry.To+": "+string(tok.Retry.Err.Kind))
	}
	if got := strings.Join(steps, "; "); got != "openai/a to nowhere/x: not_found; nowhere/x to ollama/b: config" {
		t.Error(got)
	}
}

func TestEveryModelsCause(t *testing.T) {
	s := server(t, down(), down(), down(), down(), openAIError(404, "", "never heard of it"))
	r, _ := patient(t, s)
	e := needErr(t, ask(r, "openai/a", withFallbacks("ollama/b", "openia/c")))
	hasAll(t, "message", e.Message, "ollama/b (attempt 5): the provider knows no such model", "never heard of it")
	if e.Kind != engine.KindNotFound || e.Attempt != 5 || len(e.Notes) != 2 {
		t.Fatalf("%s, attempt %d, notes %q", e.Kind, e.Attempt, e.Notes)
	}
	hasAll(t, "note", e.Notes[0], "openai/a (attempts 1 to 4): the provider is overloaded")
	hasAll(t, "note", e.Notes[1], `there is no provider "openia"`)

	s = server(t)
	r, _ = patient(t, s)
	e = needErr(t, ask(r, "openia/a", withFallbacks("ollama/b")))
	if e.Kind != engine.KindConfig || len(s.Requests()) != 0 {
		t.Errorf("a wrong name is asked around: %v", e)
	}
}

// State that only one provider can read is not sent to others.
func TestForeignStateIsDropped(t *testing.T) {
	req := withFallbacks("compat/b", "ollama/c", "anthropic/d")
	req.Messages = append(req.Messages, model.Message{Role: model.RoleAssistant, Parts: []model.Part{
		{Kind: model.PartReasoning, Text: "hm", Opaque: &model.Opaque{Provider: "openrouter", Data: `[{"type":"reasoning.encrypted","data":"sealed"}]`}},
		{Kind: model.PartText, Text: "said before"}}}, model.TextMessage(model.RoleUser, "go on"))
	unknown := openAIError(404, "model_not_found", "no")
	s := server(t, unknown, unknown, unknown, unknown)
	r, _ := patient(t, s)
	needErr(t, ask(r, "openrouter/a", req))
	for i, got := range s.Requests() {
		if strings.Contains(string(got.Body), "sealed") != (i == 0) || !strings.Contains(string(got.Body), "said before") {
			t.Errorf("model %d was sent %s", i, got.Body)
		}
	}
	if n := len(s.Requests()); n != 4 {
		t.Errorf("%d models were asked", n)
	}
}

// A model that fails call after call is not asked for a while, then once.
func TestBreaker(t *testing.T) {
	s := server(t, always(down()))
	r, clock := patient(t, s, llm.WithRetry(llm.RetryPolicy{Attempts: 1}))
	for range 5 {
		needErr(t, ask(r, "openai/a", prompt("x")))
	}
	e := needErr(t, ask(r, "openai/a", prompt("x")))
	if n := len(s.Requests()); n != 5 || e.Kind != engine.KindOverloaded || e.Model.RetryAfter <= 0 || e.Model.RetryAfter > 30*time.Second {
		t.Errorf("%d requests, %v %+v", n, e, e.Model)
	}
	hasAll(t, "message", e.Message, "openai/a: it was not asked")
	needErr(t, ask(r, "openai/b", prompt("x"))) // another model is asked
	if got := asks(t, s); got != "a a a a a b" {
		t.Errorf("asked %s", got)
	}
	clock.AfterFunc(30*time.Second, func() {})
	needErr(t, ask(r, "openai/a", prompt("x")))
	needErr(t, ask(r, "openai/a", prompt("x")))
	if got := asks(t, s); got != "a a a a a b a" {
		t.Errorf("asked %s, want one more", got)
	}
}

// A provider that answers, even with a refusal, is available: only consecutive failures count.
func TestBreakerForgets(t *testing.T) {
	var replies []llmtest.Reply
	for range 3 {
		replies = append(replies, down(), down(), down(), down(), openAIError(400, "", "no"))
	}
	s := server(t, append(replies, llmtest.Reply{Text: "ok"})...)
	r, _ := patient(t, s, llm.WithRetry(llm.RetryPolicy{Attempts: 1}))
	for range 15 {
		needErr(t, ask(r, "openai/a", prompt("x")))
	}
	if out := ask(r, "openai/a", prompt("x")); out.Err != nil || len(s.Requests()) != 16 {
		t.Errorf("%v after %d requests", out.Err, len(s.Requests()))
	}
}

// With a fallback model, nobody waits for a model that is not asked.
func TestBreakerSendsOn(t *testing.T) {
	s := server(t, always(down()))
	other := server(t, always(llmtest.Reply{Text: "ok"}))
	r, _ := patient(t, s, llm.WithBaseURL("ollama", other.Ollama()))
	for range 10 {
		if out := ask(r, "openai/a", withFallbacks("ollama/b")); out.Err != nil {
			t.Fatal(out.Err)
		}
	}
	if n := len(s.Requests()); n != 5*4 {
		t.Errorf("%d requests to the model that is down", n)
	}
}
