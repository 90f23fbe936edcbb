package flowjson_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/starfmt"
	"github.com/agentscript/agentscript/starlib"
)

// updating reports whether golden files are written.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// TestPublished checks that each published flow becomes its golden scripts, in canonical format, and that not even a
// strict check finds anything in them.
func TestPublished(t *testing.T) {
	files, err := filepath.Glob("testdata/published/*.json")
	if err != nil || len(files) < 14 {
		t.Fatal(err, len(files))
	}
	more, _ := filepath.Glob("testdata/convert/*.json")
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.Base(file), "simple_") {
			continue // an early draft of the format, which is rejected
		}
		f, found := flowjson.Parse(filepath.Base(file), string(text), flowjson.Options{})
		if f == nil {
			t.Fatal(found)
		}
		for _, form := range []flowjson.Form{flowjson.Structured, flowjson.Graph} {
			got, found := f.Convert(form)
			if len(found) > 0 {
				t.Errorf("%s: %v", file, found)
				continue
			}
			golden := strings.TrimSuffix(file, ".json") + "." + string(form) + ".star"
			if updating() {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || string(want) != got {
				t.Errorf("%s: %v, got\n%s", golden, err, got)
			}
			sound(t, golden, got)
		}
	}
}

// sound reports what the formatter would change in a script, and everything that a strict check finds.
func sound(t *testing.T, name, script string) {
	t.Helper()
	formatted, err := starfmt.Format([]byte(script))
	if err != nil || !bytes.Equal(formatted, []byte(script)) {
		t.Errorf("%s: %v, the formatter makes of it\n%s", name, err, formatted)
	}
	fsys := fstest.MapFS{"flow.star": {Data: []byte(script)}, flowjson.ToolsFile: {Data: []byte(toolsFile)}}
	findings, sources := agentscript.New(agentscript.WithStrict(), agentscript.WithUngranted()).Check(t.Context(), fsys, "flow.star")
	findings = slices.DeleteFunc(findings, func(d *diag.Diagnostic) bool { return d.Code == diag.LiteralPlaceholder }) // the flow's own warning
	if len(findings) > 0 {
		var b strings.Builder
		_ = diag.Render(&b, findings, sources, diag.Options{})
		t.Errorf("%s: %s", name, b.String())
	}
}

// toolsFile contains the local tools of the flows in these tests.
const toolsFile = `
def search(query = str):
    """Searches."""
    return "found " + query

def http(url = str):
    """Fetches."""
    return "got " + url
`

// FuzzConvert checks that any flow that can be read can be written, and that the result loads.
func FuzzConvert(f *testing.F) {
	for _, glob := range []string{"testdata/*.json", "testdata/published/*.json", "testdata/convert/*.json"} {
		files, _ := filepath.Glob(glob)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for seed := range uint64(30) {
		f.Add(randomFlow(seed, int(seed)))
	}
	f.Fuzz(loads)
}

// TestOddFlows checks that flows with one value replaced can be written, and load, if they can still be read.
func TestOddFlows(t *testing.T) {
	odd := []any{"", " ", "a/b#1[2]", "flow", "None", "lambda", "x\ny", "\"\"\"", "\\", "\u0000", "\u202e", "é", "3", "true", "__finish__", "search", "files.read", "*", "#", "{a}",
		-1, 0, 0.5, 1e300, 7, true, false, nil, []any{}, []any{"x"}, map[string]any{}, map[string]any{"type": "int", "data": 3},
		"transform", "verify", "parallel", "react", "task", "more", "less_or_equal", "not", "and", "or", "not_equals", "output.feedback", "results.0.input", "required", "none", "sse"}
	var texts []string
	for _, glob := range []string{"testdata/published/*.json", "testdata/convert/merges.json", "testdata/convert/debate.json"} {
		files, _ := filepath.Glob(glob)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
	}
	n := 3000
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		text := randomFlow(uint64(seed), r.IntN(8)+1)
		if r.IntN(3) > 0 {
			text = texts[r.IntN(len(texts))]
		}
		var flow any
		if err := json.Unmarshal([]byte(text), &flow); err != nil {
			t.Fatal(err)
		}
		for range r.IntN(2) + 1 {
			flow = changed(r, flow, odd)
		}
		made, err := json.Marshal(flow)
		if err != nil {
			t.Fatal(err)
		}
		if loads(t, string(made)); t.Failed() {
			t.Fatalf("seed %d: %s", seed, made)
		}
	}
}

// changed replaces one value within another one.
func changed(r *rand.Rand, v any, odd []any) any {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) > 0 && r.IntN(12) > 0 {
			key := keys[r.IntN(len(keys))]
			v[key] = changed(r, v[key], odd)
			return v
		}
	case []any:
		if len(v) > 0 && r.IntN(12) > 0 {
			i := r.IntN(len(v))
			v[i] = changed(r, v[i], odd)
			return v
		}
	}
	switch v := odd[r.IntN(len(odd))].(type) {
	case map[string]any:
		return maps.Clone(v)
	case []any:
		return slices.Clone(v)
	default:
		return v
	}
}

