package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/generable"
)

// echoed is a key with all characters that JSON and URLs write differently.
const echoed = "sk-TOPSECRETkey+/=<&>1234567890abcdef"

// raw returns a registry whose compat provider is a server with the given handler.
func raw(t *testing.T, handler http.HandlerFunc) *llm.Registry {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	r := llm.New(once, env("AGENTSCRIPT_COMPAT_API_KEY", echoed, "AGENTSCRIPT_COMPAT_URL", s.URL+"/v1", "OLLAMA_API_KEY", echoed, "OLLAMA_BASE_URL", s.URL, "GEMINI_API_KEY", echoed, "GEMINI_BASE_URL", s.URL))
	t.Cleanup(r.Close)
	return r
}

// shown returns everything that a call reveals: its whole answer or error, and its tokens.
func shown(t *testing.T, out engine.Outcome, tokens ...string) string {
	t.Helper()
	var b strings.Builder
	if out.Err != nil {
		text, err := json.Marshal(out.Err)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(text)
		for e := error(out.Err); e != nil; e = errors.Unwrap(e) {
			fmt.Fprintf(&b, "\n%v %+v %q", e, e, e)
		}
	}
	if r := out.Response; r != nil {
		fmt.Fprintf(&b, "\n%+v", *r)
		for _, p := range r.Parts {
			b.WriteString("\n" + p.Text)
			if p.Call != nil {
				var args map[string]any
				_ = json.Unmarshal([]byte(p.Call.Args), &args) // broken ones are examined as they are
				fmt.Fprintf(&b, "\n%+v %v", *p.Call, args)
			}
		}
	}
	return b.String() + "\n" + strings.Join(tokens, "")
}

func keyless(t *testing.T, name, text string) {
	t.Helper()
	if i := strings.Index(text, "sk-TOPSEC"); i >= 0 {
		t.Errorf("%s shows the key: …%s", name, text[max(0, i-60):])
	}
	if !strings.Contains(text, "[redacted]") {
		t.Errorf("%s has no mark where the key was: %s", name, text)
	}
}

func quoteJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A server may echo its key in any member of an answer or a refusal.
func TestEchoedKeyIsRedacted(t *testing.T) {
	key, args := quoteJSON("Bearer "+echoed), quoteJSON(`{"key":`+quoteJSON(echoed)+`}`)
	slashed := quoteJSON(`{"key":"` + strings.ReplaceAll(echoed, "/", `\/`) + `"}`)
	long := quoteJSON(strings.Repeat("x", 580) + " " + echoed)
	for name, c := range map[string]struct {
		model, path string
		status      int
		header      bool
		body        string
	}{
		"the request id":     {status: 503, header: true, body: `{"error":{"message":"busy"}}`},
		"the message":        {status: 401, body: `{"error":{"message":` + key + `}}`},
		"the code":           {status: 400, body: `{"error":{"message":"no","code":` + key + `}}`},
		"the parameter":      {status: 400, body: `{"error":{"message":"no","param":` + key + `,"code":"unsupported_value"}}`},
		"a long message":     {status: 400, body: `{"error":{"message":` + long + `}}`},
		"a page":             {status: 502, body: "<html>" + strings.Repeat("x", 580) + " " + echoed + "</html>"},
		"an error with 200":  {status: 200, body: `{"error":{"message":` + long + `}}`},
		"the answer":         {status: 200, body: `{"choices":[{"message":{"content":` + key + `}}]}`},
		"its id":             {status: 200, body: `{"id":` + key + `,"choices":[{"message":{"content":"x"}}]}`},
		"its header":         {status: 200, header: true, body: `{"choices":[{"message":{"content":"x"}}]}`},
		"its model":          {status: 200, body: `{"model":` + key + `,"choices":[{"message":{"content":"x"}}]}`},
		"why it ended":       {status: 200, body: `{"choices":[{"finish_reason":` + key + `,"message":{"content":"x"}}]}`},
		"nothing but an end": {status: 200, body: `{"choices":[{"finish_reason":` + key + `,"message":{"content":""}}]}`},
		"a refusal":          {status: 200, body: `{"choices":[{"message":{"refusal":` + long + `}}]}`},
		"its thoughts":       {status: 200, body: `{"choices":[{"message":{"content":"x","reasoning_content":` + key + `}}]}`},
		"a call's id":        {status: 200, body: `{"choices":[{"message":{"tool_calls":[{"id":` + key + `,"function":{"name":"f","arguments":"{}"}}]}}]}`},
		"a call's name":      {status: 200, body: `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":` + key + `,"arguments":"{}"}}]}}]}`},
		"arguments":          {status: 200, body: `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":` + args + `}}]}}]}`},
		"escaped arguments":  {status: 200, body: `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":` + slashed + `}}]}}]}`},
		"ollama":             {model: "ollama/m", status: 200, body: `{"message":{"content":` + key + `,"thinking":` + key + `},"done":true,"done_reason":` + key + `}`},
		"ollama's arguments": {model: "ollama/m", status: 200, body: `{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"key":` + key + `}}}]},"done":true}`},
	} {
		r := raw(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if c.header {
				w.Header().Set("X-Request-Id", "Bearer "+echoed)
			}
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		})
		model := c.model
		if model == "" {
			model = "compat/m"
		}
		keyless(t, name, shown(t, ask(r, model, prompt("x"))))
	}
}

