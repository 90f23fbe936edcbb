package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/hang"
)

const printingScript = `
a = agent("a", prompt = "Work.")
def main(what = str):
    phase("first")
    print("hello", what)
    said = a(what)
    phase("second")
    print("after", said)
    return said
`

// answersFile writes a file of prepared answers for agent a, and returns its path.
func (b *bench) answersFile() string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "answers.jsonl")
	if err := os.WriteFile(path, []byte(`{"agent": "a", "text": "one"}`+"\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// normalized returns the progress output without what differs from run to run: times, and the name of the model. It
// removes the line with the run's id.
func normalized(s string) string {
	s = regexp.MustCompile(`(?m)^run [0-9a-f]{16}\n`).ReplaceAllString(s, "")
	s = regexp.MustCompile(`\d+(\.\d+)?(ms|s)\b`).ReplaceAllString(s, "TIME")
	return strings.ReplaceAll(s, "the worker's model", "scripted")
}

// A run on workers is shown like a local one: what its script prints, its agents and its last line, in each form.
func TestShownAsLocally(t *testing.T) {
	b := onServer(t)
	agentscript, answers, file := b.agentscript(), b.answersFile(), b.script(printingScript)
	at := []string{"--task-queue", "shown"}
	b.worker(append(at, "--scripted", answers)...)
	for _, flags := range []string{"", "-v", "-q", "--progress plain", "--progress none"} {
		local := b.exec(agentscript, append(append([]string{"run", "--scripted", answers}, strings.Fields(flags)...), file, "x")...)
		there := b.temporal(0, "", append(append(append([]string{"run"}, at...), strings.Fields(flags)...), file, "x")...)
		if got, want := normalized(there.err), normalized(local.err); got != want || there.out != local.out || !strings.Contains(got, "hello x") {
			t.Errorf("%q: %s\n%s\nlocally %s\n%s", flags, there.out, got, local.out, want)
		}
	}
	kinds := func(output string) (all []string) {
		for line := range strings.Lines(output) {
			var e struct{ Kind, Phase, Path, Name string }
			if err := json.Unmarshal([]byte(line), &e); err != nil || e.Kind == "" {
				t.Fatalf("%v in %s", err, line)
			}
			if e.Kind == "effect" {
				e.Name = "" // only the worker knows which model answers
			}
			if e.Kind != "token" {
				all = append(all, strings.Join([]string{e.Kind, e.Phase, e.Path, e.Name}, " "))
			}
		}
		return all
	}
	local := kinds(b.exec(agentscript, "run", "--scripted", answers, "--json", file, "x").err)
	there := kinds(b.temporal(0, "", append([]string{"run", "--json"}, append(at, file, "x")...)...).err)
	if strings.Join(local, "\n") != strings.Join(there, "\n") {
		t.Errorf("--json: %q\nlocally %q", there, local)
	}
	if s := b.temporal(term.ExitUsage, "--progress tree needs a terminal", append([]string{"run", "--progress", "tree"}, append(at, file, "x")...)...); strings.Contains(s.err, "run ") {
		t.Errorf("a run began that cannot be shown:\n%s", s.err)
	}

	id := b.startRun(append(at, file, "y")...)
	hang.Until(t, "its list says that it is done", func() bool {
		return regexp.MustCompile(id + ` +done +1 `).MatchString(b.exec("temporal", append([]string{"runs", "ls", "--status", "done"}, at...)...).out)
	})
	out := b.temporal(0, "", append([]string{"runs", "show", "--follow", id}, at...)...).out
	if i, j := strings.Index(out, "hello y"), strings.Index(out, "after one"); i < 0 || j < i || !strings.Contains(out[i:j], "done model") {
		t.Errorf("runs show --follow:\n%s", out)
	}
	if out := b.temporal(0, "", append([]string{"runs", "show", "--follow", "--json", id}, at...)...).out; !strings.Contains(out, `"event":{"kind":"log"`) {
		t.Errorf("runs show --follow --json:\n%s", out)
	}
}

// Lists show what a waiting run did while no worker runs; its head is shown, and an export warns that it continues.
func TestWaitsWithoutWorker(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "waits"}
	on := func(args ...string) []string { return append(args, at...) }
	worker := b.worker(on("--verbose")...)
	s := b.temporal(term.ExitWaiting, "", on("run", b.script(askingScript), "rent")...)
	_, rest, _ := strings.Cut(s.err, "agentscript temporal runs answer ")
	id, _, _ := strings.Cut(rest, " ")
	b.temporal(0, "", on("runs", "answer", id, "--approve")...)
	if out := b.temporal(0, "", on("runs", "show", id)...).out; !regexp.MustCompile(`approval0 was answered by \S+ by agentscript temporal runs answer at \d{4}-`).MatchString(out) {
		t.Errorf("who answered is not shown:\n%s", out)
	}
	hang.Until(t, "it is parked anew", func() bool {
		return regexp.MustCompile(id + ` +parked +2 `).MatchString(b.exec("temporal", on("runs", "ls", "--status", "parked")...).out)
	})
	file := filepath.Join(t.TempDir(), "run")
	b.temporal(0, "is still running: the file holds what it has done so far", on("runs", "export", id, "-o", file)...)
	text, err := os.ReadFile(file)
	if err != nil || bytes.Contains(text, []byte(`"status":"parked"`)) {
		t.Errorf("%v, the file says how the run ended:\n%s", err, text)
	}
	_ = worker.Process.Kill()
	_ = worker.Wait()
	s = b.temporal(term.ExitProvider, `no worker of the task queue "waits"`, on("runs", "show", id)...)
	if !strings.Contains(s.out, "run "+id+" of ") || !strings.Contains(s.out, ": parked\n") || !strings.Contains(s.out, "2 steps") {
		t.Errorf("the head without a worker:\n%s", s.out)
	}
	if s := b.temporal(term.ExitProvider, `no worker of the task queue "waits"`, on("runs", "export", id)...); s.out != "" || !strings.Contains(s.err, ": parked\n") {
		t.Errorf("an export without a worker:\n%s", s.err)
	}
	if out := b.temporal(0, "", on("__complete", "runs", "show")...).out; strings.Contains(out, id) {
		t.Errorf("no word is completed there:\n%s", out)
	}
	if out := b.temporal(0, "", "__complete", "runs", "show", "--task-queue", "waits", id[:4]).out; !strings.Contains(out, id+"\tparked") {
		t.Errorf("ids of runs are completed as\n%s", out)
	}
}

// A fork takes the flags of run that have an effect there, and names the commands for runs on the server.
func TestForks(t *testing.T) {
	b := onServer(t)
	agentscript, answers, file := b.agentscript(), b.answersFile(), b.script(printingScript)
	store := filepath.Join(t.TempDir(), "runs.db")
	at := []string{"--task-queue", "forks"}
	on := func(args ...string) []string { return append(args, at...) }
	b.worker(on("--scripted", answers, "--allow-exec", "true")...)
	if s := b.exec(agentscript, "run", "--store", store, "--scripted", answers, file, "x"); s.code != 0 {
		t.Fatal(s.err)
	}
	local, _, _ := strings.Cut(strings.Split(b.exec(agentscript, "runs", "ls", "--store", store).out, "\n")[1], " ")

	s := b.temporal(term.ExitUsage, "there is no run "+local, on("runs", "fork", local)...)
	if !strings.Contains(s.err, "agentscript temporal runs fork FILE here") || strings.Contains(s.err, "help: agentscript runs") {
		t.Errorf("a run that is not there:\n%s", s.err)
	}
	b.env = append(b.env, "AGENTSCRIPT_STORE="+store)
	b.temporal(term.ExitUsage, "agentscript temporal runs fork "+local+" --store "+store, on("runs", "fork", local)...)
	id := b.temporal(0, "", on("runs", "fork", local, "--store", store, "--detach", "--pin-worker", "--seed", "7")...).out
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(id) {
		t.Fatalf("--detach prints %q", id)
	}
	hang.Until(t, "the fork is done", func() bool {
		return strings.Contains(b.exec("temporal", on("runs", "show", id)...).out, "result: one")
	})
	var is struct{ Run struct{ Seed, Parent string } }
	if err := json.Unmarshal([]byte(b.temporal(0, "", on("runs", "show", "--json", id)...).out), &is); err != nil || is.Run.Seed != "7" || is.Run.Parent != local {
		t.Errorf("%+v %v", is, err)
	}
	for flag, words := range map[string]string{"--trace": "runs show RUN --json", "--retries": "worker --retries", "--scripted": "worker --scripted",
		"--session": "keeps nothing in one", "--cache": "worker --cache", "--record": "leave it out"} {
		b.temporal(term.ExitUsage, words, on("runs", "fork", id, flag, "1")...)
	}
	b.temporal(term.ExitUsage, "agentscript temporal runs show "+id, on("runs", "fork", id, "--from", "nowhere")...)
	b.temporal(term.ExitUsage, "usage: agentscript temporal runs fork RUN", "runs", "fork")
}

// An error about what a worker lacks names the worker, and what to do there.
func TestWorkerLacks(t *testing.T) {
	b := onServer(t)
	at := []string{"--task-queue", "lacks"}
	b.worker(at...)
	file := b.script(printingScript)
	run := func(words string, args ...string) {
		t.Helper()
		s := b.temporal(term.ExitProvider, words, append(append(append([]string{"run"}, at...), args...), file, "x")...)
		if !regexp.MustCompile(`the worker \d+@\S+ was asked`).MatchString(s.err) || strings.Contains(s.err, "--mock") {
			t.Errorf("%s:\n%s", words, s.err)
		}
	}
	run("AS707")
	run("start the workers with --env-file FILE", "--model", "openai/gpt-5")
}

// Check warns of actions on one of several workers, and recognizes scripts that cannot be loaded.
func TestCheck(t *testing.T) {
	b := newBench(t)
	acts := b.script("def main():\n    return sh.run([\"true\"]).code\n")
	b.temporal(0, `the command "true" acts on the worker that carries the call out`, "check", acts)
	b.temporal(0, "ok", "check", "--pin-worker", acts)
	b.temporal(0, `the MCP server files acts on the worker`, "check", "examples/mcp_files.star")
	b.temporal(term.ExitCheck, "acts on the worker", "check", "--strict", acts)
	notes := b.script("a = agent(output = any, prompt = \"A.\")\nb = agent(input = str, prompt = \"B.\")\nmain = a >> b\n")
	b.temporal(0, "AS317", "check", "--strict", notes)
	b.temporal(0, "flow.star: ok", "check", "--strict", notes)
	b.temporal(term.ExitCheck, "ok", "check", b.script("main = nothing\n"), "examples/count.star")
	b.temporal(term.ExitUsage, "check needs a FILE", "check")
	if s := b.temporal(0, "", "version", "--json"); !strings.Contains(s.out, `"workflow": "agentscript.v1"`) {
		t.Errorf("version: %s", s.out)
	}
}
