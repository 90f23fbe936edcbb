package conformance

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// chatFlow continues a conversation, and records what it was asked.
const chatFlow = `facts = memory("facts", scope = "session")
chat = agent(model = "openai/x", prompt = "Be brief.", history = "shared")

def main(topic = str):
    facts.append(topic)
    return chat(topic)
`

// keptAsFile writes a session as an earlier version stored it, a file with a conversation and notes, and returns its
// path.
func keptAsFile(t *testing.T, dir, id, note string) string {
	t.Helper()
	said := fmt.Sprintf(`{"format":1,"messages":[{"role":"user","parts":[{"kind":"text","text":"I am %s."}]},{"role":"assistant","parts":[{"kind":"text","text":"Hello %s!"}]}]}`, id, id)
	body, err := json.Marshal(map[string]any{"id": id, "script": "flow.star", "ops": []string{"before"}, "entries": map[string]engine.Entry{
		"transcript": {Text: said, Version: 3}, "memory/facts/": {Text: note, Version: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	sum, of := sha256.Sum256(body), sha256.Sum256([]byte(id))
	path := filepath.Join(dir, strings.ToLower(id)+"-"+hex.EncodeToString(of[:4])+".session")
	whole := fmt.Sprintf("{\"agentscript_session\":1,\"sha256\":%q}\n%s", hex.EncodeToString(sum[:]), body)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(path, []byte(whole), 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// sessionOf returns the contents of a session in a file.
func sessionOf(t *testing.T, path, id string) map[string]engine.Entry {
	t.Helper()
	s, err := sqlite.Open(hang.Context(t), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	held, err := s.ReadSession(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// saidIn returns the conversation of a session, one line each.
func saidIn(t *testing.T, held map[string]engine.Entry) string {
	t.Helper()
	c, err := run.ReadTranscript(held["transcript"].Text)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range c.Messages {
		for _, p := range m.Parts {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

// endAtOnce runs commands concurrently to their ends, which must be successful.
func endAtOnce(t *testing.T, all ...*exec.Cmd) {
	t.Helper()
	said := make([]bytes.Buffer, len(all))
	for i, cmd := range all {
		cmd.Stdout, cmd.Stderr = &said[i], &said[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q: %v\n%s", cmd.Args[1:], err, said[i].String())
		}
	}
}

// Promise 30.6 (durable): sessions that were kept as files are imported once. --session-store DIR means a runs.db in
// that directory.
func TestPromise_30_6_SessionsTakenOver(t *testing.T) {
	h := newHome(t, chatFlow)
	p := llmtest.New(llmtest.Reply{Text: "Fine.", Repeat: true})
	defer p.Close()
	old := filepath.Join(h.dir, "state", "agentscript", "sessions")
	at := map[string]string{}
	for _, id := range []string{"ada", "Bob", "cy", "damaged"} {
		at[id] = keptAsFile(t, old, id, "name: "+id)
	}
	if err := os.Truncate(at["damaged"], 100); err != nil {
		t.Fatal(err)
	}

	// Processes that find them concurrently import each of them once, and continue the conversation.
	endAtOnce(t, h.command(p, "run", "flow.star", "Who am I?", "--session", "ada", "-q"), h.command(p, "run", "flow.star", "Who am I?", "--session", "Bob", "-q"),
		h.command(p, "run", "flow.star", "Who am I?", "--session", "new", "-q", "--ephemeral"),
		h.command(p, "run", "flow.star", "Who am I?", "--session", "other", "-q"))
	for id, version := range map[string]int64{"ada": 4, "Bob": 4, "cy": 3, "new": 1} {
		held := sessionOf(t, h.db(), id)
		said, notes := fmt.Sprintf("I am %s.\nHello %s!", id, id), "name: "+id
		switch id {
		case "ada", "Bob":
			said, notes = said+"\nWho am I?\nFine.", notes+"\nWho am I?"
		case "new":
			said, notes = "Who am I?\nFine.", "Who am I?"
		}
		if got := saidIn(t, held); got != said || held["transcript"].Version != version || held["memory/facts/"].Text != notes {
			t.Errorf("%s holds %+v", id, held)
		}
		if id == "new" {
			continue
		}
		if _, err := os.Stat(at[id]); err == nil {
			t.Errorf("%s is still there", at[id])
		}
		if _, err := os.Stat(at[id] + ".imported"); err != nil {
			t.Error(err)
		}
	}
	for _, r := range p.Requests() {
		if text := string(r.Body); strings.Contains(text, "Who am I?") && strings.Contains(text, "Hello ada!") == strings.Contains(text, "Hello Bob!") && strings.Contains(text, "Hello") {
			t.Errorf("a model is asked %s", text)
		}
	}
	if n := strings.Count(h.run(nil, "runs", "ls", "--json").stdout, `"status": "done"`); n != 3 {
		t.Errorf("%d runs are kept, want 3", n)
	}

	// One that is damaged is an error only for its own runs, before a model is called, and stays unchanged.
	before, err := os.ReadFile(at["damaged"])
	if err != nil {
		t.Fatal(err)
	}
	asked := len(p.Requests())
	if out := h.run(p, "run", "flow.star", "hi", "--session", "damaged"); out.code != 1 || !strings.Contains(out.stderr, "AS755") || !strings.Contains(out.stderr, "is damaged") {
		t.Errorf("damaged: exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "sessions", "ls"); out.code != 1 || !strings.Contains(out.stderr, "is damaged") || !strings.Contains(out.stdout, "ada ") || !strings.Contains(out.stdout, "cy ") {
		t.Errorf("sessions ls: exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if after, err := os.ReadFile(at["damaged"]); err != nil || !bytes.Equal(before, after) || len(p.Requests()) != asked {
		t.Errorf("the damaged file is %q after %d calls, %v", after, len(p.Requests())-asked, err)
	}

	// What an earlier version writes later is another session with that name: neither is lost.
	again := keptAsFile(t, old, "ada", "of an earlier version")
	if out := h.run(p, "run", "flow.star", "hi", "--session", "ada"); out.code != 1 || !strings.Contains(out.stderr, `another one of that name`) {
		t.Errorf("two of one name: exit %d\n%s", out.code, out.stderr)
	}
	if _, err := os.Stat(again); err != nil || len(p.Requests()) != asked {
		t.Errorf("%v, %d calls", err, len(p.Requests())-asked)
	}
	if out := h.run(nil, "sessions", "rm", "ada", "damaged", "Bob"); out.code != 0 {
		t.Error(out.stderr)
	}
	if got := printed(h, "sessions", "show", "ada"); !strings.Contains(got, "of an earlier version") {
		t.Errorf("the other one of that name says %q", got)
	}
	for _, path := range []string{at["damaged"], at["Bob"] + ".imported"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left of a session that was removed", path)
		}
	}
}

// printed returns the output of a command.
func printed(h *home, args ...string) string { return h.run(nil, args...).stdout }

// A directory of --session-store contains a runs.db and imports the files that are there. If it cannot be written, that
// is an error before the first effect.
func TestSessionStoreIsAFile(t *testing.T) {
	h := newHome(t, chatFlow)
	p := llmtest.New(llmtest.Reply{Text: "Fine.", Repeat: true})
	defer p.Close()
	kept := filepath.Join(h.dir, "kept")
	keptAsFile(t, kept, "ada", "")
	for i, flag := range []string{"--quiet", "--ephemeral"} {
		if out := h.run(p, "run", "flow.star", "Who am I?", "--session", "ada", "--session-store", "kept", flag); out.code != 0 {
			t.Fatal(out.stderr)
		}
		if held := sessionOf(t, filepath.Join(kept, "runs.db"), "ada"); held["transcript"].Version != int64(4+i) || !strings.HasPrefix(saidIn(t, held), "I am ada.\n") {
			t.Errorf("%s: it holds %+v", flag, held)
		}
	}
	if all := printed(h, "sessions", "ls", "--session-store", "kept"); !strings.Contains(all, "ada ") {
		t.Errorf("sessions ls prints %q", all)
	}
	if all := printed(h, "sessions", "ls"); all != "" {
		t.Errorf("sessions of the user: %q", all)
	}
	if n := strings.Count(printed(h, "runs", "ls", "--json"), `"status": "done"`); n != 1 {
		t.Errorf("%d runs are kept, want 1", n)
	}

	// Where runs are stored does not affect sessions.
	for _, how := range [][]string{{"--store", "other.db"}, {"--ephemeral"}, {"-q"}} {
		if how[0] == "-q" {
			h.env = append(h.env, "AGENTSCRIPT_STORE=off")
		}
		if out := h.run(p, append([]string{"run", "flow.star", "Who am I?", "--session", "eve"}, how...)...); out.code != 0 {
			t.Fatal(out.stderr)
		}
	}
	if held := sessionOf(t, h.db(), "eve"); held["transcript"].Version != 3 {
		t.Errorf("it holds %+v", held)
	}

	asked := len(p.Requests())
	h.write("file", "x")
	for _, dir := range []string{"file", filepath.Join("file", "below")} {
		if out := h.run(p, "run", "flow.star", "hi", "--session", "ada", "--session-store", dir); out.code != 1 || !strings.Contains(out.stderr, "AS755") || !strings.Contains(out.stderr, "name a file in a directory that can be written") {
			t.Errorf("%s: exit %d\n%s", dir, out.code, out.stderr)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(h.dir, "spoiled"), 0o700), os.WriteFile(filepath.Join(h.dir, "spoiled", "runs.db"), bytes.Repeat([]byte("none"), 9000), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out := h.run(p, "run", "flow.star", "hi", "--session", "ada", "--session-store", "spoiled"); out.code != 1 || !strings.Contains(out.stderr, "AS755") {
		t.Errorf("spoiled: exit %d\n%s", out.code, out.stderr)
	}
	if n := len(p.Requests()) - asked; n != 0 {
		t.Errorf("models were asked %d times", n)
	}
}

// A session alone creates the user's file, and the first run that is stored there announces it nevertheless.
func TestFirstRunAfterASession(t *testing.T) {
	h := newHome(t, chatFlow)
	p := llmtest.New(llmtest.Reply{Text: "Fine.", Repeat: true})
	defer p.Close()
	const notice = "runs are kept from now on"
	for _, tt := range []struct {
		flag string
		says bool
	}{{"--ephemeral", false}, {"--session=ada", true}, {"--session=ada", false}} {
		if out := h.run(p, "run", "flow.star", "hi", "--session", "ada", tt.flag); out.code != 0 || strings.Contains(out.stderr, notice) != tt.says {
			t.Errorf("%s: exit %d\n%s", tt.flag, out.code, out.stderr)
		}
	}
}
