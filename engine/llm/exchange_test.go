package llm_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

const completionBody = `{"id":"x","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`

// bodies are the same answer in all forms.
var bodies = map[string]string{
	"chat completion":    completionBody,
	"streamed":           "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
	"behind comments":    ": PROCESSING\n\n: PROCESSING\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n",
	"behind blanks":      "\n   \n" + completionBody,
	"response":           `{"id":"r","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"yes"}]}],"usage":{"input_tokens":3,"output_tokens":1}}`,
	"streamed response":  "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"yes\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n",
	"generated content":  `{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}`,
	"streamed content":   "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"ye\"}]}}]}\r\n\r\ndata: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"s\"}]},\"finishReason\":\"STOP\"}],\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":1}}\r\n\r\n",
	"content in a list":  `[{"candidates":[{"content":{"parts":[{"text":"ye"}]}}]},{"candidates":[{"content":{"parts":[{"text":"s"}]},"finishReason":1}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":1}}]`,
	"message":            `{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}`,
	"streamed message":   "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"yes\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	"chat of Ollama":     `{"model":"m","message":{"role":"assistant","content":"yes"},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":1}`,
	"streamed by Ollama": "{\"model\":\"m\",\"created_at\":\"t\",\"message\":{\"role\":\"assistant\",\"content\":\"yes\"},\"done\":false}\n{\"model\":\"m\",\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":3,\"eval_count\":1}\n",
	"interaction":        `{"object":"interaction","status":"completed","steps":[{"type":"model_output","content":[{"type":"text","text":"yes"}]}],"usage":{"total_input_tokens":3,"total_output_tokens":1}}`,
	"chat of Cohere":     `{"id":"c","message":{"role":"assistant","content":[{"type":"text","text":"yes"}]},"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":3,"output_tokens":1}}}`,
	"converse":           `{"output":{"message":{"role":"assistant","content":[{"text":"yes"}]}},"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":1,"totalTokens":4}}`,
}

var providerNames = []string{
	"openai", "anthropic", "google", "gemini", "googleai", "vertex", "mistral", "deepseek", "openrouter", "ollama", "groq", "xai", "z.ai", "azure",
	"huggingface", "perplexity", "gpustack", "cerebras", "together", "bedrock", "Somebody Else", "",
}

// The answer determines its form: every name works with every form.
func TestExchangesOfAllForms(t *testing.T) {
	for form, body := range bodies {
		for _, name := range providerNames {
			r, err := llm.DecodeExchange(name, 200, nil, []byte(body))
			if err != nil {
				t.Errorf("%s from %q: %v", form, name, err)
				continue
			}
			if r.Text() != "yes" || r.Finish != model.FinishStop || r.Usage.In != 3 || r.Usage.Out != 1 {
				t.Errorf("%s from %q: %+v", form, name, r)
			}
		}
	}
}

func TestExchangesThatAreErrors(t *testing.T) {
	for _, row := range []struct {
		provider string
		status   int
		body     string
		kind     engine.ErrKind
	}{
		{"vertex", 429, `[{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}]`, engine.KindRateLimit},
		{"gemini", 400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, engine.KindAuth},
		{"nobody", 503, ``, engine.KindOverloaded},
		{"gemini", 200, ``, engine.KindBadResponse},
		{"gemini", 200, `data: {"cand`, engine.KindTruncated},
		{"anthropic", 200, `{"what":1}`, engine.KindBadResponse},
		{"nobody", 200, `{"what":1}`, engine.KindBadResponse},
		{"nobody", 200, `<html>`, engine.KindBadResponse},
		{"gpustack", 200, "error: {\"code\":400,\"message\":\"m\",\"type\":\"invalid_request_error\"}\n\n", engine.KindBadRequest},
		{"groq", 200, "event: error\ndata: {\"error\":{\"message\":\"m\",\"type\":\"rate_limit_exceeded\"}}\n\n", engine.KindRateLimit},
		{"ollama", 200, `{"error":"model runner has unexpectedly stopped"}`, engine.KindServer},
	} {
		_, err := llm.DecodeExchange(row.provider, row.status, http.Header{}, []byte(row.body))
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != row.kind || e.Model == nil || e.Model.Name != row.provider {
			t.Errorf("%s %d %s: %v, want %s", row.provider, row.status, row.body, err, row.kind)
		}
	}
}

// A record's headers may be written in any case.
func TestExchangeHeaders(t *testing.T) {
	_, err := llm.DecodeExchange("openai", 429, http.Header{"retry-after": {"7"}, "x-request-id": {"r1"}}, []byte(`{"error":{"message":"m"}}`))
	var e *engine.Error
	if !errors.As(err, &e) || e.Model.RetryAfter.Seconds() != 7 || e.Model.RequestID != "r1" {
		t.Errorf("%+v", err)
	}
}

// A body may be recorded as sent over the wire, or without the compression that its header names.
func TestExchangesCompressed(t *testing.T) {
	zipped, deflated := &bytes.Buffer{}, &bytes.Buffer{}
	for _, w := range []io.WriteCloser{gzip.NewWriter(zipped), zlib.NewWriter(deflated)} {
		if _, err := io.WriteString(w, completionBody); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	for name, row := range map[string]struct{ encoding, body string }{
		"gzip": {"gzip", zipped.String()}, "gzip without a header": {"", zipped.String()}, "deflate": {"deflate", deflated.String()}, "deflate without a header": {"", deflated.String()},
		"named alone": {"gzip", completionBody}, "another one named alone": {"br", completionBody}, "deflate named alone": {"deflate", completionBody},
	} {
		r, err := llm.DecodeExchange("openai", 200, http.Header{"content-encoding": {row.encoding}}, []byte(row.body))
		if err != nil || r.Text() != "yes" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e *engine.Error
	if _, err := llm.DecodeExchange("openai", 200, nil, zipped.Bytes()[:zipped.Len()-20]); !errors.As(err, &e) || e.Kind != engine.KindTruncated {
		t.Errorf("a cut one: %v", err)
	}
	if _, err := llm.DecodeExchange("openai", 200, nil, []byte("\x1f\x8bnothing")); !errors.As(err, &e) || e.Kind != engine.KindBadResponse {
		t.Errorf("a damaged one: %v", err)
	}
	for encoding, body := range map[string]string{"zstd": "\x28\xb5\x2f\xfd\x04\x00", "br": "\x8b\x02\x80{\xff"} {
		if _, err := llm.DecodeExchange("openai", 200, http.Header{"Content-Encoding": {encoding}}, []byte(body)); !errors.As(err, &e) || e.Kind != engine.KindBadResponse || !strings.Contains(e.Message, "compressed by "+encoding) {
			t.Errorf("%s: %v", encoding, err)
		}
	}
	if _, err := llm.DecodeExchange("openai", 429, nil, zipped.Bytes()); !errors.As(err, &e) || e.Kind != engine.KindRateLimit {
		t.Errorf("of an error: %v", err)
	}
}

func ExampleDecodeExchange() {
	r, err := llm.DecodeExchange("google", 200, nil, []byte(`{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}]}`))
	fmt.Println(r.Text(), r.Finish, err)
	// Output: yes stop <nil>
}
