package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// Promise 30.51 (durable): a run of one effect takes at most 15 ms longer than with --ephemeral, in a store of 10,000
// runs.
func TestPromise_30_51_ShortRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: keeps 10,000 runs")
	}
	const (
		kept = 10_000
		more = 15 * time.Millisecond
	)
	h := newHome(t, "main = agent(model = \"openai/x\", prompt = \"A.\")\n")
	h.write("p.jsonl", `{"agent":"main","text":"one"}`+"\n")
	path := filepath.Join(h.dir, "r.db")
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for share := range 50 { // committed together
		all.Go(func() {
			for i := range kept / 50 {
				err := s.PutRun(t.Context(), store.Whole{Head: engine.RunHead{ID: fmt.Sprintf("r%d-%d", share, i), ABI: engine.ABI, Script: "flow.star", Entry: "main"},
					Steps: []engine.Step{{ID: "main/llm0@1", State: engine.StepDone, Kind: engine.EffectModel, Key: "k", Outcome: []byte(`{"attempt":1}`)}},
					End:   &engine.RunEnd{Status: engine.RunDone, Text: "one"}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var used, took [2][]time.Duration
	for range 11 {
		for i, where := range [][]string{{"--store", "r.db"}, {"--ephemeral"}} {
			cmd := h.command(nil, append([]string{"run", "flow.star", "go", "-q", "--scripted", "p.jsonl"}, where...)...)
			begun := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "one\n" {
				t.Fatalf("%v\n%s", err, out)
			}
			took[i] = append(took[i], time.Since(begun))
			used[i] = append(used[i], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	median := func(all []time.Duration) time.Duration { slices.Sort(all); return all[len(all)/2] }
	t.Logf("a kept run takes %v, and %v of a processor; one that is not %v, and %v", median(took[0]), median(used[0]), median(took[1]), median(used[1]))
	// Time of a processor, which others use too: on a slow one, more than the bar is wrong only beside what the run takes.
	if by := median(used[0]) - median(used[1]); by > 2*more && by > 2*median(used[1]) {
		t.Errorf("a kept run uses %v more", by)
	}
}

// Promise 30.52 (durable): durable.md says what is promised and what is not, and runs.md how to use it. The approval
// and research examples resume in their tests.
func TestPromise_30_52_PagesOfRuns(t *testing.T) {
	for page, titles := range map[string][]string{
		"durable.md": {"## What is promised", "## What is not promised", "## In Go"},
		"runs.md":    {"## Where", "## A run that waits", "## Going on", "## Forks", "## Looking at runs", "## Elsewhere, and away"},
	} {
		text := exampleText(t, filepath.Join("..", "..", "docs", page))
		for _, title := range titles {
			if !strings.Contains(text, "\n"+title+"\n") {
				t.Errorf("%s lacks %q", page, title)
			}
		}
	}
	h := newHome(t, "")
	for _, name := range []string{"approval.star", "approval.jsonl", "delegate.star", "delegate.jsonl"} {
		h.write(name, exampleText(t, filepath.Join("..", "..", "examples", name)))
	}
	// A person approves the refund from elsewhere.
	if out := h.run(nil, "run", "approval.star", "Order A1 came broken.", "--scripted", "approval.jsonl", "--ask", "refund", "--store", "r.db", "-q"); out.code != 5 {
		t.Fatalf("exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "answer", "last", "--approve", "--store", "r.db"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	if out := h.run(nil, "runs", "resume", "last", "--store", "r.db"); out.code != 0 || out.stdout != "You have 40 euros back, Ann.\n" || !strings.Contains(out.stderr, "reused 2 effects, ran 1") {
		t.Errorf("exit %d: %s\n%s", out.code, out.stdout, out.stderr)
	}
	// One of the agents that a lead calls has no answer yet.
	all := exampleText(t, filepath.Join("..", "..", "examples", "delegate.jsonl"))
	lines := strings.SplitAfter(all, "\n")
	h.write("delegate.jsonl", strings.Join(lines[:2], ""))
	if out := h.run(nil, "run", "delegate.star", "How far is the moon?", "--scripted", "delegate.jsonl", "--store", "r.db", "-q"); out.code != 1 || !strings.Contains(out.stderr, "agentscript runs resume") {
		t.Fatalf("exit %d\n%s", out.code, out.stderr)
	}
	h.write("delegate.jsonl", all)
	if out := h.run(nil, "runs", "resume", "last", "--store", "r.db"); out.code != 0 || out.stdout != "About 12800 days.\n" || !strings.Contains(out.stderr, "reused 2 effects, ran 2") {
		t.Errorf("exit %d: %s\n%s", out.code, out.stdout, out.stderr)
	}
}

func exampleText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
