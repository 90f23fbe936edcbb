package conformance

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

// everyModel is one model of each provider that the page about models lists.
var everyModel = []string{
	"openai/gpt-5-mini", "anthropic/claude-sonnet-4-6", "google/gemini-3-flash-preview", "mistral/mistral-small",
	"deepseek/deepseek-chat", "openrouter/x/y", "ollama/qwen3", "compat/m",
}

// allProviders returns a registry all of whose providers are the server, each with its own key. It makes each call once
// unless told otherwise.
func allProviders(t testing.TB, s *llmtest.Server, opts ...llm.Option) *llm.Registry {
	t.Helper()
	pairs := []string{"OLLAMA_BASE_URL", s.Ollama(), "AGENTSCRIPT_COMPAT_URL", s.OpenAI(), "ANTHROPIC_BASE_URL", s.Anthropic(), "GEMINI_BASE_URL", s.Gemini()}
	for _, name := range []string{"OPENAI", "MISTRAL", "DEEPSEEK", "OPENROUTER"} {
		pairs = append(pairs, name+"_BASE_URL", s.OpenAI(), name+"_API_KEY", "key-of-"+name)
	}
	pairs = append(pairs, "ANTHROPIC_API_KEY", "key-of-anthropic", "GEMINI_API_KEY", "key-of-gemini")
	r := llm.New(append([]llm.Option{variables(pairs...), llm.WithRetry(llm.RetryPolicy{Attempts: 1})}, opts...)...)
	t.Cleanup(r.Close)
	return r
}

// over runs a script's main on a model, with all listeners, and returns the requests' bodies.
func over(t *testing.T, s *llmtest.Server, model, src string, opts ...agentscript.RunOption) (agentscript.Result, []string, error) {
	t.Helper()
	mod := loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s)), agentscript.WithDefaultModel(model)), src)
	res, err := mod.Start(t.Context(), append([]agentscript.RunOption{input("x")}, opts...)...).Wait()
	var bodies []string
	for _, r := range s.Requests() {
		bodies = append(bodies, string(r.Body))
	}
	return res, bodies, err
}

const multiplies = `
Answer = schema("The answer", value = int, why = field(str, default = ""))
def multiply(a = int, b = int):
    """Multiplies two integers.

    Args:
      a: one factor
      b: another
    """
    return a * b
`

