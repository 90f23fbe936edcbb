package wire

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// claudeQuirks are answers in Anthropic's dialect as servers really write them.
var claudeQuirks = []quirk{
	{
		name: "blocks of all sorts", dialect: "anthropic",
		body: `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[
			{"type":"thinking","thinking":"hm ","signature":"c2ln"},{"type":"redacted_thinking","data":"b3BhcXVl"},
			{"type":"text","text":"one "},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},
			{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"t","encrypted_content":"e","url":"u"}]},
			{"type":"mcp_tool_use","id":"mcptoolu_1","name":"n","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[{"type":"text","text":"no answer of the model"}]},
			{"type":"compaction","content":"no answer either"},{"type":"thinking","thinking":"so","signature":"c2ln"},
			{"type":"text","text":"two","citations":[{"type":"char_location","cited_text":"c"}]},
			{"type":"tool_use","id":"toolu_1","name":"f","input":{"b": 1, "a": [2]}},{"type":"tool_use","id":"toolu_2","name":"g","input":{}}],
			"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,
			"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":0},"output_tokens":7,"output_tokens_details":{"thinking_tokens":3},"server_tool_use":{"web_search_requests":1},"service_tier":"standard"}}`,
		text: "one two", reasoning: "hm so", calls: []model.ToolCall{{ID: "toolu_1", Name: "f", Args: `{"b":1,"a":[2]}`}, {ID: "toolu_2", Name: "g", Args: "{}"}},
		finish: model.FinishCalls, usage: model.Usage{In: 1110, Out: 7, Reasoning: 3, CacheRead: 1000, CacheWrite: 100},
	},
	{
		name: "a stream with names of events, pings, blanks and citations", dialect: "anthropic",
		body: "event: message_start\ndata: " + `{"type":"message_start","message":{"id":"msg_1","type":"message","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":15,"cache_read_input_tokens":5,"output_tokens":3}}   }` + "\n\n" +
			"event: content_block_start\ndata: " + `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":[]}  }` + "\n\n" +
			"event: ping\ndata: {\"type\": \"ping\"}\n\n" +
			"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"web_search_result_location","cited_text":"c","url":"u"}}}` + "\n\n" +
			"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"1"}}` + "\n\n" +
			"event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\n2"}      }` + "\n\n" +
			"event: content_block_stop\ndata: " + `{"type":"content_block_stop","index":0   }` + "\n\n" +
			"event: message_delta\ndata: " + `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":13}}` + "\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"  }\n\n",
		text: "1\n2", finish: model.FinishStop, usage: model.Usage{In: 20, Out: 13, CacheRead: 5},
	},
	{
		name: "thoughts, their signature and calls in pieces", dialect: "anthropic",
		body: sse(`{"type":"message_start","message":{"id":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ln"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":": 1}"}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}`,
			`{"type":"content_block_stop","index":2}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":472,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":89,"output_tokens_details":{"thinking_tokens":40}}}`,
			`{"type":"message_stop"}`),
		reasoning: "hm", calls: []model.ToolCall{{ID: "a", Name: "f", Args: `{"x": 1}`}, {ID: "b", Name: "g", Args: "{}"}},
		finish: model.FinishCalls, usage: model.Usage{In: 472, Out: 89, Reasoning: 40},
	},
	{
		name: "blocks that are open at once", dialect: "anthropic",
		body: sse(`{"type":"message_start","message":{"id":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f"}}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"t"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`,
			`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"u"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`),
		text: "tu", calls: []model.ToolCall{{ID: "a", Name: "f", Args: `{"x":1}`}}, finish: model.FinishCalls,
	},
	{
		name: "a call that is whole where it begins", dialect: "anthropic",
		body: sse(`{"type":"message_start","message":{"id":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x": "1"}}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`),
		calls: []model.ToolCall{{ID: "a", Name: "f", Args: `{"x":"1"}`}}, finish: model.FinishCalls,
	},
	{
		name: "blocks of the provider's own tools in pieces", dialect: "anthropic",
		body: sse(`{"type":"message_start","message":{"id":"m"}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"content_block_start","index":1,"content_block":{"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}}`,
			`{"type":"content_block_stop","index":1}`,
			`{"type":"content_block_start","index":2,"content_block":{"type":"compaction","content":null}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"compaction_delta","content":"summary"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"not the answer"}}`,
			`{"type":"content_block_stop","index":2}`,
			`{"type":"something_new","value":1}`,
			`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"t"}}`,
			`{"type":"content_block_delta","index":3,"delta":{"type":"thinking_delta","thinking":"not of this block"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`),
		text: "t", finish: model.FinishStop,
	},
	{
		name: "pieces of a block that never began", dialect: "anthropic",
		body: sse(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, `{"type":"content_block_stop","index":7}`,
			`{"type":"message_delta","delta":{"stop_reason":"stop_sequence","stop_sequence":"END"}}`, `{"type":"message_stop"}`),
		text: "a", reasoning: "hm", finish: model.FinishStop,
	},
	{
		name: "what the first event holds already", dialect: "anthropic",
		body: sse(`{"type":"message_start","message":{"id":"m","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"f","input":{"x":1}}],"stop_reason":"tool_use","usage":{"input_tokens":2,"output_tokens":3}}}`,
			`{"type":"message_delta","delta":{"stop_reason":null},"usage":{"input_tokens":0,"output_tokens":4}}`, `{"type":"message_stop"}`),
		text: "a", calls: []model.ToolCall{{ID: "t", Name: "f", Args: `{"x":1}`}}, finish: model.FinishCalls, usage: model.Usage{In: 2, Out: 4},
	},
	{
		name: "the whole message in one event", dialect: "anthropic",
		body: sse(`{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`), text: "a", finish: model.FinishStop,
	},
	{
		name: "content that is a string", dialect: "anthropic", body: `{"type":"message","content":"a","stop_reason":"end_turn"}`, text: "a", finish: model.FinishStop,
	},
	{
		name: "nothing, as after a tool's result", dialect: "anthropic",
		body: `{"type":"message","content":[],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2}}`, finish: model.FinishStop, usage: model.Usage{In: 9, Out: 2},
	},
	{
		name: "cut by the limit", dialect: "anthropic", body: `{"content":[{"type":"text","text":"a"}],"stop_reason":"max_tokens"}`, text: "a", finish: model.FinishLength,
	},
	{
		name: "cut by the window", dialect: "anthropic", body: `{"content":[{"type":"text","text":"a"}],"stop_reason":"model_context_window_exceeded"}`, text: "a", finish: model.FinishLength,
	},
	{
		name: "a pause", dialect: "anthropic", body: `{"content":[{"type":"text","text":"a"}],"stop_reason":"pause_turn"}`, text: "a", finish: model.FinishUnknown,
	},
	{
		name: "a refusal that says why", dialect: "anthropic",
		body:   `{"content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":"bio","explanation":"It is dangerous."},"usage":{"input_tokens":5,"output_tokens":1}}`,
		finish: model.FinishRefusal, usage: model.Usage{In: 5, Out: 1},
	},
	{
		name: "counts that no call has", dialect: "anthropic",
		body: sse(`{"type":"message_start","message":{"content":[],"usage":{"input_tokens":-5,"output_tokens":1}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`, `{"type":"message_stop"}`),
		text: "a", finish: model.FinishStop,
	},
	{
		name: "null for counts", dialect: "anthropic",
		body: `{"content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","stop_details":null,"usage":{"input_tokens":3,"output_tokens":2,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens_details":null}}`,
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 3, Out: 2},
	},
	{
		name: "the word error in an answer", dialect: "anthropic",
		body: `{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"f","input":{"error":{"type":"x"}}}],"stop_reason":"tool_use","error":null}`,
		text: "a", calls: []model.ToolCall{{ID: "t", Name: "f", Args: `{"error":{"type":"x"}}`}}, finish: model.FinishCalls,
	},
}

