package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
)

const plainAgent = `main = agent(prompt = "Be \"brief\".\n{braces} stay.")`

const fullAgent = `main = agent(prompt = "Be brief.", temperature = 0, top_p = 0.9, max_tokens = 100, seed = 7, stop = ["END"])`

const typedAgent = `
Circle = schema("A circle", r = field(float, "Radius in meters"))
Square = schema("A square", side = float)
Shape = union("Any shape", Circle, Square)
Area = schema("An area", value = field(float, "in square meters", ge = 0))
main = agent(input = Shape, output = Area, prompt = "Compute the area.")
`

// Promise 6.1 (models): `openai` and any server that speaks its protocol receive the system and user messages and the
// parameters that the script set, and no others; the answer's text and usage are returned.
func TestPromise_6_1_OpenAI(t *testing.T) {
	limit := map[string]string{"openai/gpt-x": "max_completion_tokens", "compat/org/some-model:v1": "max_tokens", "deepseek/chat": "max_tokens", "mistral/m": "max_tokens", "openrouter/a/b": "max_tokens"}
	for name, maxTokens := range limit {
		provider, id, _ := strings.Cut(name, "/")
		t.Run(provider, func(t *testing.T) {
			answer := llmtest.Reply{Text: "Yes, \"it\" is\n<fine> é 日本.", In: 11, Out: 5}
			res, asked, used, err := overTheWire(t, name, plainAgent, input("is <b> & 'c' fine?"), answer)
			if err != nil || res.Text() != answer.Text {
				t.Fatalf("%q, %v", res.Text(), err)
			}
			if used.In != 11 || used.Out != 5 || used.Estimated {
				t.Errorf("used %+v", used)
			}
			body := asked[0]
			usage := ""
			if provider == "openrouter" {
				usage = " usage" // requests what others report anyway
			}
			if got := members(body); len(asked) != 1 || got != "messages model"+usage {
				t.Errorf("%d requests with %s", len(asked), got)
			}
			want := []string{"system: Be \"brief\".\n{braces} stay.", "user: is <b> & 'c' fine?"}
			if got := messages(body); body["model"] != id || strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("%s is sent %q", body["model"], got)
			}

			script, seed, sets := fullAgent, "seed", 7
			switch provider {
			case "mistral":
				seed = "random_seed"
			case "deepseek": // has none, and setting it is an error
				if _, asked, _, err = overTheWire(t, name, script, input("x"), answer); err == nil || len(asked) != 0 || !strings.Contains(err.Error(), "seed") {
					t.Errorf("a seed gives %v after %d requests", err, len(asked))
				}
				script, seed, sets = strings.Replace(script, "seed = 7, ", "", 1), "no seed", 6
			}
			_, asked, _, err = overTheWire(t, name, script, input("x"), answer)
			if err != nil {
				t.Fatal(err)
			}
			body = asked[0]
			got := fmt.Sprint(body["temperature"], " ", body["top_p"], " ", body[maxTokens], " ", body[seed], " ", compact(body["stop"]))
			sent := `0 0.9 100 7 ["END"]`
			if sets == 6 {
				sent = `0 0.9 100 <nil> ["END"]`
			}
			if got != sent || len(body) != sets+len(usage)/6 {
				t.Errorf("the parameters are sent as %s", compact(body))
			}
		})
	}
	t.Run("types reach the system text and the schema", func(t *testing.T) {
		circle := input(json.RawMessage(`{"type": "Circle", "r": 2}`))
		res, asked, _, err := overTheWire(t, "openai/gpt-x", typedAgent, circle, llmtest.Reply{Text: "```json\n{\"value\": 12.5,}\n```"})
		if err != nil || res.JSON() != `{"value":12.5}` {
			t.Fatalf("%s, %v", res.JSON(), err)
		}
		sent := messages(asked[0])
		if sent[1] != `user: {"type":"Circle","r":2.0}` {
			t.Errorf("the user message is %q", sent[1])
		}
		mod := loaded(t, agentscript.New(), typedAgent)
		format := mod.Type("Area").PromptFragment()
		if !strings.HasPrefix(sent[0], "system: Compute the area.\n\n") || !strings.HasSuffix(sent[0], format) || !strings.Contains(format, "in square meters") {
			t.Errorf("the system text is %q, want the prompt and %q", sent[0], format)
		}
		schema := compact(asked[0]["response_format"])
		for _, part := range []string{`"type":"json_schema"`, `"name":"Area"`, `"required":["value"]`, "in square meters"} {
			if !strings.Contains(schema, part) {
				t.Errorf("the schema lacks %s: %s", part, schema)
			}
		}
	})
	t.Run("a server of the host's own", func(t *testing.T) {
		s := serving(t, llmtest.Reply{Text: "hello"})
		models := llm.New(variables("ACME_KEY", "acme-key-1"), llm.WithCompatible("acme", s.OpenAI(), "ACME_KEY"))
		defer models.Close()
		mod := loaded(t, agentscript.New(agentscript.WithModels(models)), `main = agent(model = "acme/x", prompt = "A.")`)
		res, err := mod.Start(t.Context(), input("x")).Wait()
		if err != nil || res.Text() != "hello" {
			t.Fatalf("%s, %v", res.Text(), err)
		}
		if r := s.Requests()[0]; r.Header.Get("Authorization") != "Bearer acme-key-1" || r.Path != "/v1/chat/completions" {
			t.Errorf("%s with %v", r.Path, r.Header)
		}
	})
	t.Run("streamed to who listens", func(t *testing.T) {
		s := serving(t, llmtest.Reply{Text: "one two three", In: 3, Out: 3})
		mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel("openai/x")), plainAgent)
		var tokens []string
		res, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventToken, func(e engine.Event) { tokens = append(tokens, e.Text()) })).Wait()
		if err != nil || res.Text() != "one two three" || strings.Join(tokens, "|") != "one |two |three" {
			t.Errorf("%s, %v; tokens %q", res.Text(), err, tokens)
		}
	})
}

