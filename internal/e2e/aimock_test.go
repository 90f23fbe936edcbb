//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// speakers are the models whose providers aimock imitates, and where.
var speakers = []string{"openai/gpt-5", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-flash", "ollama/qwen3", "openrouter/x/y", "mistral/mistral-large-latest", "deepseek/deepseek-chat"}

// port returns a model port whose providers are all at base.
func port(t *testing.T, base string, opts ...llm.Option) *llm.Registry {
	t.Helper()
	keys := map[string]string{
		"OPENAI_API_KEY": "sk-openai-e2e-key", "ANTHROPIC_API_KEY": "sk-ant-e2e-key", "GEMINI_API_KEY": "gemini-e2e-key", "OPENROUTER_API_KEY": "sk-or-e2e-key",
		"MISTRAL_API_KEY": "mistral-e2e-key", "DEEPSEEK_API_KEY": "sk-deepseek-e2e-key",
	}
	r := llm.New(append([]llm.Option{
		llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { v, ok := keys[name]; return v, ok })),
		llm.WithBaseURL("openai", base+"/v1"), llm.WithBaseURL("anthropic", base+"/v1"), llm.WithBaseURL("google", base+"/v1beta"),
		llm.WithBaseURL("ollama", base), llm.WithBaseURL("openrouter", base+"/api/v1"),
		llm.WithBaseURL("mistral", base+"/v1"), llm.WithBaseURL("deepseek", base+"/v1"),
	}, opts...)...)
	t.Cleanup(r.Close)
	return r
}

// quick returns the options of a port that does not retry.
func quick() []llm.Option { return []llm.Option{llm.WithRetry(llm.RetryPolicy{Attempts: 1})} }

// said is what a call streamed.
type said struct{ text, thoughts, args string }

func ask(t *testing.T, r *llm.Registry, model string, req *model.Request, stream bool) (engine.Outcome, said) {
	t.Helper()
	var s said
	out := r.Do(t.Context(), &engine.Effect{Kind: engine.EffectModel, Name: model, Req: req, Stream: stream}, func(tok engine.Token) {
		switch {
		case tok.Call != nil:
			s.args += tok.Call.Args
		case tok.Reasoning:
			s.thoughts += tok.Text
		default:
			s.text += tok.Text
		}
	})
	return out, s
}

func prompt(text string) *model.Request {
	return &model.Request{System: "You are a test. Answer in JSON where it is asked for.", Messages: []model.Message{model.TextMessage(model.RoleUser, text)}}
}

func tools() []model.ToolDef {
	return []model.ToolDef{
		{Name: "lookup", Description: "Looks a word up", Params: &generable.Type{Kind: generable.RecordType, Name: "lookup", Fields: []generable.Field{
			{Name: "word", Type: generable.StrT}, {Name: "deep", Type: generable.DictOfType(generable.AnyT), Optional: true},
		}}},
		{Name: "now", Description: "The time"},
	}
}

func each(t *testing.T, f func(t *testing.T, model string, stream bool)) {
	for _, model := range speakers {
		for _, stream := range []bool{false, true} {
			name := model + "/plain"
			if stream {
				name = model + "/stream"
			}
			t.Run(name, func(t *testing.T) { f(t, model, stream) })
		}
	}
}

