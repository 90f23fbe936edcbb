package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

func signed(text, signature string) model.Part {
	return model.Part{Kind: model.PartReasoning, Text: text, Opaque: &model.Opaque{Provider: "anthropic", Data: `{"type":"thinking","signature":"` + signature + `"}`}}
}

// claudeScenarios are requests whose form depends on the model, or that only this provider writes in a special way. A
// golden file contains the body of each.
func claudeScenarios() map[string]struct {
	model string
	req   *model.Request
} {
	type scenario = struct {
		model string
		req   *model.Request
	}
	user := []model.Message{model.TextMessage(model.RoleUser, "Is it fine?")}
	params := func(p model.Params) *model.Request { return &model.Request{Messages: user, Params: p} }
	failed := resultPart("toolu_1", "compile", "")
	failed.Result.IsError = true
	turn := []model.Message{
		user[0],
		{Role: model.RoleAssistant, Parts: []model.Part{
			signed("two calls", "c2ln"),
			{Kind: model.PartReasoning, Opaque: &model.Opaque{Provider: "anthropic", Data: `{"type":"redacted_thinking","data":"b3BhcXVl"}`}},
			{Kind: model.PartText, Text: "Looking."},
			callPart("toolu_1", "compile", `{"path":"a.go"}`), callPart("functions.now:1", "now", ""),
		}},
		{Role: model.RoleTool, Parts: []model.Part{failed, resultPart("functions.now:1", "now", "noon")}},
		model.TextMessage(model.RoleUser, "And now?"),
	}
	return map[string]scenario{
		"claude_sampling":       {"claude-sonnet-4-5", params(model.Params{Temperature: ptr(0.7), MaxTokens: ptr(100), Stop: []string{"END"}})},
		"claude_top_p":          {"claude-sonnet-4-5", params(model.Params{TopP: ptr(0.9), Temperature: ptr(1.0), MaxTokens: ptr(100)})},
		"claude_both":           {"claude-sonnet-4-5", params(model.Params{Temperature: ptr(0.7), TopP: ptr(0.9)})},
		"claude_no_sampling":    {"claude-opus-4-7", params(model.Params{Temperature: ptr(0.0)})},
		"claude_usual_sampling": {"claude-opus-5", params(model.Params{Temperature: ptr(1.0)})},
		"claude_top_p_refused":  {"claude-sonnet-5", params(model.Params{TopP: ptr(0.5)})},
		"claude_seed":           {"claude-opus-4-5", params(model.Params{Seed: ptr(7)})},
		"claude_effort_word":    {"claude-opus-4-7", params(model.Params{Effort: "xhigh"})},
		"claude_effort_lower":   {"claude-opus-4-6", params(model.Params{Effort: "xhigh"})},
		"claude_effort_both":    {"claude-opus-4-5", params(model.Params{Effort: "max", MaxTokens: ptr(50_000)})},
		"claude_effort_minimal": {"claude-sonnet-5-5", params(model.Params{Effort: "minimal", MaxTokens: ptr(500)})},
		"claude_effort_least":   {"claude-sonnet-4-5", params(model.Params{Effort: "minimal", MaxTokens: ptr(2048)})},
		"claude_effort_no_room": {"claude-sonnet-4-5", params(model.Params{Effort: "high", MaxTokens: ptr(1500)})},
		"claude_effort_old":     {"claude-3-5-haiku-20241022", params(model.Params{Effort: "low"})},
		"claude_budget_adapt":   {"claude-sonnet-4-6", params(model.Params{ReasoningTokens: ptr(500), Effort: "low"})},
		"claude_budget_refused": {"claude-opus-5", params(model.Params{ReasoningTokens: ptr(5000)})},
		"claude_budget_no_room": {"claude-opus-4-1", params(model.Params{ReasoningTokens: ptr(5000), MaxTokens: ptr(5000)})},
		"claude_thinks_hot":     {"claude-opus-4-6", params(model.Params{Effort: "low", Temperature: ptr(0.2)})},
		"claude_off":            {"claude-opus-5", params(model.Params{Effort: "none"})},
		"claude_off_unsaid":     {"claude-opus-4-8", params(model.Params{ReasoningTokens: ptr(0)})},
		"claude_off_between":    {"claude-sonnet-5-5", params(model.Params{Effort: "none"})},
		"claude_off_never":      {"claude-opus-5-5", params(model.Params{Effort: "none"})},
		"claude_forced_thinks": {"claude-haiku-4-5", &model.Request{Messages: user, Tools: tools(), Choice: model.ToolChoice{Mode: model.ChoiceRequired},
			Params: model.Params{ReasoningTokens: ptr(2000)}}},
		"claude_forced_free": {"claude-opus-5-5", &model.Request{Messages: user, Tools: tools(), Choice: model.ToolChoice{Mode: model.ChoiceTool, Tool: "now"}}},
		"claude_single":      {"claude-opus-5-5", &model.Request{Messages: user, Tools: tools(), Params: model.Params{ParallelCalls: ptr(false)}}},
		"claude_turn":        {"claude-sonnet-4-5", &model.Request{Messages: turn, Tools: tools(), Params: model.Params{ReasoningTokens: ptr(2000)}}},
		"claude_turn_cached": {"claude-opus-5", &model.Request{System: "Be brief.", Messages: turn[:3], Tools: tools(), Params: model.Params{Cache: true}}},
		"claude_turn_unsigned": {"claude-sonnet-4-5", &model.Request{Messages: []model.Message{
			user[0], {Role: model.RoleAssistant, Parts: []model.Part{{Kind: model.PartReasoning, Text: "of another model"}, callPart("call_a", "now", "{}")}},
			{Role: model.RoleTool, Parts: []model.Part{resultPart("call_a", "now", "noon")}},
		}, Tools: tools(), Params: model.Params{ReasoningTokens: ptr(2000)}}},
		"claude_turn_no_tools": {"claude-sonnet-4-5", &model.Request{Messages: turn}},
		"claude_blank":         {"claude-sonnet-4-5", &model.Request{Messages: []model.Message{model.TextMessage(model.RoleUser, " \n")}}},
		"claude_old_schema":    {"claude-sonnet-4-20250514", &model.Request{Messages: user, Tools: tools(), Output: &model.Output{Type: verdict()}}},
		"claude_unknown":       {"qwen3", &model.Request{Messages: user, Output: &model.Output{Type: verdict()}, Params: model.Params{Temperature: ptr(0.0)}}},
		"claude_newer":         {"claude-opus-9", &model.Request{Messages: user, Output: &model.Output{Type: verdict()}, Params: model.Params{Effort: "max"}}},
		"claude_picture_kind": {"claude-opus-5", &model.Request{Messages: []model.Message{{Role: model.RoleUser, Parts: []model.Part{
			{Kind: model.PartImage, Image: &model.Image{URL: "data:text/plain,x"}},
		}}}}},
		"claude_extra": {"claude-opus-5", params(model.Params{Extra: json.RawMessage(`{"max_tokens":10,"output_config":{"effort":"low"},"metadata":{"user_id":"u"}}`)})},
	}
}

