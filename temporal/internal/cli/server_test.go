package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/exampleruns"
	"github.com/agentscript/agentscript/internal/hang"
)

// syncBuffer is a buffer that a process writes while a test reads.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *syncBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *syncBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// startRun begins a run without waiting for it, and returns its id.
func (b *bench) startRun(args ...string) string {
	b.t.Helper()
	return b.temporal(0, "", append([]string{"run", "--detach"}, args...)...).out
}

// Examples have the same result on workers as on one machine, also twice on one worker.
func TestExamples(t *testing.T) {
	b := onServer(t)
	agentscript := b.agentscript()
	for _, name := range []string{"review", "delegate", "triage"} {
		for _, ex := range exampleruns.All {
			if ex.Name() != name+"/"+ex.In {
				continue
			}
			answers := "examples/" + name + ".jsonl"
			b.worker("--task-queue", name, "--scripted", answers)
			line := []string{"examples/" + ex.File, ex.In}
			local := b.exec(agentscript, append([]string{"run", "--ephemeral", "--scripted", answers}, line...)...)
			if local.out != ex.Want {
				t.Fatalf("locally %s\n%s", local.out, local.err)
			}
			for range 2 {
				if s := b.temporal(0, "", append([]string{"run", "--task-queue", name}, line...)...); s.out != local.out {
					t.Errorf("%s, locally %s\n%s", s.out, local.out, s.err)
				}
			}
		}
	}
}

const askingScript = `
ask = approval("Pay it?")
def main(what = str):
    ask(what)
    n = wait("amount", int)
    return "paid %s %d" % (what, n)
`

// A run that waits says how to answer it, and all verbs about runs know it.
func TestRuns(t *testing.T) {
	b := onServer(t)
	b.env = append(b.env, "USER=ann")
	at := []string{"--task-queue", "runs"}
	b.worker(at...)
	on := func(args ...string) []string { return append(args, at...) }
	file := b.script(askingScript)
	s := b.temporal(term.ExitWaiting, "--approve | --failed REASON", on("run", file, "rent")...)
	_, rest, _ := strings.Cut(s.err, "agentscript temporal runs answer ")
	id, _, _ := strings.Cut(rest, " ")
	if !strings.Contains(s.err, "--task-queue runs") {
		t.Errorf("the line that answers is of another queue:\n%s", s.err)
	}
	if s := b.temporal(0, "", on("runs", "ls")...); !strings.Contains(s.out, id+"  parked") {
		t.Errorf("runs ls: %s", s.out)
	}
	if s := b.temporal(0, "", on("runs", "show", id)...); !strings.Contains(s.out, "waits for a decision: Pay it?") {
		t.Errorf("runs show: %s", s.out)
	}
	b.temporal(term.ExitUsage, "waits for a decision", on("runs", "answer", id, "--again")...)
	b.temporal(0, "", on("runs", "answer", id, "--approve")...)
	follows := b.command("temporal", on("runs", "show", id, "--follow")...)
	var seen syncBuffer
	follows.Stdout = &seen
	if err := follows.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "it waits for the amount", func() bool { return strings.Contains(seen.String(), "waiting wait amount") })
	b.temporal(0, "", on("runs", "answer", id, "amount", "--result", "12")...)
	if err := follows.Wait(); err != nil || !strings.Contains(seen.String(), "result: paid rent 12") {
		t.Errorf("runs show --follow: %v\n%s", err, seen.String())
	}
	b.temporal(term.ExitUsage, "has ended", on("runs", "answer", id, "--approve")...)

	var shown struct {
		Run   struct{ Status, Text string }
		Steps []struct{ State string }
		Waits []any
	}
	if err := json.Unmarshal([]byte(b.temporal(0, "", on("runs", "show", id, "--json")...).out), &shown); err != nil || shown.Run.Status != "done" || shown.Run.Text != "paid rent 12" || len(shown.Steps) != 2 || shown.Waits == nil {
		t.Errorf("runs show --json: %+v %v", shown, err)
	}
	var listed struct {
		Runs []struct{ Run, Status string }
	}
	if err := json.Unmarshal([]byte(b.temporal(0, "", on("runs", "ls", "--json")...).out), &listed); err != nil || len(listed.Runs) == 0 || listed.Runs[0].Run != id || listed.Runs[0].Status != "done" {
		t.Errorf("runs ls --json: %+v %v", listed, err)
	}

	b.temporal(term.ExitUsage, "keeps nothing in one", on("runs", "fork", id, "--session", "x")...)
	forked := b.temporal(0, "takes 2 steps of 2", on("runs", "fork", id)...)
	if forked.out != "paid rent 12" {
		t.Errorf("the fork: %s\n%s", forked.out, forked.err)
	}
	export := filepath.Join(t.TempDir(), "run")
	b.temporal(0, "", on("runs", "export", id, "-o", export)...)
	if s := b.exec(b.agentscript(), "run", "--replay", export, file, "rent"); s.out != "paid rent 12" {
		t.Errorf("the replay of what was exported: %s\n%s", s.out, s.err)
	}

	id = b.startRun(on(file, "heat")...)
	if s := b.temporal(0, "", on("runs", "cancel", id, "too dear")...); s.out != id+" cancelled" {
		t.Errorf("runs cancel: %s\n%s", s.out, s.err)
	}
	if s := b.temporal(0, "", on("runs", "show", id)...); !strings.Contains(s.out, "too dear") || strings.Contains(s.out, "runs answer") || !strings.Contains(s.out, "runs fork "+id) {
		t.Errorf("runs show of one that was cancelled: %s", s.out)
	}
	b.temporal(0, "", on("runs", "rm", id)...)
	b.temporal(0, "", on("run", "--yes", b.script(`
ask = approval("Pay it?")
def main(what = str):
    ask(what)
    return what
`), "rent")...)
}

