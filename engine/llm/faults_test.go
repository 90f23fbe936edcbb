package llm_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// fault is one way in which a provider fails, and what the caller should see.
type fault struct {
	name   string
	reply  llmtest.Reply
	model  string // default openai/gpt-5
	stream bool
	kind   engine.ErrKind
	code   diag.Code
	retry  bool
	wait   time.Duration
	says   []string // in the message
	help   string   // in the remedy
}

func openAIError(status int, code, message string) llmtest.Reply {
	return llmtest.Reply{Status: status, Body: `{"error":{"message":"` + message + `","type":"invalid_request_error","param":null,"code":"` + code + `"}}`, Header: map[string]string{"X-Request-Id": "req_7"}}
}

func faults() []fault {
	limited := openAIError(429, "rate_limit_exceeded", "Rate limit reached for gpt-5")
	limited.Header["Retry-After"] = "2"
	limitedMS := openAIError(429, "rate_limit_exceeded", "Rate limit reached for gpt-5")
	limitedMS.Header["Retry-After-Ms"] = "50"
	limitedMS.Header["Retry-After"] = "1"
	half := func(f llmtest.Fault) llmtest.Reply {
		return llmtest.Reply{Text: "one two three four five six seven", Fault: f}
	}
	return []fault{
		{name: "401", reply: openAIError(401, "invalid_api_key", "Incorrect API key provided"), kind: engine.KindAuth, code: diag.AuthRefused, says: []string{"status 401", "invalid_api_key", "Incorrect API key"}, help: "OPENAI_API_KEY"},
		{name: "403", reply: openAIError(403, "", "Country not supported"), kind: engine.KindAuth, code: diag.AuthRefused, says: []string{"status 403", "Country not supported"}},
		{name: "402", reply: openAIError(402, "", "Insufficient credits"), kind: engine.KindQuota, code: diag.RateLimited, help: "billing"},
		{name: "404 model", reply: openAIError(404, "model_not_found", "The model does not exist"), kind: engine.KindNotFound, code: diag.ProviderError, says: []string{"status 404", "knows no such model"}, help: "check the model's id"},
		{name: "404 ollama", model: "ollama/qwen3:8b", reply: llmtest.Reply{Status: 404, Body: `{"error":"model 'qwen3:8b' not found"}`}, kind: engine.KindNotFound, code: diag.ProviderError, says: []string{"model 'qwen3:8b' not found"}, help: "ollama pull qwen3:8b"},
		{name: "404 address", reply: llmtest.Reply{Status: 404, Body: "<html><body>Not Found</body></html>", Type: "text/html"}, kind: engine.KindNotFound, code: diag.ProviderError, says: []string{"no such address"}, help: "/v1"},
		{name: "408", reply: openAIError(408, "", "Request timed out"), kind: engine.KindTimeout, code: diag.Timeout, retry: true},
		{name: "409", reply: openAIError(409, "", "Conflict"), kind: engine.KindServer, code: diag.ProviderError, retry: true, says: []string{"conflict"}},
		{name: "413", reply: llmtest.Reply{Status: 413, Body: "Request Entity Too Large"}, kind: engine.KindContextLength, code: diag.ContextLength, help: "send less input"},
		{name: "context length", reply: openAIError(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens. However, your messages resulted in 14290 tokens."), kind: engine.KindContextLength, code: diag.ContextLength, says: []string{"14290 tokens"}},
		{name: "context length ollama", model: "ollama/m", reply: llmtest.Reply{Status: 400, Body: `{"error":"prompt too long; exceeded max context length by 10 tokens"}`}, kind: engine.KindContextLength, code: diag.ContextLength, help: "OLLAMA_CONTEXT_LENGTH"},
		{name: "unsupported", reply: llmtest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`}, kind: engine.KindUnsupported, code: diag.ProviderError, help: "leave out temperature"},
		{name: "no schema", model: "compat/m", reply: llmtest.Reply{Status: 400, Body: `{"error":{"message":"This response_format type is unavailable now","type":"invalid_request_error","param":"response_format"}}`}, kind: engine.KindUnsupported, code: diag.ProviderError, help: `structured = "guided"`},
		{name: "422", model: "mistral/m", reply: llmtest.Reply{Status: 422, Body: `{"detail":[{"type":"extra_forbidden","loc":["body","foo"],"msg":"Extra inputs are not permitted"}]}`}, kind: engine.KindUnsupported, code: diag.ProviderError, says: []string{"body.foo: Extra inputs"}, help: "leave out foo"},
		{name: "422 nested", model: "mistral/m", reply: llmtest.Reply{Status: 422, Body: `{"object":"error","message":{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required"}]},"type":"invalid_request_error"}`}, kind: engine.KindBadRequest, code: diag.ProviderError, says: []string{"body.messages.0: Field required"}},
		{name: "mistral key", model: "mistral/m", reply: llmtest.Reply{Status: 401, Body: `{"detail":"Invalid API Key"}`}, kind: engine.KindAuth, code: diag.AuthRefused, says: []string{"Invalid API Key"}, help: "MISTRAL_API_KEY"},
		{name: "429", reply: openAIError(429, "rate_limit_exceeded", "Rate limit reached for gpt-5"), kind: engine.KindRateLimit, code: diag.RateLimited, retry: true, help: "limit="},
		{name: "429 retry-after", reply: limited, kind: engine.KindRateLimit, code: diag.RateLimited, retry: true, wait: 2 * time.Second, help: "wait 2s"},
		{name: "429 retry-after-ms", reply: limitedMS, kind: engine.KindRateLimit, code: diag.RateLimited, retry: true, wait: 50 * time.Millisecond},
		{name: "429 in words", reply: openAIError(429, "rate_limit_exceeded", "Please try again in 1.5s. Visit the site."), kind: engine.KindRateLimit, code: diag.RateLimited, retry: true, wait: 1500 * time.Millisecond},
		{name: "quota", reply: openAIError(429, "insufficient_quota", "You exceeded your current quota"), kind: engine.KindQuota, code: diag.RateLimited, help: "billing"},
		{name: "500", reply: openAIError(500, "", "The server had an error"), kind: engine.KindServer, code: diag.ProviderError, retry: true},
		{name: "502 html", reply: llmtest.Reply{Status: 502, Body: "<html><head><title>502 Bad Gateway</title></head></html>", Type: "text/html"}, kind: engine.KindServer, code: diag.ProviderError, retry: true, says: []string{"502 Bad Gateway"}},
		{name: "503 empty", reply: llmtest.Reply{Status: 503}, kind: engine.KindOverloaded, code: diag.ProviderError, retry: true},
		{name: "503 ollama", model: "ollama/m", reply: llmtest.Reply{Status: 503, Body: `{"error":"server busy, please try again. maximum pending requests exceeded"}`}, kind: engine.KindOverloaded, code: diag.ProviderError, retry: true, says: []string{"server busy"}},
		{name: "529", reply: openAIError(529, "", "Overloaded"), kind: engine.KindOverloaded, code: diag.ProviderError, retry: true},
		{name: "redirect", reply: llmtest.Reply{Status: 307, Header: map[string]string{"Location": "http://elsewhere.invalid/"}}, kind: engine.KindBadResponse, code: diag.ProviderError, says: []string{"redirects"}},
		{name: "reset", reply: llmtest.Reply{Fault: llmtest.Reset}, kind: engine.KindNetwork, code: diag.ProviderError, retry: true, says: []string{"closed the connection before it answered"}},
		{name: "stall before headers", reply: llmtest.Reply{Fault: llmtest.StallHeaders}, kind: engine.KindTimeout, code: diag.Timeout, retry: true, says: []string{"no answer began within 200ms"}},
		{name: "stall mid-stream", reply: half(llmtest.StallStream), stream: true, kind: engine.KindTimeout, code: diag.Timeout, retry: true, says: []string{"stopped midway", "200ms"}, help: "between the pieces"},
		{name: "stall mid-stream ollama", model: "ollama/m", reply: half(llmtest.StallStream), stream: true, kind: engine.KindTimeout, code: diag.Timeout, retry: true},
		{name: "stall mid-answer", reply: half(llmtest.StallStream), kind: engine.KindTimeout, code: diag.Timeout, retry: true},
		{name: "cut mid-token", reply: half(llmtest.Cut), stream: true, kind: engine.KindTruncated, code: diag.ProviderError, retry: true, says: []string{"before the answer"}},
		{name: "cut mid-token ollama", model: "ollama/m", reply: half(llmtest.Cut), stream: true, kind: engine.KindTruncated, code: diag.ProviderError, retry: true},
		{name: "cut plain", reply: half(llmtest.Cut), kind: engine.KindTruncated, code: diag.ProviderError, retry: true},
		{name: "ends midway", reply: half(llmtest.End), stream: true, kind: engine.KindTruncated, code: diag.ProviderError, retry: true},
		{name: "ends midway plain", reply: half(llmtest.End), kind: engine.KindTruncated, code: diag.ProviderError, retry: true},
		{name: "ends midway ollama", model: "ollama/m", reply: half(llmtest.End), stream: true, kind: engine.KindTruncated, code: diag.ProviderError, retry: true},
		{name: "no end marker", reply: half(llmtest.NoEnd), stream: true, kind: engine.KindTruncated, code: diag.ProviderError, retry: true, says: []string{"the connection ended before the answer did"}},
		{name: "no end marker ollama", model: "ollama/m", reply: half(llmtest.NoEnd), stream: true, kind: engine.KindTruncated, code: diag.ProviderError, retry: true},
		{name: "garbage", reply: llmtest.Reply{Fault: llmtest.Garbage}, kind: engine.KindBadResponse, code: diag.ProviderError, says: []string{"not valid JSON"}},
		{name: "garbage stream", reply: llmtest.Reply{Fault: llmtest.Garbage}, stream: true, kind: engine.KindBadResponse, code: diag.ProviderError, says: []string{"not valid JSON"}},
		{name: "garbage ollama", model: "ollama/m", reply: llmtest.Reply{Fault: llmtest.Garbage}, stream: true, kind: engine.KindBadResponse, code: diag.ProviderError},
		{name: "html with 200", reply: llmtest.Reply{Body: "<html>Sign in to the Wi-Fi</html>", Type: "text/html"}, kind: engine.KindBadResponse, code: diag.ProviderError, says: []string{"content type is text/html"}, help: "right server"},
		{name: "text with 200", reply: llmtest.Reply{Body: "hello", Type: "text/plain"}, kind: engine.KindBadResponse, code: diag.ProviderError, says: []string{"text/plain"}},
		{name: "nothing with 200", reply: llmtest.Reply{Body: " \n"}, kind: engine.KindBadResponse, code: diag.ProviderError, retry: true, says: []string{"no content at all"}},
		{name: "wrong shape", reply: llmtest.Reply{Body: `{"choices":"none"}`}, kind: engine.KindBadResponse, code: diag.ProviderError, says: []string{"chat completion: choices is a JSON string"}},
		{name: "empty choices", reply: llmtest.Reply{Fault: llmtest.NoChoices}, kind: engine.KindBadResponse, code: diag.ProviderError, says: []string{"no choice"}},
		{name: "empty choices streamed", reply: llmtest.Reply{Fault: llmtest.NoChoices}, stream: true, kind: engine.KindBadResponse, code: diag.ProviderError, retry: true, says: []string{"empty"}},
		{name: "empty answer", reply: llmtest.Reply{In: 3, Out: 0}, kind: engine.KindBadResponse, code: diag.ProviderError, retry: true, says: []string{"empty"}},
		{name: "empty answer ollama", model: "ollama/m", reply: llmtest.Reply{}, stream: true, kind: engine.KindBadResponse, code: diag.ProviderError, retry: true},
		{name: "error with 200", model: "openrouter/x/y", reply: llmtest.Reply{Body: "\n\n" + `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"upstream is busy"}}}`}, kind: engine.KindRateLimit, code: diag.RateLimited, retry: true, says: []string{"upstream is busy"}},
		{name: "error in stream", model: "openrouter/x/y", stream: true, reply: llmtest.Reply{Body: ": PROCESSING\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"par\"}}]}\n\ndata: {\"error\":{\"code\":502,\"message\":\"upstream died\"},\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n", Type: "text/event-stream"}, kind: engine.KindServer, code: diag.ProviderError, retry: true, says: []string{"upstream died"}},
		{name: "error field in stream", model: "compat/m", stream: true, reply: llmtest.Reply{Body: "error: {\"code\":400,\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\"}\n\n", Type: "text/event-stream"}, kind: engine.KindContextLength, code: diag.ContextLength},
		{name: "error in stream ollama", model: "ollama/m", stream: true, reply: llmtest.Reply{Body: `{"message":{"content":"par"},"done":false}` + "\n" + `{"error":"model runner has unexpectedly stopped"}` + "\n"}, kind: engine.KindServer, code: diag.ProviderError, retry: true, says: []string{"unexpectedly stopped"}},
		{name: "refusal", reply: llmtest.Reply{Refusal: "I can't help with that."}, kind: engine.KindRefused, code: diag.ProviderError, says: []string{"refuses", "I can't help"}},
		{name: "refusal streamed", reply: llmtest.Reply{Refusal: "I can't help with that."}, stream: true, kind: engine.KindRefused, code: diag.ProviderError, says: []string{"I can't help"}},
		{name: "content filter", reply: llmtest.Reply{Text: "par", Finish: "content_filter"}, kind: engine.KindRefused, code: diag.ProviderError, says: []string{"content filter"}},
		{name: "content filter on the prompt", reply: openAIError(400, "content_filter", "The prompt was filtered"), kind: engine.KindRefused, code: diag.ProviderError},
		{name: "arguments cut off", reply: llmtest.Reply{Finish: "length", Calls: []llmtest.Call{{ID: "a", Name: "compile", Args: `{"path": "a.`}}}, kind: engine.KindTruncated, code: diag.ProviderError, says: []string{"arguments of a call of compile"}, help: "max_tokens"},
		{name: "thought too long", reply: llmtest.Reply{Reasoning: "hm hm", Finish: "length"}, stream: true, kind: engine.KindTruncated, code: diag.ProviderError, help: "max_tokens"},
		{name: "nameless call", reply: llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Args: "{}"}}}, kind: engine.KindBadResponse, code: diag.ProviderError, retry: true, says: []string{"without naming it"}},
		{name: "a call that is missing", reply: llmtest.Reply{Text: "I look it up.", Finish: "tool_calls"}, kind: engine.KindBadResponse, code: diag.ProviderError, retry: true, says: []string{"holds no call"}},
		{name: "control characters", reply: llmtest.Reply{Status: 400, Body: "{\"error\":\"red \\u001b[31malert\\nnext\"}"}, kind: engine.KindBadRequest, code: diag.ProviderError, says: []string{"red [31malert next"}},
	}
}

// stalls makes a call wait briefly for what a faulty reply never sends, and long for everything else.
func stalls(f llmtest.Fault) llm.Option {
	limits := llm.Timeouts{Connect: 20 * time.Second, FirstByte: 20 * time.Second, Idle: 20 * time.Second}
	switch f {
	case llmtest.StallHeaders:
		limits.FirstByte = 200 * time.Millisecond
	case llmtest.StallStream:
		limits.Idle = 200 * time.Millisecond
	}
	return llm.WithTimeouts(limits)
}

func TestFaults(t *testing.T) {
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := server(t, f.reply)
			r := port(t, s, stalls(f.reply.Fault))
			model := f.model
			if model == "" {
				model = "openai/gpt-5"
			}
			e := effect(model, prompt("hello"))
			e.Stream = f.stream
			err := needErr(t, r.Do(t.Context(), e, func(engine.Token) {}))
			if err.Kind != f.kind || err.Code != f.code {
				t.Errorf("kind %s code %s, want %s %s: %v", err.Kind, err.Code, f.kind, f.code, err)
			}
			provider, id, _ := strings.Cut(model, "/")
			if m := err.Model; m == nil || m.Name != provider || m.Model != id || m.Retryable != f.retry || m.RetryAfter != f.wait {
				t.Errorf("provider %+v, want retryable %v after %s", m, f.retry, f.wait)
			}
			hasAll(t, "message", err.Message, append(f.says, model)...)
			if err.Help == "" || !strings.Contains(err.Help, f.help) {
				t.Errorf("help %q lacks %q", err.Help, f.help)
			}
			if strings.ContainsAny(err.Message+err.Help, "\x1b\n") {
				t.Errorf("control characters in %q", err.Message)
			}
			if !errors.Is(err, &engine.Error{Kind: f.kind}) {
				t.Error("errors.Is does not find the kind")
			}
			if f.reply.Header["X-Request-Id"] != "" && err.Model.RequestID != "req_7" {
				t.Errorf("request id %q", err.Model.RequestID)
			}
		})
	}
}

