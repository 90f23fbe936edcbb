package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/flowjson"
)

// soundFlows returns the files of flows without an error, by name.
func soundFlows(t *testing.T) map[string]string {
	t.Helper()
	flows := map[string]string{}
	for _, glob := range []string{"flowjson/testdata/published/*.json", "testdata/flowjson/*.json", "examples/flowjson/*.json"} {
		files, err := filepath.Glob(repository(glob))
		if err != nil || len(files) == 0 {
			t.Fatal(glob, err)
		}
		for _, file := range files {
			if name := strings.TrimSuffix(filepath.Base(file), ".json"); name != "simple_koog_agent_flow" {
				flows[name] = file
			}
		}
	}
	return flows
}

// Promise 29.8 (flows): the draft among the published flows is refused with its eight errors, each with a line and a
// remedy.
func TestPromise_29_8_TheDraft(t *testing.T) {
	f, found := flowjson.Check("f.json", source(t, flowFile("simple_koog_agent_flow")), flowjson.Options{})
	errors := 0
	for _, d := range found {
		if d.Severity == diag.Error {
			errors++
		}
		if !d.Span.IsValid() || len(d.Help) == 0 {
			t.Errorf("%v has no place or remedy", d)
		}
	}
	if f != nil || errors != 8 {
		t.Errorf("%d errors: %v", errors, found)
	}
}

// mergeRows are the rows of the format's own test of merges: the second branch's output, the condition, and whether the
// merge returns the branch's result.
const mergeRows = `
"best answer" results.1.output equals "best answer" T
42 results.1.output equals {"type":"int","data":42} T
60 results.1.output more 50 T
1.5 results.1.output less 2.0 T
x results.1.input equals "question" T
x results.1.name equals "two" T
true results.1.output equals true T
other results.1.output not_equals "best" T
worse results.1.output equals "best" F
x results.1.name equals "one" F
x results.1.input equals "answer" F
10 results.1.output more 50 F
`

// Promise 29.9 (flows): a parallel runs its agents once, concurrently, and returns their results in the order in which
// it names them. With merge it returns the result that the condition tests, by output, input or name, if the condition
// holds, and fails otherwise. A variable of another form or beyond the agents is an error of the check.
func TestPromise_29_9_Merges(t *testing.T) {
	agents := func(merge string) string {
		return `{"name": "p", "type": "parallel", "params": {"agents": ["one", "two", "three"]` + merge + `}},
 {"name": "three", "type": "task", "params": {"task": "3"}}, {"name": "two", "type": "task", "params": {"task": "2"}}, {"name": "one", "type": "task", "params": {"task": "1"}}`
	}
	for _, row := range strings.Split(strings.TrimSpace(mergeRows), "\n") {
		head, rest, _ := strings.Cut(row, " results")
		if head == row {
			t.Fatal(row)
		}
		f := strings.Fields("results" + rest)
		literal, holds := strings.Join(f[2:len(f)-1], " "), f[len(f)-1] == "T"
		answer := strings.Trim(head, `"`)
		file := jsonFlow(t, agents(fmt.Sprintf(`, "merge": {"variable": %q, "operation": %q, "value": %s}`, f[0], f[1], literal)), "")
		r := mergeRun(t, file, answer)
		if holds && (r.err != nil || r.result != answer) || !holds && (r.err == nil || !strings.Contains(r.err.Error(), f[0])) {
			t.Errorf("%s: got %q, %v", row, r.result, r.err)
		}
		if r.asked != 3 {
			t.Errorf("%s: %d models are asked", row, r.asked)
		}
	}
	if r := mergeRun(t, jsonFlow(t, agents(""), ""), "b"); r.err != nil || r.result != `["a","b","c"]` {
		t.Errorf("without merge: %q, %v", r.result, r.err)
	}
	for _, variable := range []string{"results.1", "output.1.data", "results.abc.output", "results.5.output", "results.0.unknown"} {
		text := source(t, jsonFlow(t, agents(fmt.Sprintf(`, "merge": {"variable": %q, "operation": "equals", "value": "x"}`, variable)), ""))
		if _, found := flowjson.Check("f.json", text, flowjson.Options{}); !found.HasErrors() || !strings.Contains(found.Error(), "AS912") || !strings.Contains(found.Error(), "the merge of p asks for") {
			t.Errorf("%s: %v", variable, found)
		}
	}
}

// mergeRun runs a flow of three agents on a question.
func mergeRun(t *testing.T, file, second string) flowServed {
	t.Helper()
	models := scripted.Answers(map[string][]string{"one": {"a"}, "two": {second}, "three": {"c"}})
	mod, err := agentscript.New(agentscript.WithModels(models)).LoadFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	res, failed := mod.Start(t.Context(), agentscript.Input("question")).Wait()
	out := flowServed{result: res.Text(), asked: len(models.Requests())}
	if failed != nil {
		out.err = engine.AsError(failed)
	}
	return out
}

