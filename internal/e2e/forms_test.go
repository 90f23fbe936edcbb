//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
)

// form is a format of answers that aimock knows: where to request it, and how.
type form struct {
	name     string
	path     func(stream bool) string
	body     func(input string, tools, stream bool) any
	thinks   bool // aimock writes thoughts in it, and not as text
	counts   bool // aimock writes the given numbers of tokens in it
	provider string
}

type object = map[string]any

func asked(text string) []object { return []object{{"role": "user", "content": text}} }

// offered returns the tools of the fixtures, each as wrap writes it.
func offered(on bool, wrap func(name string, schema object) object) []object {
	if !on {
		return []object{}
	}
	return []object{
		wrap("lookup", object{"type": "object", "properties": object{"word": object{"type": "string"}}}),
		wrap("now", object{"type": "object", "properties": object{}}),
	}
}

func suffixed(path, plain, streamed string) func(bool) string {
	return func(stream bool) string {
		if stream {
			return path + streamed
		}
		return path + plain
	}
}

func function(name string, schema object) object {
	return object{"type": "function", "function": object{"name": name, "parameters": schema}}
}

var forms = []form{
	{name: "responses", provider: "openai", path: suffixed("/v1/responses", "", ""), thinks: true, counts: true, body: func(input string, tools, stream bool) any {
		return object{"model": "gpt-5", "input": asked(input), "stream": stream, "tools": offered(tools, func(name string, schema object) object {
			return object{"type": "function", "name": name, "parameters": schema}
		})}
	}},
	{name: "azure", provider: "azure", path: suffixed("/openai/deployments/gpt-5/chat/completions", "", ""), thinks: true, counts: true, body: func(input string, tools, stream bool) any {
		return object{"messages": asked(input), "stream": stream, "stream_options": object{"include_usage": true}, "tools": offered(tools, function)}
	}},
	{name: "vertex", provider: "vertex", path: suffixed("/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:", "generateContent", "streamGenerateContent?alt=sse"), thinks: true, body: func(input string, tools, _ bool) any {
		return object{"contents": []object{{"role": "user", "parts": []object{{"text": input}}}}, "tools": []object{{"functionDeclarations": offered(tools, func(name string, schema object) object {
			return object{"name": name, "parameters": schema}
		})}}}
	}},
	{name: "interactions", provider: "google", path: suffixed("/v1beta/interactions", "", ""), body: func(input string, tools, stream bool) any {
		return object{"model": "gemini-2.5-flash", "input": input, "stream": stream, "tools": offered(tools, func(name string, schema object) object {
			return object{"type": "function", "name": name, "parameters": schema}
		})}
	}},
	{name: "converse", provider: "bedrock", path: suffixed("/model/anthropic.claude-sonnet-4-5/converse", "", "-stream"), thinks: true, body: func(input string, tools, _ bool) any {
		r := object{"messages": []object{{"role": "user", "content": []object{{"text": input}}}}}
		if tools {
			r["toolConfig"] = object{"tools": offered(true, func(name string, schema object) object {
				return object{"toolSpec": object{"name": name, "inputSchema": object{"json": schema}}}
			})}
		}
		return r
	}},
	{name: "bedrock", provider: "bedrock", path: suffixed("/model/anthropic.claude-sonnet-4-5/invoke", "", "-with-response-stream"), thinks: true, body: func(input string, tools, _ bool) any {
		return object{"anthropic_version": "bedrock-2023-05-31", "max_tokens": 1000, "messages": asked(input), "tools": offered(tools, func(name string, schema object) object {
			return object{"name": name, "input_schema": schema}
		})}
	}},
	{name: "cohere", provider: "cohere", path: suffixed("/v2/chat", "", ""), body: func(input string, tools, stream bool) any {
		return object{"model": "command-a", "messages": asked(input), "stream": stream, "tools": offered(tools, function)}
	}},
}

// exchange requests an answer in a form from a server, and reads it as a recorded exchange.
func (f *form) exchange(t *testing.T, base, input string, tools, stream bool) (*llm.Response, error) {
	t.Helper()
	body, err := json.Marshal(f.body(input, tools, stream))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, base+f.path(stream), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-test")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil && res.StatusCode == http.StatusOK && !stream {
		t.Fatal(err)
	}
	if streamed := !bytes.HasPrefix(data, []byte("{")); res.StatusCode == http.StatusOK && streamed != stream {
		t.Fatalf("stream %v was answered by %.100q", stream, data)
	}
	return llm.DecodeExchange(f.provider, res.StatusCode, res.Header, data)
}

// TestAimockForms reads text, thoughts, calls and errors in forms that no request of the port asks for, as another
// project writes them.
func TestAimockForms(t *testing.T) {
	base := mock(t, "-c", "4")
	for i := range forms {
		f := &forms[i]
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%t", f.name, stream), func(t *testing.T) {
				r, err := f.exchange(t, base, "say hello", false, stream)
				if err != nil {
					t.Fatal(err)
				}
				if want := "Hello, Grüße & 日本語 — all of it."; r.Text() != want || r.Finish != model.FinishStop {
					t.Errorf("%q, %s", r.Text(), r.Finish)
				}
				if f.counts && (r.Usage.In != 11 || r.Usage.Out != 7) {
					t.Errorf("%+v", r.Usage)
				}
				r, err = f.exchange(t, base, "think first", false, stream)
				if err != nil {
					t.Fatal(err)
				}
				thoughts := ""
				for _, p := range r.Parts {
					if p.Kind == model.PartReasoning {
						thoughts += p.Text
					}
				}
				if !strings.HasSuffix(r.Text(), "Forty-two.") || f.thinks && (r.Text() != "Forty-two." || thoughts != "Six times seven is what is asked.") {
					t.Errorf("%q, thoughts %q", r.Text(), thoughts)
				}
				r, err = f.exchange(t, base, "two lookups", true, stream)
				if err != nil {
					t.Fatal(err)
				}
				calls := r.Calls()
				if len(calls) != 2 || calls[0].Name != "lookup" || calls[1].Name != "now" || r.Finish != model.FinishCalls {
					t.Fatalf("calls %+v, %s", calls, r.Finish)
				}
				if calls[0].ID == calls[1].ID && calls[0].ID != "" {
					t.Errorf("calls %+v", calls)
				}
				if !sameJSON(calls[0].Args, `{"word":"größe","deep":{"list":[1,"two",null]}}`) || !sameJSON(calls[1].Args, `{}`) {
					t.Errorf("arguments %s and %s", calls[0].Args, calls[1].Args)
				}
				r, err = f.exchange(t, base, "talk and look", true, stream)
				if err != nil || r.Text() != "Let me see — größer." || len(r.Calls()) != 1 || r.Finish != model.FinishCalls {
					t.Errorf("text beside a call: %+v, %v", r, err)
				}
				for input, kind := range map[string]engine.ErrKind{"too many": engine.KindRateLimit, "no key": engine.KindAuth, "broken": engine.KindServer} {
					r, err := f.exchange(t, base, input, false, stream)
					if e, ok := err.(*engine.Error); !ok || e.Kind != kind {
						t.Errorf("%s: %v, %v", input, r, err)
					}
				}
				if stream {
					r, err := f.exchange(t, base, "cut off", false, true)
					if e, ok := err.(*engine.Error); !ok || e.Kind != engine.KindTruncated || !strings.HasPrefix("This answer is long enough", e.Raw) {
						t.Errorf("cut off: %v, %v", r, err)
					}
				}
			})
		}
	}
}