func TestClaudeRequestBodies(t *testing.T) {
	for name, c := range claudeScenarios() {
		t.Run(name, func(t *testing.T) {
			s := server(t, llmtest.Reply{Text: `{"ok":true,"score":1}`})
			out := ask(port(t, s), "anthropic/"+c.model, c.req)
			got := s.Requests()
			if out.Err != nil {
				if len(got) != 0 {
					t.Fatalf("%v after %d requests", out.Err, len(got))
				}
				if out.Err.Help == "" {
					t.Errorf("no help: %v", out.Err)
				}
				golden(t, "requests/anthropic_"+name+".json", []byte(out.Err.Error()+"\n"))
				return
			}
			var b bytes.Buffer
			if err := json.Indent(&b, got[0].Body, "", "  "); err != nil {
				t.Fatal(err)
			}
			b.WriteByte('\n')
			golden(t, "requests/anthropic_"+name+".json", b.Bytes())
		})
	}
}

func TestClaudeHeaders(t *testing.T) {
	for _, base := range []string{"", "/", "/v1", "/v1/", "/v1/messages"} {
		s := server(t, llmtest.Reply{Text: "a"})
		r := llm.New(env("ANTHROPIC_API_KEY", "sk-ant-test", "ANTHROPIC_BASE_URL", s.URL+base))
		defer r.Close()
		need(t, ask(r, "anthropic/claude-opus-5", prompt("x")))
		got := s.Requests()[0]
		if got.Path != "/v1/messages" || got.Header.Get("X-Api-Key") != "sk-ant-test" || got.Header.Get("Anthropic-Version") != "2023-06-01" {
			t.Errorf("%q: %s %v", base, got.Path, got.Header)
		}
		if auth := got.Header.Values("Authorization"); len(auth) != 0 || got.Header.Get("User-Agent") != "agentscript" || got.Header.Get("Anthropic-Beta") != "" {
			t.Errorf("%q: %v", base, got.Header)
		}
	}
	s := server(t, llmtest.Reply{Text: "a"})
	r := llm.New(env("ANTHROPIC_API_KEY", "sk-ant-test", "ANTHROPIC_BASE_URL", s.URL+"/proxy/anthropic"))
	defer r.Close()
	need(t, ask(r, "anthropic/claude-opus-5", prompt("x")))
	if got := s.Requests()[0].Path; got != "/proxy/anthropic/v1/messages" {
		t.Errorf("path %s", got)
	}
}

