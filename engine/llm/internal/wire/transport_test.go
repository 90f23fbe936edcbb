package wire_test

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

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
	x := &wire.Exchange{Plan: wire.Plan{Provider: "openai", Model: "m", Origin: "https://api.openai.com", Dialect: &wire.OpenAI{}, Request: &model.Request{}, Bearer: "canary"}}
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
	b.Set("a", "<&>")
	b.Set("new", 1.5)
	got, err := b.MarshalJSON()
	if want := `{"z":1,"a":"<&>","m":[ ],"new":1.5}`; err != nil || string(got) != want {
		t.Errorf("%s %v, want %s", got, err, want)
	}
	for _, bad := range []string{"", "[]", "{", `{"a"}`, `{"a":1`, "x"} {
		if _, err := wire.ParseBody([]byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	b.Set("number", math.NaN())
	b.Set("other", math.Inf(1))
	if _, err := b.MarshalJSON(); err == nil || !strings.HasPrefix(err.Error(), "number: ") {
		t.Errorf("of a value that cannot be written: %v", err)
	}
}
