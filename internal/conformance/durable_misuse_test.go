package conformance

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// paysFlow pays again and again, and each payment prints much.
const paysFlow = `def main(n = str):
    for i in range(8):
        sh.run(["sh", "-c", "echo pay%d >> paid.txt; head -c 200000 /dev/zero | tr '\\0' x" % i])
    return "ok"
`

// paid returns the lines of a file that commands wrote, and empties it.
func (h *home) paid() []string {
	h.t.Helper()
	path := filepath.Join(h.dir, "paid.txt")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	_ = os.Remove(path) // if it exists
	return strings.Fields(string(text))
}

// Promise 30.53 (durable): a run that continues although its store has failed cannot be resumed in a way that repeats
// what it did. If the store can neither be written nor remove the run, the run begins nothing that must not happen
// twice.
func TestPromise_30_53_UnkeptMidway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no limit of the size of files can be set")
	}
	failed := 0
	for _, most := range []string{"900", "1100", "1300", "1600"} {
		h := newHome(t, paysFlow)
		cmd := hang.Command(t, "sh", "-c", `ulimit -f `+most+`; exec "$0" "$@"`, command(t), "run", "flow.star", "q", "--allow-exec", "sh")
		cmd.Dir, cmd.Env = h.dir, append([]string{"NO_COLOR=1", "PATH=" + os.Getenv("PATH")}, h.env...)
		said, err := cmd.CombinedOutput()
		paid := h.paid()
		if strings.Contains(string(said), "this run is not kept") {
			failed++
		}
		if err == nil && len(paid) != 8 || err != nil && !strings.Contains(string(said), "must not happen twice") {
			t.Errorf("%s: %v: paid %q\n%s", most, err, paid, said)
		}
		out := h.run(nil, "runs", "resume", "last")
		for _, again := range h.paid() {
			if slices.Contains(paid, again) {
				t.Errorf("%s: %s a second time, exit %d\n%s", most, again, out.code, out.stderr)
			}
		}
	}
	if failed == 0 {
		t.Error("the store has not failed once")
	}
}

// in runs the command in a directory below the user's.
func (h *home) in(dir string, args ...string) output {
	h.t.Helper()
	return runCommandIn(h.t, filepath.Join(h.dir, dir), h.env, args...)
}

func (h *home) mkdir(names ...string) {
	h.t.Helper()
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(h.dir, name), 0o700); err != nil {
			h.t.Fatal(err)
		}
	}
}

const payingFlow = `def main(n = str):
    sh.run(["sh", "-c", "echo pay >> paid.txt"])
    wait("n", int)
    approve("Delete all?")
    return "ok"
`

// Promise 30.54 (durable): names on a command line are relative to the directory of the command, even if the run has
// another directory.
func TestPromise_30_54_NamesOfTheCaller(t *testing.T) {
	h := newHome(t, "")
	h.mkdir("run", "user")
	for name, text := range map[string]string{
		"run/flow.star":  "def main(n = str):\n    wait(\"x\", int)\n    return n\n",
		"run/a.star":     "def main(n = str):\n    return \"of the run: \" + n\n",
		"user/a.star":    "def main(n = str):\n    return \"of the user: \" + n\n",
		"user/b.star":    "def main(n = str):\n    return \"b: \" + n\n",
		"run/in.txt":     "in the run",
		"user/in.txt":    "in the user",
		"run/read.star":  "def main(n = str):\n    wait(\"x\", int)\n    return fs.read(n)\n",
		"run/note.txt":   "run's note",
		"user/other.txt": "none",
	} {
		h.write(name, text)
	}
	h.in("run", "run", "flow.star", "q", "--store", "../s.db", "-q")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--script", "a.star"}, "of the user: q\n"},
		{[]string{"--script", "b.star"}, "b: q\n"},
		{[]string{"--script", "b.star", "--input-file", "in.txt"}, "b: in the user\n"},
		{[]string{"--script", "../run/a.star", "--input-file", "../run/in.txt"}, "of the run: in the run\n"},
	} {
		run := h.in("user", "runs", "ls", "--store", "../s.db").stdout
		first := strings.Fields(run[strings.LastIndex(strings.TrimRight(run, "\n"), "\n"):])[0]
		if out := h.in("user", append([]string{"runs", "fork", first, "--store", "../s.db", "-q"}, tt.args...)...); out.stdout != tt.want {
			t.Errorf("%q prints %q\n%s", tt.args, out.stdout, out.stderr)
		}
	}
	for _, dir := range []string{"run", "user"} {
		if _, err := os.Stat(filepath.Join(h.dir, dir, "s.db.locks")); err == nil || fileIs(h, filepath.Join(dir, "s.db")) {
			t.Errorf("something of the store is in %s", dir)
		}
	}
	h.in("run", "run", "read.star", "note.txt", "--store", "../r.db", "--allow-fs", ".", "-q")
	h.in("user", "runs", "answer", "last", "x", "--result", "1", "--store", "../r.db")
	if out := h.in("user", "runs", "resume", "last", "--store", "../r.db", "--allow-fs", ".:rw", "-q"); out.code == 0 {
		t.Errorf("a grant of the user's directory grants that of the run: %q", out.stdout)
	}
	if out := h.in("user", "runs", "resume", "last", "--store", "../r.db", "-q"); out.stdout != "run's note\n" {
		t.Errorf("what was granted before: %q\n%s", out.stdout, out.stderr)
	}
}

