package agentscript_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
)

// leaky is a model that answers one text.
type leaky struct{ answer string }

func (l leaky) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return l.answer, nil
}

func (l leaky) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: l.answer, StopReason: "stop"}}}, nil
}

// TestErrorsThatShowValues: an error about a value shows the begin of it, and a key that a model
// gave away is not in it.
func TestErrorsThatShowValues(t *testing.T) {
	const canary = "sk-canary+/=<&>1234567890abcdef"
	registry := llm.New(llm.WithModel("acme/m", leaky{`{"note": "the key is ` + canary + `", "long": "` + strings.Repeat("ü", 5000) + `"}`}, llm.Caps{}),
		llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { return canary, name == "OPENAI_API_KEY" })))
	mod, err := agentscript.New(agentscript.WithModels(registry)).Load(t.Context(), script(`
ask = agent(prompt = "x", model = "acme/m", output = any)
main = ask >> fn(lambda n: n + 1, input = int, output = int)
`), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.Start(t.Context(), agentscript.Input("x")).Wait()
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != "AS705" {
		t.Fatalf("got %v", err)
	}
	texts := e.Error() + e.Message + e.Help
	for cause := errors.Unwrap(e); cause != nil; cause = errors.Unwrap(cause) {
		texts += cause.Error()
	}
	if strings.Contains(texts, "canary") || !strings.Contains(texts, "[redacted]") {
		t.Errorf("the key is not redacted: %s", texts)
	}
	_, shown, _ := strings.Cut(e.Message, "gave ")
	if n := utf8.RuneCountInString(shown); n < 20 || n > 61 {
		t.Errorf("%d runes of the value are shown: %s", n, shown)
	}
}
