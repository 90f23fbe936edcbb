package flowjson_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson"
)

// exported exports the flow of a script as JSON.
func exported(t *testing.T, script string) (string, diag.List) {
	t.Helper()
	fsys := fstest.MapFS{"flow.star": {Data: []byte(script)}, flowjson.ToolsFile: {Data: []byte(toolsFile)}}
	m, err := agentscript.New(agentscript.WithUngranted()).Load(t.Context(), fsys, "flow.star")
	if err != nil {
		t.Fatalf("%v\n%s", err, script)
	}
	text, found := flowjson.Export(m.Node("flow"), flowjson.ExportOptions{ID: "again"})
	return string(text), found
}

// failure returns what an error says, as far as the flow and its conversion say the same: a script has no names of
// parallels.
func failure(err error) string {
	says := message(err)
	if strings.HasPrefix(says, "no result of ") {
		return "no result is taken"
	}
	return says
}

// goesBack compares a flow with the result of converting and exporting it: a flow that makes the same calls, in both
// forms of the script.
func goesBack(t *testing.T, name, text string, seeds uint64) {
	t.Helper()
	f, found := flowjson.Check(name, text, flowjson.Options{})
	if f == nil {
		if !slices.ContainsFunc(found, func(d *diag.Diagnostic) bool { return d.Code == diag.FlowNoEnd }) {
			t.Fatalf("%s: %v", name, found)
		}
		return
	}
	for _, form := range []flowjson.Form{flowjson.Structured, flowjson.Graph} {
		script, found := f.Convert(form)
		if script == "" {
			t.Fatalf("%s: %v", name, found)
		}
		again, found := exported(t, script)
		if again == "" {
			t.Fatalf("%s, %s: %v\n%s", name, form, found, script)
		}
		g, found := flowjson.Check("again.json", again, flowjson.Options{})
		if g == nil {
			t.Fatalf("%s, %s: %v\n%s\n%s", name, form, found, script, again)
		}
		for seed := range seeds {
			want, got := ran(t, f, text, seed), ran(t, g, again, seed)
			if want.err != nil && len(want.calls) > 300 {
				continue
			}
			if strings.Contains(text, `"parallel"`) { // in any order
				slices.Sort(got.calls)
				slices.Sort(want.calls)
			}
			if got.out != want.out || failure(got.err) != failure(want.err) || !slices.Equal(got.calls, want.calls) {
				t.Fatalf("%s, %s: got\n%s\n%s %v\nwant\n%s\n%s %v\n%s\n%s\n%s\n%s", name, form, strings.Join(got.calls, "\n"), got.out, got.err,
					strings.Join(want.calls, "\n"), want.out, want.err, text, script, again, differ(got, want))
			}
		}
	}
}

func ran(t *testing.T, f *flowjson.Flow, text string, seed uint64) result {
	t.Helper()
	if strings.Contains(text, `"local"`) {
		return ofScript(t, flowjson.LoadScript("flow.json", text, flowjson.LoadOptions{Tools: flowjson.ToolsFile}, nil), text, seed)
	}
	return ofJSON(t, f, seed)
}

// TestPublishedGoesBack checks that the published flows and the examples become scripts whose export makes the same
// calls.
func TestPublishedGoesBack(t *testing.T) {
	seeds := uint64(8)
	if testing.Short() {
		seeds = 2
	}
	for _, dir := range []string{"testdata/published", "testdata/convert", "../examples/flowjson", "../testdata/flowjson"} {
		files, err := filepath.Glob(dir + "/*.json")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(filepath.Base(file), "simple_") {
				continue // an early draft of the format, which is rejected
			}
			t.Run(filepath.Base(file), func(t *testing.T) { goesBack(t, file, string(text), seeds) })
		}
	}
}

// TestRandomGoesBack does that with random flows.
func TestRandomGoesBack(t *testing.T) {
	flows, size := 150, 200
	if testing.Short() {
		flows, size = 60, 40
	}
	for seed := range uint64(flows) {
		n := int(seed)%20 + 1
		if seed%10 == 0 {
			n = size
		}
		goesBack(t, fmt.Sprintf("flow-%d.json", seed), randomFlow(seed, n), 1)
	}
}

