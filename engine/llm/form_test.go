package llm_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/generable"
)

// An answer comes back in the form that the type has by itself, whatever the provider's
// schema made of it; what the schema does not concern is left as the model wrote it.
func TestAnswerForms(t *testing.T) {
	words := generable.ListOfType(generable.StrT)
	scores := generable.DictOfType(generable.IntT)
	for _, row := range []struct {
		name, model string
		typ         *generable.Type
		text, want  string
	}{
		{"a list in an object", "openai/gpt-5", words, `{"value": ["a", "b"]}`, `["a","b"]`},
		{"a dict as pairs", "openai/gpt-5", scores, `{"value": [{"key": "a", "value": 1}]}`, `{"a":1}`},
		{"null for a field left out", "mistral/m", loose(), `{"note": null}`, `{"note":""}`},
		{"cut short by a mistake", "openai/gpt-5", words, `{"value": ["a", "b"`, `["a","b"]`},
		{"a schema that is not honoured", "openrouter/x/y", words, `Sure: ["a"]`, `Sure: ["a"]`},
		{"a type without another form", "openai/gpt-5", verdict(), `{"ok": true, "score": 1}`, `{"ok": true, "score": 1}`},
		{"a server without other forms", "ollama/m", words, `["a"]`, `["a"]`},
		{"what does not fit", "openai/gpt-5", scores, `{"value": [{"key": "a", "value": "x"}]}`, `{"value": [{"key": "a", "value": "x"}]}`},
		{"a key twice", "openai/gpt-5", scores, `{"value": [{"key": "a", "value": 1}, {"key": "a", "value": 2}]}`, `{"value": [{"key": "a", "value": 1}, {"key": "a", "value": 2}]}`},
	} {
		req := prompt("x")
		req.Output = &engine.Output{Type: row.typ}
		out := need(t, ask(port(t, server(t, llmtest.Reply{Text: row.text})), row.model, req))
		if got := out.Text(); got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
		}
	}
}

// Where the schema's form is not the one that the prompt describes, the prompt says so; the
// caller's request stays as it was.
func TestFormIsExplained(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "[]", Repeat: true})
	for _, model := range []string{"openai/gpt-5", "ollama/m"} {
		req := prompt("x")
		before := req.System
		req.Output = &engine.Output{Type: generable.DictOfType(generable.IntT)}
		need(t, ask(port(t, s), model, req))
		sent := s.Requests()
		says := strings.Contains(string(sent[len(sent)-1].Body), "each key once")
		if says != (model == "openai/gpt-5") || req.System != before {
			t.Errorf("%s: explained %v, system %q", model, says, req.System)
		}
	}
}