// Promise 17.1 (real models): each provider of the models page is sent the tools, makes several calls at once and gets
// their results back, is sent the schema if it accepts one, and streams its answer.
func TestPromise_17_1_EveryProvider(t *testing.T) {
	src := multiplies + `main = agent(output = Answer, prompt = "Use the tool.", tools = [multiply])`
	for _, m := range everyModel {
		t.Run(m, func(t *testing.T) {
			s := serving(t,
				llmtest.Reply{Text: "Let me see.", Calls: []llmtest.Call{{ID: "call_0001", Name: "multiply", Args: `{"a":6,"b":7}`}, {ID: "call_0002", Name: "multiply", Args: `{"a":1111,"b":2}`}}, In: 10, Out: 5},
				llmtest.Reply{Text: `{"value": 42, "why": "six times seven"}`, In: 20, Out: 6})
			var tokens strings.Builder
			var used model.Usage
			res, bodies, err := over(t, s, m, src, agentscript.OnEvent(engine.EventToken|engine.EventEffect, func(e engine.Event) {
				if d, ok := e.Data.(*event.Token); ok && d.Call == nil {
					tokens.WriteString(d.Text)
				}
				if d, ok := e.Data.(*event.Effect); ok && d.Usage != nil {
					used = used.Add(*d.Usage)
				}
			}))
			if err != nil || res.JSON() != `{"value":42,"why":"six times seven"}` || len(bodies) != 2 {
				t.Fatalf("%s after %d requests: %v", res.JSON(), len(bodies), err)
			}
			if used.In != 30 || used.Out != 11 || used.Estimated {
				t.Errorf("used %+v", used)
			}
			if got := tokens.String(); !strings.Contains(got, "Let me see.") || !strings.Contains(got, "six times seven") {
				t.Errorf("streamed %q", got)
			}
			for _, want := range []string{"multiply", "Multiplies two integers.", "one factor"} {
				if !strings.Contains(bodies[0], want) {
					t.Errorf("the tools lack %q: %s", want, bodies[0])
				}
			}
			for _, want := range []string{"Let me see.", "42", "2222", "1111"} {
				if !strings.Contains(bodies[1], want) {
					t.Errorf("the second turn lacks %q: %s", want, bodies[1])
				}
			}
			held := strings.Contains(bodies[0], "json_schema") || strings.Contains(bodies[0], "responseJsonSchema")
			switch provider, _, _ := strings.Cut(m, "/"); provider {
			case "openai", "anthropic", "google", "mistral", "openrouter":
				if !held {
					t.Errorf("no schema is sent beside the tools: %s", bodies[0])
				}
			case "deepseek":
				if held {
					t.Errorf("a schema is sent that it does not take: %s", bodies[0])
				}
			}
		})
	}
	page, err := os.ReadFile(repository("docs/models.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range llm.New(variables()).Providers() {
		if !strings.Contains(string(page), "`"+p.Name+"`") || !strings.Contains(strings.Join(everyModel, " "), p.Name+"/") {
			t.Errorf("%s is not on the page, or not in this test", p.Name)
		}
	}
}

// Promise 17.2 (real models): parameters are sent as the script sets them, including 0, under each provider's own
// names; a parameter that a provider does not have is an error before anything is sent.
func TestPromise_17_2_Parameters(t *testing.T) {
	limit := map[string]string{"openai": `"max_completion_tokens":77`, "google": `"maxOutputTokens":77`, "ollama": `"num_predict":77`}
	for _, model := range everyModel {
		provider, _, _ := strings.Cut(model, "/")
		s := serving(t, llmtest.Reply{Text: "ok", Repeat: true})
		_, bodies, err := over(t, s, model, `main = agent(prompt = "A.", temperature = 0, max_tokens = 77, stop = ["END"])`)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if want := limit[provider]; want != "" && !strings.Contains(bodies[0], want) || !strings.Contains(bodies[0], "77") {
			t.Errorf("%s: no limit in %s", model, bodies[0])
		}
		if !strings.Contains(bodies[0], `"temperature":0`) || !strings.Contains(bodies[0], `"END"`) || strings.Contains(bodies[0], "top_p") || strings.Contains(bodies[0], "seed") {
			t.Errorf("%s is sent %s", model, bodies[0])
		}
	}
	for model, param := range map[string]string{"anthropic/claude-sonnet-4-6": "seed = 7", "openai/gpt-5-mini": "reasoning_tokens = 2000"} {
		s := serving(t)
		_, bodies, err := over(t, s, model, fmt.Sprintf(`main = agent(prompt = "A.", %s)`, param))
		name, _, _ := strings.Cut(param, " ")
		if err == nil || !strings.Contains(err.Error(), name) || len(bodies) != 0 {
			t.Errorf("%s with %s: %v after %d requests", model, param, err, len(bodies))
		}
	}
}

// Promise 17.3 (real models): a tool choice is sent in each provider's own form, for the first answer; if it cannot be
// sent, the result is an error before anything is sent.
func TestPromise_17_3_ToolChoice(t *testing.T) {
	forms := map[string][2]string{ // required, one tool
		"openai": {`"tool_choice":"required"`, `"tool_choice":{`}, "compat": {`"tool_choice":"required"`, `"tool_choice":{`},
		"mistral": {`"tool_choice":"`, `"tool_choice":{`}, "deepseek": {`"tool_choice":"required"`, `"tool_choice":{`}, "openrouter": {`"tool_choice":"required"`, `"tool_choice":{`},
		"anthropic": {`"type":"any"`, `"type":"tool"`}, "google": {`"mode":"ANY"`, `"allowedFunctionNames":["multiply"]`},
	}
	for _, model := range everyModel {
		provider, _, _ := strings.Cut(model, "/")
		for i, choice := range []string{"required", "multiply"} {
			s := serving(t, llmtest.Reply{Calls: []llmtest.Call{{ID: "call_0001", Name: "multiply", Args: `{"a":6,"b":7}`}}}, llmtest.Reply{Text: "42"})
			res, bodies, err := over(t, s, model, multiplies+fmt.Sprintf("main = agent(prompt = \"A.\", tools = [multiply], tool_choice = %q)", choice))
			want, can := forms[provider]
			switch {
			case !can:
				if err == nil || len(bodies) != 0 || !strings.Contains(err.Error(), "tool") {
					t.Errorf("%s, %s: %v after %d requests", model, choice, err, len(bodies))
				}
			case err != nil || res.Text() != "42" || !strings.Contains(bodies[0], want[i]) || !strings.Contains(bodies[0], "multiply"):
				t.Errorf("%s, %s: %v, sent %s", model, choice, err, bodies)
			case strings.Contains(bodies[1], want[i]) && strings.Contains(want[i], "choice"):
				t.Errorf("%s, %s: the second answer is held to it too: %s", model, choice, bodies[1])
			}
		}
	}
}

// Promise 17.4 (real models): a picture in a script's input reaches every provider as data, and reaches the providers
// that read addresses by its address.
func TestPromise_17_4_Pictures(t *testing.T) {
	src := `
Page = schema("A page", title = str, shot = Image)
look = agent(input = Page, prompt = "Say what it shows.")
def main(url = str):
    return look(Page(title = "Start", shot = image(url)))
`
	for _, model := range everyModel {
		for _, url := range []string{"data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.png"} {
			s := serving(t, llmtest.Reply{Text: "a page"})
			mod := loaded(t, agentscript.New(agentscript.WithModels(allProviders(t, s)), agentscript.WithDefaultModel(model)), src)
			res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"url": url})).Wait()
			if strings.HasPrefix(model, "ollama/") && strings.HasPrefix(url, "https:") {
				if err == nil || len(s.Requests()) != 0 {
					t.Errorf("%s reads %s: %v", model, url, err)
				}
				continue
			}
			if err != nil || res.Text() != "a page" || len(s.Requests()) != 1 {
				t.Errorf("%s, %s: %v %v", model, url, res, err)
				continue
			}
			body := string(s.Requests()[0].Body)
			data := url[strings.LastIndexByte(url, ',')+1:]
			if !strings.Contains(body, data) || !strings.Contains(body, "[image 1]") || !strings.Contains(body, "Start") {
				t.Errorf("%s is sent %s", model, body)
			}
		}
	}
}

