package wire_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// TestClientSeesTheSame compares what the client library makes of the canonical body with
// what was decoded here.
func TestClientSeesTheSame(t *testing.T) {
	reply := llmtest.Reply{
		Text: "Größe <b> & \"c\"\nend", Reasoning: "hm", In: 12, Out: 7,
		Calls: []llmtest.Call{{ID: "c1", Name: "f", Args: `{"x":1}`}, {ID: "c2", Name: "g", Args: `{}`}},
	}
	s := llmtest.New(reply, reply, reply, reply)
	defer s.Close()
	client := &http.Client{Transport: &wire.Transport{Base: http.DefaultTransport}}
	oai, err := openai.New(openai.WithToken("k"), openai.WithBaseURL(s.OpenAI()), openai.WithHTTPClient(client), openai.WithModel("m"))
	if err != nil {
		t.Fatal(err)
	}
	oll, err := ollama.New(ollama.WithServerURL(s.Ollama()), ollama.WithHTTPClient(client), ollama.WithModel("m"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		model   llms.Model
		dialect wire.Dialect
		calls   int
	}{"openai": {oai, &wire.OpenAI{}, 2}, "ollama": {oll, &wire.Ollama{}, 0}} {
		for _, stream := range []bool{false, true} {
			x := &wire.Exchange{Plan: wire.Plan{
				Provider: name, Model: "m", Origin: s.URL, Dialect: c.dialect, Stream: stream,
				Request: &engine.Request{Messages: []engine.Message{engine.TextMessage(engine.RoleUser, "x")}},
			}}
			got, err := c.model.GenerateContent(wire.With(context.Background(), x), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "x")})
			if err != nil || x.Err != nil {
				t.Fatal(err, x.Err)
			}
			ch := got.Choices[0]
			if ch.Content != reply.Text || ch.Content != x.Response.Text() || len(ch.ToolCalls) != c.calls || ch.GenerationInfo["PromptTokens"] != 12 || ch.GenerationInfo["CompletionTokens"] != 7 {
				t.Errorf("%s: the client sees %+v", name, ch)
			}
			for i, call := range ch.ToolCalls {
				if call.FunctionCall.Arguments != reply.Calls[i].Args {
					t.Errorf("%s: call %+v", name, call.FunctionCall)
				}
			}
		}
	}
}

func TestWithoutExchangeNothingIsTouched(t *testing.T) {
	s := llmtest.New(llmtest.Reply{Body: "as it is", Type: "text/plain"})
	defer s.Close()
	client := &http.Client{Transport: &wire.Transport{Base: http.DefaultTransport}}
	res, err := client.Post(s.OpenAI()+"/chat/completions", "text/plain", strings.NewReader("anything"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || string(body) != "as it is" || string(s.Requests()[0].Body) != "anything" {
		t.Errorf("%q %q %v", body, s.Requests()[0].Body, err)
	}
}

func TestOtherHostIsRefused(t *testing.T) {
	s := llmtest.New(llmtest.Reply{Text: "x"})
	defer s.Close()
	client := &http.Client{Transport: &wire.Transport{Base: http.DefaultTransport}}
	x := &wire.Exchange{Plan: wire.Plan{Provider: "openai", Model: "m", Origin: "https://api.openai.com", Dialect: &wire.OpenAI{}, Request: &engine.Request{}, Bearer: "canary"}}
	req, err := http.NewRequestWithContext(wire.With(t.Context(), x), http.MethodPost, s.OpenAI()+"/chat/completions", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := client.Do(req); err == nil {
		res.Body.Close()
		t.Error("the request was sent")
	}
	if x.Err == nil || len(s.Requests()) != 0 {
		t.Errorf("%v after %d requests", x.Err, len(s.Requests()))
	}
}

func TestBodyKeepsOrder(t *testing.T) {
	b, err := wire.ParseBody([]byte(`{"z": 1, "a": {"y": 2, "b": "<&>"}, "m": [ ]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Set("a", "<&>"); err != nil {
		t.Fatal(err)
	}
	if err := b.Set("new", 1.5); err != nil {
		t.Fatal(err)
	}
	b.Delete("z", "absent")
	got, err := b.MarshalJSON()
	if want := `{"a":"<&>","m":[ ],"new":1.5}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	for _, bad := range []string{"", "[]", "{", `{"a"}`, `{"a":1`, "x"} {
		if _, err := wire.ParseBody([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
