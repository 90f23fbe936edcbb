package llm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/tmc/langchaingo/llms"
)

// All names of the provider lead to the same endpoint, with the key only in its header.
func TestGoogleNamesAndAddresses(t *testing.T) {
	for _, row := range []struct{ model, base, path string }{
		{"google/gemini-2.5-flash", "", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"googleai/gemini-2.5-flash", "/", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"gemini/models/gemini-2.5-flash", "/v1beta/", "/v1beta/models/gemini-2.5-flash:generateContent"},
		{"gemini/tunedModels/mine", "/v1", "/v1/tunedModels/mine:generateContent"},
		{"gemini/a b", "/proxy/gemini", "/proxy/gemini/v1beta/models/a b:generateContent"},
	} {
		for _, variable := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"} {
			for _, stream := range []bool{false, true} {
				s := server(t, llmtest.Reply{Text: "yes"})
				r := llm.New(env(variable, "gemini-key-1", "GOOGLE_GEMINI_BASE_URL", s.URL+row.base, "OPENAI_API_KEY", "canary-openai"))
				e := effect(row.model, prompt("x"))
				e.Stream = stream
				need(t, r.Do(t.Context(), e, func(engine.Token) {}))
				r.Close()
				got := s.Requests()[0]
				want := row.path
				if stream {
					want = strings.Replace(want, ":generate", ":streamGenerate", 1)
				}
				if got.Path != want || got.Header.Get("X-Goog-Api-Key") != "gemini-key-1" || got.Header.Get("Authorization") != "" {
					t.Errorf("%s went to %s with %v, want %s", row.model, got.Path, got.Header, want)
				}
			}
		}
	}
}

// A provider that the host adds under an alias of a built-in one is used.
func TestHostTakesAnAlias(t *testing.T) {
	r := llm.New(env(), llm.WithProvider("gemini", func(string) (llms.Model, llm.Caps, error) {
		return &foreign{answer: choices(&llms.ContentChoice{Content: "mine"})}, llm.Caps{}, nil
	}))
	if got := need(t, ask(r, "gemini/x", prompt("x"))).Text(); got != "mine" {
		t.Errorf("%q", got)
	}
	if err := r.Check("googleai/x"); err == nil || !strings.Contains(err.Message, "GEMINI_API_KEY") {
		t.Errorf("%v", err)
	}
}

func TestWithBaseURLOfAnAlias(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "yes"})
	r := llm.New(env("GEMINI_API_KEY", "gemini-key-1"), llm.WithBaseURL("gemini", s.URL))
	defer r.Close()
	need(t, ask(r, "google/gemini-2.5-flash", prompt("x")))
}