// TestMergesGoBack does that with merges of all kinds.
func TestMergesGoBack(t *testing.T) {
	flows := 1000
	if testing.Short() {
		flows = 300
	}
	read := 0
	for seed := range uint64(flows) {
		r := rand.New(rand.NewPCG(seed, 9))
		pick := func(words ...string) string { return words[r.IntN(len(words))] }
		kids := []string{`"a"`, `"b"`, `"v"`, `"t"`, `"r"`}
		r.Shuffle(len(kids), func(i, j int) { kids[i], kids[j] = kids[j], kids[i] })
		kids = kids[:r.IntN(4)+1]
		value := pick("1", "2.5", `"red"`, `"7"`, "true", "false", `{"type": "double", "data": 7}`, `{"type": "string", "data": "7"}`, `{"type": "int", "data": "7"}`, `{"type": "boolean", "data": true}`, `""`, "-0", "1e3", `"grey"`)
		leaves := pick("", "", `, "condition": {"variable": "output", "operation": "equals", "value": "red"}`, `, "condition": {"variable": "output", "operation": "equals", "value": 7}`)
		text := fmt.Sprintf(`{"id": "f", "version": "1", "agents": [{"name": "s", "type": %q, "params": {"task": "s"}},
			{"name": "p", "type": "parallel", "params": {"agents": [%s], "merge": {"variable": "results.%d.%s", "operation": %q, "value": %s}}},
			{"name": "a", "type": "task", "params": {"task": "a"}}, {"name": "b", "type": "task", "params": {"task": "b"}}, {"name": "v", "type": "verify", "params": {"task": "v"}},
			{"name": "t", "type": "transform"}, {"name": "r", "type": "react", "params": {"task": "r"}}, {"name": "q", "type": "task", "params": {"task": "q"}}],
			"transitions": [{"from": "s", "to": "p"}, {"from": "p", "to": "q"%s}%s]}`, pick("task", "verify"), strings.Join(kids, ", "), r.IntN(len(kids)), pick("output", "input", "name"),
			pick("equals", "not_equals", "more", "less", "more_or_equal", "less_or_equal", "not", "and", "or"), value, leaves, map[bool]string{true: `, {"from": "p", "to": "__finish__"}`}[leaves != ""])
		if f, _ := flowjson.Check("f.json", text, flowjson.Options{}); f != nil {
			read++
			goesBack(t, fmt.Sprintf("merge-%d.json", seed), text, 2)
		}
	}
	if read < flows/4 {
		t.Errorf("%d of %d flows are read", read, flows)
	}
}

// TestMixedGoBack does that with flows in which values were exchanged, if they can still be read.
func TestMixedGoBack(t *testing.T) {
	flows := 1500
	if testing.Short() {
		flows = 400
	}
	read := 0
	for seed := range uint64(flows) {
		r := rand.New(rand.NewPCG(seed, 7))
		var flow any
		if err := json.Unmarshal([]byte(randomFlow(seed, r.IntN(8)+2)), &flow); err != nil {
			t.Fatal(err)
		}
		values := within(flow)
		odd := make([]any, 40)
		for i := range odd { // copies
			text, err := json.Marshal(values[r.IntN(len(values))])
			if err != nil || json.Unmarshal(text, &odd[i]) != nil {
				t.Fatal(err)
			}
		}
		var text []byte
		for range r.IntN(4) + 1 {
			var err error
			if text, err = json.Marshal(changed(r, flow, odd)); err != nil {
				t.Fatal(err)
			}
			if flow = nil; json.Unmarshal(text, &flow) != nil { // it shares nothing with what is inserted
				t.Fatal(string(text))
			}
		}
		f, found := flowjson.Check("f.json", string(text), flowjson.Options{})
		if f == nil {
			for _, d := range found {
				if !d.Span.IsValid() || d.Message == "" || len(d.Help) == 0 {
					t.Fatalf("%v has no place or remedy\n%s", d, text)
				}
			}
			continue
		}
		read++
		goesBack(t, fmt.Sprintf("mixed-%d.json", seed), string(text), 1)
	}
	if read < flows/20 {
		t.Errorf("%d of %d flows are read", read, flows)
	}
}

// within returns a value and everything in it, in a fixed order.
func within(v any) []any {
	out := []any{v}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, within(v[key])...)
		}
	case []any:
		for _, item := range v {
			out = append(out, within(item)...)
		}
	}
	return out
}

// TestLongEntry checks that a flow may be as long as a file that a script reads, and longer than a script.
func TestLongEntry(t *testing.T) {
	text := `{"id": "f", "version": "1", "agents": [{"name": "a", "type": "task", "params": {"task": "` + strings.Repeat("x", 2<<20) + `"}}]}`
	fsys := fstest.MapFS{"f.json": {Data: []byte(text)}, "f.star": {Data: []byte("# " + text)}}
	if _, err := agentscript.New().Load(t.Context(), fsys, "f.json"); err != nil {
		t.Error(err)
	}
	if _, err := agentscript.New().Load(t.Context(), fsys, "f.star"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a script of that length: %v", err)
	}
}
