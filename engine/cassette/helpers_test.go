package cassette_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// port returns a registry whose openai provider is the server, and which reads no settings of the machine.
func port(t *testing.T, s *llmtest.Server) *llm.Registry {
	t.Helper()
	r := llm.New(env("OPENAI_API_KEY", "sk-openai-test"), llm.WithBaseURL("openai", s.OpenAI()), llm.WithRetry(llm.RetryPolicy{Attempts: 1}), llm.WithPrices(nil))
	t.Cleanup(r.Close)
	return r
}

func env(pairs ...string) llm.Option {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { v, ok := m[name]; return v, ok }))
}

func effect(model string, req *model.Request) *engine.Effect {
	return &engine.Effect{Kind: engine.EffectModel, Name: model, Agent: "reviewer", Req: req}
}

func prompt(text string) *model.Request {
	return &model.Request{System: "Be brief.", Messages: []model.Message{model.TextMessage(model.RoleUser, text)}}
}

func ptr[T any](v T) *T { return &v }

func verdict() *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: "Verdict", Fields: []generable.Field{
		{Name: "ok", Type: generable.BoolT}, {Name: "score", Type: generable.FloatT},
	}}
}

func hasAll(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

func ask(h engine.Handler, model string, req *model.Request) engine.Outcome {
	return h.Do(context.Background(), effect(model, req), nil)
}

func need(t *testing.T, out engine.Outcome) *model.Response {
	t.Helper()
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	return out.Response
}

func needErr(t *testing.T, out engine.Outcome) *engine.Error {
	t.Helper()
	if out.Err == nil {
		t.Fatalf("an error is wanted, got %+v", out.Response)
	}
	return out.Err
}
