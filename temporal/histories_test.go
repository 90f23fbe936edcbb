package temporal

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/record"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// golden is a recorded history of this ABI, with the script of its run.
type golden struct {
	name, script string
	history      *historypb.History
}

func goldens(t *testing.T) (all []golden) {
	t.Helper()
	files, err := filepath.Glob("testdata/histories/*.star")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(strings.TrimSuffix(file, ".star") + ".json")
		if err != nil {
			t.Fatal(err)
		}
		h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close() // it was only read
		all = append(all, golden{filepath.Base(file), string(script), h})
	}
	return all
}

// replay replays the history as that of a run of the given script.
func (g golden) replay(t *testing.T, script string) error {
	t.Helper()
	type args struct {
		What string `json:"what"`
	}
	look, err := agentscript.ToolFunc("look", "Does what it is told.", func(context.Context, args) (string, error) {
		t.Error("a tool is called in a replay")
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	look.Class = engine.ClassRead
	e := agentscript.New(agentscript.WithDefaultModel("test/model"), agentscript.WithTool(look))
	w, err := newWorker(e, Options{Blobs: blob.Dir(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.LoadBundle(t.Context(), engine.Bundle{Entry: g.name, Files: map[string][]byte{g.name: []byte(script)}}, g.name)
	if err != nil {
		t.Fatal(err)
	}
	head, err := m.Head(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	files, err := json.Marshal(head.Files)
	if err != nil {
		t.Fatal(err)
	}
	to := g.history.Events[0].GetWorkflowExecutionStartedEventAttributes()
	before := to.Input
	defer func() { to.Input = before }()
	var in Input
	if err := converter.GetDefaultDataConverter().FromPayloads(before, &in); err != nil {
		t.Fatal(err)
	}
	if in.Files, err = w.vault.Put(t.Context(), bundleKey(head.Bundle), files); err != nil {
		t.Fatal(err)
	}
	for i, part := range in.Run { // as a part of a run of that script
		whole := openParts(t, w.vault, []vault.Sealed{part})
		if script == g.script && whole.Head.Bundle != head.Bundle {
			t.Fatalf("the history is of a script %s, not %s", whole.Head.Bundle, head.Bundle)
		}
		whole.Head.Bundle = head.Bundle
		text, err := record.Encode(whole)
		if err != nil {
			t.Fatal(err)
		}
		if in.Run[i], err = w.vault.Seal(t.Context(), text, false); err != nil {
			t.Fatal(err)
		}
	}
	if to.Input, err = converter.GetDefaultDataConverter().ToPayloads(in); err != nil {
		t.Fatal(err)
	}
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(w.run, workflow.RegisterOptions{Name: Workflow})
	return r.ReplayWorkflowHistory(discardLogger{}, g.history)
}

// Promise 31.11 (temporal): histories that were recorded under this abi can be replayed by later versions. The
// histories of an edited script are refused, with the position of the difference.
func TestPromise_31_11_Histories(t *testing.T) {
	edits := map[string]struct{ from, to, at string }{
		"sequence.star":  {"Work.", "Work well.", "agent:a"},
		"fan_out.star":   {"Check.", "Check it.", "agent:b"},
		"tool_loop.star": {"Look.", "See.", "agent:a"},
		"approval.star":  {"a letter", "a note", "agent:a"},
		"race.star":      {"Be quick.", "Be slow.", "agent:quick"},
		"continued.star": {"range(20)", "range(21)", "agent:a"},
	}
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			if err := g.replay(t, g.script); err != nil {
				t.Error(err)
			}
			edit, ok := edits[g.name]
			if !ok {
				t.Fatal("no edit of it is tried")
			}
			err := g.replay(t, strings.Replace(g.script, edit.from, edit.to, 1))
			if err == nil || !strings.Contains(err.Error(), edit.at) {
				t.Errorf("the edited script: %v", err)
			}
		})
	}
}