// loads reports a flow that can be read, but is neither written as a script that loads nor rejected with a reason.
func loads(t *testing.T, text string) {
	flow, _ := flowjson.Parse("f.json", text, flowjson.Options{})
	if flow == nil {
		return
	}
	for _, form := range []flowjson.Form{flowjson.Structured, flowjson.Graph} {
		script, found := flow.Convert(form)
		if script == "" {
			if !found.HasErrors() {
				t.Errorf("nothing is written, and nothing is said")
			}
			for _, d := range found {
				if !d.Span.IsValid() || d.Message == "" {
					t.Errorf("%+v is nowhere", d)
				}
			}
			continue
		}
		if formatted, err := starfmt.Format([]byte(script)); err != nil || string(formatted) != script {
			t.Errorf("%v, the formatter makes\n%s\nof\n%s", err, formatted, script)
		}
		fsys := fstest.MapFS{"flow.star": {Data: []byte(script)}, flowjson.ToolsFile: {Data: []byte(toolsOf(script))}}
		findings, _ := agentscript.New(agentscript.WithUngranted()).Check(t.Context(), fsys, "flow.star")
		if findings.HasErrors() {
			t.Errorf("%v\n%s", findings, script)
		}
	}
}

// toolsOf returns the functions that a script loads.
func toolsOf(script string) string {
	var b strings.Builder
	_, loads, _ := strings.Cut(script, `load("tools.star", `)
	loads, _, _ = strings.Cut(loads, ")\n")
	for part := range strings.SplitSeq(loads, ",") {
		if words := strings.Split(part, `"`); len(words) == 3 {
			b.WriteString("def " + words[1] + "(x = str):\n    \"\"\"Does it.\"\"\"\n    return x\n")
		}
	}
	return b.String()
}

// TestLongConvert writes ten thousand agents at once, and loads the result.
func TestLongConvert(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 1000
	}
	var agents, edges []string
	for i := range n {
		agents = append(agents, fmt.Sprintf(`{"name": "a%d", "type": "task", "params": {"task": "x"}}`, i))
		if i%10 == 3 && i > 5 {
			edges = append(edges, fmt.Sprintf(`{"from": "a%d", "to": "a%d", "condition": {"variable": "output", "operation": "equals", "value": true}}`, i, i-2))
		}
		if i%10 == 7 && i+2 < n {
			edges = append(edges, fmt.Sprintf(`{"from": "a%d", "to": "a%d", "condition": {"variable": "output", "operation": "equals", "value": true}}`, i, i+2))
		}
		if i+1 < n {
			edges = append(edges, fmt.Sprintf(`{"from": "a%d", "to": "a%d"}`, i, i+1))
		}
	}
	text := `{"id": "f", "version": "1", "agents": [` + strings.Join(agents, ",") + `], "transitions": [` + strings.Join(edges, ",\n") + `]}`
	f, found := flowjson.Parse("f.json", text, flowjson.Options{})
	if f == nil {
		t.Fatal(found)
	}
	for _, form := range []flowjson.Form{flowjson.Structured, flowjson.Graph} {
		begun := time.Now()
		script, found := f.Convert(form)
		if len(found) > 0 {
			t.Fatal(found)
		}
		t.Logf("%s: %v for %d bytes", form, time.Since(begun), len(script))
		if loops := strings.Count(script, "loop("); form == flowjson.Structured && loops < n/10-2 {
			t.Errorf("%d loops are written of %d", loops, n/10)
		}
		findings, _ := agentscript.New().Check(t.Context(), fstest.MapFS{"flow.star": {Data: []byte(script)}}, "flow.star")
		if len(findings) > 0 {
			t.Errorf("%s: %.500s", form, findings.Error())
		}
	}
}

// TestReserved checks that no variable of a script hides a name of the language, and that all are different.
func TestReserved(t *testing.T) {
	var agents, edges []string
	before := ""
	add := func(name string) {
		agents = append(agents, fmt.Sprintf(`{"name": %q, "type": "task", "params": {"task": "x"}}`, name))
		if before != "" {
			edges = append(edges, fmt.Sprintf(`{"from": %q, "to": %q}`, before, name))
		}
		before = name
	}
	seen := map[string]bool{}
	for _, row := range starlib.Universe().Rows() {
		if row.Of == "" && !seen[row.Name] {
			seen[row.Name] = true
			add(row.Name)
		}
	}
	for name := range starlark.Universe {
		if !seen[name] {
			add(name)
		}
	}
	for _, name := range []string{"MODEL", "main", "flow", "input", "lambda", "load", "A b", "A-b", "A_b", "A_b_2", "é", "éé", "___", "_", "1", "01", "agent_1", "print ", "a.b", "while"} {
		add(name)
	}
	text := `{"id": "f", "version": "1", "defaultModel": "openai/gpt-4o", "agents": [` + strings.Join(agents, ",") + `], "transitions": [` + strings.Join(edges, ",\n") + `]}`
	same(t, "f.json", text, 1, flowjson.Options{})
	f, _ := flowjson.Parse("f.json", text, flowjson.Options{})
	script, _ := f.Convert(flowjson.Structured)
	vars := map[string]bool{}
	for line := range strings.Lines(script) {
		name, _, ok := strings.Cut(line, " = ")
		if !ok || strings.HasPrefix(name, " ") || strings.HasPrefix(name, "def ") {
			continue
		}
		if vars[name] || seen[name] || starlark.Universe[name] != nil {
			t.Errorf("%s is a second one, or one of the language", name)
		}
		vars[name] = true
	}
	if len(vars) != len(agents)+2 {
		t.Errorf("%d variables of %d agents: %v", len(vars), len(agents), slices.Sorted(maps.Keys(vars)))
	}
}

