package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/internal/text"
)

// loadFlow loads a flow as JSON from a text.
func loadFlow(file string, opts ...agentscript.Option) (*agentscript.Module, error) {
	return agentscript.New(opts...).Load(context.Background(), fstest.MapFS{"x.json": {Data: []byte(file)}}, "x.json")
}

// Promise 29.30 (flows): a flow that is truncated, at any byte, is refused with its position and a remedy. Agents,
// tools and flows may have any name, and no text of a flow becomes code of the script that loads it.
func TestPromise_29_30_BadInput(t *testing.T) {
	whole := source(t, repository("flowjson/testdata/published/parallel_merge_flow.json"))
	whole = strings.TrimSpace(whole)
	for i := range len(whole) {
		_, err := loadFlow(whole[:i])
		wrong, ok := errors.AsType[*agentscript.LoadError](err)
		if !ok {
			t.Fatalf("cut at %d: %v", i, err)
		}
		for _, d := range wrong.List {
			if d.Code == diag.Panic || !d.Span.IsValid() || len(d.Help) == 0 || d.Span.File != "x.json" {
				t.Fatalf("cut at %d: %v", i, d)
			}
		}
	}
	odd := []string{"main", "flow", "tool_1", "a b", "../x", "é中😀", "a\"b\n'c\\", "\"\"\"", "{x} %s ${y}", "\n    return 5", "\x00\a", "Args:\n    x: y", strings.Repeat("x", 10_000)}
	for _, name := range odd {
		said, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		file := fmt.Sprintf(`{"id": %[1]s, "version": "1", "description": %[1]s, "agents": [{"name": %[1]s, "type": "task", "prompt": {"system": %[1]s}, "params": {"task": %[1]s}},
		 {"name": "last", "type": "task", "params": {"task": "do"}}], "transitions": [{"from": %[1]s, "to": "last"}]}`, said)
		models := scripted.Answers(map[string][]string{name: {"one"}, "last": {"two"}})
		mod, err := loadFlow(file, agentscript.WithModels(models))
		if err != nil {
			t.Errorf("%.40q: %v", name, err)
			continue
		}
		res, err := mod.Start(t.Context(), agentscript.Input("x")).Wait()
		if err != nil || res.Text() != "two" {
			t.Errorf("%.40q: %v, %v", name, res, err)
			continue
		}
		if seen := models.Requests(); seen[0].Agent != name || !strings.Contains(requestText(seen[0].Request), text.Written(name)) {
			t.Errorf("%.40q: the model of %.40q is asked %.200q", name, seen[0].Agent, requestText(seen[0].Request))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	mod, err := loadFlow(whole, agentscript.WithModels(scripted.Answers(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Start(ctx, agentscript.Input("x")).Wait(); err == nil {
		t.Error("a run that was cancelled returns")
	}
}
