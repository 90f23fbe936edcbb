package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/flowjson/internal/export"
	"github.com/agentscript/agentscript/generable"
)

var update = flag.Bool("update", false, "write the golden files")

// load composes a script and returns its main.
func load(t *testing.T, name, text string) *flow.Node {
	t.Helper()
	return module(t, name, text).Node("main")
}

func module(t *testing.T, name, text string) *agentscript.Module {
	t.Helper()
	mod, err := agentscript.New(agentscript.WithUngranted()).Load(context.Background(), fstest.MapFS{name: &fstest.MapFile{Data: []byte(text)}}, name)
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return mod
}

// written exports a node that can be expressed, and compares the file with what package flowjson reads.
func written(t *testing.T, n *flow.Node, o export.Options) string {
	t.Helper()
	text, found := export.Write(n, o)
	if text == nil || found.HasErrors() {
		t.Fatalf("not written:\n%v", found)
	}
	sound(t, string(text))
	return string(text)
}

func sound(t *testing.T, text string) {
	t.Helper()
	if _, found := flowjson.Check("flow.json", text, flowjson.Options{}); found.HasErrors() {
		t.Fatalf("the file has errors:\n%v\n%s", found, text)
	}
}

// reread returns the node that a file becomes. Its local tools do nothing.
func reread(t *testing.T, text string) *flow.Node {
	t.Helper()
	tools := map[string]*agent.Tool{}
	list, _ := decoded(t, []byte(text))["tools"].([]any)
	for _, v := range list {
		if name := v.(object)["name"].(string); v.(object)["type"] == "local" {
			tools[name] = &agent.Tool{Name: name, Run: engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) { return args[0], nil })}
		}
	}
	f, found := flowjson.Parse("flow.json", text, flowjson.Options{Tools: tools})
	if f == nil {
		t.Fatalf("not read: %v\n%s", found, text)
	}
	s := flow.NewSession()
	n := f.Node(s)
	if found := s.Diagnostics(); found.HasErrors() {
		t.Fatalf("not composed: %v\n%s", found, text)
	}
	s.Seal()
	return n
}

// back compares a file with the result of reading and writing it again.
func back(t *testing.T, text string) {
	t.Helper()
	again := written(t, reread(t, text), export.Options{})
	if g, w := settled(t, []byte(again)), settled(t, []byte(text)); !reflect.DeepEqual(g, w) {
		t.Errorf("read and written again:\n%s\nof\n%s", again, text)
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(want, got) {
		t.Errorf("%s: %v, got\n%s", path, err, got)
	}
}

// TestGolden checks that each script of testdata becomes the file next to it.
func TestGolden(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.star")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".star")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			n := load(t, name+".star", string(text))
			o := export.Options{ID: name, Description: "The flow " + name + "."}
			file := written(t, n, o)
			golden(t, "testdata/"+name+".json", []byte(file))
			if again := written(t, n, o); again != file {
				t.Errorf("another file the next time:\n%s", again)
			}
			back(t, file)
		})
	}
}

// object is a JSON object of a file.
type object = map[string]any

func decoded(t *testing.T, text []byte) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// settled returns a file in a form in which equivalent files are equal: agents by name, the transitions of each in
// order, variables in one dialect, and without the last condition of an agent if it is the opposite of the only one
// before it.
func settled(t *testing.T, text []byte) object {
	file := decoded(t, text)
	agents, edges := object{}, map[string][]any{}
	for _, a := range file["agents"].([]any) {
		if a.(object)["runtime"] == "koog" { // the same as without one
			delete(a.(object), "runtime")
		}
		agents[a.(object)["name"].(string)] = a
	}
	list, _ := file["transitions"].([]any)
	for _, e := range list {
		e := e.(object)
		if c, ok := e["condition"].(object); ok {
			c["variable"] = strings.TrimSuffix(strings.Replace(c["variable"].(string), "input", "output", 1), ".data")
		}
		from := e["from"].(string)
		edges[from] = append(edges[from], e)
	}
	for _, of := range edges {
		if len(of) == 2 {
			first, _ := of[0].(object)["condition"].(object)
			last, _ := of[1].(object)["condition"].(object)
			if first != nil && last != nil && first["value"] == true && last["value"] == false && first["variable"] == last["variable"] {
				delete(of[1].(object), "condition")
			}
		}
	}
	out := object{"agents": agents, "transitions": edges}
	for _, key := range []string{"version", "defaultModel"} {
		if v, ok := file[key]; ok {
			out[key] = v
		}
	}
	list, _ = file["tools"].([]any)
	for _, tool := range list {
		out["tool "+tool.(object)["name"].(string)] = tool
	}
	return out
}