func TestPartialTextIsKept(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "one two three four five six", Fault: llmtest.NoEnd})
	out, text, _ := listen(t, port(t, s), "openai/gpt-5", prompt("x"))
	if err := needErr(t, out); err.Raw != text || text != "one two three four five six" {
		t.Errorf("raw %q, streamed %q", err.Raw, text)
	}
}

func TestUsageOfRefusedAnswerCounts(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "par", Finish: "content_filter", In: 11, Out: 2})
	out := ask(port(t, s), "openai/gpt-5", prompt("x"))
	if needErr(t, out); out.Usage.In != 11 || out.Usage.Out != 2 || out.Usage.Estimated {
		t.Errorf("usage %+v", out.Usage)
	}
}

func TestConnectionRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	l.Close()
	for model, help := range map[string]string{"ollama/qwen3": "ollama serve", "openai/gpt-5": "OPENAI_BASE_URL"} {
		r := llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("ollama", address), llm.WithBaseURL("openai", address+"/v1"))
		e := needErr(t, ask(r, model, prompt("x")))
		if e.Kind != engine.KindNetwork || !e.Model.Retryable {
			t.Errorf("%s: %s %v", model, e.Kind, e.Model)
		}
		hasAll(t, "message", e.Message, model, address, "connect")
		hasAll(t, "help", e.Help, help)
	}
}