// Promise 17.5 (real models): thoughts are separate from the answer, and their signature goes back to the provider
// that made them and to no other.
func TestPromise_17_5_Thoughts(t *testing.T) {
	src := multiplies + `main = agent(prompt = "A.", tools = [multiply], model = ["anthropic/claude-sonnet-4-6", "openai/gpt-5-mini"])`
	thinks := llmtest.Reply{Reasoning: "let me think", Signature: "sealed-by-one", Calls: []llmtest.Call{{ID: "call_0001", Name: "multiply", Args: `{"a":6,"b":7}`}}}
	for name, second := range map[string][]llmtest.Reply{"its own": {{Text: "42"}}, "another's": {{Status: 404, Body: `{"error":{"message":"no such model"}}`}, {Text: "42"}}} {
		s := serving(t, append([]llmtest.Reply{thinks}, second...)...)
		var thought strings.Builder
		res, bodies, err := over(t, s, "", src, agentscript.OnEvent(engine.EventToken, func(e engine.Event) {
			if e.Data.(*event.Token).Reasoning {
				thought.WriteString(e.Text())
			}
		}))
		if err != nil || res.Text() != "42" || thought.String() != "let me think" {
			t.Fatalf("%s: %v %v, thought %q", name, res, err, thought.String())
		}
		if !strings.Contains(bodies[1], "sealed-by-one") {
			t.Errorf("%s: the seal is lost: %s", name, bodies[1])
		}
		if name == "another's" && (len(bodies) != 3 || strings.Contains(bodies[2], "sealed-by-one") || strings.Contains(bodies[2], "let me think")) {
			t.Errorf("another provider gets the thoughts: %s", bodies)
		}
	}
}

// Promise 17.6 (real models): the command links no gRPC and no client library of a cloud.
func TestPromise_17_6_NoGRPC(t *testing.T) {
	info, err := buildinfo.ReadFile(command(t))
	if err != nil {
		t.Fatal(err)
	}
	langchain := false
	for _, dep := range info.Deps {
		if strings.HasPrefix(dep.Path, "google.golang.org/grpc") || strings.HasPrefix(dep.Path, "cloud.google.com/") || strings.HasPrefix(dep.Path, "google.golang.org/api") {
			t.Errorf("%s is linked", dep.Path)
		}
		langchain = langchain || dep.Path == "github.com/tmc/langchaingo"
	}
	if !langchain {
		t.Errorf("the dependencies are not read: %v", info.Deps)
	}
}

// Promise 17.7 (real models): the capabilities of a model are known without a key or network, and `agentscript models`
// prints them with ids, prices, windows and whether a key is set.
func TestPromise_17_7_Capabilities(t *testing.T) {
	for model, want := range map[string]llm.Caps{"openai/gpt-5-mini": {Tools: true, Schema: true, Stream: true}, "deepseek/deepseek-chat": {Tools: true, JSONMode: true, Stream: true}} {
		got, err := llm.New(variables()).Caps(model)
		if err != nil || got.Tools != want.Tools || got.Schema != want.Schema || got.Stream != want.Stream {
			t.Errorf("%s: %+v, %v", model, got, err)
		}
	}
	none, some := offline(t, "models", "openai/gpt-5-mini"), runCommand(t, []string{"OPENAI_API_KEY=canary-of-models"}, "models", "openai/gpt-5-mini")
	for _, words := range []string{"openai/gpt-5-mini", "tools schema stream", "400000", "0.25", "as of 20"} {
		if none.code != 0 || !strings.Contains(none.stdout, words) {
			t.Errorf("exit %d, no %q in %s%s", none.code, words, none.stdout, none.stderr)
		}
	}
	line := func(out output) string {
		for row := range strings.Lines(out.stdout) {
			if strings.HasPrefix(row, "openai/gpt-5-mini ") {
				return strings.Fields(row)[1]
			}
		}
		return ""
	}
	if line(none) != "no" || line(some) != "yes" || strings.Contains(some.stdout+some.stderr, "canary") {
		t.Errorf("%s\n%s", none.stdout, some.stdout)
	}
	unknown := offline(t, "models", "openai/nobody-knows-it")
	if !strings.Contains(unknown.stdout, "openai/nobody-knows-it") || !strings.Contains(unknown.stdout, "?") {
		t.Errorf("an unknown price: %s", unknown.stdout)
	}
}
