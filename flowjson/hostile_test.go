package flowjson

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// shaped reports findings without a position, a message or a remedy, and positions outside of the text.
func shaped(t *testing.T, what, text string, found diag.List) {
	t.Helper()
	lines := strings.Count(text, "\n") + 1
	for _, d := range found {
		if d.Message == "" || len(d.Help) == 0 || !d.Span.IsValid() || d.Span.Line > lines {
			t.Errorf("%s: %v has no place, message or remedy", what, d)
		}
	}
}

// TestCut checks that a flow that is cut at any byte is reported and never panics.
func TestCut(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.json")
	more, _ := filepath.Glob("testdata/published/*.json")
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.TrimRight(string(text), " \t\r\n")
		step := 1 + len(whole)/400
		for i := 0; i < len(whole); i += step {
			f, found := Check("f.json", whole[:i], Options{})
			shaped(t, fmt.Sprintf("%s cut at %d", file, i), whole, found)
			if f != nil && strings.HasSuffix(whole, "}") && !strings.Contains(whole[i:], "//") {
				t.Errorf("%s cut at %d is a flow", file, i)
			}
		}
	}
}

// TestSwapped checks that a flow with any value replaced by another is reported or accepted, and never panics.
func TestSwapped(t *testing.T) {
	base := `{"id": "f", "version": "1", "defaultModel": "openai/gpt-4o", "agents": [
	 {"name": "p", "type": "parallel", "params": {"agents": ["a", "v"], "merge": {"variable": "results.0.output", "operation": "equals", "value": {"type": "int", "data": 3}}}},
	 {"name": "a", "type": "react", "model": "m/x", "runtime": "koog", "prompt": {"system": "s", "user": "u"}, "config": {"temperature": 1, "topP": 1, "maxTokens": 5, "maxIterations": 4, "toolChoice": "t", "speculation": "x"}, "params": {"task": "do", "toolNames": ["t"], "reasoningInterval": 2}, "output": {"schema": "x"}},
	 {"name": "v", "type": "verify", "params": {"task": "do"}}, {"name": "x", "type": "transform", "params": {"transformations": [{"value": "input.feedback"}]}}],
	"tools": [{"name": "t", "type": "local", "parameters": {"path": "x"}}, {"name": "s", "type": "mcp", "parameters": {"transport": "http", "url": "http://h", "headers": {"a": "b"}}},
	 {"name": "e", "type": "mcp", "parameters": {"transport": "stdio", "command": "c", "args": ["x"], "env": {"A": "b"}}}],
	"transitions": [{"from": "p", "to": "v"}, {"from": "v", "to": "x", "condition": {"variable": "output.success", "operation": "equals", "value": true}},
	 {"from": "v", "to": "__finish__", "transformation": {"value": "output.feedback"}}]}`
	var flow any
	if err := json.Unmarshal([]byte(base), &flow); err != nil {
		t.Fatal(err)
	}
	if _, found := Check("f.json", base, Options{}); found.HasErrors() {
		t.Fatal(found)
	}
	others := []any{nil, true, -1.0, 1e300, "", "p", "__finish__", "a\"\n\\", []any{}, []any{nil}, []any{"a", "a"}, map[string]any{}, map[string]any{"type": "int", "data": "x"}}
	n := 0
	try := func() {
		text, err := json.Marshal(flow)
		if err != nil {
			t.Fatal(err)
		}
		for _, compat := range []string{"", Upstream} {
			_, found := Check("f.json", string(text), Options{Compat: compat})
			for _, d := range found {
				if d.Message == "" || !d.Span.IsValid() {
					t.Errorf("%s: %v has no place or message", text, d)
				}
			}
		}
		n++
	}
	var walk func(set func(any), v any)
	walk = func(set func(any), v any) {
		for _, other := range others {
			set(other)
			try()
		}
		set(v)
		switch v := v.(type) {
		case []any:
			for i, item := range v {
				walk(func(x any) { v[i] = x }, item)
			}
		case map[string]any:
			for key, item := range v {
				walk(func(x any) { v[key] = x }, item)
				delete(v, key)
				try()
				v[key] = item
			}
		}
	}
	walk(func(x any) { flow = x }, flow)
	if n < 1000 {
		t.Errorf("only %d flows were tried", n)
	}
}