// Promise 6.2 (models): promise 6.1 also holds for `ollama`, at the address that its environment variables name.
func TestPromise_6_2_Ollama(t *testing.T) {
	answer := llmtest.Reply{Text: "Yes, é 日本.", In: 11, Out: 5}
	res, asked, used, err := overTheWire(t, "ollama/qwen2.5:7b", plainAgent, input("fine?"), answer)
	if err != nil || res.Text() != answer.Text || used.In != 11 || used.Out != 5 {
		t.Fatalf("%q, %v, used %+v", res.Text(), err, used)
	}
	if body := asked[0]; body["model"] != "qwen2.5:7b" || body["stream"] != false || body["options"] != nil ||
		strings.Join(messages(body), "|") != "system: Be \"brief\".\n{braces} stay.|user: fine?" {
		t.Errorf("sent %s", compact(body))
	}
	_, asked, _, err = overTheWire(t, "ollama/m", fullAgent, input("x"), answer)
	if got := compact(asked[0]["options"]); err != nil || got != `{"num_predict":100,"seed":7,"stop":["END"],"temperature":0,"top_p":0.9}` {
		t.Errorf("%v; the parameters are sent as %s", err, got)
	}
	circle := input(json.RawMessage(`{"type": "Circle", "r": 2}`))
	res, asked, _, err = overTheWire(t, "ollama/m", typedAgent, circle, llmtest.Reply{Text: `{"value": 12.5}`})
	if err != nil || res.JSON() != `{"value":12.5}` || !strings.Contains(compact(asked[0]["format"]), `"required":["value"]`) {
		t.Errorf("%s, %v; sent %s", res.JSON(), err, compact(asked[0]["format"]))
	}
	t.Run("where it is", func(t *testing.T) {
		right, wrong := serving(t, llmtest.Reply{Text: "here", Repeat: true}), serving(t)
		bare := strings.TrimPrefix(right.URL, "http://")
		for name, env := range map[string][]string{
			"OLLAMA_BASE_URL":             {"OLLAMA_BASE_URL", right.URL},
			"with the path of the other":  {"OLLAMA_BASE_URL", right.URL + "/v1/"},
			"OLLAMA_HOST":                 {"OLLAMA_HOST", right.URL},
			"OLLAMA_HOST, as ollama does": {"OLLAMA_HOST", bare},
			"the first of both":           {"OLLAMA_BASE_URL", right.URL, "OLLAMA_HOST", wrong.URL},
			"when the first is empty":     {"OLLAMA_BASE_URL", " ", "OLLAMA_HOST", bare},
		} {
			models := llm.New(variables(env...))
			defer models.Close()
			mod := loaded(t, agentscript.New(agentscript.WithModels(models)), `main = agent(model = "ollama/m", prompt = "A.")`)
			if res, err := mod.Start(t.Context(), input("x")).Wait(); err != nil || res.Text() != "here" {
				t.Errorf("%s: %s, %v", name, res.Text(), err)
			}
		}
		if n := len(wrong.Requests()); n != 0 {
			t.Errorf("the other server got %d requests", n)
		}
	})
}

