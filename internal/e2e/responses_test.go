//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
)

// responses asks a server for an answer in the form of OpenAI's responses, and reads it as a
// recorded exchange.
func responses(t *testing.T, base, model, input, tools string, stream bool) (*llm.Response, error) {
	t.Helper()
	body := fmt.Sprintf(`{"model":%q,"input":[{"role":"user","content":%q}],"stream":%t,"tools":[%s]}`, model, input, stream, tools)
	req, err := http.NewRequest(http.MethodPost, base+"/v1/responses", strings.NewReader(body))
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
	if err != nil {
		t.Fatal(err)
	}
	if streamed := bytes.HasPrefix(data, []byte("event:")) || bytes.HasPrefix(data, []byte("data:")); res.StatusCode == http.StatusOK && streamed != stream {
		t.Fatalf("stream %v was answered by %.100s", stream, data)
	}
	return llm.DecodeExchange("openai", res.StatusCode, res.Header, data)
}

const lookupTool = `{"type":"function","name":"lookup","parameters":{"type":"object","properties":{"word":{"type":"string"}}}},{"type":"function","name":"now","parameters":{"type":"object","properties":{}}}`

// TestAimockResponses reads text, thoughts, calls and errors in the form of responses as another
// project writes it.
func TestAimockResponses(t *testing.T) {
	base := mock(t, "-c", "4")
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%t", stream), func(t *testing.T) {
			r, err := responses(t, base, "gpt-5", "say hello", "", stream)
			if err != nil {
				t.Fatal(err)
			}
			if want := "Hello, Grüße & 日本語 — all of it."; r.Text() != want || r.Finish != engine.FinishStop || r.Usage.In != 11 || r.Usage.Out != 7 {
				t.Errorf("%q, %s, %+v", r.Text(), r.Finish, r.Usage)
			}
			r, err = responses(t, base, "gpt-5", "think first", "", stream)
			if err != nil {
				t.Fatal(err)
			}
			thoughts := ""
			for _, p := range r.Parts {
				if p.Kind == engine.PartReasoning {
					thoughts += p.Text
				}
			}
			if r.Text() != "Forty-two." || thoughts != "Six times seven is what is asked." {
				t.Errorf("%q, thoughts %q", r.Text(), thoughts)
			}
			r, err = responses(t, base, "gpt-5", "two lookups", lookupTool, stream)
			if err != nil {
				t.Fatal(err)
			}
			calls := r.Calls()
			if len(calls) != 2 || calls[0].Name != "lookup" || calls[1].Name != "now" || calls[0].ID == calls[1].ID || r.Finish != engine.FinishCalls {
				t.Fatalf("calls %+v, %s", calls, r.Finish)
			}
			if !sameJSON(calls[0].Args, `{"word":"größe","deep":{"list":[1,"two",null]}}`) || !sameJSON(calls[1].Args, `{}`) {
				t.Errorf("arguments %s and %s", calls[0].Args, calls[1].Args)
			}
			for input, kind := range map[string]engine.ErrKind{"too many": engine.KindRateLimit, "no key": engine.KindAuth, "broken": engine.KindServer} {
				r, err := responses(t, base, "gpt-5", input, "", stream)
				if e, ok := err.(*engine.Error); !ok || e.Kind != kind {
					t.Errorf("%s: %v, %v", input, r, err)
				}
			}
		})
	}
}