// A key that arrives in two pieces, cut anywhere, is found in the tokens as in the answer; text that only begins like a
// key arrives complete.
func TestEchoedKeyInAStream(t *testing.T) {
	for cut := range len(echoed) + 1 {
		for member, template := range map[string]string{"content": `{"content":%s}`, "reasoning": `{"reasoning_content":%s}`} {
			deltas := []string{"it is " + echoed[:cut], echoed[cut:] + " and sk-", "ating, s"}
			r := raw(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for _, d := range deltas {
					fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":"+template+"}]}\n\n", quoteJSON(d))
				}
				fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\".\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
			})
			out, text, thoughts := listen(t, r, "compat/m", prompt("x"))
			keyless(t, member, shown(t, out, text, thoughts))
			want := "it is [redacted] and sk-ating, s"
			if got := strings.TrimSuffix(text, ".") + thoughts; got != want {
				t.Errorf("%s cut at %d: the tokens are %q", member, cut, got)
			}
			if got := out.Response.Text(); got != text {
				t.Errorf("%s cut at %d: the answer is %q and its tokens %q", member, cut, got, text)
			}
		}
	}
}

// If a stream contains no key, its pieces arrive unchanged: nothing is held back.
func TestStreamIsNotHeldBack(t *testing.T) {
	deltas := []string{"one", " two", " three"}
	r := raw(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, d := range deltas {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", d)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
	})
	e, got := effect("compat/m", prompt("x")), []string(nil)
	e.Stream = true
	need(t, r.Do(t.Context(), e, func(tok engine.Token) { got = append(got, tok.Text) }))
	if strings.Join(got, "|") != strings.Join(deltas, "|") {
		t.Errorf("got %q", got)
	}
}

// leaky is a host's model that puts keys wherever it can.
type leaky struct {
	llms.Model
	answer func(context.Context, llms.CallOptions) (*llms.ContentResponse, error)
}

func (l leaky) GenerateContent(ctx context.Context, _ []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, opt := range opts {
		opt(&o)
	}
	return l.answer(ctx, o)
}

func TestHostModelCannotShowAKey(t *testing.T) {
	says := "failed with key " + echoed
	partial := generable.StrOf(echoed)
	for name, answer := range map[string]func(context.Context, llms.CallOptions) (*llms.ContentResponse, error){
		"an error": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) { return nil, errors.New(says) },
		"a wrapped error": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, fmt.Errorf("outer: %w", errors.New(says))
		},
		"a hidden cause": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, &quiet{errors.New(says)}
		},
		"a status": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, errors.New("status code: 401: " + strings.Repeat("x", 580) + " " + says)
		},
		"a coded error": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, llms.NewError(llms.ErrCodeAuthentication, "acme", says)
		},
		"an engine's error": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) {
			return nil, &engine.Error{Kind: engine.KindServer, Code: "AS710", Message: "no", Raw: says, Partial: partial, Cause: errors.New(says), Model: &engine.Provider{RequestID: says}}
		},
		"a panic":          func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) { panic(says) },
		"an error's panic": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) { panic(errors.New(says)) },
		"an answer": func(context.Context, llms.CallOptions) (*llms.ContentResponse, error) {
			return choices(&llms.ContentChoice{Content: says, StopReason: says, ToolCalls: []llms.ToolCall{{ID: says, FunctionCall: &llms.FunctionCall{Name: says, Arguments: quoteJSON(says)}}}}), nil
		},
		"tokens": func(ctx context.Context, o llms.CallOptions) (*llms.ContentResponse, error) {
			return choices(&llms.ContentChoice{Content: says}), errors.Join(o.StreamingFunc(ctx, []byte(says[:25])), o.StreamingFunc(ctx, []byte(says[25:])))
		},
	} {
		// The key belongs to a provider that this call does not use.
		r := llm.New(env("OPENAI_API_KEY", echoed), llm.WithModel("acme/p", leaky{answer: answer}, llm.Caps{Stream: true}))
		out, text, thoughts := listen(t, r, "acme/p", prompt("x"))
		keyless(t, name, shown(t, out, text, thoughts))
	}
}

// quiet is an error that does not mention its cause.
type quiet struct{ cause error }

func (q *quiet) Error() string { return "it failed [redacted]" }
func (q *quiet) Unwrap() error { return q.cause }

// A store may return a new key at each lookup, as one does that mints tokens.
func TestMintedKeyIsRedacted(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%q}}]}`, r.Header.Get("Authorization"))
	}))
	defer s.Close()
	n := 0
	r := llm.New(once, llm.WithBaseURL("openai", s.URL), llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) {
		n++
		return fmt.Sprintf("sk-TOPSECRET-%d", n), name == "OPENAI_API_KEY"
	})))
	keyless(t, "a minted key", shown(t, ask(r, "openai/m", prompt("x"))))
}

// A missing secret store and nil options are not a reason to fail.
func TestNilOptions(t *testing.T) {
	r := llm.New(nil, llm.WithSecrets(nil))
	if err := r.Check("openai/m"); err == nil || err.Kind != engine.KindConfig {
		t.Errorf("got %v", err)
	}
}