// Thoughts, text and calls of an answer are sent back unchanged, except for unsigned thoughts.
func TestClaudeRoundTrip(t *testing.T) {
	for _, stream := range []bool{false, true} {
		s := server(t,
			llmtest.Reply{Reasoning: "I need two things", Signature: "c2ln", Text: "Looking.", In: 20, Out: 9,
				Calls: []llmtest.Call{{ID: "toolu_1", Name: "compile", Args: `{"path":"<a>.go"}`}, {ID: "toolu_2", Name: "now", Args: "{}"}}},
			llmtest.Reply{Text: "All fine."})
		r := port(t, s)
		req := prompt("Is it?")
		req.Tools = tools()
		req.Params.Effort = "low"
		e := effect("anthropic/claude-opus-4-7", req)
		e.Stream = stream
		var deltas []string
		first := need(t, r.Do(t.Context(), e, func(tok engine.Token) {
			if c := tok.Call; c != nil {
				deltas = append(deltas, fmt.Sprintf("%d %s %s %s", c.Index, c.ID, c.Name, c.Args))
			}
		}))
		if first.Finish != model.FinishCalls || first.Usage.In != 20 || first.Usage.Out != 9 || first.Text() != "Looking." {
			t.Errorf("answer %+v", first)
		}
		if stream && !reflect.DeepEqual(deltas, []string{"0 toolu_1 compile ", `0   {"path":`, `0   "<a>.go"}`, "1 toolu_2 now ", "1   {}"}) {
			t.Errorf("pieces of calls %q", deltas)
		}
		next := req.Extend(model.Message{Role: model.RoleAssistant, Parts: first.Parts},
			model.Message{Role: model.RoleTool, Parts: []model.Part{resultPart("toolu_1", "compile", "ok"), resultPart("toolu_2", "now", "noon")}})
		if out := need(t, ask(r, "anthropic/claude-opus-4-7", next)); out.Text() != "All fine." {
			t.Errorf("text %q", out.Text())
		}
		var body struct {
			Messages []json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal(s.Requests()[1].Body, &body); err != nil {
			t.Fatal(err)
		}
		want := []string{`{"role":"user","content":[{"type":"text","text":"Is it?"}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"I need two things","signature":"c2ln"},{"type":"text","text":"Looking."},` +
				`{"type":"tool_use","id":"toolu_1","name":"compile","input":{"path":"<a>.go"}},{"type":"tool_use","id":"toolu_2","name":"now","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"},{"type":"tool_result","tool_use_id":"toolu_2","content":"noon"}]}`}
		for i, m := range body.Messages {
			if string(m) != want[i] {
				t.Errorf("message %d:\n%s\nwant\n%s", i, m, want[i])
			}
		}
		if len(body.Messages) != len(want) {
			t.Errorf("%d messages", len(body.Messages))
		}
		// Another family receives neither thoughts nor signatures.
		other := server(t, llmtest.Reply{Text: "x"})
		need(t, ask(port(t, other), "openai/gpt-5", next))
		if sent := string(other.Requests()[0].Body); strings.Contains(sent, "c2ln") || strings.Contains(sent, "two things") {
			t.Errorf("another provider got %s", sent)
		}
	}
}

// All schemas of a request share budgets: the answer's comes first, then the tools in order.
func TestClaudeBudgetsAreShared(t *testing.T) {
	optional := func(name string, n int) model.ToolDef {
		typ := &generable.Type{Kind: generable.RecordType, Name: name}
		for i := range n {
			typ.Fields = append(typ.Fields, generable.Field{Name: fmt.Sprintf("f%d", i), Type: generable.StrT, Optional: true, Default: generable.StrOf("")})
		}
		return model.ToolDef{Name: name, Description: name, Params: typ}
	}
	strict := func(req *model.Request) string {
		s := server(t, llmtest.Reply{Text: `{}`})
		need(t, ask(port(t, s), "anthropic/claude-opus-5", req))
		var body struct {
			Tools []struct {
				Name   string
				Strict bool
			}
		}
		if err := json.Unmarshal(s.Requests()[0].Body, &body); err != nil {
			t.Fatal(err)
		}
		var held []string
		for _, tool := range body.Tools {
			if tool.Strict {
				held = append(held, tool.Name)
			}
		}
		return strings.Join(held, " ")
	}
	req := prompt("x")
	req.Tools = []model.ToolDef{optional("a", 10), optional("b", 10), optional("c", 10), optional("d", 4)}
	if got := strict(req); got != "a b d" {
		t.Errorf("held to their schemas: %s", got)
	}
	withAnswer := *req
	withAnswer.Output = &model.Output{Type: optional("answer", 12).Params}
	if got := strict(&withAnswer); got != "a" {
		t.Errorf("beside an answer's: %s", got)
	}
	many := prompt("x")
	for i := range 25 {
		many.Tools = append(many.Tools, model.ToolDef{Name: fmt.Sprintf("t%d", i), Description: "t", Params: tools()[0].Params})
	}
	if got := len(strings.Fields(strict(many))); got != 20 {
		t.Errorf("%d tools held to their schemas", got)
	}
}

func TestClaudeConstrained(t *testing.T) {
	for m, ok := range map[string]bool{
		"claude-opus-4-1-20250805": true, "claude-haiku-4-5": true, "claude-opus-5-5": true, "claude-opus-9": true, "eu.anthropic.claude-sonnet-4.5-v1:0": true,
		"claude-sonnet-4-20250514": false, "claude-opus-4-20250514": false, "claude-3-7-sonnet-latest": false, "qwen3": false,
	} {
		s := server(t, llmtest.Reply{Text: `{"ok":true,"score":1}`})
		req := prompt("x")
		req.Output = &model.Output{Type: verdict(), Structured: model.StructuredConstrained}
		out := ask(port(t, s), "anthropic/"+m, req)
		if ok {
			need(t, out)
			if body := string(s.Requests()[0].Body); !strings.Contains(body, `"output_config":{"format":{"type":"json_schema","schema":{`) {
				t.Errorf("%s: %s", m, body)
			}
			continue
		}
		if err := needErr(t, out); err.Kind != engine.KindUnsupported || len(s.Requests()) != 0 {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// An answer that ended for an unusual reason is an error that names the reason.
func TestClaudeEndings(t *testing.T) {
	for _, row := range []struct {
		body string
		kind engine.ErrKind
		says string
	}{
		{`{"content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"It is dangerous."},"usage":{"input_tokens":5,"output_tokens":1}}`, engine.KindRefused, "It is dangerous."},
		{`{"content":[{"type":"text","text":"I will not."}],"stop_reason":"refusal"}`, engine.KindRefused, "I will not."},
		{`{"content":[{"type":"text","text":"so far"}],"stop_reason":"pause_turn"}`, engine.KindTruncated, "with its own tools"},
		{`{"content":[{"type":"thinking","thinking":"hm","signature":"s"}],"stop_reason":"max_tokens"}`, engine.KindTruncated, "before the answer began"},
		{`{"content":[],"stop_reason":"end_turn"}`, engine.KindBadResponse, "empty"},
	} {
		s := server(t, llmtest.Reply{Body: row.body, Repeat: true})
		err := needErr(t, ask(port(t, s), "anthropic/claude-opus-5", prompt("x")))
		if err.Kind != row.kind || !strings.Contains(err.Message, row.says) {
			t.Errorf("%s: %s %v", row.body, err.Kind, err)
		}
	}
}

// Keys that a server echoes are removed everywhere, including thoughts and their signatures.
func TestClaudeEchoedKey(t *testing.T) {
	key := quoteJSON(echoed)
	for name, body := range map[string]string{
		"a thought":     `{"content":[{"type":"thinking","thinking":` + key + `,"signature":` + key + `},{"type":"text","text":"x"}],"stop_reason":"end_turn"}`,
		"a seal":        `{"content":[{"type":"redacted_thinking","data":` + key + `},{"type":"text","text":"x"}],"stop_reason":"end_turn"}`,
		"a call":        `{"content":[{"type":"tool_use","id":` + key + `,"name":"f","input":{"k":` + key + `}}],"stop_reason":"tool_use"}`,
		"why it ended":  `{"content":[{"type":"text","text":"x"}],"stop_reason":` + key + `}`,
		"a refusal":     `{"content":[],"stop_reason":"refusal","stop_details":{"explanation":` + key + `}}`,
		"an error":      `{"type":"error","error":{"type":"api_error","message":` + key + `},"request_id":` + key + `}`,
		"the streamed":  "data: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + key + `}}` + "\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"the cut short": "data: " + `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":` + key + `}}` + "\n\n",
	} {
		s := server(t, llmtest.Reply{Body: body})
		r := llm.New(env("ANTHROPIC_API_KEY", echoed, "ANTHROPIC_BASE_URL", s.URL), llm.WithClock(llmtest.NewClock()))
		defer r.Close()
		var tokens []string
		e := effect("anthropic/claude-opus-5", prompt("x"))
		e.Stream = true
		out := r.Do(t.Context(), e, func(tok engine.Token) { tokens = append(tokens, tok.Text) })
		text := shown(t, out, tokens...)
		if out.Response != nil {
			for _, p := range out.Response.Parts {
				if p.Opaque != nil {
					text += p.Opaque.Data
				}
			}
		}
		if strings.Contains(text, "sk-TOPSEC") {
			t.Errorf("%s shows the key: %s", name, text)
		}
		if got := s.Requests()[0].Header; got.Get("X-Api-Key") != echoed || got.Get("Authorization") != "" {
			t.Errorf("%s: sent %v", name, got)
		}
	}
}

// An exchange is decoded without a call; a refusal is an error with a kind.
func TestDecodeClaudeExchange(t *testing.T) {
	r, err := llm.DecodeExchange("anthropic", 200, http.Header{"Request-Id": {"req_1"}}, []byte(`{"id":"msg_1","model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"refusal","usage":{"input_tokens":1,"output_tokens":2}}`))
	if err != nil || r.Text() != "a" || r.Finish != model.FinishRefusal || r.RawFinish != "refusal" || r.RequestID != "req_1" || r.Usage != (model.Usage{In: 1, Out: 2}) {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := llm.DecodeExchange("anthropic", 529, nil, []byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)); err == nil {
		t.Error("no error")
	}
}

// Whatever form a server's answer has, whether a stream was requested or not, it is streamed and read completely.
func TestClaudeShapes(t *testing.T) {
	long := strings.Repeat("é日本 ", 12_000)
	args := `{"path":` + quoteJSON(strings.Repeat("x", 1<<20)) + `}`
	for name, reply := range map[string]llmtest.Reply{
		"plain though streamed": {Text: "one two", Plain: true},
		"rune by rune":          {Text: "é日本🙂\u2028 \"q\"", ByRunes: true},
		"one long line":         {Text: strings.ReplaceAll(long, " ", "_")},
		"many words":            {Text: long},
		"a large call":          {Calls: []llmtest.Call{{ID: "toolu_1", Name: "compile", Args: args}}},
	} {
		s := server(t, reply)
		req := prompt("x")
		req.Tools = tools()
		out, text, _ := listen(t, port(t, s), "anthropic/claude-opus-5", req)
		r := need(t, out)
		if r.Text() != reply.Text || text != reply.Text {
			t.Errorf("%s: text of %d bytes, heard %d, want %d", name, len(r.Text()), len(text), len(reply.Text))
		}
		if calls := r.Calls(); len(calls) != len(reply.Calls) || len(calls) > 0 && calls[0].Args != args {
			t.Errorf("%s: %d calls", name, len(calls))
		}
	}
}

// A cancelled call ends at once, with the caller's reason.
func TestClaudeCancelled(t *testing.T) {
	for _, f := range []llmtest.Fault{llmtest.StallHeaders, llmtest.StallStream} {
		s := server(t, llmtest.Reply{Text: "one two three four", Fault: f})
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("the user pressed ctrl-C")
		time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
		e := effect("anthropic/claude-opus-5", prompt("x"))
		e.Stream = true
		err := needErr(t, port(t, s).Do(ctx, e, func(engine.Token) {}))
		if err.Kind != engine.KindCancelled || err.Model.Retryable || !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", f, err)
		}
	}
}
