package llm_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// capability is a column of the table in docs/providers.md: a request, and the same request without the capability. If
// a provider receives the same for both, it was not asked for the capability.
type capability struct {
	name        string
	with        func(r *model.Request)
	without     func(r *model.Request)
	reply       llmtest.Reply
	stream      bool
	comes       func(r *model.Response, streamed string) bool // required in the answer, nil for anything
	constrained bool                                          // an answer must be constrained by its schema
}

func capabilities() []capability {
	param := func(name string, f func(p *model.Params)) capability {
		return capability{name: name, with: func(r *model.Request) { f(&r.Params) }}
	}
	withTools := func(r *model.Request) { r.Tools = tools() }
	choice := func(name string, c model.ToolChoice) capability {
		return capability{name: name, with: func(r *model.Request) { r.Tools, r.Choice = tools(), c }, without: withTools}
	}
	picture := func(name, url string) capability {
		return capability{name: name, with: func(r *model.Request) {
			r.Messages[0].Parts = append(r.Messages[0].Parts, model.Part{Kind: model.PartImage, Image: &model.Image{URL: url}})
		}}
	}
	calls := []llmtest.Call{{ID: "c1", Name: "compile", Args: `{"path":"a"}`}, {ID: "c2", Name: "now", Args: `{}`}}
	held := func(r *model.Request) {
		r.System, r.Output = "Answer in JSON.", &model.Output{Type: verdict(), Structured: model.StructuredConstrained}
	}
	free := func(r *model.Request) { r.System = "Answer in JSON." }
	return []capability{
		{name: "system text", with: func(r *model.Request) { r.System = "Be brief." }},
		{name: "streams", stream: true, reply: llmtest.Reply{Text: "one two"}, comes: func(_ *model.Response, streamed string) bool { return streamed == "one two" }},
		{name: "tools, several calls at once", with: withTools, reply: llmtest.Reply{Calls: calls}, comes: func(r *model.Response, _ string) bool { return len(r.Calls()) == 2 }},
		{name: "results go back to their calls", with: func(r *model.Request) { r.Tools, r.Messages = tools(), scenarios()["tools"].Messages }, without: withTools},
		choice("must call a tool", model.ToolChoice{Mode: model.ChoiceRequired}),
		choice("must call this tool", model.ToolChoice{Mode: model.ChoiceTool, Tool: "now"}),
		choice("must not call a tool", model.ToolChoice{Mode: model.ChoiceNone}),
		{name: "one call at a time", with: func(r *model.Request) { r.Tools, r.Params.ParallelCalls = tools(), ptr(false) }, without: withTools},
		{name: "held to a schema", with: held, without: free, constrained: true, reply: llmtest.Reply{Text: `{"ok":true,"score":1}`}},
		{name: "held to a schema, beside tools", with: func(r *model.Request) { held(r); r.Tools = tools() }, without: func(r *model.Request) { free(r); r.Tools = tools() }, constrained: true, reply: llmtest.Reply{Text: `{"ok":true,"score":1}`}},
		param("`temperature`", func(p *model.Params) { p.Temperature = ptr(0.0) }),
		param("`top_p`", func(p *model.Params) { p.TopP = ptr(0.5) }),
		param("`max_tokens`", func(p *model.Params) { p.MaxTokens = ptr(77) }),
		param("`stop`", func(p *model.Params) { p.Stop = []string{"END"} }),
		param("`seed`", func(p *model.Params) { p.Seed = ptr(7) }),
		param("`effort`", func(p *model.Params) { p.Effort = "low" }),
		param("thinking off", func(p *model.Params) { p.ReasoningTokens = ptr(0) }),
		param("`reasoning_tokens`", func(p *model.Params) { p.ReasoningTokens, p.MaxTokens = ptr(2000), ptr(9000) }),
		{name: "thoughts apart from the answer", reply: llmtest.Reply{Text: "5", Reasoning: "two and three"}, comes: func(r *model.Response, _ string) bool {
			return r.Text() == "5" && r.Parts[0].Kind == model.PartReasoning && r.Parts[0].Text == "two and three"
		}},
		{name: "marks for the cache", with: func(r *model.Request) { r.System, r.Params.Cache = "Be brief.", true }, without: func(r *model.Request) { r.System = "Be brief." }},
		picture("pictures as data", "data:image/png;base64,iVBORw0KGgo="),
		picture("pictures by URL", "https://example.com/a.png"),
		{name: "usage", reply: llmtest.Reply{Text: "x", In: 12, Out: 7}, comes: func(r *model.Response, _ string) bool { return r.Usage == model.Usage{In: 12, Out: 7} }},
		param("members of its own", func(p *model.Params) { p.Extra = json.RawMessage(`{"x_own":{"a":1}}`) }),
	}
}

