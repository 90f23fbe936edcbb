//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// conversation is the template of a model that calls tools: what it says depends on the last message. The tag before
// calls is the server's marker of one.
const conversation = `{{ $turn := "plain" }}{{ $said := "" }}
{{- range .Messages }}<|{{ .Role }}|>{{ .Content }}
{{- if .ToolCalls }}{{ range .ToolCalls }}<tool_call>{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}</tool_call>{{ end }}{{ end }}
{{- $turn = .Role }}{{ $said = .Content }}{{ end }}
{{- if eq $turn "tool" }}<|answer|>{{ else if eq $said "tick" }}<|ticking|>{{ else if .Tools }}<|call|>{{ else }}<|plain|>{{ end }}`

// caller runs a model that makes two calls at once and answers when it gets the results.
func caller(t *testing.T, answer ...string) string {
	t.Helper()
	return talker(t, conversation,
		[]string{"<|plain|>", "Nothing ", "to call: ", "größer 日本."},
		[]string{"<|call|>", "Let me see. ",
			`<tool_call>{"name": "lookup", "arguments": {"word": "größe", "deep": {"list": [1, "two", null]}}}</tool_call>`,
			`<tool_call>{"name": "now", "arguments": {}}</tool_call>`},
		append([]string{"<|answer|>"}, answer...),
		[]string{"<|ticking|>", "tick ", "tick "},
	)
}

// TestOllamaTools makes two calls at once and sends both results back.
func TestOllamaTools(t *testing.T) {
	base := caller(t, "Both ", "are there.")
	bothWays(t, "talker", func(t *testing.T, m string, stream bool) {
		r := local(t, base)
		req := prompt("two lookups")
		req.Tools = tools()
		out, s := ask(t, r, m, req, stream)
		if out.Err != nil {
			t.Fatal(out.Err, out.Err.Raw)
		}
		calls := out.Response.Calls()
		if len(calls) != 2 || calls[0].Name != "lookup" || calls[1].Name != "now" || out.Response.Finish != model.FinishCalls || calls[0].ID == calls[1].ID || calls[0].ID == "" {
			t.Fatalf("calls %+v, %s", calls, out.Response.Finish)
		}
		if !sameJSON(calls[0].Args, `{"word":"größe","deep":{"list":[1,"two",null]}}`) || !sameJSON(calls[1].Args, `{}`) {
			t.Errorf("arguments %s and %s", calls[0].Args, calls[1].Args)
		}
		if stream && (!strings.Contains(s.args, "größe") || s.text != out.Response.Text()) {
			t.Errorf("streamed %q, arguments %q", s.text, s.args)
		}
		next := req.Extend(model.Message{Role: model.RoleAssistant, Parts: out.Response.Parts}, model.Message{Role: model.RoleTool, Parts: []model.Part{
			{Kind: model.PartResult, Result: &model.ToolResult{CallID: calls[0].ID, Name: "lookup", Text: "a size"}},
			{Kind: model.PartResult, Result: &model.ToolResult{CallID: calls[1].ID, Name: "now", Text: "noon"}},
		}})
		out, s = ask(t, r, m, next, stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if got := out.Response.Text(); got != "Both are there." || stream && s.text != got {
			t.Errorf("text %q, streamed %q", got, s.text)
		}
	})
}

// TestOllamaStream checks that pieces arrive as the model makes them, in whole characters.
func TestOllamaStream(t *testing.T) {
	base := caller(t, "yes")
	for _, provider := range endpoints {
		var pieces []string
		out := local(t, base).Do(t.Context(), &engine.Effect{Kind: engine.EffectModel, Name: provider + "/talker", Req: prompt("hello"), Stream: true}, func(tok engine.Token) {
			pieces = append(pieces, tok.Text)
		})
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if got := strings.Join(pieces, "|"); got != "Nothing |to call: |größer 日本." {
			t.Errorf("%s: pieces %q", provider, got)
		}
	}
}

// TestOllamaRound checks that a model that repeats itself forever, which the server stops silently, causes an error,
// and not an answer.
func TestOllamaRound(t *testing.T) {
	base := caller(t, "yes")
	bothWays(t, "talker", func(t *testing.T, model string, stream bool) {
		out, _ := ask(t, local(t, base, quick()...), model, prompt("tick"), stream)
		if out.Err == nil || out.Err.Kind != engine.KindTruncated || !strings.Contains(out.Err.Raw, "tick tick") {
			t.Errorf("%v, %+v", out.Err, out.Response)
		}
	})
}
