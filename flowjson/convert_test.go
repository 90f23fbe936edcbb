package flowjson_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/flowjson"
	"github.com/agentscript/agentscript/internal/cli/starfmt"
	"github.com/agentscript/agentscript/starlib"
)

// updating reports whether golden files are written.
func updating() bool { return flag.Lookup("update").Value.String() == "true" }

// TestPublished: each published flow is written as its golden scripts show, in the form of the formatter, and
// nothing is found in them, not even by a strict check.
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
			continue // an early draft of the format, which is refused
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

// sound reports what the formatter would change in a script, and all that a strict check finds.
func sound(t *testing.T, name, script string) {
	t.Helper()
	formatted, err := starfmt.Format([]byte(script))
	if err != nil || !bytes.Equal(formatted, []byte(script)) {
		t.Errorf("%s: %v, the formatter makes of it\n%s", name, err, formatted)
	}
	if waits(script) != "" {
		return
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

// toolsFile holds the local tools of the flows here.
const toolsFile = `
def search(query = str):
    """Searches."""
    return "found " + query

def http(url = str):
    """Fetches."""
    return "got " + url
`

// waits says what of a script the language does not have yet, "" for nothing.
func waits(script string) string {
	const word = "reasoning_every"
	agent, _ := starlib.Universe().Lookup("agent")
	has := slices.ContainsFunc(agent.Params, func(p starlib.Param) bool { return p.Name == word })
	if !has && strings.Contains(script, word+" = ") {
		return word
	}
	return ""
}

// FuzzConvert: any flow that is read is written, and what is written loads.
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
	f.Fuzz(func(t *testing.T, text string) {
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
			if waits(script) != "" {
				continue
			}
			fsys := fstest.MapFS{"flow.star": {Data: []byte(script)}, flowjson.ToolsFile: {Data: []byte(toolsOf(script))}}
			findings, _ := agentscript.New(agentscript.WithUngranted()).Check(t.Context(), fsys, "flow.star")
			if findings.HasErrors() {
				t.Errorf("%v\n%s", findings, script)
			}
		}
	})
}

// toolsOf writes the functions that a script loads.
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