func TestWrongSchemeAndCertificate(t *testing.T) {
	plain := server(t, llmtest.Reply{Text: "x"})
	r := llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("openai", strings.Replace(plain.OpenAI(), "http://", "https://", 1)))
	e := needErr(t, ask(r, "openai/gpt-5", prompt("x")))
	if e.Kind != engine.KindNetwork || e.Model.Retryable {
		t.Errorf("%s retryable %v: %v", e.Kind, e.Model.Retryable, e)
	}
	hasAll(t, "message", e.Message, "TLS")
	hasAll(t, "help", e.Help, "http://")

	s := llmtest.New()
	s.Close()
	tls := newTLSServer(t)
	r = llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("openai", tls.URL))
	e = needErr(t, ask(r, "openai/gpt-5", prompt("x")))
	if e.Kind != engine.KindNetwork || e.Model.Retryable {
		t.Errorf("%s retryable %v: %v", e.Kind, e.Model.Retryable, e)
	}
	hasAll(t, "message", e.Message, "certificate")
}

func TestUnknownHost(t *testing.T) {
	broken := roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "api.nowhere.invalid", IsNotFound: true, Err: "no such host"}}
	})
	r := llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithTransport(broken))
	e := needErr(t, ask(r, "openai/gpt-5", prompt("x")))
	if e.Kind != engine.KindNetwork || e.Model.Retryable {
		t.Errorf("%s retryable %v", e.Kind, e.Model.Retryable)
	}
	hasAll(t, "message", e.Message, `"api.nowhere.invalid"`)
}

