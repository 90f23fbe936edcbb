package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
)

func TestClassify(t *testing.T) {
	for _, row := range []struct {
		status int
		body   string
		kind   engine.ErrKind
		code   string
		says   string
	}{
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 14290 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, engine.KindContextLength, "context_length_exceeded", "14290"},
		{400, `{"error":{"message":"This endpoint's maximum context length is 131072 tokens","code":400}}`, engine.KindContextLength, "", "131072"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 240140 tokens > 200000 maximum"}}`, engine.KindContextLength, "invalid_request_error", "240140"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, engine.KindQuota, "invalid_request_error", "credit"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, engine.KindOverloaded, "overloaded_error", "Overloaded"},
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, engine.KindQuota, "insufficient_quota", "quota"},
		{429, `{"error":{"message":"Rate limit reached on tokens per min. Limit 30000, Requested 40100.","type":"tokens","code":"rate_limit_exceeded"}}`, engine.KindRateLimit, "rate_limit_exceeded", "40100"},
		{413, `{"error":{"message":"Request too large for model on tokens per minute (TPM)","type":"tokens","code":"rate_limit_exceeded"}}`, engine.KindRateLimit, "rate_limit_exceeded", ""},
		{400, `[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`, engine.KindAuth, "API_KEY_INVALID", "not valid"},
		{429, `[{"error":{"code":429,"message":"Quota exceeded","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"48s"}]}}]`, engine.KindRateLimit, "RESOURCE_EXHAUSTED", ""},
		{401, `{"detail":"Invalid API Key"}`, engine.KindAuth, "", "Invalid API Key"},
		{400, `{"object":"error","message":"Tool call id has to be defined.","type":"invalid_request_error","param":null,"code":null}`, engine.KindBadRequest, "invalid_request_error", "Tool call id"},
		{400, `{"error":"registry.ollama.ai/library/gemma does not support tools"}`, engine.KindUnsupported, "", "does not support tools"},
		{404, `{"error":{"message":"The model gpt-9 does not exist","type":"invalid_request_error","code":"model_not_found"}}`, engine.KindNotFound, "model_not_found", "gpt-9"},
		{400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0","code":"unsupported_value","param":"temperature"}}`, engine.KindUnsupported, "unsupported_value", ""},
		{401, `{"error":{"message":"Missing Authentication header","code":401}}`, engine.KindAuth, "", "Missing"},
		{500, `oops`, engine.KindServer, "", "oops"},
		{504, ``, engine.KindServer, "", ""},
		{418, `{"error":{}}`, engine.KindBadRequest, "", ""},
		{400, `{"error":{"message":7}}`, engine.KindBadRequest, "", ""},
		{400, `null`, engine.KindBadRequest, "", ""},
		{400, `"sorry"`, engine.KindBadRequest, "", "sorry"},
	} {
		f := classify(row.status, http.Header{}, []byte(row.body), time.Time{})
		if f.kind != row.kind || f.code != row.code || !strings.Contains(f.says, row.says) {
			t.Errorf("%d %s\n is %s %q %q, want %s %q %q", row.status, row.body, f.kind, f.code, f.says, row.kind, row.code, row.says)
		}
		if f.what == "" {
			t.Errorf("%d %s is not put into words", row.status, row.body)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, row := range []struct {
		header map[string]string
		body   string
		want   time.Duration
	}{
		{nil, `{}`, 0},
		{map[string]string{"Retry-After": "7"}, `{}`, 7 * time.Second},
		{map[string]string{"Retry-After": "0.5"}, `{}`, 500 * time.Millisecond},
		{map[string]string{"Retry-After": "-7"}, `{}`, 0},
		{map[string]string{"Retry-After": "NaN"}, `{}`, 0},
		{map[string]string{"Retry-After": "1e300"}, `{}`, longestWait},
		{map[string]string{"Retry-After": "soon"}, `{}`, 0},
		{map[string]string{"Retry-After": "Wed, 04 Mar 2026 05:06:17 GMT"}, `{}`, 10 * time.Second},
		{map[string]string{"Retry-After": "Wed, 04 Mar 2026 05:00:00 GMT"}, `{}`, 0},
		{map[string]string{"Retry-After-Ms": "50", "Retry-After": "1"}, `{}`, 50 * time.Millisecond},
		{map[string]string{"X-Ratelimit-Reset": "1772600770000"}, `{}`, 3 * time.Second},
		{map[string]string{"X-Ratelimit-Reset": "60"}, `{}`, 0},
		{nil, `{"error":{"metadata":{"headers":{"X-RateLimit-Reset":"1772600770000"}}}}`, 3 * time.Second},
		{nil, `{"error":{"details":[{"reason":"x"},{"retryDelay":"48.9s"}]}}`, 48900 * time.Millisecond},
		{nil, `{"error":{"message":"Please try again in 6ms. Visit"}}`, 6 * time.Millisecond},
		{nil, `{"error":{"message":"Please retry in 48.9s."}}`, 48900 * time.Millisecond},
		{nil, `{"error":{"message":"Please try again in 2 minutes"}}`, 2 * time.Minute},
		{nil, `{"error":{"message":"Try again after 20 seconds"}}`, 20 * time.Second},
	} {
		h := http.Header{}
		for k, v := range row.header {
			h.Set(k, v)
		}
		if got := retryAfter(h, parseErrorBody([]byte(row.body)), now); got != row.want {
			t.Errorf("%v %s: %s, want %s", row.header, row.body, got, row.want)
		}
	}
}

func TestShouldRetryHeader(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false} {
		for _, status := range []int{400, 500} {
			if f := classify(status, http.Header{"X-Should-Retry": {value}}, nil, time.Time{}); f.retryable != want {
				t.Errorf("%d with %s: %v", status, value, f.retryable)
			}
		}
	}
}