func TestAimockText(t *testing.T) {
	base := mock(t, "-c", "3")
	each(t, func(t *testing.T, m string, stream bool) {
		out, s := ask(t, port(t, base), m, prompt("say hello"), stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		want := "Hello, Grüße & 日本語 — all of it."
		if got := out.Response.Text(); got != want || out.Response.Finish != model.FinishStop {
			t.Errorf("got %q, %s", got, out.Response.Finish)
		}
		if stream && s.text != want {
			t.Errorf("streamed %q", s.text)
		}
	})
}

func TestAimockReasoning(t *testing.T) {
	base := mock(t)
	each(t, func(t *testing.T, m string, stream bool) {
		out, s := ask(t, port(t, base), m, prompt("think first"), stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if got := out.Response.Text(); got != "Forty-two." {
			t.Errorf("text %q", got)
		}
		thoughts := ""
		for _, p := range out.Response.Parts {
			if p.Kind == model.PartReasoning {
				thoughts += p.Text
			}
		}
		if want := "Six times seven is what is asked."; thoughts != want || stream && s.thoughts != want {
			t.Errorf("thoughts %q, streamed %q", thoughts, s.thoughts)
		}
	})
}

// TestAimockTools makes two calls at once, sends both results back, and checks in the journal what arrived.
func TestAimockTools(t *testing.T) {
	base := mock(t, "-c", "5")
	each(t, func(t *testing.T, m string, stream bool) {
		r := port(t, base)
		req := prompt("two lookups")
		req.Tools = tools()
		out, s := ask(t, r, m, req, stream)
		if out.Err != nil {
			t.Fatal(out.Err, out.Err.Raw)
		}
		calls := out.Response.Calls()
		if len(calls) != 2 || calls[0].Name != "lookup" || calls[1].Name != "now" || out.Response.Finish != model.FinishCalls || calls[0].ID == calls[1].ID || calls[0].ID == "" {
			t.Fatalf("calls %+v, %s", calls, out.Response.Finish)
		}
		if !sameJSON(calls[0].Args, `{"word":"größe","deep":{"list":[1,"two",null]}}`) || !sameJSON(calls[1].Args, `{}`) {
			t.Errorf("arguments %s and %s", calls[0].Args, calls[1].Args)
		}
		if stream && !strings.Contains(s.args, "größe") {
			t.Errorf("streamed arguments %q", s.args)
		}
		next := req.Extend(model.Message{Role: model.RoleAssistant, Parts: out.Response.Parts}, model.Message{Role: model.RoleTool, Parts: []model.Part{
			{Kind: model.PartResult, Result: &model.ToolResult{CallID: calls[0].ID, Name: "lookup", Text: "a size"}},
			{Kind: model.PartResult, Result: &model.ToolResult{CallID: calls[1].ID, Name: "now", Text: "noon"}},
		}})
		out, _ = ask(t, r, m, next, stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		if got := out.Response.Text(); got != "Both are there." {
			t.Errorf("text %q", got)
		}
		seen := journal(t, base)
		last := string(seen[len(seen)-1].Body)
		for _, want := range []string{"a size", "noon", "größe"} {
			if !strings.Contains(last, want) {
				t.Errorf("the request lacks %q: %s", want, last)
			}
		}
	})
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

func TestAimockSchema(t *testing.T) {
	base := mock(t)
	verdict := &generable.Type{Kind: generable.RecordType, Name: "Verdict", Fields: []generable.Field{{Name: "ok", Type: generable.BoolT}, {Name: "score", Type: generable.IntT}}}
	each(t, func(t *testing.T, m string, stream bool) {
		req := prompt("as json")
		req.Output = &model.Output{Type: verdict}
		out, _ := ask(t, port(t, base), m, req, stream)
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		got := lenient.Decode(verdict, out.Response.Text(), generable.Options{})
		if !got.OK || generable.JSON(got.Value, nil) != `{"ok":true,"score":7}` {
			t.Errorf("%q is %s, %v", out.Response.Text(), generable.JSON(got.Value, nil), got.Errors)
		}
	})
}

// TestAimockFaults checks that every refusal has its kind, and that an answer that is cut is not an answer.
func TestAimockFaults(t *testing.T) {
	base := mock(t)
	for what, want := range map[string]engine.ErrKind{
		"too many": engine.KindRateLimit, "no key": engine.KindAuth, "overloaded": engine.KindOverloaded, "broken": engine.KindServer, "too long": engine.KindContextLength,
	} {
		each(t, func(t *testing.T, model string, stream bool) {
			out, _ := ask(t, port(t, base, quick()...), model, prompt(what), stream)
			if out.Err == nil || out.Err.Kind != want {
				t.Errorf("%s: %v", what, out.Err)
				return
			}
			if strings.Contains(out.Err.Error(), "e2e-key") {
				t.Errorf("a key is shown: %v", out.Err)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		each(t, func(t *testing.T, model string, stream bool) {
			if !stream {
				return
			}
			out, _ := ask(t, port(t, base, quick()...), model, prompt("cut off"), true)
			if out.Err == nil || out.Err.Kind != engine.KindTruncated && out.Err.Kind != engine.KindNetwork {
				t.Errorf("%v, %+v", out.Err, out.Response)
			}
		})
	})
}

// TestAimockKeys checks that a key arrives where its provider expects it, and nowhere else.
func TestAimockKeys(t *testing.T) {
	base := mock(t)
	for model, header := range map[string]string{
		"openai/gpt-5": "authorization", "anthropic/claude-sonnet-4-5": "x-api-key", "google/gemini-2.5-flash": "x-goog-api-key", "openrouter/x/y": "authorization", "ollama/qwen3": "",
	} {
		if out, _ := ask(t, port(t, base), model, prompt("say hello"), false); out.Err != nil {
			t.Fatal(out.Err)
		}
		seen := journal(t, base)
		last := seen[len(seen)-1]
		for name, value := range last.Headers {
			if strings.Contains(value, "e2e-key") && !strings.EqualFold(name, header) {
				t.Errorf("%s: the key stands in %s", model, name)
			}
		}
		if strings.Contains(last.Path+string(last.Body), "e2e-key") {
			t.Errorf("%s: the key stands in the path or the body", model)
		}
	}
}

// TestAimockChaos checks that with servers that fail in every way they can, each call ends in a complete answer or in
// an error with a kind.
func TestAimockChaos(t *testing.T) {
	base := mock(t, "--chaos-drop", "0.15", "--chaos-malformed", "0.15", "--chaos-disconnect", "0.15", "--chaos-ratelimit", "0.1")
	r := port(t, base, quick()...)
	good, bad := 0, map[engine.ErrKind]int{}
	for i := range 400 {
		model := speakers[i%len(speakers)]
		out, _ := ask(t, r, model, prompt("say hello"), i%2 == 0)
		switch {
		case out.Err == nil && out.Response.Text() != "Hello, Grüße & 日本語 — all of it.":
			t.Errorf("%s: %q", model, out.Response.Text())
		case out.Err == nil:
			good++
		case out.Err.Kind == "" || out.Err.Kind == engine.KindPanic || out.Err.Message == "":
			t.Errorf("%s: %#v", model, out.Err)
		default:
			bad[out.Err.Kind]++
		}
	}
	t.Logf("%d answers, errors %v", good, bad)
	if good < 50 || len(bad) < 3 {
		t.Errorf("%d answers, errors %v", good, bad)
	}
}