func TestConnectTimeout(t *testing.T) {
	slow := roundTripper(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: timeoutError{}}
	})
	r := llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithTransport(slow))
	e := needErr(t, ask(r, "openai/gpt-5", prompt("x")))
	if e.Kind != engine.KindTimeout || e.Code != diag.Timeout || !e.Model.Retryable {
		t.Errorf("%s %s: %v", e.Kind, e.Code, e)
	}
	hasAll(t, "message", e.Message, "cannot connect to https://api.openai.com in time")
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func TestCancelled(t *testing.T) {
	for _, f := range []llmtest.Fault{llmtest.StallHeaders, llmtest.StallStream} {
		for _, model := range []string{"openai/gpt-5", "ollama/m"} {
			s := server(t, llmtest.Reply{Text: "one two three four", Fault: f})
			ctx, cancel := context.WithCancelCause(context.Background())
			why := errors.New("the user pressed ctrl-C")
			time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
			e := effect(model, prompt("x"))
			e.Stream = true
			err := needErr(t, port(t, s).Do(ctx, e, func(engine.Token) {}))
			if err.Kind != engine.KindCancelled || err.Code != diag.Cancelled || err.Model.Retryable {
				t.Errorf("%s %s: %v %+v", f, model, err, err.Model)
			}
			if !errors.Is(err, context.Canceled) || !errors.Is(err, why) || !errors.Is(err, engine.ErrCancelled) {
				t.Errorf("%s %s: errors.Is fails on %v", f, model, err)
			}
		}
	}
}

func TestDeadline(t *testing.T) {
	s := server(t, llmtest.Reply{Fault: llmtest.StallHeaders, Repeat: true})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := needErr(t, port(t, s).Do(ctx, effect("openai/gpt-5", prompt("x")), nil))
	if err.Kind != engine.KindTimeout || err.Model.Retryable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v %+v", err, err.Model)
	}
	total := llm.WithTimeouts(llm.Timeouts{Total: 50 * time.Millisecond})
	err = needErr(t, ask(port(t, s, total), "ollama/m", prompt("x")))
	if err.Kind != engine.KindTimeout || err.Model.Retryable || !errors.Is(err, engine.ErrTimeout) {
		t.Errorf("%v %+v", err, err.Model)
	}
	done, stop := context.WithCancel(context.Background())
	stop()
	unasked := server(t, llmtest.Reply{Text: "x"})
	err = needErr(t, port(t, unasked).Do(done, effect("openai/gpt-5", prompt("x")), nil))
	if err.Kind != engine.KindCancelled || len(unasked.Requests()) != 0 {
		t.Errorf("%v after %d requests", err, len(unasked.Requests()))
	}
}