func FuzzAnthropic(f *testing.F) {
	for _, q := range claudeQuirks {
		f.Add(200, q.body)
	}
	f.Add(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`)
	f.Fuzz(func(t *testing.T, status int, body string) { decodes(t, planFor("anthropic"), status, body) })
}

// TestThoughtsGoBack: what an answer contains is what the dialect writes in the next request, in the same order and
// with the same signatures; thoughts of others are left out.
func TestThoughtsGoBack(t *testing.T) {
	r, err := planFor("anthropic").Decode(200, http.Header{}, strings.NewReader(claudeQuirks[0].body))
	if err != nil {
		t.Fatal(err)
	}
	parts := append(r.Parts, model.Part{Kind: model.PartReasoning, Text: "unsigned"},
		model.Part{Kind: model.PartReasoning, Text: "foreign", Opaque: &model.Opaque{Provider: "openrouter", Data: `{"type":"thinking","signature":"x"}`}},
		model.Part{Kind: model.PartReasoning, Text: "broken", Opaque: &model.Opaque{Provider: "anthropic", Data: `{"type":`}})
	blocks, blockErr := (&Anthropic{}).blocks(&model.Message{Role: model.RoleAssistant, Parts: parts}, nil)
	if blockErr != nil {
		t.Fatal(blockErr)
	}
	got, encodeErr := encode(blocks)
	if encodeErr != nil {
		t.Fatal(encodeErr)
	}
	want := `[{"type":"thinking","thinking":"hm ","signature":"c2ln"},{"type":"redacted_thinking","data":"b3BhcXVl"},{"type":"text","text":"one "},` +
		`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},` +
		`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"t","encrypted_content":"e","url":"u"}]},` +
		`{"type":"mcp_tool_use","id":"mcptoolu_1","name":"n","server_name":"s","input":{}},{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":false,"content":[{"type":"text","text":"no answer of the model"}]},` +
		`{"type":"compaction","content":"no answer either"},` +
		`{"type":"thinking","thinking":"so","signature":"c2ln"},{"type":"text","text":"two"},` +
		`{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1,"a":[2]}},{"type":"tool_use","id":"toolu_2","name":"g","input":{}}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The calls of the provider's own tools in a stream are sent back with the content of their pieces.
func TestStateGoesBack(t *testing.T) {
	for _, q := range claudeQuirks {
		if q.name != "blocks of the provider's own tools in pieces" {
			continue
		}
		r, err := planFor("anthropic").Decode(200, http.Header{}, strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		blocks, blockErr := (&Anthropic{}).blocks(&model.Message{Role: model.RoleAssistant, Parts: r.Parts}, nil)
		got, encodeErr := encode(blocks)
		if blockErr != nil || encodeErr != nil {
			t.Fatal(blockErr, encodeErr)
		}
		want := `[{"type":"server_tool_use","id":"s","name":"web_search","input":{"query":"x"}},` +
			`{"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}},` +
			`{"type":"compaction","content":"summary"},{"type":"text","text":"t"}]`
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A thought without its text is nevertheless sent back with its signature.
func TestOmittedThoughtGoesBack(t *testing.T) {
	body := `{"content":[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":"a"}],"stop_reason":"end_turn"}`
	r, err := planFor("anthropic").Decode(200, http.Header{}, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Parts) != 2 || r.Parts[0].Kind != model.PartReasoning {
		t.Fatalf("parts %+v", r.Parts)
	}
	block, encodeErr := encode(stateBlock(&r.Parts[0]))
	if encodeErr != nil || string(block) != `{"type":"thinking","thinking":"","signature":"c2ln"}` {
		t.Errorf("%s %v", block, encodeErr)
	}
}

// TestAnthropicFailures: an incomplete answer is an error with a kind and the received part.
func TestAnthropicFailures(t *testing.T) {
	begun := []string{`{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":7,"output_tokens":1}}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"par"}}`}
	for _, row := range []struct {
		name, body string
		status     int
		header     http.Header
		kind       engine.ErrKind
		code       string
		retry      bool
		wait       time.Duration
		request    string
		raw        string
		in         int
	}{
		{name: "no message_stop", body: sse(append(begun, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`)...), kind: engine.KindTruncated, retry: true, raw: "par", in: 7},
		{name: "an error midway", body: sse(append(begun, `{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`)...),
			kind: engine.KindOverloaded, code: "overloaded_error", retry: true, request: "req_1", raw: "par", in: 7},
		{name: "a failure midway", body: sse(append(begun, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`)...), kind: engine.KindServer, code: "api_error", retry: true, raw: "par", in: 7},
		{name: "no content", body: `{"type":"message","id":"m"}`, kind: engine.KindBadResponse},
		{name: "not a message", body: `[1]`, kind: engine.KindBadResponse},
		{name: "an event of another form", body: sse(append(begun, `{"type":"content_block_delta","index":"x"}`)...), kind: engine.KindBadResponse, raw: "par", in: 7},
		{name: "too long", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 240140 tokens > 200000 maximum"},"request_id":"req_2"}`, kind: engine.KindContextLength, code: "invalid_request_error", request: "req_2"},
		{name: "too long with the answer", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 188240 + 21333 > 200000, decrease input length or max_tokens and try again"}}`, kind: engine.KindContextLength, code: "invalid_request_error"},
		{name: "too large", status: 413, body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, kind: engine.KindContextLength, code: "request_too_large"},
		{name: "a key that is none", status: 401, header: http.Header{"Request-Id": {"req_3"}}, body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_4"}`, kind: engine.KindAuth, code: "authentication_error", request: "req_3"},
		{name: "not allowed", status: 403, body: `{"type":"error","error":{"type":"permission_error","message":"no"}}`, kind: engine.KindAuth, code: "permission_error"},
		{name: "no such model", status: 404, body: `{"type":"error","error":{"type":"not_found_error","message":"model: claude-99"}}`, kind: engine.KindNotFound, code: "not_found_error"},
		{name: "no credit", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, kind: engine.KindQuota, code: "invalid_request_error"},
		{name: "a limit of the account's own", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}`, kind: engine.KindQuota, code: "invalid_request_error"},
		{name: "not paid", status: 402, body: `{"type":"error","error":{"type":"billing_error","message":"pay"}}`, kind: engine.KindQuota, code: "billing_error"},
		{name: "a rate limit", status: 429, header: http.Header{"Retry-After": {"17"}, "X-Should-Retry": {"true"}}, body: `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute"}}`, kind: engine.KindRateLimit, code: "rate_limit_error", retry: true, wait: 17 * time.Second},
		{name: "a rate limit for good", status: 429, header: http.Header{"X-Should-Retry": {"false"}}, body: `{"type":"error","error":{"type":"rate_limit_error","message":"no"}}`, kind: engine.KindRateLimit, code: "rate_limit_error"},
		{name: "overloaded", status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, kind: engine.KindOverloaded, code: "overloaded_error", retry: true},
		{name: "a failure", status: 500, body: `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, kind: engine.KindServer, code: "api_error", retry: true},
		{name: "too slow", status: 504, body: `{"type":"error","error":{"type":"timeout_error","message":"timed out"}}`, kind: engine.KindTimeout, code: "timeout_error", retry: true},
		{name: "a parameter that is gone", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"` + "`temperature`" + ` is deprecated for this model"}}`, kind: engine.KindUnsupported, code: "invalid_request_error"},
		{name: "thinking of another sort", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\""}}`, kind: engine.KindUnsupported, code: "invalid_request_error"},
		{name: "a member that is not known", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"output_config.format: Extra inputs are not permitted"}}`, kind: engine.KindUnsupported, code: "invalid_request_error"},
		{name: "an answer that is held back", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, kind: engine.KindRefused, code: "invalid_request_error"},
		{name: "a bad request", status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1: tool_use ids were found without tool_result blocks"}}`, kind: engine.KindBadRequest, code: "invalid_request_error"},
	} {
		if row.status == 0 {
			row.status = 200
		}
		r, err := planFor("anthropic").Decode(row.status, row.header, strings.NewReader(row.body))
		if err == nil {
			t.Errorf("%s: an answer %+v", row.name, r)
			continue
		}
		got := []any{err.Kind, err.Model.Code, err.Model.Retryable, err.Model.RetryAfter, err.Model.RequestID, err.Raw, err.Usage.In}
		if want := []any{row.kind, row.code, row.retry, row.wait, row.request, row.raw, row.in}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v: %v", row.name, got, want, err)
		}
		if err.Help == "" {
			t.Errorf("%s: no help: %v", row.name, err)
		}
	}
}

// TestHostileMessagesAreLinear sends pieces whose handling could grow with what came before.
func TestHostileMessagesAreLinear(t *testing.T) {
	begin := sse(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`)
	for name, body := range map[string]func(n int) string{
		"a signature in many pieces": func(n int) string {
			return begin + strings.Repeat(sse(`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}`), n)
		},
		"a block begun many times": func(n int) string {
			return strings.Repeat(begin, n) + strings.Repeat(sse(`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"x"}}`), n)
		},
		"stopped many times": func(n int) string {
			return begin + strings.Repeat(sse(`{"type":"content_block_stop","index":0}`, `{"type":"message_stop"}`), n)
		},
	} {
		linear(t, name, func(n int) {
			if _, err := planFor("anthropic").Decode(200, http.Header{}, strings.NewReader(body(n))); err == nil && !strings.HasPrefix(name, "stopped") {
				t.Errorf("%s: no error", name)
			}
		})
	}
}
