package wire

import (
	"encoding/json"
	"net/http"
	"os"
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
		{404, `{"error":{"message":"model 'x' not found","type":"api_error","param":null,"code":null}}`, engine.KindNotFound, "api_error", "model 'x'"}, // as Ollama's /v1 says it
		{503, `{"error":{"message":"server busy","type":"api_error","param":null,"code":null}}`, engine.KindOverloaded, "api_error", "busy"},
		{500, `{"error":{"message":"oops","type":"api_error","param":null,"code":null}}`, engine.KindServer, "api_error", "oops"},
		{400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0","code":"unsupported_value","param":"temperature"}}`, engine.KindUnsupported, "unsupported_value", ""},
		{401, `{"error":{"message":"Missing Authentication header","code":401}}`, engine.KindAuth, "", "Missing"},
		{400, `{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"foo\": Cannot find field.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config","description":"d"}]}]}}`, engine.KindUnsupported, "INVALID_ARGUMENT", "foo"},
		{400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, engine.KindContextLength, "INVALID_ARGUMENT", "1200000"},
		{400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, engine.KindAuth, "FAILED_PRECONDITION", ""},
		{400, `{"error":{"code":400,"message":"JSON mode is not enabled for models/gemma-3-4b-it","status":"INVALID_ARGUMENT"}}`, engine.KindUnsupported, "INVALID_ARGUMENT", ""},
		{403, `{"error":{"code":403,"message":"Method doesn't allow unregistered callers","status":"PERMISSION_DENIED"}}`, engine.KindAuth, "PERMISSION_DENIED", "unregistered"},
		{404, `{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}`, engine.KindNotFound, "NOT_FOUND", "models/x"},
		{503, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, engine.KindOverloaded, "UNAVAILABLE", ""},
		{504, `[{"error":{"code":504,"message":"Deadline expired","status":"DEADLINE_EXCEEDED"}}]`, engine.KindTimeout, "DEADLINE_EXCEEDED", ""},
		{400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xai-***."}`, engine.KindAuth, "Client specified an invalid argument", "Incorrect API key"},
		{429, `{"error":{"code":"1113","message":"Insufficient balance"}}`, engine.KindQuota, "1113", "balance"},
		{200, `{"error":{"code":"1302","message":"High concurrency"}}`, engine.KindRateLimit, "1302", ""},
		{400, `{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}`, engine.KindNotFound, "invalid_model", "x"},
		{429, `{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","param":null,"code":"3505"}`, engine.KindRateLimit, "service_tier_capacity_exceeded", ""},
		{400, `{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<f>"}}`, engine.KindBadResponse, "tool_use_failed", "Failed"},
		{401, `{"message":"Wrong API Key","type":"invalid_request_error","param":"api_key","code":"wrong_api_key"}`, engine.KindAuth, "wrong_api_key", "Wrong"},
		{422, `{"error":["a is wrong","b too"]}`, engine.KindBadRequest, "", "a is wrong; b too"},
		{503, `{"error":"Model org/m is currently loading","estimated_time":20.0}`, engine.KindOverloaded, "", "loading"},
		{200, `{"error":{"message":"tool error","http_status_code":422}}`, engine.KindBadRequest, "", "tool error"},
		{401, "<html>\r\n<head><title>401 Authorization Required</title></head>\r\n<body><center>openresty</center></body></html>", engine.KindAuth, "", "401 Authorization Required"},
		{400, `{"error":{"message":"The response was filtered due to the prompt triggering a policy","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, engine.KindRefused, "content_filter", "filtered"},
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, engine.KindNotFound, "DeploymentNotFound", ""},
		{403, `{"Message":"User is not authorized to perform: bedrock:InvokeModel"}`, engine.KindAuth, "", "not authorized"},
		{500, `{"code":500,"msg":"404 NOT_FOUND","success":false}`, engine.KindServer, "", "404 NOT_FOUND"},
		{400, `{"error":{"message":["a is wrong","b too"],"type":"invalid_request_error"}}`, engine.KindBadRequest, "invalid_request_error", "a is wrong; b too"},
		{400, `{"detail":{"message":"no such field","code":7}}`, engine.KindBadRequest, "", "no such field"},
		{400, `{"detail":{"error":"no such field"}}`, engine.KindBadRequest, "", "no such field"},
		{400, `{"message":"The provided model identifier is invalid."}`, engine.KindNotFound, "", "identifier"},
		{424, `{"message":"the model behind failed"}`, engine.KindServer, "", "behind"},
		{500, `oops`, engine.KindServer, "", "oops"},
		{504, ``, engine.KindServer, "", ""},
		{418, `{"error":{}}`, engine.KindBadRequest, "", ""},
		{400, `{"error":{"message":7}}`, engine.KindBadRequest, "", ""},
		{400, `null`, engine.KindBadRequest, "", ""},
		{400, `"sorry"`, engine.KindBadRequest, "", "sorry"},
	} {
		f := classify("compat", row.status, http.Header{}, []byte(row.body), time.Time{})
		if f.kind != row.kind || f.code != row.code || !strings.Contains(f.says, row.says) {
			t.Errorf("%d %s\n is %s %q %q, want %s %q %q", row.status, row.body, f.kind, f.code, f.says, row.kind, row.code, row.says)
		}
		if f.what == "" {
			t.Errorf("%d %s is not put into words", row.status, row.body)
		}
	}
}

// refused is a body by which a provider refuses a request, and its kind of failure.
type refused struct {
	Provider  string         `json:"provider"`
	Status    int            `json:"status"`
	Kind      engine.ErrKind `json:"kind"`
	Exception string         `json:"exception"` // Amazon's, in a header
	Body      string         `json:"body"`
}

// Each body has its kind, and each row of the tables decides for some body of a server that uses the row.
func TestRefusals(t *testing.T) {
	data, err := os.ReadFile("../../testdata/refusals.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	decided := map[*refusal]bool{}
	for line := range strings.Lines(string(data)) {
		var r refused
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		header := http.Header{}
		if r.Exception != "" {
			header.Set("X-Amzn-Errortype", r.Exception)
		}
		if f := classify(r.Provider, r.Status, header, []byte(r.Body), time.Time{}); f.kind != r.Kind || f.what == "" {
			t.Errorf("%s %d %s: %s %q, want %s", r.Provider, r.Status, r.Body, f.kind, f.what, r.Kind)
		}
		e := parseErrorBody([]byte(r.Body))
		e.kinds = append(e.kinds, r.Exception)
		decided[refusalOf(r.Provider, &e, r.Status)] = true
	}
	for i := range speakers {
		for j := range speakers[i].rows {
			if row := &speakers[i].rows[j]; !decided[row] {
				t.Errorf("%s: no body for %+v", speakers[i].names[0], *row)
			}
		}
	}
}

// A numeric code only has a meaning for its own provider: for another one with a table it has none.
func TestNumbersOfProviders(t *testing.T) {
	body := []byte(`{"error":{"code":"1113","message":"m"}}`)
	for provider, want := range map[string]engine.ErrKind{
		"zai": engine.KindQuota, "compat": engine.KindQuota, "openrouter": engine.KindQuota, "unheard-of": engine.KindQuota,
		"openai": engine.KindRateLimit, "mistral": engine.KindRateLimit,
	} {
		if f := classify(provider, 429, http.Header{}, body, time.Time{}); f.kind != want {
			t.Errorf("%s: %s, want %s", provider, f.kind, want)
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
			if f := classify("openai", status, http.Header{"X-Should-Retry": {value}}, nil, time.Time{}); f.retryable != want {
				t.Errorf("%d with %s: %v", status, value, f.retryable)
			}
		}
	}
}

// Amazon names the error in a header, and the body only contains the message.
func TestErrorTypeInHeader(t *testing.T) {
	f := classify("bedrock", 429, http.Header{"X-Amzn-Errortype": {"ThrottlingException:http://internal/"}, "X-Amzn-Requestid": {"r1"}}, []byte(`{"message":"Too many requests"}`), time.Time{})
	if f.kind != engine.KindRateLimit || f.code != "ThrottlingException" || f.requestID != "r1" || f.says != "Too many requests" {
		t.Errorf("%+v", f)
	}
}

// An event named error ends the stream, whatever its data.
func TestErrorEvents(t *testing.T) {
	for body, kind := range map[string]engine.ErrKind{
		"event: error\ndata: Too many\n\n":                                                                                engine.KindServer,
		"event: error\ndata: {\"message\":\"m\",\"code\":429}\n\n":                                                        engine.KindRateLimit,
		"event: error\ndata: {\"error\":{\"message\":\"m\",\"status_code\":400}}\n\n":                                     engine.KindBadRequest,
		"data: {\"x_groq\":{\"error\":\"m\"},\"choices\":[{\"delta\":{}}]}\n\n":                                           engine.KindServer,
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\",\"error\":{\"code\":502,\"message\":\"m\"}}]}\n\n": engine.KindServer,
	} {
		_, err := planFor("openai").Decode(200, http.Header{}, strings.NewReader("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"+body))
		if err == nil || err.Kind != kind || err.Raw != "a" || !strings.Contains(err.Message, "m") {
			t.Errorf("%s: %v, want %s", body, err, kind)
		}
	}
}

// A used-up limit contains its reset time, in each provider's form; other limits do not matter.
func TestRetryAfterOfLimits(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		headers string // name value, separated by semicolons
		want    time.Duration
	}{
		{"x-ratelimit-remaining-requests 0; x-ratelimit-reset-requests 1m2s", 62 * time.Second},
		{"x-ratelimit-remaining-tokens 0; x-ratelimit-reset-tokens 6ms; x-ratelimit-remaining-requests 3; x-ratelimit-reset-requests 9h", 6 * time.Millisecond},
		{"x-ratelimit-remaining-tokens 0; x-ratelimit-reset-tokens 6ms; x-ratelimit-remaining-requests 0; x-ratelimit-reset-requests 9s", 9 * time.Second},
		{"anthropic-ratelimit-input-tokens-remaining 0; anthropic-ratelimit-input-tokens-reset 2026-01-01T12:00:05Z", 5 * time.Second},
		{"anthropic-ratelimit-requests-remaining 0; anthropic-ratelimit-requests-reset 2026-01-01T11:00:00Z", 0},
		{"x-ratelimit-remaining-requests 0; x-ratelimit-reset-requests 12", 12 * time.Second},
		{"x-ratelimit-remaining-requests 0; x-ratelimit-reset-requests soon", 0},
		{"x-ratelimit-remaining-requests 0; x-ratelimit-reset-requests 9s; retry-after 1", time.Second},
		{"x-ratelimit-reset-requests 9s", 0},
	} {
		h := http.Header{}
		for pair := range strings.SplitSeq(row.headers, "; ") {
			name, value, _ := strings.Cut(pair, " ")
			h.Set(name, value)
		}
		if got := retryAfter(h, errorBody{}, now); got != row.want {
			t.Errorf("%s: %s, want %s", row.headers, got, row.want)
		}
	}
}