// Promise 29.10 (flows): every member of a file is kept, in its order, whether it is used or not: JSON is written back
// as it was read. The schema for editors compiles in a third-party validator and accepts every sound flow.
func TestPromise_29_10_KeptAndValid(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(flowjson.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("flow", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("flow")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range soundFlows(t) {
		text := source(t, file)
		f, found := flowjson.Check(file, text, flowjson.Options{})
		if f == nil {
			t.Fatal(found)
		}
		var want bytes.Buffer
		if err := json.Compact(&want, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := f.JSON(); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s is written as\n%s", name, got)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	draft, err := jsonschema.UnmarshalJSON(strings.NewReader(source(t, flowFile("simple_koog_agent_flow"))))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(draft) == nil {
		t.Error("the schema accepts the draft")
	}
}

// Promise 29.11 (flows): names of models are passed to the provider unchanged, for all seven providers.
func TestPromise_29_11_Models(t *testing.T) {
	for _, name := range []string{"openai/gpt-4.1", "anthropic/claude-3-opus", "google/gemini-pro", "mistral/codestral-latest", "deepseek/deepseek-chat", "openrouter/meta/llama-3", "ollama/meta/llama3.2:3b", "openai/gpt4o"} {
		file := jsonFlow(t, fmt.Sprintf(`{"name": "a", "type": "task", "model": %q, "params": {"task": "A"}}`, name), "")
		seen := runFlow(t, file, flowRun{answers: flowAnswers("a", "x"), asked: "a", result: "x"})
		if got := seen[0].Request.Model; got != name {
			t.Errorf("%s is asked as %s", name, got)
		}
	}
	file := jsonFlow(t, `{"name": "a", "type": "task", "params": {"task": "A"}}`, "")
	out := offline(t, "run", file, "x")
	if out.code == 0 || !strings.Contains(out.stderr, "OPENAI_API_KEY") {
		t.Errorf("without a key: exit code %d\n%s", out.code, out.stderr)
	}
	file = jsonFlow(t, `{"name": "a", "type": "task", "model": "nobody/x", "params": {"task": "A"}}`, "")
	if out := offline(t, "run", file, "x"); out.code == 0 || !strings.Contains(out.stderr, "nobody") || !strings.Contains(out.stderr, "f.json:1:") {
		t.Errorf("an unknown provider: exit code %d\n%s", out.code, out.stderr)
	}
}

// Promise 29.12 (flows): a flow as JSON makes the same calls as the scripts that convert writes from it, structured and
// as a graph, with the same agents, requests and answers in the same order. It needs at most 1.1 times their
// allocations.
func TestPromise_29_12_SameCallsAndCost(t *testing.T) {
	answers := map[string][]string{"initial_generator": {"1"}, "code_verifier": {rejected, rejected, approved}, "code_fixer": {"2", "3"}}
	file := flowFile("retry_loop_flow")
	f, found := flowjson.Parse(file, source(t, file), flowjson.Options{})
	if f == nil {
		t.Fatal(found)
	}
	paths := []string{file}
	for _, form := range []flowjson.Form{flowjson.Structured, flowjson.Graph} {
		text, found := f.Convert(form)
		path := filepath.Join(t.TempDir(), string(form)+".star")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil || found.HasErrors() {
			t.Fatal(err, found)
		}
		paths = append(paths, path)
	}
	var calls []string
	var allocs []float64
	for _, path := range paths {
		var log strings.Builder
		once := func() {
			models := scripted.Answers(answers)
			mod, err := agentscript.New(agentscript.WithModels(models)).LoadFile(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			run := func() {
				if _, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"input": "x"})).Wait(); err != nil {
					t.Fatal(err)
				}
			}
			run()
			log.Reset()
			for _, seen := range models.Requests() {
				fmt.Fprintf(&log, "%s %x\n", seen.Agent, seen.Request.Digest())
			}
		}
		once()
		calls = append(calls, log.String())
		many := map[string][]string{}
		for name, texts := range answers {
			for range 300 {
				many[name] = append(many[name], texts...)
			}
		}
		models := scripted.Answers(many)
		mod, err := agentscript.New(agentscript.WithModels(models)).LoadFile(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		allocs = append(allocs, testing.AllocsPerRun(100, func() {
			if _, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"input": "x"})).Wait(); err != nil {
				t.Fatal(err)
			}
		}))
	}
	if calls[0] != calls[1] || calls[0] != calls[2] || strings.Count(calls[0], "\n") != 6 {
		t.Errorf("the calls are\n%s", strings.Join(calls, "\n"))
	}
	if allocs[0] > 1.1*allocs[1] || allocs[0] > 1.1*allocs[2] {
		t.Errorf("%.0f allocations as JSON, %.0f structured, %.0f as a graph", allocs[0], allocs[1], allocs[2])
	}
	t.Logf("%.0f allocations as JSON, %.0f structured, %.0f as a graph", allocs[0], allocs[1], allocs[2])
}

// Promise 29.13 (flows): a loaded flow can run any number of times concurrently, and the runs do not see each other.
func TestPromise_29_13_AtOnce(t *testing.T) {
	const runs = 40
	answers := map[string][]string{}
	for range runs {
		answers["get_numbers"] = append(answers["get_numbers"], "1 2")
		answers["calculator"] = append(answers["calculator"], "3")
	}
	models := scripted.Answers(answers)
	mod, err := agentscript.New(agentscript.WithModels(models)).LoadFile(t.Context(), flowFile("random_koog_agent_flow"))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() {
			res, err := mod.Start(t.Context(), agentscript.Input(fmt.Sprint("mark", i, "mark"))).Wait()
			if err != nil || res.Text() != "3" {
				t.Errorf("run %d: %v, %v", i, res, err)
			}
		})
	}
	wg.Wait()
	for _, seen := range models.Requests() {
		if n := strings.Count(requestText(seen.Request), "mark") / 2; n != 1 {
			t.Fatalf("a model sees the input of %d runs", n)
		}
	}
}