// State in a turn is sent back at its original parts, and only to Google.
func TestGeminiStateRoundTrip(t *testing.T) {
	s := server(t, llmtest.Reply{Body: `{"candidates":[{"content":{"role":"model","parts":[
		{"text":"hm","thought":true},{"executableCode":{"language":"PYTHON","code":"1"}},{"text":"a","thoughtSignature":"AA=="},
		{"functionCall":{"name":"now","args":{"x": 1}},"thoughtSignature":"BB=="},{"functionCall":{"id":"c2","name":"now","args":{}}}]},"finishReason":"STOP"}]}`}, llmtest.Reply{Text: "done", Repeat: true})
	r := port(t, s)
	req := prompt("x")
	req.Tools = tools()[1:]
	first := need(t, ask(r, "google/gemini-3-pro-preview", req))
	calls := first.Calls()
	if first.Text() != "a" || len(calls) != 2 || calls[0].ID == "" || calls[1].ID != "c2" {
		t.Fatalf("%+v", first)
	}
	next := req.Extend(model.Message{Role: model.RoleAssistant, Parts: first.Parts}, model.Message{Role: model.RoleTool, Parts: []model.Part{
		resultPart(calls[0].ID, "now", "noon"), resultPart("c2", "now", `["later"]`),
	}})
	need(t, ask(r, "google/gemini-3-pro-preview", next))
	need(t, ask(r, "openai/gpt-5", next))
	var sent struct {
		Contents []struct {
			Role  string
			Parts []json.RawMessage
		}
	}
	if err := json.Unmarshal(s.Requests()[1].Body, &sent); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range sent.Contents[1:] {
		for _, p := range c.Parts {
			lines = append(lines, c.Role+" "+string(p))
		}
	}
	id := calls[0].ID
	want := []string{
		`model {"executableCode":{"language":"PYTHON","code":"1"}}`,
		`model {"text":"a","thoughtSignature":"AA=="}`,
		`model {"functionCall":{"id":"` + id + `","name":"now","args":{"x":1}},"thoughtSignature":"BB=="}`,
		`model {"functionCall":{"id":"c2","name":"now","args":{}}}`,
		`user {"functionResponse":{"id":"` + id + `","name":"now","response":{"output":"noon"}}}`,
		`user {"functionResponse":{"id":"c2","name":"now","response":{"output":["later"]}}}`,
	}
	if got := strings.Join(lines, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("sent\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	for _, other := range []string{"AA==", "BB==", "executableCode", "hm"} {
		if strings.Contains(string(s.Requests()[2].Body), other) {
			t.Errorf("another provider was sent %s:\n%s", other, s.Requests()[2].Body)
		}
	}
}

// Thinking is requested in the terms of the model's generation.
func TestGeminiThinking(t *testing.T) {
	for _, row := range []struct {
		model  string
		params model.Params
		want   string
	}{
		{"gemini-2.5-flash", model.Params{Effort: "none"}, `{"thinkingBudget":0}`},
		{"gemini-2.5-pro", model.Params{Effort: "none"}, `{"thinkingBudget":128}`},
		{"gemini-2.5-pro", model.Params{Effort: "max"}, `{"includeThoughts":true,"thinkingBudget":32768}`},
		{"gemini-2.5-flash", model.Params{Effort: "high"}, `{"includeThoughts":true,"thinkingBudget":24576}`},
		{"gemini-2.5-flash", model.Params{Effort: "whatever"}, `{"includeThoughts":true,"thinkingBudget":-1}`},
		{"gemini-3-pro-preview", model.Params{Effort: "none"}, `{"thinkingLevel":"MINIMAL"}`},
		{"gemini-flash-latest", model.Params{Effort: "medium"}, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		{"gemini-3.1-pro", model.Params{Effort: "xhigh"}, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		{"gemini-3.1-pro", model.Params{ReasoningTokens: ptr(500), Effort: "high"}, `{"includeThoughts":true,"thinkingBudget":500}`},
		{"gemini-3-pro", model.Params{}, `null`},
	} {
		s := server(t, llmtest.Reply{Text: "x"})
		req := prompt("x")
		req.Params = row.params
		need(t, ask(port(t, s), "google/"+row.model, req))
		var sent struct {
			Config struct {
				Thinking json.RawMessage `json:"thinkingConfig"`
			} `json:"generationConfig"`
		}
		if err := json.Unmarshal(s.Requests()[0].Body, &sent); err != nil {
			t.Fatal(err)
		}
		if got := string(sent.Config.Thinking); got != row.want && !(got == "" && row.want == "null") {
			t.Errorf("%s %+v: %s, want %s", row.model, row.params, got, row.want)
		}
	}
}

// The model determines how an answer is held to its type: by schema, JSON mode, or the prompt.
func TestGeminiHolds(t *testing.T) {
	for _, row := range []struct {
		model        string
		tools        bool
		typ          *generable.Type
		schema, json bool
	}{
		{"gemini-2.5-flash", false, verdict(), true, true},
		{"gemini-2.5-flash", true, verdict(), false, false},
		{"gemini-3-flash-preview", true, verdict(), true, true},
		{"gemma-3-27b-it", false, verdict(), false, false},
		{"gemini-2.5-flash-preview-tts", false, verdict(), false, false},
	} {
		s := server(t, llmtest.Reply{Text: `{"ok":true,"score":1}`, Repeat: true})
		req := prompt("x")
		req.Output = &model.Output{Type: row.typ}
		if row.tools {
			req.Tools = tools()
		}
		need(t, ask(port(t, s), "google/"+row.model, req))
		body := string(s.Requests()[0].Body)
		if strings.Contains(body, "responseJsonSchema") != row.schema || strings.Contains(body, "responseMimeType") != row.json {
			t.Errorf("%s with tools %v: %s", row.model, row.tools, body)
		}
		req.Output = &model.Output{Type: row.typ, Structured: model.StructuredConstrained}
		if out := ask(port(t, s), "gemini/"+row.model, req); (out.Err == nil) != row.schema || out.Err != nil && out.Err.Kind != engine.KindUnsupported {
			t.Errorf("%s with tools %v, constrained: %v", row.model, row.tools, out.Err)
		}
	}
}

// Extra members are merged into the existing objects.
func TestGeminiExtra(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "x"})
	req := prompt("x")
	req.Params = model.Params{Temperature: ptr(0.0), Extra: json.RawMessage(`{"generationConfig":{"topK":5,"responseModalities":["TEXT"]},"safetySettings":[{"category":"C","threshold":"OFF"}],"cachedContent":"cachedContents/x"}`)}
	need(t, ask(port(t, s), "google/gemini-2.5-flash", req))
	body := string(s.Requests()[0].Body)
	hasAll(t, "request", body, `"generationConfig":{"temperature":0,"topK":5,"responseModalities":["TEXT"]}`, `"safetySettings":[{"category":"C","threshold":"OFF"}]`, `"cachedContent":"cachedContents/x"`)
}

func TestGeminiFailures(t *testing.T) {
	for name, row := range map[string]struct {
		reply llmtest.Reply
		kind  engine.ErrKind
		says  []string
	}{
		"key":         {llmtest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`}, engine.KindAuth, []string{"API_KEY_INVALID", "API key not valid"}},
		"limit":       {llmtest.Reply{Status: 429, Body: `[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 7.5s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7s"}]}}]`}, engine.KindRateLimit, []string{"RESOURCE_EXHAUSTED"}},
		"permission":  {llmtest.Reply{Status: 403, Body: `{"error":{"code":403,"message":"Your project has been denied access.","status":"PERMISSION_DENIED"}}`}, engine.KindAuth, []string{"denied"}},
		"blocked":     {llmtest.Reply{Body: `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`}, engine.KindRefused, []string{"PROHIBITED_CONTENT"}},
		"safety":      {llmtest.Reply{Finish: "SAFETY"}, engine.KindRefused, []string{"SAFETY"}},
		"broken call": {llmtest.Reply{Finish: "MALFORMED_FUNCTION_CALL"}, engine.KindBadResponse, []string{"could not read"}},
		"empty":       {llmtest.Reply{}, engine.KindBadResponse, []string{"empty"}},
		"no tokens":   {llmtest.Reply{Reasoning: "hm", Finish: "MAX_TOKENS"}, engine.KindTruncated, []string{"before the answer began"}},
		"garbage":     {llmtest.Reply{Fault: llmtest.Garbage}, engine.KindBadResponse, nil},
		"no answer":   {llmtest.Reply{Fault: llmtest.NoChoices}, engine.KindBadResponse, nil},
		"cut":         {llmtest.Reply{Text: "one two three", Fault: llmtest.Cut}, engine.KindTruncated, nil},
		"html":        {llmtest.Reply{Status: 404, Body: "<html>Not Found</html>", Type: "text/html"}, engine.KindNotFound, []string{"no such address"}},
	} {
		for _, stream := range []bool{false, true} {
			if name == "no answer" && stream {
				continue // a stream that ends without an answer was cut off
			}
			s := server(t, row.reply)
			e := effect("google/gemini-2.5-flash", prompt("x"))
			e.Stream = stream
			err := needErr(t, port(t, s).Do(t.Context(), e, func(engine.Token) {}))
			if err.Kind != row.kind || err.Model == nil || err.Model.Name != "google" {
				t.Errorf("%s: %v, want %s", name, err, row.kind)
			}
			hasAll(t, name, err.Message, row.says...)
			if name == "limit" && err.Model.RetryAfter.Seconds() != 7 {
				t.Errorf("waits %s", err.Model.RetryAfter)
			}
		}
	}
	s := server(t, llmtest.Reply{Text: "one two three", Fault: llmtest.NoEnd})
	e := effect("google/gemini-2.5-flash", prompt("x"))
	e.Stream = true
	if err := needErr(t, port(t, s).Do(t.Context(), e, func(engine.Token) {})); err.Kind != engine.KindTruncated || err.Raw != "one two three" {
		t.Errorf("%v %q", err, err.Raw)
	}
}

// The client below langchaingo's interface makes no call of its own.
func TestGeminiKeyIsNotInTheAddress(t *testing.T) {
	var seen string
	r := llm.New(once, env("GEMINI_API_KEY", "gemini-key-1"), llm.WithTransport(roundTripper(func(req *http.Request) (*http.Response, error) {
		seen = req.URL.String()
		return nil, http.ErrServerClosed
	})))
	defer r.Close()
	needErr(t, ask(r, "google/gemini-2.5-flash", prompt("x")))
	if seen != "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent" {
		t.Errorf("asked %s", seen)
	}
}

// An empty text is refused, so none is sent; a user's turn is always sent.
func TestGeminiBlank(t *testing.T) {
	blank := model.TextMessage(model.RoleUser, "")
	said := model.TextMessage(model.RoleAssistant, "a")
	for _, row := range []struct {
		messages []model.Message
		want     string
	}{
		{nil, `[{"role":"user","parts":[{"text":"(no input)"}]}]`},
		{[]model.Message{blank}, `[{"role":"user","parts":[{"text":"(no input)"}]}]`},
		{[]model.Message{blank, said, blank}, `[{"role":"model","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"(no input)"}]}]`},
	} {
		s := server(t, llmtest.Reply{Text: "x"})
		need(t, ask(port(t, s), "google/gemini-2.5-flash", &model.Request{Messages: row.messages}))
		hasAll(t, "request", string(s.Requests()[0].Body), `"contents":`+row.want)
	}
}