// ownModel is a host's model: it repeats its request.
type ownModel struct {
	llms.Model
	name string
	err  error
}

func (m ownModel) GenerateContent(_ context.Context, asked []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	if m.err != nil {
		return nil, m.err
	}
	var o llms.CallOptions
	for _, f := range options {
		f(&o)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %g:", m.name, o.Temperature)
	for _, a := range asked {
		fmt.Fprintf(&b, " %s=%s", a.Role, a.Parts[0].(llms.TextContent).Text)
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: b.String(), StopReason: "stop",
		GenerationInfo: map[string]any{"PromptTokens": 4, "CompletionTokens": 2}}}}, nil
}

// Promise 6.3 (models): a host's own model is used under the provider name that it was registered with.
func TestPromise_6_3_OwnModel(t *testing.T) {
	made := 0
	models := llm.New(variables(), llm.WithModel("acme/parrot", ownModel{name: "parrot"}, llm.Caps{}), llm.WithModel("acme/mute", ownModel{err: errors.New("no voice")}, llm.Caps{}),
		llm.WithProvider("zoo", func(model string) (llms.Model, llm.Caps, error) {
			if made++; model == "none" {
				return nil, llm.Caps{}, errors.New("no such animal")
			}
			return ownModel{name: "zoo's " + model}, llm.Caps{}, nil
		}))
	eng := agentscript.New(agentscript.WithModels(models))
	ask := func(model string, opts ...agentscript.RunOption) (agentscript.Result, error) {
		mod := loaded(t, eng, fmt.Sprintf(`main = agent(model = %q, prompt = "Repeat.", temperature = 0.5)`, model))
		return mod.Start(t.Context(), append(opts, input("hello"))...).Wait()
	}
	for m, want := range map[string]string{
		"acme/parrot": "parrot at 0.5: system=Repeat. human=hello",
		"zoo/owl":     "zoo's owl at 0.5: system=Repeat. human=hello",
		"zoo/a/b:c":   "zoo's a/b:c at 0.5: system=Repeat. human=hello",
	} {
		var used *model.Usage
		res, err := ask(m, agentscript.OnEvent(engine.EventEffect, func(e engine.Event) { used = e.Data.(*event.Effect).Usage }))
		if err != nil || res.Text() != want {
			t.Errorf("%s: %s, %v", m, res.Text(), err)
		}
		if used == nil || used.In != 4 || used.Out != 2 {
			t.Errorf("%s: used %+v", m, used)
		}
	}
	if _, err := ask("zoo/owl"); err != nil || made != 2 {
		t.Errorf("%d models were made, %v", made, err)
	}
	for model, want := range map[string]string{"acme/mute": "no voice", "zoo/none": "no such animal", "acme/parot": `did you mean "acme/parrot"?`} {
		_, err := ask(model)
		var e *engine.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message+e.Help, want) {
			t.Errorf("%s: %v", model, err)
		}
	}
	// In place of what the script names, for one agent or for the run.
	if res, err := ask("", agentscript.Model("zoo/cat")); err != nil || !strings.HasPrefix(res.Text(), "zoo's cat") {
		t.Errorf("%s, %v", res.Text(), err)
	}
	if res, err := ask("zoo/owl", agentscript.ModelFor("main", "acme/parrot")); err != nil || !strings.HasPrefix(res.Text(), "parrot") {
		t.Errorf("%s, %v", res.Text(), err)
	}
}

