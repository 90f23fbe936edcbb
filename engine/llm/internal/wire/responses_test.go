package wire

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

func events(list ...string) string {
	var b strings.Builder
	for _, e := range list {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		b.WriteString("event: " + name + "\ndata: " + e + "\n\n")
	}
	return b.String()
}

const responsesUsage = `"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":6},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":123}`

var responsesQuirks = []quirk{
	{
		name: "items of all kinds", dialect: "responses",
		body: `{"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"model":"gpt-5","output":[
			{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"content":[{"type":"reasoning_text","text":"long"}],"encrypted_content":"x"},
			{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}},
			{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"output_text","text":"b"}]},
			{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}","status":"completed"},
			{"id":"ct_1","type":"custom_tool_call","call_id":"call_2","name":"g","input":"free text"}],` + responsesUsage + `}`,
		text: "ab", reasoning: "onetwo", finish: model.FinishCalls, usage: model.Usage{In: 36, Out: 87, Reasoning: 64, CacheRead: 6},
		calls: []model.ToolCall{{ID: "call_1", Name: "f", Args: `{"x":1}`}, {ID: "call_2", Name: "g", Args: "free text"}},
		parts: []model.Part{thoughtPart("one"), thoughtPart("two"), textPart("a"), textPart("b"), calledPart("call_1", "f", `{"x":1}`), calledPart("call_2", "g", "free text")},
	},
	{
		name: "reasoning without a summary", dialect: "responses",
		body: `{"object":"response","status":"completed","output":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`,
		text: "a", reasoning: "hm", finish: model.FinishStop,
	},
	{
		name: "a refusal", dialect: "responses",
		body: `{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}`, text: "No.", finish: model.FinishRefusal,
	},
	{
		name: "cut by the limit", dialect: "responses",
		body: `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","status":"incomplete","content":[{"type":"output_text","text":"a"}]}]}`,
		text: "a", finish: model.FinishLength,
	},
	{
		name: "filtered", dialect: "responses", body: `{"object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`, finish: model.FinishFilter,
	},
	{
		name: "a stream", dialect: "responses",
		body: events(`{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5","output":[],"usage":null,"error":null}}`,
			`{"type":"response.in_progress","response":{"id":"resp_1","model":"gpt-5"}}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
			`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"h"}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"m"}`,
			`{"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"hm"}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","content":[]}}`,
			`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"a"}`,
			`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"b","obfuscation":"xyz"}`,
			`{"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"ab"}`,
			`{"type":"response.content_part.done","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"ab"}}`,
			`{"type":"response.output_item.done","output_index":1,"item":{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"ab"}]}}`,
			`{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"x\""}`,
			`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":":1}"}`,
			`{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":2,"arguments":"{\"x\":1}"}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}}`,
			`{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"ab"}]},{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"x\":1}"}],`+responsesUsage+`}}`),
		text: "ab", reasoning: "hm", finish: model.FinishCalls, usage: model.Usage{In: 36, Out: 87, Reasoning: 64, CacheRead: 6},
		calls: []model.ToolCall{{ID: "call_1", Name: "f", Args: `{"x":1}`}},
		parts: []model.Part{thoughtPart("hm"), textPart("ab"), calledPart("call_1", "f", `{"x":1}`)},
	},
	{
		name: "a stream without pieces", dialect: "responses",
		body: sse(`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`,
			`{"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}}`),
		calls: []model.ToolCall{{ID: "c", Name: "f", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "an item that the last event does not repeat", dialect: "responses",
		body: sse(`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`,
			`{"type":"response.completed","response":{"status":"completed","output":[]}}`),
		calls: []model.ToolCall{{ID: "c", Name: "f", Args: "{}"}}, finish: model.FinishCalls,
	},
	{
		name: "all of it in the last event", dialect: "responses",
		body: sse(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}}`),
		text: "a", finish: model.FinishLength,
	},
	{
		name: "a refusal in pieces", dialect: "responses",
		body: sse(`{"type":"response.refusal.delta","output_index":0,"content_index":0,"delta":"N"}`, `{"type":"response.refusal.delta","output_index":0,"delta":"o."}`,
			`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"No."}]}}`, `{"type":"response.completed","response":{"status":"completed","output":[]}}`),
		text: "No.", finish: model.FinishRefusal,
	},
	{
		name: "converse", dialect: "converse",
		body: `{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"text":"a"},{"toolUse":{"toolUseId":"t1","name":"f","input":{"x": 1}}}]}},"stopReason":"tool_use","usage":{"inputTokens":5,"outputTokens":6,"totalTokens":16,"cacheReadInputTokens":3,"cacheWriteInputTokens":2},"metrics":{"latencyMs":1}}`,
		text: "a", reasoning: "hm", calls: []model.ToolCall{{ID: "t1", Name: "f", Args: `{"x":1}`}}, finish: model.FinishCalls, usage: model.Usage{In: 10, Out: 6, CacheRead: 3, CacheWrite: 2},
	},
}

// FuzzForms covers the answers of all forms without a separate fuzz target.
func FuzzForms(f *testing.F) {
	names := []string{"gemini", "responses", "converse", "interactions", "cohere"}
	for _, q := range slices.Concat(geminiQuirks, responsesQuirks, formQuirks) {
		if n := slices.Index(names, q.dialect); n >= 0 {
			f.Add(n, q.body)
		}
	}
	f.Fuzz(func(t *testing.T, n int, body string) {
		decodes(t, planFor(names[uint(n)%uint(len(names))]), 200, body)
		if form := FormOf([]byte(body)); form != nil {
			decodes(t, &Plan{Form: form, Request: &model.Request{}}, 200, body)
		}
	})
}

func TestResponsesErrors(t *testing.T) {
	for body, want := range map[string]engine.ErrKind{
		`{"object":"response","status":"failed","error":{"code":"server_error","message":"m"},"output":[]}`:                                        engine.KindServer,
		`{"object":"response","status":"failed","error":null,"output":[]}`:                                                                         engine.KindServer,
		sse(`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Please try again in 2s"}}}`): engine.KindRateLimit,
		events(`{"type":"error","code":"invalid_prompt","message":"m","param":null,"sequence_number":2}`):                                          engine.KindRefused,
		events(`{"type":"error","error":{"type":"tokens","code":"rate_limit_exceeded","message":"m"}}`):                                            engine.KindRateLimit,
		sse(`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`):                                                                  engine.KindTruncated,
		sse(`{"type":"response.output_text.delta","output_index":"x","delta":"a"}`):                                                                engine.KindBadResponse,
	} {
		_, err := planFor("responses").Decode(200, http.Header{}, strings.NewReader(body))
		if err == nil || err.Kind != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
