package llm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// TestKeysInSchemas: a key in a schema of a tool or an answer, or in the name of a tool, reaches no provider, not even
// its own. The request is still valid JSON.
func TestKeysInSchemas(t *testing.T) {
	const echoed = "sk-TOPSECRETkey-1234567890abcdef"
	color, errs := generable.NewEnum("Color", "how "+echoed+" looks", []string{"red", echoed})
	spoken, more := generable.NewSchema("Spoken", "Says "+echoed+".", []generable.Field{
		{Name: "color", Type: color, Guide: "as in " + echoed},
		{Name: "note", Type: generable.StrT, Optional: true, Default: generable.StrOf(echoed)},
		{Name: echoed, Type: generable.StrT},
	})
	if errs != nil || more != nil {
		t.Fatal(errs, more)
	}
	own := func(output bool) *model.Request {
		r := prompt("x")
		if r.Tools = []model.ToolDef{{Name: "use-" + echoed, Params: spoken}, {Name: "far", Schema: spoken.JSONSchema()}}; output {
			r.Output = &model.Output{Type: spoken}
			r.Tools = nil
		}
		return r
	}
	look := func(name, sent string) {
		t.Helper()
		if at := strings.Index(sent, "TOPSECRET"); at >= 0 {
			t.Errorf("%s is sent the key: …%s", name, sent[max(0, at-100):min(len(sent), at+100)])
		} else if !strings.Contains(sent, "[redacted]") {
			t.Errorf("%s is sent no mark: %s", name, sent)
		}
	}
	var sent string
	spy := roundTripper(func(r *http.Request) (*http.Response, error) {
		data, err := io.ReadAll(r.Body)
		sent = string(data)
		if err != nil || !json.Valid(data) {
			t.Errorf("%s is sent %s, %v", r.URL, sent, err)
		}
		rec := httptest.NewRecorder()
		rec.WriteHeader(401)
		return rec.Result(), nil
	})
	var keys []string
	for _, p := range llm.New().Providers() {
		if len(p.Keys) > 0 {
			keys = append(keys, p.Keys[0], echoed)
		}
	}
	r := llm.New(once, env(keys...), llm.WithTransport(spy), llm.WithBaseURL("compat", "https://compat.invalid/v1"))
	defer r.Close()
	for _, name := range []string{"openai/gpt-5", "openai/o1-pro", "anthropic/claude-sonnet-4-5", "google/gemini-3-pro", "google/gemini-2.0-flash", "ollama/m", "deepseek/deepseek-chat", "mistral/m", "openrouter/anthropic/m", "compat/m"} {
		for _, output := range []bool{true, false} {
			sent = ""
			needErr(t, ask(r, name, own(output)))
			if provider, _, _ := strings.Cut(name, "/"); !(output && provider == "deepseek") { // it supports no schema
				look(name, sent)
			}
		}
	}
	f := &foreign{}
	r = llm.New(once, env("OPENAI_API_KEY", echoed), llm.WithModel("acme/m", f, llm.Caps{Tools: true}))
	defer r.Close()
	ask(r, "acme/m", own(false))
	look("a host's model", func() string {
		text, err := json.Marshal(f.options.Tools)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}())
}