const slowScript = `
def main(n = int):
    for i in range(n):
        sleep(0.1)
        sh.run(["true"])
    return "slept %d" % n
`

// A run continues when its worker is killed, and an interrupt of the command that watches it cancels it.
func TestKilledWorker(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "killed", "--allow-exec", "true"}
	first := b.worker(append(at, "--heartbeat", "1s")...)
	file := b.script(slowScript)
	id := b.startRun(append(at, "-q", file, "--n", "12")...)
	hang.Until(t, "it is on its way", func() bool {
		return strings.Count(b.exec("temporal", "runs", "show", id, "--task-queue", "killed").out, "done exec") > 3
	})
	_ = first.Process.Kill()
	b.worker(append(at, "--heartbeat", "1s")...)
	hang.Until(t, "it has ended", func() bool {
		return strings.Contains(b.exec("temporal", "runs", "show", id, "--task-queue", "killed").out, "result: slept 12")
	})

	watching := b.command("temporal", append([]string{"run", "-v"}, append(at, file, "--n", "600")...)...)
	var errs syncBuffer
	watching.Stderr = &errs
	if err := watching.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "it is shown", func() bool { return strings.Contains(errs.String(), "sleep") })
	_ = watching.Process.Signal(syscall.SIGTERM)
	_ = watching.Wait()
	if code := watching.ProcessState.ExitCode(); code != term.ExitInterrupted {
		t.Errorf("exit %d after an interrupt\n%s", code, errs.String())
	}
	if s := b.temporal(0, "", "runs", "ls", "--task-queue", "killed", "--status", "cancelled"); s.out == "" {
		t.Error("the run goes on after an interrupt")
	}
}

// Two interrupts of the command that watches a run, in quick succession, cancel the run: the first one reaches the
// server before the second one ends the command.
func TestInterruptedTwice(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "twice", "--allow-exec", "true"}
	b.worker(at...)
	file := b.script(slowScript)
	for _, apart := range []time.Duration{0, 3 * time.Millisecond, 15 * time.Millisecond} {
		watching := b.command("temporal", append([]string{"run", "-v"}, append(at, file, "--n", "600")...)...)
		var errs syncBuffer
		watching.Stderr = &errs
		if err := watching.Start(); err != nil {
			t.Fatal(err)
		}
		hang.Until(t, "it is shown", func() bool { return strings.Contains(errs.String(), "sleep") })
		_, rest, _ := strings.Cut("\n"+errs.String(), "\nrun ")
		id, _, _ := strings.Cut(rest, "\n")
		_ = watching.Process.Signal(os.Interrupt)
		time.Sleep(apart)
		_ = watching.Process.Signal(syscall.SIGTERM)
		begun := time.Now()
		_ = watching.Wait()
		if code := watching.ProcessState.ExitCode(); code != term.ExitInterrupted || time.Since(begun) > 10*time.Second {
			t.Errorf("exit %d after %s\n%s", code, time.Since(begun), errs.String())
		}
		hang.Until(t, "the run is cancelled", func() bool {
			return strings.Contains(b.exec("temporal", "runs", "show", id, "--task-queue", "twice").out, "cancelled")
		})
	}
}