// TestPublished checks that published flows, written as scripts by compositions and as graphs, become equivalent files.
func TestPublished(t *testing.T) {
	for _, name := range []string{"conditional_branching_flow", "greeting_flow_with_mcp_tool", "random_koog_agent_flow", "retry_loop_flow", "sequential_pipeline_flow"} {
		path := "../../testdata/published/" + name + ".json"
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		scripts, _ := filepath.Glob("testdata/" + name + "*.star")
		if len(scripts) == 0 {
			t.Errorf("%s has no script", path)
		}
		for _, script := range scripts {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			got := written(t, load(t, filepath.Base(script), string(text)), export.Options{})
			if g, w := settled(t, []byte(got)), settled(t, want); !reflect.DeepEqual(g, w) {
				t.Errorf("%s: got\n%v\nwant\n%v", script, g, w)
			}
			back(t, string(want))
		}
	}
}

// TestGraphIsComposition checks that a graph and the equivalent composition become the same file, except for an
// opposite.
func TestGraphIsComposition(t *testing.T) {
	graphs, err := filepath.Glob("testdata/*.graph.star")
	if err != nil || len(graphs) < 4 {
		t.Fatal(graphs, err)
	}
	for _, path := range graphs {
		var files []object
		for _, path := range []string{path, strings.Replace(path, ".graph", "", 1)} {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, settled(t, []byte(written(t, load(t, "f.star", string(text)), export.Options{}))))
		}
		if !reflect.DeepEqual(files[0], files[1]) {
			t.Errorf("%s: as a graph\n%v\ncomposed\n%v", path, files[0], files[1])
		}
	}
}

// shown renders diagnostics, one line each.
func shown(found diag.List) string {
	var b strings.Builder
	for _, d := range found {
		b.WriteString(d.Severity.String() + " " + string(d.Code) + " " + d.Span.Pos.String() + ": " + d.Message + " | " + strings.Join(d.Help, "; "))
		for _, n := range d.Notes {
			b.WriteString(" | " + n.String())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestReread checks that a file that uses what no script does is written again unchanged.
func TestReread(t *testing.T) {
	agent := func(name, more string) string {
		return fmt.Sprintf(`{"name": %q, "type": "task", "params": {"task": "Do it."}%s}`, name, more)
	}
	parallel := func(merge string) string {
		return `"agents": [{"name": "parallel", "type": "parallel", "params": {"agents": ["a", "b"]` + merge + `}}, ` + agent("a", "") + ", " + agent("b", "") + ", " + agent("c", "") +
			`], "transitions": [{"from": "parallel", "to": "c"}]`
	}
	for name, text := range map[string]string{
		"passes":       `"agents": [` + agent("a", "") + `, {"name": "all", "type": "transform"}, ` + agent("b", "") + `], "transitions": [{"from": "a", "to": "all"}, {"from": "all", "to": "b", "condition": {"variable": "output", "operation": "equals", "value": "x"}}, {"from": "all", "to": "__finish__"}]`,
		"speculation":  `"defaultModel": "openai/gpt-4o", "agents": [` + agent("a", `, "config": {"temperature": 0, "maxIterations": 3, "maxTokens": 5, "topP": 1, "toolChoice": "none", "speculation": "so"}`) + `]`,
		"all":          parallel(""),
		"merge output": parallel(`, "merge": {"variable": "results.1.output", "operation": "equals", "value": "best"}`),
		"merge input":  parallel(`, "merge": {"variable": "results.0.input", "operation": "not_equals", "value": "best"}`),
		"merge number": parallel(`, "merge": {"variable": "results.0.output", "operation": "more", "value": 85}`),
		"merge float":  parallel(`, "merge": {"variable": "results.1.output", "operation": "more", "value": {"type": "double", "data": 85}}`),
		"merge bool":   parallel(`, "merge": {"variable": "results.0.output", "operation": "equals", "value": true}`),
		"merge name":   parallel(`, "merge": {"variable": "results.0.name", "operation": "equals", "value": "a"}`),
		"float":        `"agents": [` + agent("a", "") + `, ` + agent("b", "") + `], "transitions": [{"from": "a", "to": "b", "condition": {"variable": "output", "operation": "less", "value": {"type": "double", "data": 3}}}, {"from": "a", "to": "__finish__"}]`,
	} {
		t.Run(name, func(t *testing.T) { back(t, `{"id": "f", "version": "1.0", `+text+`}`) })
	}
}
