package diag_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
)

// whenRun are the codes of examples that load, and fail in a run.
var whenRun = map[diag.Code]bool{diag.NoMain: true, diag.NoModel: true, diag.UnknownProvider: true, diag.StepLimit: true, diag.NotChosen: true}

// TestExamples checks that the wrong script of an explanation gets the finding next to it and nothing else, and that
// the fixed one gets none.
func TestExamples(t *testing.T) {
	for _, e := range diag.Entries() {
		if e.Wrong == "" {
			continue
		}
		t.Run(string(e.Code), func(t *testing.T) {
			if _, err := load(t, e.Right); err != nil {
				t.Errorf("what is accepted is not:\n%v", err)
			}
			found := findings(t, e)
			if *update {
				store(t, e, found)
			} else if found != e.Finding {
				t.Errorf("what is refused gets\n%s\nwant\n%s", found, e.Finding)
			}
			for line := range strings.Lines(found) {
				if !strings.Contains(line, "["+string(e.Code)+"]") {
					t.Errorf("what is refused gets another code:\n%s", line)
				}
			}
			if found == "" {
				t.Error("what is refused is accepted")
			}
		})
	}
}

// load loads a script next to the files that examples load and read; its findings are the error.
func load(t *testing.T, script string) (*agentscript.Module, error) {
	t.Helper()
	files := fstest.MapFS{
		"main.star":          {Data: []byte(script)},
		"lib/reviewers.star": {Data: []byte("reviewer = agent(prompt = \"Review.\")\n")},
		"docs/style.md":      {Data: []byte("Be brief.\n")},
	}
	e := agentscript.New(agentscript.WithStrict(), agentscript.WithModels(llm.New()), agentscript.WithUngranted())
	m, err := e.Load(t.Context(), files, "main.star")
	if err == nil && len(m.Diagnostics()) > 0 {
		err = m.Diagnostics()
	}
	return m, err
}

// findings returns the findings of loading the wrong script, or of running it.
func findings(t *testing.T, e diag.Entry) string {
	t.Helper()
	m, err := load(t, e.Wrong)
	if err == nil && whenRun[e.Code] {
		steps := agentscript.RunLimits(engine.Limits{Steps: engine.AtMost(100_000)})
		_, err = m.Start(context.Background(), agentscript.InputText("x"), agentscript.Args(map[string]any{}), steps).Wait()
	}
	if err == nil {
		return ""
	}
	if failed, ok := err.(*engine.Error); ok {
		err = &diag.Diagnostic{Code: failed.Code, Message: failed.Message, Span: diag.Span{Pos: failed.Pos}}
	}
	return err.Error()
}

// store writes the findings into the explanation, before the right script.
func store(t *testing.T, e diag.Entry, found string) {
	t.Helper()
	path := "explain/" + string(e.Code) + ".txtar"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), "-- right.star --\n")
	head, _, _ = strings.Cut(head, "-- finding --\n")
	if err := os.WriteFile(path, []byte(head+"-- finding --\n"+found+"\n-- right.star --\n"+rest), 0o644); err != nil {
		t.Fatal(err)
	}
}
