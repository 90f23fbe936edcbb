package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/agentscript/agentscript/engine"
)

var update = flag.Bool("update", false, "record the histories that later versions must replay")

// TestHistories records histories of the scripts in testdata/histories, with -update. The tests of the package temporal
// replay them. The histories of an ABI are recorded once.
func TestHistories(t *testing.T) {
	if !*update {
		t.Skip("not here: -update, which records histories anew")
	}
	const dir = "../../testdata/histories"
	files, err := filepath.Glob(filepath.Join(dir, "*.star"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no scripts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := newCluster(t, shared(t), func(j *job) { j.Events = 60 })
		c.worker("one")
		name := filepath.Base(file)
		m, err := recordingEngine(&c.job).LoadBundle(t.Context(), engine.Bundle{Entry: name, Files: map[string][]byte{name: text}}, name)
		if err != nil {
			t.Fatal(err)
		}
		id, err := c.Start(t.Context(), m, "main")
		if err != nil {
			t.Fatal(err)
		}
		switch name {
		case "approval.star":
			c.answer(id, c.waitingStep(id).ID, engine.Answer{Approved: true})
			c.answer(id, "copies", engine.Answer{Result: []byte("3")})
		case "continued.star":
			c.answer(id, "late", wordAnswer("end"))
		}
		if info := c.waitEnd(id); info.Status != engine.RunDone {
			t.Fatalf("%s: %s %s", name, info.Status, info.Err)
		}
		histories := c.histories(id)
		out, err := protojson.MarshalOptions{Indent: " "}.Marshal(&historypb.History{Events: histories[len(histories)-1]})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(strings.TrimSuffix(file, ".star")+".json", append(out, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d events of history %d", name, len(histories[len(histories)-1]), len(histories))
	}
}
