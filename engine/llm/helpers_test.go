package llm_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// env is a separate secret store for a test, so that no variable of the machine matters.
func env(pairs ...string) llm.Option {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	secrets := llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { v, ok := m[name]; return v, ok }))
	return func(r *llm.Registry) {
		secrets(r)
		llm.WithPrices(nil)(r) // tests of usage count tokens; those of cost set a table
	}
}

func server(t *testing.T, replies ...llmtest.Reply) *llmtest.Server {
	t.Helper()
	s := llmtest.New(replies...)
	t.Cleanup(s.Close)
	return s
}

// port returns a registry whose openai and ollama are the server.
func port(t *testing.T, s *llmtest.Server, opts ...llm.Option) *llm.Registry {
	t.Helper()
	limits := llm.Timeouts{Connect: 5 * time.Second, FirstByte: 20 * time.Second, Idle: 20 * time.Second}
	r := llm.New(append([]llm.Option{
		env("OPENAI_API_KEY", "sk-openai-test", "DEEPSEEK_API_KEY", "sk-deepseek-test", "MISTRAL_API_KEY", "mistraltest", "OPENROUTER_API_KEY", "sk-or-test", "ANTHROPIC_API_KEY", "sk-ant-test", "GEMINI_API_KEY", "gemini-test-key"),
		llm.WithBaseURL("openai", s.OpenAI()), llm.WithBaseURL("ollama", s.Ollama()), llm.WithBaseURL("anthropic", s.Anthropic()), llm.WithBaseURL("google", s.Gemini()),
		llm.WithBaseURL("deepseek", s.URL), llm.WithBaseURL("mistral", s.OpenAI()), llm.WithBaseURL("openrouter", s.OpenAI()),
		llm.WithBaseURL("compat", s.OpenAI()), llm.WithTimeouts(limits), once,
	}, opts...)...)
	t.Cleanup(r.Close)
	return r
}

func ask(h engine.Handler, model string, req *model.Request) engine.Outcome {
	return h.Do(context.Background(), effect(model, req), nil)
}

func effect(model string, req *model.Request) *engine.Effect {
	return &engine.Effect{Kind: engine.EffectModel, Name: model, Agent: "reviewer", Req: req}
}

// listen makes a streamed call and returns the text and reasoning that the sink received.
func listen(t *testing.T, h engine.Handler, model string, req *model.Request) (out engine.Outcome, text, reasoning string) {
	t.Helper()
	e := effect(model, req)
	e.Stream = true
	seq := 0
	out = h.Do(context.Background(), e, func(tok engine.Token) {
		if tok.Seq != seq || tok.Attempt != 1 {
			t.Errorf("token %+v, want attempt 1 and number %d", tok, seq)
		}
		seq++
		if tok.Reasoning {
			reasoning += tok.Text
		} else {
			text += tok.Text
		}
	})
	return out, text, reasoning
}

func prompt(text string) *model.Request {
	return &model.Request{System: "Be brief.", Messages: []model.Message{model.TextMessage(model.RoleUser, text)}}
}

// once disables retries, for tests about one attempt.
var once = llm.WithRetry(llm.RetryPolicy{Attempts: 1})

func ptr[T any](v T) *T { return &v }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs\n--- got\n%s\n--- want\n%s", name, got, want)
	}
}

// verdict returns a schema that follows the rules of strict mode, loose one that does not.
func verdict() *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: "Verdict", Doc: "A <verdict> & more", Fields: []generable.Field{
		{Name: "ok", Type: generable.BoolT, Guide: "whether it ships"},
		{Name: "score", Type: generable.FloatT, Limits: &generable.Limits{Ge: ptr(0.0), Le: ptr(1.0)}},
	}}
}

func loose() *generable.Type {
	return &generable.Type{Kind: generable.RecordType, Name: "Loose notes", Fields: []generable.Field{
		{Name: "note", Type: generable.StrT, Optional: true, Default: generable.StrOf("")},
	}}
}

func needErr(t *testing.T, out engine.Outcome) *engine.Error {
	t.Helper()
	if out.Err == nil {
		t.Fatalf("an error is wanted, got %+v", out.Response)
	}
	return out.Err
}

func need(t *testing.T, out engine.Outcome) *model.Response {
	t.Helper()
	if out.Err != nil {
		t.Fatalf("%v\nhelp: %s\nraw: %s", out.Err, out.Err.Help, out.Err.Raw)
	}
	if out.Usage != out.Response.Usage || out.Attempt != 1 {
		t.Errorf("outcome has usage %+v and attempt %d", out.Usage, out.Attempt)
	}
	return out.Response
}

func hasAll(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}
