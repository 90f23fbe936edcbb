package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/mcptest"
)

// jsonFlow writes a flow of some agents, tools and transitions into a file.
func jsonFlow(t *testing.T, agents, more string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f.json")
	text := `{"id": "f", "version": "1", "defaultModel": "openai/gpt-4o", "agents": [` + agents + `]` + more + `}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// requestText returns the texts of a request, one line each.
func requestText(r *model.Request) string {
	lines := []string{"system: " + r.System}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			lines = append(lines, string(m.Role)+": "+p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Promise 29.4 (flows): the examples contain the patterns of the format in three forms, as JSON, as a script and as a
// graph, which return the same. The scripts are the output of convert, are formatted and have no finding of a strict
// check.
func TestPromise_29_4_ThreeForms(t *testing.T) {
	files, err := filepath.Glob(repository("examples/flowjson/*.json"))
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		file = "examples/flowjson/" + filepath.Base(file)
		answers := strings.TrimSuffix(file, ".json") + ".jsonl"
		var results []string
		for _, form := range []struct{ suffix, name string }{{".json", ""}, {".star", "structured"}, {"_graph.star", "graph"}} {
			path := strings.TrimSuffix(file, ".json") + form.suffix
			out := offline(t, "run", path, "x", "--scripted", answers, "-q")
			if out.code != 0 {
				t.Errorf("%s: exit code %d\n%s", filepath.Base(path), out.code, out.stderr)
			}
			results = append(results, out.stdout)
			if form.name == "" {
				continue
			}
			if out := offline(t, "convert", "--form", form.name, file); out.stdout != source(t, repository(path)) {
				t.Errorf("%s is not what convert writes:\n%s", filepath.Base(path), out.stdout)
			}
			for _, args := range [][]string{{"check", "--strict", path}, {"fmt", "--check", path}} {
				if out := offline(t, args...); out.code != 0 {
					t.Errorf("%s: exit code %d\n%s%s", strings.Join(args, " "), out.code, out.stdout, out.stderr)
				}
			}
		}
		if results[0] != results[1] || results[0] != results[2] || results[0] == "" {
			t.Errorf("%s: the forms return %q", filepath.Base(file), results)
		}
	}
}

// Promise 29.5 (flows): each agent's model receives its own system text, the incoming value, its user prompt and its
// task. The run's input reaches the first agent, which receives its task alone if there is no input. config is
// honoured, and the conversation is shared.
func TestPromise_29_5_WhatModelsAreAsked(t *testing.T) {
	file := jsonFlow(t, `
 {"name": "a", "type": "task", "prompt": {"system": "You are A {x}.", "user": "For the reader."}, "params": {"task": "Do A."},
  "config": {"temperature": 0.5, "topP": 0.9, "maxTokens": 77, "maxIterations": 3, "toolChoice": "none"}},
 {"name": "b", "type": "task", "model": "anthropic/claude-x", "params": {"task": "Do B."}}`, "")
	seen := runFlow(t, file, flowRun{input: "the sea", answers: flowAnswers("a", "one", "b", "two"), asked: "a b", result: "two"})
	if got, want := requestText(seen[0].Request), "system: You are A {x}.\nuser: the sea\nuser: For the reader.\n\nDo A."; got != want {
		t.Errorf("the first is asked\n%s\nwant\n%s", got, want)
	}
	p := seen[0].Request.Params
	if p.Temperature == nil || *p.Temperature != 0.5 || p.TopP == nil || *p.TopP != 0.9 || p.MaxTokens == nil || *p.MaxTokens != 77 || seen[0].Request.Choice.Mode != model.ChoiceNone {
		t.Errorf("the parameters are %+v", p)
	}
	if got, want := requestText(seen[1].Request), "system: \nuser: the sea\nuser: For the reader.\n\nDo A.\nassistant: one\nuser: one\nuser: Do B."; got != want {
		t.Errorf("the second is asked\n%s\nwant\n%s", got, want)
	}
	if seen[1].Request.Model != "anthropic/claude-x" {
		t.Error(seen[1].Request.Model)
	}
	seen = runFlow(t, file, flowRun{answers: flowAnswers("a", "one", "b", "two"), asked: "a b", result: "two"})
	if got, want := requestText(seen[0].Request), "system: You are A {x}.\nuser: For the reader.\n\nDo A."; got != want {
		t.Errorf("without an input the first is asked\n%s\nwant\n%s", got, want)
	}
}

// Promise 29.6 (flows): tools of MCP servers are offered over stdio, SSE and streamable HTTP, with the headers of the
// file. An agent gets the tools that it names, or all. A name that no server has, and a server that cannot be reached,
// are errors that name the agent, before its model is called.
func TestPromise_29_6_Servers(t *testing.T) {
	var mu sync.Mutex
	var headers []string
	server := func(*http.Request) *sdk.Server {
		s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		type args struct {
			Name string `json:"name"`
		}
		for _, name := range []string{"greeting", "other"} {
			sdk.AddTool(s, &sdk.Tool{Name: name, Description: "Says " + name}, func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + in.Name + "!"}}}, nil, nil
			})
		}
		return s
	}
	handlers := map[string]http.Handler{"sse": sdk.NewSSEHandler(server, nil), "http": sdk.NewStreamableHTTPHandler(server, nil)}
	parameters := map[string]string{}
	for transport, h := range handlers {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			headers = append(headers, r.Header.Get("X-Desk"))
			mu.Unlock()
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(s.CloseClientConnections)
		t.Cleanup(s.Close)
		parameters[transport] = fmt.Sprintf(`{"transport": %q, "url": %q, "headers": {"X-Desk": "seven"}}`, transport, s.URL)
	}
	script := filepath.Join(t.TempDir(), "tools.star")
	text := "def greeting(name = str):\n    \"\"\"Says hello.\"\"\"\n    return \"Hello, \" + name + \"!\"\n\ndef other(name = str):\n    \"\"\"Says it.\"\"\"\n    return name\n"
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	parameters["stdio"] = fmt.Sprintf(`{"transport": "stdio", "command": %q, "args": ["serve", "mcp", %q, "--expose", "greeting", "--expose", "other"]}`, command(t), script)
	for transport, params := range parameters {
		for names, offered := range map[string]string{`, "toolNames": ["greeting"]`: "greeting", "": "greeting other"} {
			t.Run(transport+names, func(t *testing.T) {
				file := jsonFlow(t, `{"name": "greeter", "type": "task", "params": {"task": "Greet."`+names+`}}`, `, "tools": [{"name": "desk", "type": "mcp", "parameters": `+params+`}]`)
				got := serveFlow(t, file, "greeter", "greeting", `{"name": "Ann"}`)
				if got.offered != offered || got.result != "Hello, Ann!" {
					t.Errorf("offered %q, the tool says %q", got.offered, got.result)
				}
			})
		}
		file := jsonFlow(t, `{"name": "greeter", "type": "task", "params": {"task": "Greet.", "toolNames": ["greting"]}}`, `, "tools": [{"name": "desk", "type": "mcp", "parameters": `+params+`}]`)
		got := serveFlow(t, file, "greeter", "", "")
		if got.err == nil || !strings.Contains(got.err.Error(), `agent "greeter" may call "greting", which none of its servers has`) || !strings.Contains(got.err.Help, "greeting") || got.asked > 0 {
			t.Errorf("%s: a tool nobody has: %v, asked %d times", transport, got.err, got.asked)
		}
	}
	mu.Lock()
	for _, h := range headers {
		if h != "seven" {
			t.Errorf("a request has the header %q", h)
		}
	}
	if len(headers) < 6 {
		t.Errorf("%d requests", len(headers))
	}
	mu.Unlock()
	file := jsonFlow(t, `{"name": "greeter", "type": "task", "params": {"task": "Greet."}}`, `, "tools": [{"name": "desk", "type": "mcp", "parameters": {"transport": "http", "url": "http://127.0.0.1:1/"}}]`)
	if got := serveFlow(t, file, "greeter", "", ""); got.err == nil || got.asked > 0 || !strings.Contains(got.err.Error(), "desk") {
		t.Errorf("a server that is not there: %v, asked %d times", got.err, got.asked)
	}
}

// flowServed is the result of a run with servers.
type flowServed struct {
	offered, result string
	asked           int
	err             *engine.Error
}

// serveFlow runs a flow whose model calls a tool once, and then answers with the tool's result.
func serveFlow(t *testing.T, file, name, tool, args string) (out flowServed) {
	t.Helper()
	rows := fmt.Sprintf("{\"agent\": %q, \"calls\": [{\"name\": %q, \"args\": %s}]}\n{\"agent\": %q, \"text\": \"done\"}\n", name, tool, orEmpty(args), name)
	if tool == "" {
		rows = fmt.Sprintf("{\"agent\": %q, \"text\": \"done\"}\n", name)
	}
	models, err := scripted.Read(strings.NewReader(rows), "answers")
	if err != nil {
		t.Fatal(err)
	}
	client := mcptest.Client(t)
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithHandler(engine.EffectMCP, client), agentscript.WithHandler(engine.EffectTool, client))
	mod, err := eng.LoadFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	_, failed := mod.Start(t.Context(), agentscript.Input("x")).Wait()
	if failed != nil {
		out.err = engine.AsError(failed)
	}
	requests := models.Requests()
	out.asked = len(requests)
	if len(requests) == 0 {
		return out
	}
	var names []string
	for _, d := range requests[0].Request.Tools {
		names = append(names, d.Name)
	}
	out.offered = strings.Join(names, " ")
	if len(requests) > 1 {
		for _, m := range requests[1].Request.Messages {
			for _, p := range m.Parts {
				if p.Result != nil {
					out.result = p.Result.Text
				}
			}
		}
	}
	return out
}

func orEmpty(args string) string {
	if args == "" {
		return "{}"
	}
	return args
}

// Promise 29.7 (flows): a host parses, composes and runs a flow in Go, with its own tools and runtimes. An agent with
// an unknown runtime is an error that names the agent and the available runtimes.
func TestPromise_29_7_Go(t *testing.T) {
	const text = `{"id": "f", "version": "1", "agents": [{"name": "a", "type": "task", "runtime": "shouting", "params": {"task": "Shout."}},
 {"name": "b", "type": "task", "params": {"task": "Say it."}}]}`
	if _, found := flowjson.Parse("f.json", text, flowjson.Options{}); !found.HasErrors() || !strings.Contains(found.Error(), `a needs the runtime "shouting", and this host has `) {
		t.Errorf("got %v", found)
	}
	var seen flowjson.Agent
	o := flowjson.Options{Runtimes: map[string]func(*flowjson.Agent) engine.Func{"shouting": func(a *flowjson.Agent) engine.Func {
		seen = *a
		return engine.GoFunc("shout", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			word, _ := args[0].AsStr()
			return generable.StrOf(strings.ToUpper(word)), nil
		})
	}}}
	f, found := flowjson.Check("f.json", text, o)
	if f == nil || len(found) > 0 {
		t.Fatal(found)
	}
	models := scripted.Answers(map[string][]string{"b": {"said"}})
	out, err := f.Run(t.Context(), "sea", run.Spec{Handler: models, Model: "scripted/one"})
	if err != nil || generable.JSON(out, nil) != `"said"` {
		t.Fatal(out, err)
	}
	if seen.Name != "a" || seen.Task != "Shout." || seen.Runtime != "shouting" || !strings.Contains(requestText(models.Requests()[0].Request), "user: SEA") {
		t.Errorf("the runtime is given %+v, the model\n%s", seen, requestText(models.Requests()[0].Request))
	}
	s := flow.NewSession()
	n := f.Node(s)
	if n.In().String() != "str" || n.Out().String() != "str" || len(s.Diagnostics()) > 0 {
		t.Errorf("%s -> %s, %v", n.In(), n.Out(), s.Diagnostics())
	}
	tools := map[string]*agent.Tool{}
	const local = `{"id": "f", "version": "1", "agents": [{"name": "a", "type": "task", "params": {"task": "A"}}], "tools": [{"name": "look", "type": "local", "parameters": {"path": "x"}}]}`
	for _, given := range []map[string]*agent.Tool{nil, tools} {
		_, found := flowjson.Check("f.json", local, flowjson.Options{Tools: given})
		if len(found) != 1 || found[0].Code != diag.FlowTool || found.HasErrors() != (given != nil) {
			t.Errorf("with tools %v: %v", given, found)
		}
	}
}
