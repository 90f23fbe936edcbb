package llm_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// An answer's text stays as the model wrote it. If a schema changed its form, the answer says so, so that the reader
// has a record of what was undone.
func TestAnswerForms(t *testing.T) {
	words := generable.ListOfType(generable.StrT)
	scores := generable.DictOfType(generable.IntT)
	for _, row := range []struct {
		name, model string
		typ         *generable.Type
		text, want  string // the dialect
	}{
		{"a list in an object", "openai/gpt-5", words, `{"value": ["a", "b"]}`, "openai"},
		{"a dict as pairs", "mistral/m", scores, `{"value": [{"key": "a", "value": 1}]}`, "mistral"},
		{"null for a field left out", "mistral/m", loose(), `{"note": null}`, "mistral"},
		{"a schema that is not honoured", "openrouter/x/y", words, `Sure: ["a"]`, "openrouter"},
		{"a type without another form", "openai/gpt-5", verdict(), `{"ok": true, "score": 1}`, ""},
		{"a server without other forms", "ollama/m", words, `["a"]`, ""},
		{"a provider without schemas", "deepseek/m", loose(), `{"note": ""}`, ""},
	} {
		req := prompt("x")
		req.Output = &model.Output{Type: row.typ}
		out := need(t, ask(port(t, server(t, llmtest.Reply{Text: row.text})), row.model, req))
		if out.Text() != row.text || out.Dialect != row.want {
			t.Errorf("%s: got %s in the form of %q, want %q", row.name, out.Text(), out.Dialect, row.want)
		}
	}
}

// If the schema's form differs from the one that the prompt describes, the prompt says so; the caller's request is
// unchanged.
func TestFormIsExplained(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "[]", Repeat: true})
	for _, m := range []string{"openai/gpt-5", "ollama/m"} {
		req := prompt("x")
		before := req.System
		req.Output = &model.Output{Type: generable.DictOfType(generable.IntT)}
		need(t, ask(port(t, s), m, req))
		sent := s.Requests()
		says := strings.Contains(string(sent[len(sent)-1].Body), "each key once")
		if says != (m == "openai/gpt-5") || req.System != before {
			t.Errorf("%s: explained %v, system %q", m, says, req.System)
		}
	}
}

// The limits of an output type are part of the schema, even if the type is not a record.
func TestLimitsOfTheRoot(t *testing.T) {
	list, errs := generable.Limited(generable.ListOfType(generable.IntT), generable.Limits{MinLen: ptr(3), MaxLen: ptr(5)})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, m := range []string{"openai/gpt-5", "ollama/m", "compat/m"} {
		s := server(t, llmtest.Reply{Text: "[1, 2, 3]"})
		req := prompt("x")
		req.Output = &model.Output{Type: list}
		need(t, ask(port(t, s), m, req))
		if body := string(s.Requests()[0].Body); !strings.Contains(body, `"minItems":3,"maxItems":5`) {
			t.Errorf("%s: %s", m, body)
		}
	}
}
