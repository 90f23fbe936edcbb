package wire

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// formQuirks are answers with forms and members that occur only with some servers or requests.
var formQuirks = []quirk{
	{
		name: "steps of an interaction", dialect: "interactions",
		body: `{"id":"i1","object":"interaction","model":"gemini-x","status":"requires_action","usage":{"total_tokens":224,"total_input_tokens":60,"total_cached_tokens":5,"total_output_tokens":20,"total_tool_use_tokens":7,"total_thought_tokens":144},
			"steps":[{"type":"user_input","content":[{"type":"text","text":"not of the model"}]},{"type":"thought","summary":[{"type":"text","text":"h"},{"type":"text","text":"m"}],"signature":"s1"},
			{"type":"google_search_call","id":"g","signature":"x","arguments":{"queries":["q"]}},{"type":"google_search_result","call_id":"g","signature":"y","result":[{"search_suggestions":"<b>"}]},
			{"type":"model_output","content":[{"type":"text","text":"a","annotations":[]},{"type":"image","mime_type":"image/jpeg","data":"xx"},{"type":"video","data":"yy"},{"type":"text","text":"b"}]},
			{"type":"function_call","id":"c1","name":"f","arguments":{"x": 1},"signature":"s2"}]}`,
		text: "ab", reasoning: "hm", calls: []model.ToolCall{{ID: "c1", Name: "f", Args: `{"x":1}`}}, finish: model.FinishCalls,
		usage: model.Usage{In: 67, Out: 164, Reasoning: 144, CacheRead: 5},
		parts: []model.Part{
			{Kind: model.PartReasoning, Text: "hm", Opaque: &model.Opaque{Provider: geminiFamily, Data: "s1"}}, textPart("a"),
			{Kind: model.PartImage, Image: &model.Image{URL: "data:image/jpeg;base64,xx", MIME: "image/jpeg"}}, textPart("b"),
			{Kind: model.PartCall, Call: &model.ToolCall{ID: "c1", Name: "f", Args: `{"x":1}`}, Opaque: &model.Opaque{Provider: geminiFamily, Data: "s2"}},
		},
	},
	{
		name: "a streamed interaction", dialect: "interactions",
		body: sse(`{"event_type":"interaction.created","interaction":{"id":"i1","object":"interaction","model":"m","status":"in_progress"}}`,
			`{"event_type":"step.start","index":0,"step":{"type":"thought"}}`,
			`{"event_type":"step.delta","index":0,"delta":{"type":"thought_summary","content":{"type":"text","text":"hm"}}}`,
			`{"event_type":"step.delta","index":0,"delta":{"type":"thought_signature","signature":"s1"}}`, `{"event_type":"step.stop","index":0}`,
			`{"event_type":"step.start","index":1,"step":{"type":"google_search_call","id":"g"}}`, `{"event_type":"step.delta","index":1,"delta":{"type":"google_search_call","arguments":{"queries":["q"]}}}`, `{"event_type":"step.stop","index":1}`,
			`{"event_type":"step.start","index":2,"step":{"type":"model_output"}}`, `{"event_type":"step.delta","index":2,"delta":{"type":"text","text":"a"}}`,
			`{"event_type":"step.delta","index":2,"delta":{"type":"text_annotation","annotation":{}}}`, `{"event_type":"step.delta","index":2,"delta":{"type":"text","text":"b"}}`, `{"event_type":"step.stop","index":2}`,
			`{"event_type":"step.start","index":3,"step":{"type":"function_call","id":"c1","name":"f","arguments":{}}}`,
			`{"event_type":"step.delta","index":3,"delta":{"type":"arguments_delta","arguments":"{\"x\":"}}`, `{"event_type":"step.delta","index":3,"delta":{"type":"arguments_delta","arguments":" 1}"}}`, `{"event_type":"step.stop","index":3}`,
			`{"event_type":"step.start","index":4,"step":{"type":"function_call","id":"c2","name":"g","arguments":{}}}`, `{"event_type":"step.stop","index":4}`,
			`{"event_type":"interaction.completed","interaction":{"id":"i1","status":"requires_action","usage":{"total_input_tokens":3,"total_output_tokens":2}}}`, "[DONE]"),
		text: "ab", reasoning: "hm", calls: []model.ToolCall{{ID: "c1", Name: "f", Args: `{"x": 1}`}, {ID: "c2", Name: "g", Args: "{}"}},
		finish: model.FinishCalls, usage: model.Usage{In: 3, Out: 2},
	},
	{
		name: "an interaction of the first version", dialect: "interactions",
		body: sse(`{"event_type":"interaction.start","interaction":{"id":"i1"}}`, `{"event_type":"content.start","index":0,"content":{"type":"text"}}`, `{"event_type":"content.delta","index":0,"delta":{"type":"text","text":"a"}}`,
			`{"event_type":"content.stop","index":0}`, `{"event_type":"interaction.complete","interaction":{"status":"completed","usage":{"total_input_tokens":3,"total_output_tokens":2}}}`),
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 3, Out: 2},
	},
	{
		name: "an interaction cut by the limit, in the outputs of the first version", dialect: "interactions",
		body: `{"object":"interaction","status":"incomplete","outputs":[{"type":"thought","signature":"s"},{"type":"text","text":"a"}]}`,
		text: "a", finish: model.FinishLength,
	},
	{
		name: "what is left of a compacted conversation", dialect: "responses",
		body:   `{"id":"r","object":"response.compaction","output":[{"type":"message","role":"user","content":[{"type":"input_text","text":"not of the model"}]},{"type":"compaction","encrypted_content":"e"}],"usage":{"input_tokens":154,"input_tokens_details":{"cached_tokens":3,"cache_write_tokens":2},"output_tokens":177}}`,
		finish: model.FinishUnknown, usage: model.Usage{In: 154, Out: 177, CacheRead: 3, CacheWrite: 2},
	},
	{
		name: "thoughts at length beside their summary", dialect: "responses",
		body: `{"object":"response","status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"at length"}]},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`,
		text: "a", reasoning: "s", finish: model.FinishStop,
	},
	{
		name: "responses with a cost, and a total that holds more", dialect: "responses",
		body: `{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":22,"cost":0.5}}`,
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 10, Out: 12, Reasoning: 7, CostUSD: 0.5},
	},
	{
		name: "an answer that a filter of the customer's stopped", dialect: "gemini",
		body:   `{"candidates":[{"finishReason":"MODEL_ARMOR","finishMessage":"m","avgLogprobs":-1.1}],"usageMetadata":{"promptTokenCount":19,"candidatesTokenCount":6,"thoughtsTokenCount":27,"totalTokenCount":52}}`,
		finish: model.FinishFilter, usage: model.Usage{In: 19, Out: 33, Reasoning: 27},
	},
	{
		name: "an answer that is spoken", dialect: "openai",
		body: `{"choices":[{"message":{"role":"assistant","content":null,"audio":{"id":"audio_1","data":"UklGRg==","expires_at":1,"transcript":"a"}},"finish_reason":"stop"}]}`, text: "a", finish: model.FinishStop,
	},
	{
		name: "an answer that is spoken in pieces", dialect: "openai",
		body: sse(`{"choices":[{"index":0,"delta":{"role":"assistant","audio":{"id":"audio_1","transcript":"a"}}}]}`, `{"choices":[{"index":0,"delta":{"audio":{"transcript":"b"}}}]}`, `{"choices":[{"index":0,"delta":{"audio":{"data":"UklGRg=="}}}]}`,
			`{"choices":[{"index":0,"delta":{"audio":{"expires_at":1}},"finish_reason":"stop"}]}`), text: "ab", finish: model.FinishStop,
	},
	{
		name: "thoughts under Ollama's name", dialect: "openai",
		body: `{"choices":[{"message":{"content":"a","thinking":"hm"},"finish_reason":"stop"}]}`, text: "a", reasoning: "hm", finish: model.FinishStop,
	},
	{
		name: "thoughts as a piece with a summary", dialect: "openai",
		body: `{"choices":[{"message":{"content":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm","signature":"s"}]},{"type":"text","text":"a"}]},"finish_reason":"stop"}]}`, text: "a", reasoning: "hm", finish: model.FinishStop,
	},
	{
		name: "a cost made of parts", dialect: "openai",
		body: `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":6,"total_tokens":11,"citation_tokens":3,"cost":{"input_tokens_cost":0.25,"output_tokens_cost":0.25,"request_cost":0.5,"total_cost":1}}}`,
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 5, Out: 6, CostUSD: 1},
	},
	{
		name: "what was written to the cache, told by how long it is kept", dialect: "anthropic",
		body: `{"type":"message","content":[{"type":"thinking","text":"hm"},{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"cache_read_input_tokens":10,"cache_creation":{"ephemeral_5m_input_tokens":100,"ephemeral_1h_input_tokens":1000},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1}}}`,
		text: "a", reasoning: "hm", finish: model.FinishStop, usage: model.Usage{In: 1111, Out: 2, Reasoning: 1, CacheRead: 10, CacheWrite: 1100},
	},
	{
		name: "Cohere's chat", dialect: "cohere",
		body: `{"id":"c1","message":{"role":"assistant","tool_plan":"h","tool_calls":[{"id":"f_1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}],"content":[{"type":"thinking","thinking":"m"},{"type":"text","text":"a"}]},"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":35,"output_tokens":22},"tokens":{"input_tokens":1453,"output_tokens":33},"cached_tokens":1024}}`,
		text: "a", reasoning: "hm", calls: []model.ToolCall{{ID: "f_1", Name: "f", Args: `{"x":1}`}}, finish: model.FinishCalls, usage: model.Usage{In: 1453, Out: 33, CacheRead: 1024},
	},
	{
		name: "Cohere's stream", dialect: "cohere",
		body: sse(`{"id":"c1","type":"message-start","delta":{"message":{"role":"assistant","content":[],"tool_plan":"","tool_calls":[],"citations":[]}}}`,
			`{"type":"tool-plan-delta","delta":{"message":{"tool_plan":"hm"}}}`,
			`{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}`, `{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"a"}}}}`,
			`{"type":"citation-start","index":0,"delta":{"message":{"citations":{"start":0,"end":1,"text":"a"}}}}`, `{"type":"content-end","index":0}`,
			`{"type":"tool-call-start","index":0,"delta":{"message":{"tool_calls":{"id":"f_1","type":"function","function":{"name":"f","arguments":""}}}}}`,
			`{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":"{\"x\""}}}}}`, `{"type":"tool-call-delta","index":0,"delta":{"message":{"tool_calls":{"function":{"arguments":":1}"}}}}}`, `{"type":"tool-call-end","index":0}`,
			`{"type":"tool-call-start","index":1,"delta":{"message":{"tool_calls":{"id":"g_1","type":"function","function":{"name":"g","arguments":"{}"}}}}}`, `{"type":"tool-call-end","index":1}`,
			`{"type":"message-end","delta":{"finish_reason":"TOOL_CALL","usage":{"billed_units":{"input_tokens":5,"output_tokens":6}}}}`),
		text: "a", reasoning: "hm", calls: []model.ToolCall{{ID: "f_1", Name: "f", Args: `{"x":1}`}, {ID: "g_1", Name: "g", Args: "{}"}}, finish: model.FinishCalls, usage: model.Usage{In: 5, Out: 6},
	},
	{
		name: "Bedrock's count of thoughts", dialect: "converse",
		body: `{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":9,"outputTokensDetails":{"reasoningTokens":7}}}`,
		text: "a", finish: model.FinishStop, usage: model.Usage{In: 3, Out: 9, Reasoning: 7},
	},
}