// TestCapabilityMatrix makes each call with each provider, and compares the table of docs/providers.md with the
// results. Only this test writes the table, with -update.
func TestCapabilityMatrix(t *testing.T) {
	models := []struct{ head, name string }{
		{"openai", "openai/gpt-5-mini"}, {"anthropic", "anthropic/claude-sonnet-4-6"}, {"google", "google/gemini-3-flash-preview"}, {"mistral", "mistral/mistral-small"},
		{"deepseek", "deepseek/deepseek-chat"}, {"openrouter", "openrouter/x/y"}, {"ollama", "ollama/qwen3"}, {"compat", "compat/m"},
	}
	var table strings.Builder
	table.WriteString("| |")
	for _, m := range models {
		table.WriteString(" " + m.head + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(models)) + "\n")
	for _, c := range capabilities() {
		table.WriteString("| " + c.name + " |")
		for _, m := range models {
			table.WriteString(" " + c.at(t, m.name) + " |")
		}
		table.WriteString("\n")
	}
	const file, begin, end = "../../docs/providers.md", "<!-- capabilities: written by a test -->\n", "<!-- end of capabilities -->\n"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table between its marks", file)
	}
	if have == table.String() {
		return
	}
	if !*update {
		t.Fatalf("the table of %s is not what the calls came to (-update writes it):\n%s", file, table.String())
	}
	if err := os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// at returns the result of the call: yes, no (an error that says so, before anything was sent), or nothing if the
// capability was not requested.
func (c *capability) at(t *testing.T, m string) string {
	t.Helper()
	reply := c.reply
	if reply.Text == "" && len(reply.Calls) == 0 {
		reply.Text = "x"
	}
	call := func(change func(*model.Request)) (engine.Outcome, map[string]any, string) {
		s := server(t, reply)
		req := &model.Request{Messages: []model.Message{model.TextMessage(model.RoleUser, "Say JSON.")}}
		if change != nil {
			change(req)
		}
		e := effect(m, req)
		e.Stream = c.stream
		streamed := ""
		out := port(t, s, llm.WithRetry(llm.RetryPolicy{Attempts: 1})).Do(t.Context(), e, func(tok engine.Token) { streamed += tok.Text })
		var body map[string]any
		if got := s.Requests(); len(got) > 0 {
			if err := json.Unmarshal(got[0].Body, &body); err != nil {
				t.Fatal(err)
			}
		}
		return out, body, streamed
	}
	out, with, streamed := call(c.with)
	if out.Err != nil {
		if out.Err.Kind != engine.KindUnsupported || with != nil || out.Err.Help == "" {
			t.Errorf("%s, %s: %v", m, c.name, out.Err)
		}
		return "no"
	}
	if c.comes != nil && !c.comes(out.Response, streamed) {
		t.Errorf("%s, %s: %+v, streamed %q", m, c.name, out.Response, streamed)
		return "WRONG"
	}
	if c.with == nil {
		return "yes"
	}
	plain, without, _ := call(c.without)
	if plain.Err != nil {
		t.Errorf("%s, without %s: %v", m, c.name, plain.Err)
	}
	if reflect.DeepEqual(with, without) {
		return "not asked"
	}
	if c.constrained {
		got := lenient.Decode(verdict(), out.Response.Text(), generable.Options{})
		if !got.OK {
			t.Errorf("%s, %s: %v", m, c.name, got.Errors)
		}
	}
	return "yes"
}
