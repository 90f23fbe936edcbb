package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
)

// The command resumes and forks in sessions as a host does, and a run that is exported and imported saves nothing in a
// session with the same name.
func TestSessionsOfRunsByCommand(t *testing.T) {
	h := newHome(t, strings.Replace(savingFlow, "agent(prompt", `agent(model = "openai/x", prompt`, 1))
	p := llmtest.New(llmtest.Reply{Text: "Fine.", Repeat: true})
	defer p.Close()
	do := func(code int, args ...string) output {
		t.Helper()
		o := h.run(p, args...)
		if o.code != code {
			t.Fatalf("%q: exit %d\n%s", args, o.code, o.stderr)
		}
		return o
	}
	lastAsked := func() string { all := p.Requests(); return string(all[len(all)-1].Body) }
	h.write("elsewhere", "")
	do(0, "run", "flow.star", "first", "--session", "ada", "--session-store", "kept", "-q")
	do(5, "run", "flow.star", "waits", "--session", "ada", "--session-store", "kept", "-q")
	waits := h.last()
	do(0, "run", "flow.star", "meanwhile", "--session", "ada", "--session-store", "kept", "-q", "--record", "rec")
	record, err := os.ReadFile(filepath.Join(h.dir, "rec"))
	if err != nil || !strings.Contains(string(record), `"session":{"id":"ada","entries":{`) || !strings.Contains(string(record), `waits`) {
		t.Errorf("the record does not say what the session held: %s, %v", record, err)
	}
	asked := len(p.Requests())
	if again := do(0, "run", "flow.star", "meanwhile", "--replay", "rec", "-q"); !strings.HasSuffix(again.stdout, "meanwhile\nafter meanwhile\n") || len(p.Requests()) != asked {
		t.Errorf("the replay prints %q", again.stdout)
	}
	if again := do(0, "run", "flow.star", "meanwhile", "--replay", h.last(), "-q"); !strings.HasSuffix(again.stdout, "meanwhile\nafter meanwhile\n") || len(p.Requests()) != asked {
		t.Errorf("the replay of the run prints %q", again.stdout)
	}
	do(0, "runs", "answer", waits, "go", "--result", `"now"`)
	do(0, "runs", "export", waits, "-o", "waits.jsonl")
	do(0, "runs", "import", "waits.jsonl", "--store", "other.db")
	do(0, "runs", "answer", "last", "go", "--result", `"now"`, "--store", "other.db")
	db := filepath.Join(h.dir, "kept", "runs.db")
	before := sessionOf(t, db, "ada")

	do(0, "runs", "resume", "last", "--store", "other.db", "-q")
	if body := lastAsked(); !strings.Contains(body, "first") || strings.Contains(body, "meanwhile") {
		t.Errorf("what was carried over goes on from %s", body)
	}
	if is := sessionOf(t, db, "ada"); is["transcript"] != before["transcript"] || is["memory/notes/"] != before["memory/notes/"] {
		t.Errorf("what was carried over changed the session to %+v", is)
	}
	if all := printed(h, "sessions", "ls"); all != "" {
		t.Errorf("it made sessions: %s", all)
	}

	do(0, "runs", "fork", waits, "other", "-q")
	if body := lastAsked(); !strings.Contains(body, "first") || !strings.Contains(body, "other") || strings.Contains(body, "waits") || strings.Contains(body, "meanwhile") {
		t.Errorf("the fork goes on from %s", body)
	}
	fork := h.last()
	do(0, "runs", "fork", waits, "aside", "-q", "--session", "aside")
	if is := sessionOf(t, db, "ada"); is["transcript"] != before["transcript"] || is["memory/notes/"] != before["memory/notes/"] {
		t.Errorf("the forks changed the session to %+v", is)
	}
	if said := saidIn(t, sessionOf(t, db, "aside")); !strings.HasPrefix(said, "first\n") || !strings.Contains(said, "aside") {
		t.Errorf("the session of the fork says %s", said)
	}
	if plan := do(0, "runs", "fork", fork, "--plan"); !strings.Contains(plan.stdout, "runs nothing") {
		t.Errorf("a fork of the fork: %s", plan.stdout)
	}

	do(0, "runs", "resume", waits, "-q")
	if body := lastAsked(); !strings.Contains(body, "first") || strings.Contains(body, "meanwhile") {
		t.Errorf("it goes on from %s", body)
	}
	after := sessionOf(t, db, "ada")
	if said := saidIn(t, after); after["transcript"].Version != before["transcript"].Version+1 || strings.Index(said, "meanwhile") > strings.Index(said, "waits") || !strings.Contains(said, "waits") {
		t.Errorf("the session is at %d, was at %d, and says %s", after["transcript"].Version, before["transcript"].Version, said)
	}
}

// A fork starts notes that end with the run as the script does, not with the other run's results.
func TestForkBeginsItsNotesAnew(t *testing.T) {
	s := store.NewMemory()
	eng := sayingHost(s, func(*model.Request) {})
	flow := strings.Replace(savingFlow, `, scope = "session"`, "", 1)
	m, err := eng.Load(t.Context(), fstest.MapFS{"talk.star": {Data: []byte(flow)}}, "talk.star")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Start(t.Context(), agentscript.ID("one"), agentscript.Input("one")).Wait(); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{"one": "one\nafter one", "two": "two\nafter two"} {
		if r, err := m.Start(t.Context(), agentscript.ForkRun("one"), agentscript.Input(in)).Wait(); err != nil || r.Text() != want {
			t.Errorf("%s: %q, %v", in, r.Text(), err)
		}
	}
}