// Promise 6.4 (models): a scripted model answers by agent name from a file or a list; it is an error if the answers
// run out or are not all used.
func TestPromise_6_4_Scripted(t *testing.T) {
	const src = `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
main = a >> b
`
	mod := loaded(t, agentscript.New(), src)
	for _, c := range []struct {
		name, rows, want, err, left string
	}{
		{"by agent, in any order", `{"agent": "b", "text": "from b"}` + "\n" + `{"agent": "a", "text": "from a"}`, "from b", "", ""},
		{"for any agent, in order", `{"agent": "*", "text": "first"}` + "\n" + `{"agent": "*", "text": "second"}`, "second", "", ""},
		{"by what is asked", `{"agent": "b", "match": "left", "text": "no"}` + "\n" + `{"agent": "b", "match": "right", "text": "yes"}` + "\n" + `{"agent": "a", "text": "right"}`, "yes", "", `line 1, agent "b" matching "left"`},
		{"again and again", `{"agent": "*", "text": "same", "repeat": true}`, "same", "", ""},
		{"runs out", `{"agent": "a", "text": "from a"}`, "", `no scripted answer for agent "b"`, ""},
		{"no row for it, but for one that is spelt nearly so", `{"agent": "a", "text": "x"}` + "\n" + `{"agent": "B", "text": "y"}`, "", `did a row for "B" mean it?`, `line 2, agent "B"`},
		{"none that matches", `{"agent": "a", "match": "nothing", "text": "x"}`, "", `has "match": "nothing", which the question does not contain`, `matching "nothing"`},
		{"left over", `{"agent": "a", "text": "x"}` + "\n" + `{"agent": "b", "text": "y"}` + "\n" + `{"agent": "b", "text": "z"}`, "y", "", `line 3, agent "b"`},
		{"a failure", `{"agent": "a", "error": {"kind": "rate_limit", "status": 429, "message": "slow down"}}`, "", "slow down", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			models, err := scripted.Read(strings.NewReader(c.rows), "answers.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			res, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(models)).Wait()
			if c.err == "" && (err != nil || res.Text() != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%s, %v, want %s %s", res.Text(), err, c.want, c.err)
			}
			left := models.Err()
			if c.left == "" && left != nil || c.left != "" && (left == nil || !strings.Contains(left.Error(), c.left)) {
				t.Errorf("left over: %v, want %s", left, c.left)
			}
		})
	}
	t.Run("from a list", func(t *testing.T) {
		models := scripted.Answers(map[string][]string{"a": {"1", "2"}, "b": {"3"}})
		res, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(models)).Wait()
		if err != nil || res.Text() != "3" || models.Err() == nil || !strings.Contains(models.Err().Error(), `agent "a"`) {
			t.Errorf("%s, %v, left %v", res.Text(), err, models.Err())
		}
		if asked := models.Requests(); len(asked) != 2 || asked[1].Agent != "b" || asked[1].Request.Messages[0].Parts[0].Text != "1" {
			t.Errorf("asked %+v", asked)
		}
	})
	t.Run("a file that is none", func(t *testing.T) {
		for _, rows := range []string{"{", `{"agent": 1}`, `{"agnet": "a"}`, `{"agent": "a", "text": "x", "json": 1}`, `["a"]`} {
			if _, err := scripted.Read(strings.NewReader("{\"agent\": \"a\", \"text\": \"fine\"}\n"+rows), "answers.jsonl"); err == nil || !strings.Contains(err.Error(), "answers.jsonl:2") {
				t.Errorf("%s: %v", rows, err)
			}
		}
	})
}
