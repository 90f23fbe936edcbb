package flowjson

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden checks that each flow of testdata gets the code in its name and the findings of its golden file, and that
// a sound one gets none.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[diag.Code]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, found := Check(name+".json", string(text), Options{})
		for _, d := range found {
			shown[d.Code] = true
			if d.Message == "" || len(d.Help) == 0 || !d.Span.IsValid() {
				t.Errorf("%s: %v has no place, message or remedy", name, d)
			}
		}
		if code, _, ok := strings.Cut(name, "_"); ok && !strings.Contains(found.Error(), code) {
			t.Errorf("%s gets %v", name, found)
		} else if !ok && slices.ContainsFunc(found, func(d *diag.Diagnostic) bool { return d.Severity != diag.Info }) {
			t.Errorf("%s is sound, and gets %v", name, found)
		}
		var b bytes.Buffer
		if err := diag.Render(&b, found, diag.SourceMap{name + ".json": string(text)}, diag.Options{}); err != nil {
			t.Fatal(err)
		}
		golden := strings.TrimSuffix(file, ".json") + ".golden"
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil || !bytes.Equal(want, b.Bytes()) {
			t.Errorf("%s: %v, got\n%s", name, err, b.Bytes())
		}
	}
	for _, e := range diag.Entries() {
		if strings.HasPrefix(string(e.Code), "AS9") && e.Code != diag.FlowNotScript && e.Code != diag.FlowExport && !shown[e.Code] {
			t.Errorf("no flow of testdata gets %s", e.Code)
		}
	}
}

// TestEmpty checks that for a file without text, the position where one is missing is reported.
func TestEmpty(t *testing.T) {
	spec, found := Check("f.json", "\n  ", Options{})
	if want := (diag.Span{Pos: diag.Pos{File: "f.json", Line: 2, Col: 3}}); spec != nil || len(found) != 1 || found[0].Span != want {
		t.Errorf("got %v at %+v, want one at %+v", found, found[0].Span, want)
	}
}

// TestFixes checks that applying the offered edits removes their findings.
func TestFixes(t *testing.T) {
	for _, file := range []string{"AS901_agents", "AS912_conditions", "AS913_models", "AS915_comma", "AS917_words"} {
		text, err := os.ReadFile("testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		_, found := Check("f.json", string(text), Options{})
		mended, fixes := string(text), 0
		for i := len(found) - 1; i >= 0; i-- { // from the end, so that positions stay valid
			for _, f := range found[i].Fixes {
				mended = edited(mended, f)
				fixes++
			}
		}
		_, left := Check("f.json", mended, Options{})
		if fixes == 0 {
			t.Errorf("%s: nothing is offered", file)
		}
		for _, d := range left {
			if len(d.Fixes) > 0 {
				t.Errorf("%s: is still offered after all edits: %v\n%s", file, d, mended)
			}
		}
	}
}

func edited(text string, f diag.Fix) string {
	lines := strings.SplitAfter(text, "\n")
	line := []rune(lines[f.Span.Line-1])
	at := f.Span.Col - 1
	lines[f.Span.Line-1] = string(line[:at]) + f.Replacement + string(line[at+f.Span.Len:])
	return strings.Join(lines, "")
}

// TestLongFlows checks a thousand agents at once: the work grows linearly.
func TestLongFlows(t *testing.T) {
	flow := func(n int) string {
		var agents []string
		edges := []string{`{"from": "a0", "to": "__finish__", "condition": {"variable": "output", "operation": "equals", "value": -1}}`}
		for i := range n {
			agents = append(agents, fmt.Sprintf(`{"name": "a%d", "type": "task", "config": {"maxIterations": 3}, "params": {"task": "x"}}`, i))
			edges = append(edges, fmt.Sprintf(`{"from": "a%d", "to": "a%d", "condition": {"variable": "output", "operation": "equals", "value": %d}}, {"from": "a%d", "to": "a%d"}`, i, (i+1)%n, i, i, (i*7+3)%n))
		}
		return `{"id": "f", "version": "1", "agents": [` + strings.Join(agents, ",") + `], "transitions": [` + strings.Join(edges, ",\n") + `]}`
	}
	cost := func(n int) float64 {
		text := flow(n)
		return testing.AllocsPerRun(1, func() {
			if f, found := Check("f.json", text, Options{}); f == nil {
				t.Fatal(found)
			}
		})
	}
	if small, large := cost(300), cost(3000); large > 13*small {
		t.Errorf("300 agents take %.0f allocations, 3000 take %.0f", small, large)
	}
}

// FuzzParse checks that no text makes the reader panic or loop, and that every finding has a position in the text.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{"{", "[[[", `{"a":`, `{"a" 1}`, "/*", "'\\", `"\u12`, `"\ud800\u0041"`, "{,}", "{a:b,,}", "\xff{", `{"transitions":[{"from":"a","to":"a"}],"agents":[{"name":"a"},{"name":"a"}]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		spec, found := Check("f.json", text, Options{})
		if spec == nil && len(found) == 0 {
			t.Error("nothing is read, and nothing is told")
		}
		for _, d := range found {
			if !d.Span.IsValid() || d.Span.Line > lines || d.Message == "" {
				t.Errorf("%+v is nowhere in %d lines", d, lines)
			}
		}
	})
}