// TestErrorsInsideAnswers: an error that arrives with status 200, with the part of the answer and the usage received
// until then.
func TestErrorsInsideAnswers(t *testing.T) {
	for name, row := range map[string]struct {
		dialect, body string
		kind          engine.ErrKind
		says, raw     string
		usage         model.Usage
	}{
		"in a chunk that counts": {
			"openai", sse(`{"choices":[{"index":0,"delta":{"content":"so far"},"finish_reason":"length"}]}`,
				`{"id":"gen-1","error":{"code":400,"message":"Token limit reached"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":null}],"usage":{"prompt_tokens":43,"completion_tokens":10,"total_tokens":53}}`, "[DONE]"),
			engine.KindBadRequest, "Token limit reached", "so far", model.Usage{In: 43, Out: 10},
		},
		"an object of its own": {
			"openai", sse(`{"choices":[{"index":0,"delta":{"content":"so far"}}]}`, `{"object":"error","message":"engine died","type":"InternalServerError","param":null,"code":500}`, "[DONE]"),
			engine.KindServer, "engine died", "so far", model.Usage{},
		},
		"Cohere's error":             {"cohere", sse(`{"id":"c1","type":"message-start","delta":{}}`, `{"type":"message-end","delta":{"finish_reason":"ERROR","error":"it broke","usage":{}}}`), engine.KindServer, "it broke", "", model.Usage{}},
		"a failed interaction":       {"interactions", `{"object":"interaction","status":"failed","steps":[],"errors":[{"code":"rate_limit_exceeded","message":"slow down"}]}`, engine.KindRateLimit, "slow down", "", model.Usage{}},
		"a failed one without words": {"interactions", `{"object":"interaction","status":"failed","steps":[]}`, engine.KindServer, "broke the answer off", "", model.Usage{}},
		"an event of an interaction": {"interactions", sse(`{"event_type":"interaction.created","interaction":{"id":"i"}}`, `{"event_type":"error","error":{"code":"quota_exceeded","message":"used up"}}`), engine.KindQuota, "used up", "", model.Usage{}},
		"a cut interaction":          {"interactions", sse(`{"event_type":"interaction.created","interaction":{"id":"i","status":"in_progress"}}`, `{"event_type":"step.start","index":0,"step":{"type":"model_output"}}`), engine.KindTruncated, "before the answer did", "", model.Usage{}},
	} {
		r, err := planFor(row.dialect).Decode(200, http.Header{}, strings.NewReader(row.body))
		if err == nil || err.Kind != row.kind || !strings.Contains(err.Error(), row.says) || err.Raw != row.raw || err.Usage != row.usage {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}