func fileIs(h *home, name string) bool {
	_, err := os.Stat(filepath.Join(h.dir, name))
	return err == nil
}

// Promise 30.55 (durable): a fork that may repeat something that must not happen twice requires its own --yes, which
// approves nothing else.
func TestPromise_30_55_YesOfAFork(t *testing.T) {
	h := newHome(t, payingFlow)
	store := []string{"--store", "s.db", "-q"}
	h.run(nil, append([]string{"run", "flow.star", "q", "--yes", "--allow-exec", "sh"}, store...)...)
	fork := append([]string{"runs", "fork", "last", "--from", "main/exec:run#0"}, store...)
	if out := h.run(nil, fork...); out.code != 5 || !strings.Contains(out.stderr, "may carry out a second time") || len(h.paid()) != 1 {
		t.Errorf("a fork of a run that had --yes: exit %d\n%s", out.code, out.stderr)
	}
	h = newHome(t, payingFlow)
	h.run(nil, append([]string{"run", "flow.star", "q", "--allow-exec", "sh"}, store...)...)
	if out := h.run(nil, append(fork, "--yes")...); len(h.paid()) != 2 {
		t.Fatalf("--yes: exit %d\n%s", out.code, out.stderr)
	}
	h.run(nil, append([]string{"runs", "answer", "last", "n", "--result", "1"}, store[:2]...)...)
	out := h.run(nil, append([]string{"runs", "resume", "last"}, store...)...)
	if out.code != 5 || !strings.Contains(out.stderr, "Delete all?") || strings.Contains(out.stderr, "before: --allow-exec sh --yes") {
		t.Errorf("--yes to a fork approves later: exit %d\n%s", out.code, out.stderr)
	}
}

// Promise 30.56 (durable): when a run continues, its prepared answers start after those that it has already used.
func TestPromise_30_56_PreparedAnswersGoOn(t *testing.T) {
	h := newHome(t, "poet = agent(prompt = \"A.\")\n\ndef main(n = str):\n    a = poet(n)\n    wait(\"x\", int)\n    return [a, poet(n)]\n")
	h.write("answers.jsonl", `{"agent": "poet", "text": "one"}`+"\n"+`{"agent": "poet", "text": "two"}`+"\n")
	h.write("mocked.star", "poet = agent(prompt = \"A.\", output = enum(\"a\", \"b\", \"c\"))\n\ndef main(n = str):\n    a = [poet(n), poet(n)]\n    wait(\"x\", int)\n    return a + [poet(n)]\n")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"flow.star", "q", "--scripted", "answers.jsonl"}, `["one","two"]`},
		{[]string{"mocked.star", "q", "--mock", "--seed", "1"}, `["b","c","a"]`},
	} {
		for _, verb := range []string{"resume", "fork"} {
			db := []string{"--store", verb + tt.args[0] + ".db"}
			h.run(nil, append(append([]string{"run"}, tt.args...), db...)...)
			if verb == "fork" {
				h.run(nil, append([]string{"runs", "fork", "last"}, db...)...)
			}
			h.run(nil, append([]string{"runs", "answer", "last", "x", "--result", "1"}, db...)...)
			if out := h.run(nil, append([]string{"runs", "resume", "last", "-q"}, db...)...); out.stdout != tt.want+"\n" {
				t.Errorf("%s of %q: %q\n%s", verb, tt.args, out.stdout, out.stderr)
			}
		}
	}
}