// TestAlike checks that as many similar findings are kept as for a script.
func TestAlike(t *testing.T) {
	many := func(line string) string {
		var b strings.Builder
		for i := range 300 {
			b.WriteString(strings.ReplaceAll(line, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	agent := `{"name": "a", "type": "task", "params": {"task": "do"}},`
	for what, text := range map[string]string{
		"members": `{"id": "f", "version": "1", "agents": [` + agent + `],` + many(`"x#": 1,`) + `}`,
		"twice":   `{"id": "f", "version": "1", "agents": [` + agent + `],` + many(`"id": "f",`) + `}`,
		"agents":  `{"id": "f", "version": "1", "agents": [` + many(agent) + `]}`,
		"nowhere": `{"id": "f", "version": "1", "agents": [` + agent + `], "transitions": [` + many(`{"from": "a", "to": "b#"},`) + `]}`,
	} {
		_, found := Parse("f.json", text, Options{})
		if len(found) < diag.MostAlike || len(found) > 2*diag.MostAlike {
			t.Errorf("%s: %d findings", what, len(found))
		}
		if last := fmt.Sprint(found[diag.MostAlike-1].Notes); !strings.Contains(last, "more like this one") && what != "members" {
			t.Errorf("%s: nothing says that there are more: %s", what, last)
		}
	}
}

// TestValues checks that invalid numbers, names and types are reported, and that valid ones are accepted by their
// value.
func TestValues(t *testing.T) {
	condition := func(value string) string {
		return `{"id": "f", "version": "1", "agents": [{"name": "a", "type": "task", "params": {"task": "do"}}, {"name": "b", "type": "task", "params": {"task": "do"}}],
		 "transitions": [{"from": "a", "to": "b", "condition": {"variable": "output", "operation": "more", "value": ` + value + `}}, {"from": "a", "to": "__finish__"}]}`
	}
	merge := func(variable string) string {
		return `{"id": "f", "version": "1", "agents": [{"name": "p", "type": "parallel", "params": {"agents": ["a", "b"], "merge": {"variable": "` + variable + `", "operation": "equals", "value": "x"}}},
		 {"name": "a", "type": "task", "params": {"task": "do"}}, {"name": "b", "type": "task", "params": {"task": "do"}}]}`
	}
	for text, want := range map[string]string{
		condition("1e999"):                           "AS915",
		condition("0x10"):                            "AS915",
		condition("1_000"):                           "AS915",
		condition("-Infinity"):                       "AS915",
		condition("1.0.0"):                           "AS915",
		condition("-"):                               "AS915",
		condition("-0"):                              "",
		condition("+1"):                              "",
		condition(".5"):                              "",
		condition("1e300"):                           "",
		condition("9007199254740993"):                "",
		condition(`"inf"`):                           "",
		condition(`"nan"`):                           "",
		condition("null"):                            "AS916",
		condition("[]"):                              "AS916",
		condition("{}"):                              "AS916",
		condition(`{"type": "banana", "data": 3}`):   "AS917",
		condition(`{"type": "int", "data": "abc"}`):  "AS916",
		condition(`{"type": "int", "data": 1e999}`):  "AS915",
		condition(`{"type": "boolean", "data": 3}`):  "AS916",
		condition(`{"type": "double", "data": "2"}`): "",
		merge("results.1"):                           "AS912",
		merge("output.1.data"):                       "AS912",
		merge("results.abc.output"):                  "AS912",
		merge("results.5.output"):                    "AS912",
		merge("results.-1.output"):                   "AS912",
		merge("results.0.unknown"):                   "AS912",
		merge("results.99999999999999999999.output"): "AS912",
		merge(""):                 "AS912",
		merge("results.0.name"):   "AS911",
		merge("results.0.output"): "",
		`{"id": "f", "version": "1", "agents": [{"name": "", "type": "task", "params": {"task": "do"}}]}`:                             "AS916",
		`{"id": "f", "version": "1", "agents": [{"name": "p", "type": "parallel", "params": null}]}`:                                  "AS916",
		"{\"id\": \"\xff\", \"version\": \"1\", \"agents\": [{\"name\": \"a\", \"type\": \"task\", \"params\": {\"task\": \"do\"}}]}": "AS915",
	} {
		_, found := Check("f.json", text, Options{})
		shaped(t, text, text, found)
		var codes []string
		for _, d := range found {
			if d.Code != diag.FlowCondition || d.Severity == diag.Error { // a number in quotes
				codes = append(codes, string(d.Code))
			}
		}
		if got := strings.Join(codes, " "); want == "" && got != "" || !strings.HasPrefix(got, want) || strings.Contains(got, "AS905") {
			t.Errorf("%s\ngets %q, want %q:\n%v", text, got, want, found)
		}
	}
}

// TestWords checks that a number in quotes is a word among words, and counts as a number if it is alone or compared by
// order.
func TestWords(t *testing.T) {
	flow := func(conditions ...string) string {
		var edges []string
		for _, c := range conditions {
			operation, value, _ := strings.Cut(c, " ")
			edges = append(edges, `{"from": "a", "to": "b", "condition": {"variable": "output", "operation": "`+operation+`", "value": `+value+`}}`)
		}
		return `{"id": "f", "version": "1", "agents": [{"name": "a", "type": "task", "params": {"task": "do"}}, {"name": "b", "type": "task", "params": {"task": "do"}}], "transitions": [` + strings.Join(edges, ",") + `]}`
	}
	for _, row := range []struct {
		conditions []string
		want       string // the agent's, or
		code       string
	}{
		{[]string{`equals "1"`, `equals "many"`}, `output = enum("1", "many")`, ""},
		{[]string{`equals "many"`, `equals "1"`, `not_equals "many"`}, `agent(task = "do")`, ""},
		{[]string{`equals {"type": "string", "data": "1"}`, `equals {"type": "string", "data": "2"}`}, `output = enum("1", "2")`, ""},
		{[]string{`less "1"`, `more_or_equal "1"`}, "output = int", "AS912"},
		{[]string{`equals 1`, `equals "many"`}, "", "AS912"},
		{[]string{`more "1"`, `equals "many"`}, "", "AS912"},
		{[]string{`less 1`, `more_or_equal {"type": "string", "data": "1"}`}, "", "AS912"},
	} {
		f, found := Parse("f.json", flow(row.conditions...), Options{})
		if got := fmt.Sprint(found); !strings.Contains(got, row.code) || row.code == "" && len(found) > 0 {
			t.Errorf("%v: %v", row.conditions, found)
		}
		if f == nil {
			if row.want != "" {
				t.Errorf("%v: %v", row.conditions, found)
			}
			continue
		}
		if script, found := f.Convert(Structured); !strings.Contains(script, row.want) {
			t.Errorf("%v: %v\n%s", row.conditions, found, script)
		}
	}
}

// TestPlaceholders checks that placeholders of other formats are reported, and braces in JSON, code and paths are not.
func TestPlaceholders(t *testing.T) {
	for said, want := range map[string]string{
		"Write about ${topic}.": "warning", "About {{ topic }}.": "warning", "Write about {topic}.": "note", "{a.b}": "note", "'{x}'": "note",
		`{"a": 1}`: "", `{"a": {"b": [1]}}`: "", "{}": "", "{ x }": "", "f(){return}": "", `\frac{a}{b}`: "", "/users/{id}": "", "{a: b}": "", "{1}": "",
		"set {x, y}": "", "{\n  x\n}": "",
	} {
		text, _ := json.Marshal(map[string]any{"id": "f", "version": "1", "agents": []any{map[string]any{"name": "a", "type": "task", "params": map[string]any{"task": said}}}})
		_, found := Parse("f.json", string(text), Options{})
		got := ""
		if len(found) > 0 {
			got = found[0].Severity.String()
		}
		if got != want || want != "" && found[0].Code != diag.FlowPlaceholder {
			t.Errorf("%q: %v, want %q", said, found, want)
		}
	}
}

// TestLoadScriptOdd checks that the script that loads a flow contains any of its texts as a text literal.
func TestLoadScriptOdd(t *testing.T) {
	for _, odd := range []string{`"""`, "\n    return 5\n", `\`, `'"`, "\x00\a\x7f", "é\u2028\U0001f600\ufffd", "Args:\n    x: y", "# x", "{x} %s"} {
		said, _ := json.Marshal(odd)
		text := fmt.Sprintf(`{"id": %s, "version": "1", "description": %s, "agents": [{"name": %s, "type": "task", "params": {"task": "do"}}], "tools": [{"name": %s, "type": "local", "parameters": {"path": "x"}}]}`, said, said, said, said)
		script := LoadScript("f.json", text, LoadOptions{Tools: "t.star"}, nil)
		if n := strings.Count(script, "\n"); n < 6 || n > 7 {
			t.Errorf("%q: the script has %d lines:\n%s", odd, n, script)
		}
	}
}
