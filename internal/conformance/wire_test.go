package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

// serving starts a provider that gives the replies.
func serving(t testing.TB, replies ...llmtest.Reply) *llmtest.Server {
	t.Helper()
	s := llmtest.New(replies...)
	t.Cleanup(s.Close)
	return s
}

// variables returns a test's own environment, given as names and values.
func variables(pairs ...string) llm.Option {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { v, ok := m[name]; return v, ok }))
}

// stallLimits returns the limits under which a test detects a stalled server. A server that answers or closes the
// connection has none: it may take as long as a loaded machine needs.
func stallLimits(f llmtest.Fault) llm.Timeouts {
	switch f {
	case llmtest.StallHeaders:
		return llm.Timeouts{FirstByte: 400 * time.Millisecond}
	case llmtest.StallStream:
		return llm.Timeouts{Idle: 300 * time.Millisecond}
	}
	return llm.Timeouts{}
}

// connected returns a registry whose openai, ollama and compat are the server. It makes each call once unless told
// otherwise.
func connected(t testing.TB, s *llmtest.Server, opts ...llm.Option) *llm.Registry {
	t.Helper()
	r := llm.New(append([]llm.Option{
		variables("OPENAI_API_KEY", "sk-test-key", "OPENAI_BASE_URL", s.OpenAI(), "OLLAMA_BASE_URL", s.Ollama(), "AGENTSCRIPT_COMPAT_URL", s.OpenAI(),
			"MISTRAL_API_KEY", "m-test-key", "MISTRAL_BASE_URL", s.OpenAI(), "DEEPSEEK_API_KEY", "d-test-key", "DEEPSEEK_BASE_URL", s.OpenAI(),
			"OPENROUTER_API_KEY", "r-test-key", "OPENROUTER_BASE_URL", s.OpenAI()),
		llm.WithRetry(llm.RetryPolicy{Attempts: 1}),
	}, opts...)...)
	t.Cleanup(r.Close)
	return r
}

// overTheWire runs a script's main on a model whose server gives the replies, and returns the bodies of the requests
// and the usage of the calls.
func overTheWire(t *testing.T, name, src string, in agentscript.RunOption, replies ...llmtest.Reply) (agentscript.Result, []map[string]any, model.Usage, error) {
	t.Helper()
	s := serving(t, replies...)
	mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel(name)), src)
	var used model.Usage
	res, err := mod.Start(t.Context(), in, summing(&used)).Wait()
	var bodies []map[string]any
	for _, r := range s.Requests() {
		body, err := r.JSON()
		if err != nil {
			t.Errorf("a request is no JSON: %v", err)
		}
		bodies = append(bodies, body)
	}
	return res, bodies, used, err
}

// compact returns a part of a request as JSON with sorted keys.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// members returns the names of a request's members, sorted.
func members(body map[string]any) string {
	var names []string
	for name := range body {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// messages returns the roles and texts of a request.
func messages(body map[string]any) []string {
	var out []string
	list, _ := body["messages"].([]any)
	for _, m := range list {
		m, _ := m.(map[string]any)
		out = append(out, fmt.Sprintf("%v: %v", m["role"], m["content"]))
	}
	return out
}

// summing adds the usage of each effect of a run to sum.
func summing(sum *model.Usage) agentscript.RunOption {
	return agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
		if d, ok := e.Data.(*event.Effect); ok && d.Usage != nil {
			*sum = sum.Add(*d.Usage)
		}
	})
}