// MCP servers that are processes run on each of two workers: one lists the tools of a server, another one may call
// them, and --pin-worker keeps a run on one of them.
func TestServersOnTwoWorkers(t *testing.T) {
	b := onServer(t)
	command := b.agentscript()
	desk := b.script(`
def opening(day = field(str, "a day of the week")):
    """Tells when the desk is open."""
    return "closed" if day == "Sunday" else "9 to 5"
`)
	answers := filepath.Join(t.TempDir(), "answers.jsonl")
	text := `{"agent": "visitor", "calls": [{"name": "opening", "args": {"day": "Sunday"}}]}` + "\n" + `{"agent": "visitor", "text": "It is closed."}` + "\n"
	if err := os.WriteFile(answers, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	quoted := func(s string) string { text, _ := json.Marshal(s); return string(text) }
	file := b.script(`
desk = mcp(` + quoted(command) + `, args = ["serve", "mcp", ` + quoted(desk) + `, "--expose", "opening"])
main = agent(name = "visitor", prompt = "Answer from the desk.", tools = [desk])
`)
	at := []string{"--task-queue", "desks", "--allow-exec", command}
	for range 2 {
		b.worker(append(at, "--scripted", answers)...)
	}
	for _, more := range [][]string{nil, nil, nil, {"--pin-worker"}, {"--pin-worker"}} {
		s := b.temporal(0, "1 tool call", append(append(append([]string{"run"}, at...), more...), file, "Is it open on Sunday?")...)
		if s.out != "It is closed." || strings.Contains(s.err, "failed") {
			t.Errorf("%s\n%s", s.out, s.err)
		}
	}
}

// A worker that lacks a grant of a run refuses it, and names the grant.
func TestGrants(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "grants"}
	find := []string{"--find-worker", "1s"}
	dir := t.TempDir()
	b.worker(append(at, "--allow-exec", "true", "--allow-fs", dir)...)
	file := b.script(`
def main():
    return sh.run(["true"]).code
`)
	run := func(code int, words string, args ...string) {
		t.Helper()
		b.temporal(code, words, append(append(append(append([]string{"run"}, at...), find...), args...), file)...)
	}
	run(0, "another one each time", "--allow-exec", "true")
	run(0, "", "--allow-exec", "true", "--allow-fs", dir+":ro")
	below := filepath.Join(dir, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	run(0, "", "--allow-exec", "true", "--allow-fs", below)
	run(term.ExitFailed, "is granted --allow-fs "+dir+":rw, and the worker", "--allow-exec", "true", "--allow-fs", dir+":rw")
	run(term.ExitFailed, "is granted --allow-exec false, and the worker", "--allow-exec", "true", "--allow-exec", "false")
	run(term.ExitFailed, "is granted --allow-net example.com, and the worker", "--allow-exec", "true", "--allow-net", "example.com")
}

// Turns of a conversation are runs of a session that workers keep. A run of it continues on this machine, without the session.
func TestSessions(t *testing.T) {
	b := onServer(t)
	agentscript, dir := b.agentscript(), t.TempDir()
	kept, file, answers := filepath.Join(dir, "kept"), filepath.Join(dir, "run.jsonl"), filepath.Join(dir, "answers.jsonl")
	rows := `{"agent": "chat", "match": "I am Ada", "text": "Hello!", "repeat": true}` + "\n" + `{"agent": "chat", "match": "Who am I", "text": "Ada.", "repeat": true}` + "\n"
	if err := os.WriteFile(answers, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	queue := []string{"--task-queue", "sessions"}
	b.worker(append(queue, "--session-store", kept, "--scripted", answers)...)
	turn := func(words string, session ...string) string {
		return b.temporal(0, "", append(append(append([]string{"run"}, queue...), session...), "examples/chat.star", words)...).out
	}
	first := turn("I am Ada.", "--session", "ada")
	second := turn("Who am I?", "--session", "ada")
	local := []string{"run", "--ephemeral", "-q", "--scripted", answers, "--session", "ada", "--session-store", filepath.Join(dir, "local"), "examples/chat.star"}
	if first == second {
		t.Errorf("both turns answer %q", first)
	}
	if s := b.exec(agentscript, append(local, "I am Ada.")...); s.out != first {
		t.Errorf("locally %q, on the server %q", s.out, first)
	}
	if s := b.exec(agentscript, append(local, "Who am I?")...); s.out != second {
		t.Errorf("locally %q, on the server %q", s.out, second)
	}
	show := b.exec(agentscript, "sessions", "show", "ada", "--session-store", kept)
	if want := b.exec(agentscript, "sessions", "show", "ada", "--session-store", filepath.Join(dir, "local")); show.out != want.out || !strings.Contains(show.out, "Who am I?") {
		t.Errorf("the session is\n%s\nand after the same turns on this machine\n%s", show.out, want.out)
	}

	b.temporal(0, "", append([]string{"runs", "export", "last", "-o", file}, queue...)...)
	if s := b.exec(agentscript, "run", "-q", "--ephemeral", "examples/chat.star", "Who am I?", "--replay", file); s.code != 0 || s.out != second {
		t.Errorf("replayed: exit %d, %s\n%s", s.code, s.out, s.err)
	}
	if s := b.exec(agentscript, "runs", "fork", file, "--store", filepath.Join(dir, "runs.db"), "-q", "--scripted", answers); s.code != 0 || s.out != second {
		t.Errorf("forked: exit %d, %s\n%s", s.code, s.out, s.err)
	}
	b.temporal(term.ExitUsage, "keeps nothing in one", append([]string{"runs", "fork", "last", "--session", "ada"}, queue...)...)
	if again := b.exec(agentscript, "sessions", "show", "ada", "--session-store", kept); again.out != show.out {
		t.Errorf("the session became\n%s", again.out)
	}

	b.worker("--task-queue", "none keeps them", "--scripted", answers)
	b.temporal(term.ExitProvider, "start the workers with --session-store DIR", "run", "--task-queue", "none keeps them", "--find-worker", "1s", "--session", "ada", "examples/chat.star", "I am Ada.")
}

// The cost of all runs omits a run whose blobs are elsewhere; the cost of that run alone is an error.
func TestCostWithoutBlobs(t *testing.T) {
	b := onServer(t)
	queue, blobs := []string{"--task-queue", "apart"}, []string{"--blobs", t.TempDir()}
	b.worker(append(queue, blobs...)...)
	id := b.startRun(append(append(queue, blobs...), b.script("def main():\n    now()\n    return \"x\" * 100000\n"))...) // too large for the history
	b.temporal(0, "", append(append([]string{"runs", "show", "--follow", id}, queue...), blobs...)...)
	b.temporal(0, "run "+id+" is left out: the blob", append([]string{"runs", "cost"}, queue...)...)
	if s := b.temporal(0, "", append([]string{"runs", "cost", "--json"}, queue...)...); !strings.Contains(s.out, `"left_out": [`) || !strings.Contains(s.out, `"`+id+`"`) {
		t.Errorf("as JSON: %s", s.out)
	}
	b.temporal(term.ExitFailed, "is not in the store of blobs", append([]string{"runs", "cost", id}, queue...)...)
}

// Everything that is missing on the server or on all workers is reported.
func TestMissing(t *testing.T) {
	b := onServer(t)
	b.temporal(term.ExitProvider, `has no namespace "nowhere"`, "run", "--namespace", "nowhere", "examples/count.star", "41")
	b.temporal(term.ExitProvider, `has no namespace "nowhere"`, "worker", "--wait", "0s", "--namespace", "nowhere")
	b.temporal(term.ExitUsage, "there is no run nothing", "runs", "show", "nothing")
	id := b.startRun("--task-queue", "nobody", "examples/count.star", "41")
	b.temporal(term.ExitProvider, `no worker of the task queue "nobody"`, "runs", "show", id, "--task-queue", "nobody")
	b.temporal(0, "run "+id+" is left out", "runs", "cost", "--task-queue", "nobody")
	if out := b.exec("temporal", "runs", "answer", id, "word", "--result", "1", "--task-queue", "nobody").out; !strings.Contains(out, "the answer is kept") {
		t.Errorf("an answer while no worker runs: %s", out)
	}
	b.temporal(term.ExitUsage, "it is unknown what it waits for", "runs", "answer", id, "--result", "1", "--task-queue", "nobody")
	b.temporal(term.ExitFailed, "no worker has the run", "runs", "cancel", id, "--task-queue", "nobody")
	b.temporal(term.ExitUsage, "there is no such directory", "runs", "ls", "--blobs", "nowhere")
	drained := b.worker("--task-queue", "nobody")
	hang.Until(t, "the run is cancelled", func() bool {
		return strings.Contains(b.exec("temporal", "runs", "show", id, "--task-queue", "nobody").out, "was cancelled")
	})
	begun := time.Now()
	_ = drained.Process.Signal(syscall.SIGTERM)
	if err := drained.Wait(); err != nil || time.Since(begun) > 20*time.Second {
		t.Errorf("an idle worker that is interrupted: %v after %s", err, time.Since(begun))
	}
}