// Promise 30.57 (durable): a run whose directory no longer exists keeps no grants elsewhere, and grants that are
// printed are in force.
func TestPromise_30_57_GrantsStayWhereTheyWere(t *testing.T) {
	h := newHome(t, "")
	h.mkdir("gone")
	h.write("gone/flow.star", payingFlow)
	h.in("gone", "run", "flow.star", "q", "--allow-fs", ".:rw", "--allow-exec", "sh", "--store", "../s.db", "-q")
	if err := os.RemoveAll(filepath.Join(h.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	if out := h.run(nil, "runs", "resume", "last", "--store", "s.db", "-q"); out.code != 2 || !strings.Contains(out.stderr, "cannot be entered") {
		t.Errorf("exit %d\n%s", out.code, out.stderr)
	}
	h.write("flow.star", payingFlow)
	h.run(nil, "run", "flow.star", "q", "--yes", "--allow-fs", ".:rw", "--allow-exec", "sh", "--store", "t.db", "-q")
	for flag, want := range map[string]string{"--net-proxy=http://localhost:1": "granted as before: --allow-exec sh --allow-fs .:rw --yes\n", "--allow-exec=ls": "granted as before: --yes\n"} {
		if out := h.run(nil, "runs", "resume", "last", "--store", "t.db", "-q", flag); !strings.Contains(out.stderr, want) {
			t.Errorf("%s: exit %d, want %q in\n%s", flag, out.code, want, out.stderr)
		}
	}
}

// Promise 30.58 (durable): files that are written for their owner only are not written through a link that somebody
// else created.
func TestPromise_30_58_FilesOfTheirOwner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not those of Unix")
	}
	h := newHome(t, payingFlow)
	h.write("victim", "whole")
	for link, to := range map[string]string{"link.db": "target.db", "x.part": "victim"} {
		if err := os.Symlink(to, filepath.Join(h.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	h.run(nil, "run", "flow.star", "q", "--allow-exec", "sh", "--store", "link.db", "-q")
	h.run(nil, "runs", "export", "last", "--store", "link.db", "-o", "x")
	for _, name := range []string{"target.db", "x"} {
		if at, err := os.Lstat(filepath.Join(h.dir, name)); err != nil || at.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", name, at, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "victim")); string(text) != "whole" {
		t.Errorf("the target of a link beside an export: %q, %v", text, err)
	}
	if out := h.run(nil, "run", "flow.star", "q", "--store", "/dev/null", "--allow-exec", "sh"); out.code != 1 || !strings.Contains(out.stderr, "AS755") || len(h.paid()) != 1 {
		t.Errorf("a device as the store: exit %d\n%s", out.code, out.stderr)
	}
}

// Promise 30.59 (durable): a cancelled run is cancelled even if its process dies before it has ended the run, and a run
// whose process does not respond is not reported as ended.
func TestPromise_30_59_CancelIsNotLost(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    return wait(\"x\", int)\n")
	h.run(nil, "run", "flow.star", "q", "-q")
	id := h.last()
	s, err := sqlite.Open(t.Context(), h.db())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.TakeRun(t.Context(), id, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if out := h.run(nil, "runs", "cancel", id, "why"); out.code != 1 || !strings.Contains(out.stderr, "has not ended it yet") {
		t.Errorf("an owner that does not answer: exit %d: %q\n%s", out.code, out.stdout, out.stderr)
	}
	if err := r.Close(); err != nil { // as when the process has died
		t.Fatal(err)
	}
	if out := h.run(nil, "runs", "resume", id, "-q"); out.code != 130 && out.code != 1 || !strings.Contains(out.stderr, "was cancelled: why") {
		t.Errorf("a run that is to be cancelled is resumed: exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "show", id); !strings.Contains(out.stdout, ": cancelled") || !strings.Contains(out.stdout, "why") {
		t.Errorf("show:\n%s", out.stdout)
	}
	if out := h.run(nil, "runs", "answer", id, "x", "--result", "3"); out.code != 0 {
		t.Errorf("an answer to a cancelled run: exit %d\n%s", out.code, out.stderr)
	}
	if r, err = s.TakeRun(t.Context(), id, engine.Owner{}); err != nil {
		t.Fatal(err)
	}
	cmd := h.command(nil, "runs", "cancel", id, "again")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "the wish to cancel", func() bool {
		info, err := s.Run(t.Context(), id)
		return err == nil && info.Cancel == "again"
	})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil || said.String() != id+" cancelled\n" {
		t.Errorf("its owner dies: %v: %q", err, said.String())
	}
}

// Promise 30.60 (durable): fork --from uses the order in which steps were recorded, whatever the clock did.
func TestPromise_30_60_ForkFromWithoutClocks(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    for i in range(4):\n        sh.run([\"sh\", \"-c\", \"echo pay%d >> paid.txt\" % i])\n    return \"ok\"\n")
	h.run(nil, "run", "flow.star", "q", "--allow-exec", "sh", "-q")
	lines := strings.SplitAfter(h.run(nil, "runs", "export", "last").stdout, "\n")
	for i, line := range lines {
		if !strings.Contains(line, "run#2") && !strings.Contains(line, "run#3") || !strings.Contains(line, `"id":`) {
			continue
		}
		var step map[string]any
		if err := json.Unmarshal([]byte(line), &step); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"begun", "ended"} {
			at, err := time.Parse(time.RFC3339Nano, step[name].(string))
			if err != nil {
				t.Fatal(err)
			}
			step[name] = at.Add(-time.Hour).Format(time.RFC3339Nano)
		}
		text, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = string(text) + "\n"
	}
	h.write("back.jsonl", strings.Join(lines, ""))
	h.paid()
	fork := []string{"runs", "fork", "back.jsonl", "--from", "main/exec:run#1", "--allow-exec", "sh", "-q"}
	if out := h.run(nil, fork...); out.code != 5 || strings.Count(out.stderr, "may do a second time") != 3 {
		t.Errorf("exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, append(fork, "--yes")...); strings.Join(h.paid(), " ") != "pay1 pay2 pay3" {
		t.Errorf("exit %d\n%s", out.code, out.stderr)
	}
}

// Promise 30.61 (durable): --on-unknown says what a resumed run does about effects that may have happened, and is
// stored with the run.
func TestPromise_30_61_OnUnknownFlag(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command kills its parent")
	}
	h := newHome(t, "def main(n = str):\n    sh.run([\"sh\", \"-c\", \"echo pay >> paid.txt; [ -e no ] || { touch no; kill -9 $PPID; sleep 1; }\"])\n    return \"ok\"\n")
	h.run(nil, "run", "flow.star", "q", "--allow-exec", "sh", "--on-unknown", "fail", "-q")
	if out := h.run(nil, "runs", "resume", "last", "-q"); out.code != 1 || !strings.Contains(out.stderr, "AS779") || strings.Contains(out.stderr, "runs answer") {
		t.Errorf("fail: exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "resume", "last", "-q", "--on-unknown", "retry"); out.stdout != "ok\n" || len(h.paid()) != 2 {
		t.Errorf("retry: exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "run", "flow.star", "q", "--on-unknown", "sometimes", "--allow-exec", "sh"); out.code != 2 || !strings.Contains(out.stderr, "it is one of ask, fail, retry") {
		t.Errorf("another word: exit %d\n%s", out.code, out.stderr)
	}
}

// Promise 30.62 (durable): the commands that messages suggest refer to the same store, and are quoted for a shell.
func TestPromise_30_62_LinesToCopy(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	h := newHome(t, "def main(n = str):\n    return wait(n, int)\n")
	for _, name := range []string{"--again", "a\nb", "it's", "two words"} {
		h.run(nil, "run", "flow.star", "--n="+name, "--store", "s.db", "-q")
		show := h.run(nil, "runs", "show", "last", "--store", "s.db").stdout
		_, line, ok := strings.Cut(show, "agentscript runs answer ")
		line, _, _ = strings.Cut(line, "\n")
		cmd := hang.Command(t, "sh", "-c", `exec "$0" runs answer `+strings.Replace(line, "JSON", "1", 1), command(t))
		cmd.Dir, cmd.Env = h.dir, h.env
		if said, err := cmd.CombinedOutput(); !ok || err != nil {
			t.Errorf("%q: %s: %v: %s", name, line, err, said)
		}
		if out := h.run(nil, "runs", "resume", "last", "--store", "s.db", "-q"); out.stdout != "1\n" {
			t.Errorf("%q: exit %d\n%s", name, out.code, out.stderr)
		}
	}
	if out := h.run(nil, "runs", "resume", "last", "--store", "s.db"); strings.Count(out.stderr, " --store s.db ") != 2 {
		t.Errorf("a run that is done:\n%s", out.stderr)
	}
}

// Promise 30.63 (durable): input that cannot be a run, or a store, is refused and left unchanged.
func TestPromise_30_63_RefusedAtTheDoor(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    return wait(\"x\", int)\n")
	h.run(nil, "run", "flow.star", "q", "-q")
	whole := h.run(nil, "runs", "export", "last").stdout
	id := h.last()
	h.write("run.jsonl", whole)
	h.write("last.jsonl", strings.Replace(whole, id, "last", 1))
	h.write("flag.jsonl", strings.Replace(whole, id, "--help", 1))
	h.write("late.jsonl", regexp.MustCompile(`"begun":"\d{4}`).ReplaceAllString(whole, `"begun":"9999`))
	h.write("long.jsonl", `{"v":2,"run":"`+strings.Repeat(" ", 140<<20))
	h.write("rows.jsonl", strings.Replace(strings.Replace(whole, id, "forged", 1), `"script":"flow.star"`, `"script":"a.star\nother  done"`, 1))
	h.write("empty.db", "")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"import", "last.jsonl"}, "no run can be named by the id last"},
		{[]string{"import", "flag.jsonl"}, "no run can be named by the id --help"},
		{[]string{"import", "late.jsonl", "--as", "late"}, "late.jsonl:1: it has a time that no run can have"},
		{[]string{"import", "long.jsonl"}, "long.jsonl:1: it is longer than 128 MB"},
		{[]string{"import", "run.jsonl", "--as", ""}, "--as names no id"},
		{[]string{"fork", "last", "--from", ""}, "--from names no position"},
		{[]string{"cost", "--by", "flow,flow"}, `--by has "flow" twice`},
		{[]string{"ls", "--store", "empty.db"}, "it is empty"},
	} {
		if out := h.run(nil, append([]string{"runs"}, tt.args...)...); out.code != 2 || !strings.Contains(out.stderr, tt.want) {
			t.Errorf("%q: exit %d\n%s", tt.args, out.code, out.stderr)
		}
	}
	if at, err := os.Stat(filepath.Join(h.dir, "empty.db")); err != nil || at.Size() != 0 {
		t.Errorf("the empty file: %v, %v", at, err)
	}
	h.run(nil, "runs", "import", "rows.jsonl")
	if out := h.run(nil, "runs", "ls"); strings.Count(out.stdout, "\n") != 3 {
		t.Errorf("a script's path makes rows:\n%s", out.stdout)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(h.dir, "odd.db"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.CreateRun(t.Context(), engine.RunHead{ID: "odd", Script: "flow.star", Entry: "main", Settings: json.RawMessage(`{"v":1,"flags":{"deny":"pay"}}`)}, engine.Owner{})
	if err := errors.Join(err, r.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	if out := h.run(nil, "runs", "resume", "odd", "--store", "odd.db"); out.code != 2 || !strings.Contains(out.stderr, "the settings of run odd cannot be read") {
		t.Errorf("settings that cannot be read: exit %d\n%s", out.code, out.stderr)
	}
}