// TestCannotConvert checks that what a script cannot express is reported at its position.
func TestCannotConvert(t *testing.T) {
	for _, row := range []struct{ agent, more, code, says string }{
		{`"type": "task", "config": {"toolChoice": "required"}`, ``, "AS909", "has none"},
		{`"type": "task"`, `, "tools": [{"name": "s", "type": "mcp", "parameters": {"transport": "stdio", "command": "npx -y server"}}]`, "AS916", "not a program"},
		{`"type": "task"`, `, "tools": [{"name": "s", "type": "mcp", "parameters": {"transport": "sse", "url": "http://me:word@host/"}}]`, "AS916", "password"},
		{`"type": "task"`, `, "tools": [{"name": "a/b", "type": "local", "parameters": {"path": "x"}}]`, "AS916", "cannot be called"},
		{`"type": "task", "runtime": "own"`, ``, "AS917", "runtime"},
	} {
		text := `{"id": "f", "version": "1", "agents": [{"name": "a", ` + row.agent + `, "params": {"task": "x"}}]` + row.more + `}`
		own := map[string]func(*flowjson.Agent) engine.Func{"own": func(*flowjson.Agent) engine.Func {
			return engine.GoFunc("own", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) { return args[0], nil })
		}}
		f, found := flowjson.Parse("f.json", text, flowjson.Options{Runtimes: own})
		if f == nil {
			t.Errorf("%s: %v", text, found)
			continue
		}
		script, found := f.Convert(flowjson.Structured)
		if script != "" || len(found) != 1 || string(found[0].Code) != row.code || !strings.Contains(found[0].Message, row.says) || len(found[0].Help) == 0 || !found[0].Span.IsValid() {
			t.Errorf("%s: got %v\n%s", text, found, script)
		}
	}
}

// TestPage checks that the page shows the script that its flow becomes.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/flowjson.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(title string) string {
		_, rest, _ := strings.Cut(string(page), "title="+title+"\n")
		text, _, _ := strings.Cut(rest, "```\n")
		return text
	}
	f, found := flowjson.Parse("review.json", block("review.json"), flowjson.Options{})
	if f == nil {
		t.Fatal(found)
	}
	if got, found := f.Convert(flowjson.Structured); got != block("review.star") {
		t.Errorf("%v, got\n%s", found, got)
	}
	bounded, _ := flowjson.Parse("review.json", block("review.json"), flowjson.Options{MaxSteps: 7})
	for form, bound := range map[flowjson.Form]string{flowjson.Structured: " max = 7", flowjson.Graph: " max_steps = 7"} {
		if got, _ := bounded.Convert(form); !strings.Contains(got, bound) {
			t.Errorf("%s has no%s:\n%s", form, bound, got)
		}
	}
}

// TestComments checks that each comment of a file is in its scripts, unless it is about something that the flow does
// not use.
func TestComments(t *testing.T) {
	text, err := os.ReadFile("testdata/convert/noted.json")
	if err != nil {
		t.Fatal(err)
	}
	f, found := flowjson.Parse("noted.json", string(text), flowjson.Options{})
	if f == nil {
		t.Fatal(found)
	}
	for _, form := range []flowjson.Form{flowjson.Structured, flowjson.Graph} {
		script, _ := f.Convert(form)
		n := 0
		for line := range strings.Lines(string(text)) {
			for line != "" {
				var said string
				_, block, isBlock := strings.Cut(line, "/*")
				_, rest, isRest := strings.Cut(line, "//")
				switch {
				case isBlock:
					said, line, _ = strings.Cut(block, "*/")
				case isRest:
					said, line = rest, ""
				default:
					line = ""
					continue
				}
				if n++; !strings.Contains(script, "# "+strings.TrimSpace(said)+"\n") {
					t.Errorf("%s lacks %q:\n%s", form, said, script)
				}
			}
		}
		if n < 25 {
			t.Errorf("%d comments are looked for", n)
		}
	}
}
