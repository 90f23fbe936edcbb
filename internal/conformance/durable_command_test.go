package conformance

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/internal/text"
)

// Promise 30.24 (durable): the run command keeps its run in the user's state directory, says so once, and never breaks
// a run that would work without being kept.
func TestPromise_30_24_KeptByDefault(t *testing.T) {
	h := newHome(t, pairFlow)
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two"}, llmtest.Reply{Text: "three"}, llmtest.Reply{Text: "four"})
	defer p.Close()
	for i, want := range []string{"two", "four"} {
		out := h.run(p, "run", "flow.star", "go")
		if out.code != 0 || out.stdout != want+"\n" {
			t.Fatalf("exit %d: %q\n%s", out.code, out.stdout, out.stderr)
		}
		if said := strings.Contains(out.stderr, "runs are kept from now on, for 30 days, in "+h.db()); said != (i == 0) {
			t.Errorf("run %d says where runs are kept: %v\n%s", i, said, out.stderr)
		}
	}
	for path, mode := range map[string]os.FileMode{h.db(): 0o600, filepath.Dir(h.db()): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, want mode %o", path, err, mode)
		}
	}
	if out := h.run(nil, "runs", "ls", "--json"); strings.Count(out.stdout, `"status": "done"`) != 2 {
		t.Errorf("runs ls prints\n%s", out.stdout)
	}
	for name, spoil := range map[string]func(h *home) string{
		"no home":     func(*home) string { return "HOME= XDG_STATE_HOME=" },
		"not allowed": func(h *home) string { return "XDG_STATE_HOME=" + filepath.Join(h.dir, "flow.star") },
		"damaged": func(h *home) string {
			at := filepath.Join(h.dir, "spoiled", "agentscript")
			if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "runs.db"), bytes.Repeat([]byte("none"), 9000), 0o600)); err != nil {
				t.Fatal(err)
			}
			return "XDG_STATE_HOME=" + filepath.Dir(at)
		},
	} {
		h := newHome(t, pairFlow)
		p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two"})
		h.env = append(h.env, strings.Fields(spoil(h))...)
		out := h.run(p, "run", "flow.star", "go")
		if p.Close(); out.code != 0 || out.stdout != "two\n" || strings.Count(out.stderr, "warning") != 1 {
			t.Errorf("%s: exit %d: %q\n%s", name, out.code, out.stdout, out.stderr)
		}
	}
}

// Promise 30.25 (durable): a named store that cannot be opened is an error before the first effect. AGENTSCRIPT_STORE
// and --ephemeral turn the store off.
func TestPromise_30_25_NamedStore(t *testing.T) {
	h := newHome(t, pairFlow)
	p := llmtest.New(llmtest.Reply{Text: "x", Repeat: true})
	defer p.Close()
	for _, args := range [][]string{{"run", "flow.star", "go", "--store", "."}, {"run", "flow.star", "go", "--store", "flow.star"}} {
		if out := h.run(p, args...); out.code != 1 || out.stdout != "" || !strings.Contains(out.stderr, "AS755") || len(p.Requests()) != 0 {
			t.Errorf("%q: exit %d after %d calls: %q\n%s", args, out.code, len(p.Requests()), out.stdout, out.stderr)
		}
	}
	h.env = append(h.env, "AGENTSCRIPT_STORE=.")
	if out := h.run(p, "run", "flow.star", "go"); out.code != 1 || len(p.Requests()) != 0 {
		t.Errorf("the variable names a directory: exit %d after %d calls\n%s", out.code, len(p.Requests()), out.stderr)
	}
	for _, tt := range []struct{ env, flag string }{{"AGENTSCRIPT_STORE=off", "--quiet"}, {"AGENTSCRIPT_STORE=", "--ephemeral"}} {
		h.env = append(h.env, tt.env)
		if out := h.run(p, "run", "flow.star", "go", tt.flag); out.code != 0 || strings.Contains(out.stderr, "kept") {
			t.Errorf("%v: exit %d\n%s", tt, out.code, out.stderr)
		}
	}
	if _, err := os.Stat(filepath.Dir(h.db())); err == nil {
		t.Error("something is kept")
	}
	if out := h.run(p, "run", "flow.star", "go", "--store", "named.db", "-q"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	h.env = append(h.env, "AGENTSCRIPT_STORE=named.db")
	if out := h.run(nil, "runs", "ls"); !strings.Contains(out.stdout, "  done ") {
		t.Errorf("runs ls prints\n%s%s", out.stdout, out.stderr)
	}
}

// Promise 30.26 (durable): runs ls and runs show list and draw runs, including live and parked ones, with the command
// that continues them. Their JSON is versioned.
func TestPromise_30_26_ListAndShow(t *testing.T) {
	h := newHome(t, waitFlow)
	if out := h.run(nil, "runs", "ls"); out.code != 0 || out.stdout != "" || !strings.Contains(out.stderr, "no run is kept yet") {
		t.Errorf("without a store: exit %d, %q, %q", out.code, out.stdout, out.stderr)
	}
	if out := h.run(nil, "runs", "ls", "--json"); out.code != 0 || !strings.Contains(out.stdout, `"runs": []`) {
		t.Errorf("without a store: exit %d, %q", out.code, out.stdout)
	}
	p := llmtest.New(llmtest.Reply{Text: "one", In: 10, Out: 2})
	defer p.Close()
	if out := h.run(p, "run", "flow.star", "go", "-q"); out.code != 5 {
		t.Fatal(out.stderr)
	}
	if out := h.run(nil, "runs", "ls", "--status", "parked"); !regexp.MustCompile(`(?m)^[0-9a-f]{16}  parked  2  .*  flow.star$`).MatchString(out.stdout) {
		t.Errorf("runs ls prints\n%s", out.stdout)
	}
	show := h.run(nil, "runs", "show", "last").stdout
	for _, want := range []string{"agent:a#0/llm0  done model openai/x", "wait:go#0  waiting wait go", "agentscript runs answer " + h.last() + " go --result JSON", "agentscript runs resume " + h.last()} {
		if !strings.Contains(show, want) {
			t.Errorf("runs show lacks %q:\n%s", want, show)
		}
	}
	all := h.run(nil, "runs", "ls", "--json").stdout + h.run(nil, "runs", "show", "last", "--json").stdout
	golden(t, "durable/runs.json", h.steady(all))

	live := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Fault: llmtest.StallHeaders})
	defer live.Close()
	h = newHome(t, pairFlow)
	cmd := h.command(live, "run", "flow.star", "go", "-q")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "the second call", func() bool { return len(live.Requests()) == 2 })
	if out := h.run(nil, "runs", "ls"); !strings.Contains(out.stdout, "  running  ") {
		t.Errorf("runs ls of a live one prints\n%s", out.stdout)
	}
	if out := h.run(nil, "runs", "show", "last"); !strings.Contains(out.stdout, "agent:a#0/llm0  done") || !strings.Contains(out.stdout, "running in process") {
		t.Errorf("runs show of a live one prints\n%s", out.stdout)
	}
	if out := h.run(nil, "runs", "resume", "last"); out.code == 0 || !strings.Contains(out.stderr, "AS776") {
		t.Errorf("a live one is resumed: exit %d\n%s", out.code, out.stderr)
	}
	follow := h.command(nil, "runs", "show", "last", "--follow")
	var followed bytes.Buffer
	follow.Stdout = &followed
	if err := errors.Join(follow.Start(), cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := follow.Wait(); err != nil || !strings.Contains(followed.String(), "stopped\nit continues with agentscript runs resume") {
		t.Errorf("followed: %v\n%s", err, followed.String())
	}
}

// Promise 30.27 (durable): runs resume continues a run after Ctrl-C, a kill, an exhausted budget, an approval and a
// provider that was down, and reports what it reuses.
func TestPromise_30_27_ResumeByCommand(t *testing.T) {
	stall := llmtest.Reply{Fault: llmtest.StallHeaders}
	for name, tt := range map[string]struct {
		flow   string
		second llmtest.Reply // of the model, in the first process
		args   []string
		end    os.Signal
		code   int
		says   string
		before []string // done before it continues
		resume []string
	}{
		"a kill":        {pairFlow, stall, nil, os.Kill, -1, "", nil, nil},
		"Ctrl-C":        {pairFlow, stall, nil, os.Interrupt, 130, "continue with agentscript runs resume RUN", nil, nil},
		"a budget":      {pairFlow, stall, []string{"--max-model-calls", "1"}, nil, 4, "continue with a larger one: agentscript runs resume RUN --max-model-calls N\n", nil, []string{"--max-model-calls", "2"}},
		"a wait":        {waitFlow, stall, nil, nil, 5, "then continue with agentscript runs resume RUN", []string{"answer", "last", "go", "--result", `"x"`}, nil},
		"an approval":   {askFlow, stall, nil, nil, 5, "agentscript runs answer RUN", []string{"answer", "last", "--approve"}, nil},
		"provider down": {pairFlow, llmtest.Reply{Status: 503, Body: "{}", Repeat: true}, []string{"--retries", "0"}, nil, 6, "continue with agentscript runs resume RUN", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, tt.flow)
			first := llmtest.New(llmtest.Reply{Text: "one"}, tt.second)
			defer first.Close()
			cmd := h.command(first, append([]string{"run", "flow.star", "go", "-q"}, tt.args...)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if tt.end != nil {
				hang.Until(t, "the second call", func() bool { return len(first.Requests()) == 2 })
				if err := cmd.Process.Signal(tt.end); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait() // its exit code is enough
			says := strings.ReplaceAll(tt.says, "RUN", h.last())
			if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(stderr.String(), says) {
				t.Errorf("exit %d, want %d and %q:\n%s", code, tt.code, says, stderr.String())
			}
			if tt.before != nil {
				if out := h.run(nil, append([]string{"runs"}, tt.before...)...); out.code != 0 {
					t.Fatal(out.stderr)
				}
			}
			second := llmtest.New(llmtest.Reply{Text: "two"})
			defer second.Close()
			out := h.run(second, append([]string{"runs", "resume", "last"}, tt.resume...)...)
			if out.code != 0 || out.stdout != "two\n" || len(second.Requests()) != 1 || !strings.Contains(out.stderr, "reused 1 effect, ran 1") {
				t.Errorf("exit %d after %d calls: %q\n%s", out.code, len(second.Requests()), out.stdout, out.stderr)
			}
		})
	}
}

// Promise 30.28 (durable): runs fork first reports what it reuses, what runs again and what that costs, and requires
// --yes for anything that must not run twice.
func TestPromise_30_28_ForkByCommand(t *testing.T) {
	h := newHome(t, pairFlow)
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two"})
	defer p.Close()
	if out := h.run(p, "run", "flow.star", "go", "-q"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	h.write("new.star", strings.Replace(pairFlow, `"B."`, `"B, better."`, 1))
	if out := h.run(nil, "runs", "fork", "last", "--script", "new.star", "--plan"); out.code != 0 || !strings.HasPrefix(out.stdout, "takes 1 step of 2") || !strings.Contains(out.stdout, "runs main/then:main#0/agent:b#0/llm0: model openai/x") {
		t.Errorf("exit %d: %s%s", out.code, out.stdout, out.stderr)
	}
	second := llmtest.New(llmtest.Reply{Text: "three"})
	defer second.Close()
	out := h.run(second, "runs", "fork", "last", "--script", "new.star")
	if out.code != 0 || out.stdout != "three\n" || len(second.Requests()) != 1 || !strings.Contains(out.stderr, "takes 1 step of 2") {
		t.Errorf("exit %d after %d calls: %q\n%s", out.code, len(second.Requests()), out.stdout, out.stderr)
	}
	if out := h.run(nil, "runs", "fork", "last", "--from", "main/then:main#0/agent:a#0", "--plan"); !strings.HasPrefix(out.stdout, "takes 0 steps of 2") {
		t.Errorf("from the first agent on: %s%s", out.stdout, out.stderr)
	}
	if runtime.GOOS == "windows" {
		return // there is no echo to call
	}
	h.write("echo.star", "def main(word = str):\n    return sh.run([\"echo\", word]).stdout\n")
	h.write("echo2.star", "def main(word = str):\n    return sh.run([\"echo\", word, word]).stdout\n")
	if out := h.run(nil, "run", "--allow-exec", "echo", "echo.star", "hello", "-q"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	if out := h.run(nil, "runs", "fork", "last", "--script", "echo2.star"); out.code != 5 || out.stdout != "" || !strings.Contains(out.stderr, "may carry out a second time") {
		t.Errorf("without --yes: exit %d: %q\n%s", out.code, out.stdout, out.stderr)
	}
	if out := h.run(nil, "runs", "fork", "last", "--script", "echo2.star", "--yes"); out.code != 0 || out.stdout != "hello hello\n\n" {
		t.Errorf("with --yes: exit %d: %q\n%s", out.code, out.stdout, out.stderr)
	}
}

// Promise 30.29 (durable): runs cost adds up costs by agent, model, node and flow; runs cancel ends a run of another
// process within 2 s; runs answer answers a run.
func TestPromise_30_29_CostCancelAnswer(t *testing.T) {
	h := newHome(t, pairFlow)
	p := llmtest.New(llmtest.Reply{Text: "one", In: 10, Out: 3}, llmtest.Reply{Text: "two", In: 5, Out: 1})
	defer p.Close()
	if out := h.run(p, "run", "flow.star", "go", "-q"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	for by, want := range map[string]string{
		"agent": "AGENT  CALLS  IN  OUT  COST\na      1      10  3    unpriced\nb      1      5   1    unpriced\nall    2      15  4    unpriced\n",
		"model": "MODEL     CALLS  IN  OUT  COST\nopenai/x  2      15  4    unpriced\nall       2      15  4    unpriced\n",
		"flow":  "FLOW       CALLS  IN  OUT  COST\nflow.star  2      15  4    unpriced\nall        2      15  4    unpriced\n",
		"node":  "NODE                      CALLS  IN  OUT  COST\nmain/then:main#0/agent:a#0  1      10  3    unpriced\nmain/then:main#0/agent:b#0  1      5   1    unpriced\nall                         2      15  4    unpriced\n",
	} {
		if got := h.run(nil, "runs", "cost", "--by", by).stdout; strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("--by %s prints\n%s", by, got)
		}
	}
	live := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Fault: llmtest.StallHeaders})
	defer live.Close()
	cmd := h.command(live, "run", "flow.star", "go", "-q")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "the second call", func() bool { return len(live.Requests()) == 2 })
	// How soon depends on how often a store looks, which its tests bound: no clock decides here.
	out := h.run(nil, "runs", "cancel", "last", "too dear")
	_ = cmd.Wait() // its exit code is enough
	if code := cmd.ProcessState.ExitCode(); out.code != 0 || code != 130 || !strings.Contains(stderr.String(), "too dear") {
		t.Errorf("exit %d, of the run %d\n%s\n%s", out.code, code, out.stderr, stderr.String())
	}

	h = newHome(t, waitFlow)
	q := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two"})
	defer q.Close()
	h.run(q, "run", "flow.star", "go", "-q")
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--result", "seven"}, 2, "is not JSON"},
		{[]string{"--approve"}, 2, "asks for no approval"},
		{[]string{"--again"}, 2, "--again is for steps"},
		{[]string{"--result", `"x"`}, 0, "go is answered"},
		{[]string{"go", "--result", `"x"`}, 0, "go is answered"},
		{[]string{"go", "--result", `"y"`}, 2, "was answered by"},
	} {
		if out := h.run(nil, append([]string{"runs", "answer", "last"}, tt.args...)...); out.code != tt.code || !strings.Contains(out.stdout+out.stderr, tt.says) {
			t.Errorf("%q: exit %d\n%s%s", tt.args, out.code, out.stdout, out.stderr)
		}
	}
	for _, stands := range []string{"before", "after"} { // the run has taken it
		if out := h.run(nil, "runs", "show", "last"); !strings.Contains(out.stdout, "was answered by ") || !strings.Contains(out.stdout, " by agentscript runs answer at ") {
			t.Errorf("%s the run goes on:\n%s", stands, out.stdout)
		}
		if out := h.run(q, "runs", "resume", "last", "-q"); stands == "before" && out.code != 0 {
			t.Errorf("exit %d\n%s", out.code, out.stderr)
		}
	}
}

// Promise 30.30 (durable): runs export and runs import transfer a run. An imported run brings no grants, no --yes and
// no commands.
func TestPromise_30_30_ExportImport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not built: there is no echo that could be called")
	}
	h := newHome(t, "def main(word = str):\n    return sh.run([\"echo\", word]).stdout + wait(\"go\", str)\n")
	if out := h.run(nil, "run", "--allow-exec", "echo", "flow.star", "hello", "--yes", "-q"); out.code != 5 {
		t.Fatal(out.stderr)
	}
	file := filepath.Join(h.dir, "run.jsonl")
	if out := h.run(nil, "runs", "export", "last", "-o", file); out.code != 0 {
		t.Fatal(out.stderr)
	}
	other := newHome(t, "")
	if out := other.run(nil, "runs", "import", file); out.code != 0 || out.stdout != h.last()+" parked, 2 steps\n" {
		t.Fatalf("exit %d: %s%s", out.code, out.stdout, out.stderr)
	}
	if out := other.run(nil, "runs", "answer", "last", "--result", `"there"`); out.code != 0 {
		t.Fatal(out.stderr)
	}
	if out := other.run(nil, "runs", "resume", "last"); out.code != 3 || !strings.Contains(out.stderr, "is not granted") || strings.Contains(out.stderr, "granted as before") {
		t.Errorf("with what was granted elsewhere: exit %d\n%s", out.code, out.stderr)
	}
	if out := other.run(nil, "runs", "show", "last", "--json"); strings.Contains(out.stdout, `"yes"`) || strings.Contains(out.stdout, "allow-exec") {
		t.Errorf("the settings are\n%s", out.stdout)
	}
	if out := other.run(nil, "runs", "resume", "last", "--allow-exec", "echo"); out.code != 0 || out.stdout != "hello\nthere\n" {
		t.Errorf("exit %d: %q\n%s", out.code, out.stdout, out.stderr)
	}
}

// Promise 30.31 (durable): runs that are older than 30 days or beyond 1 GB are deleted in small steps. Live and parked
// runs are never deleted.
func TestPromise_30_31_Retention(t *testing.T) {
	h := newHome(t, pairFlow)
	var back atomic.Int64 // how far to move the clock
	back.Store(int64(31 * 24 * time.Hour))
	store, err := sqlite.Open(t.Context(), h.db(), sqlite.Clock(func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }))
	if err != nil {
		t.Fatal(err)
	}
	begin := func(id string) engine.OpenRun {
		r, err := store.CreateRun(t.Context(), engine.RunHead{ID: id, ABI: engine.ABI, Script: "old.star", Entry: "main"}, engine.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for id, status := range map[string]engine.RunStatus{"done": engine.RunDone, "failed": engine.RunFailed, "parked": engine.RunParked} {
		if err := begin(id).End(t.Context(), engine.RunEnd{Status: status}); err != nil {
			t.Fatal(err)
		}
	}
	live := begin("live")
	back.Store(0)
	hang.Until(t, "the lease is renewed", func() bool {
		info, err := store.Run(t.Context(), "live")
		return err == nil && info.Until.After(time.Now())
	})
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two", Delay: 3 * time.Second})
	defer p.Close()
	if out := h.run(p, "run", "flow.star", "go", "-q"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	left := func() string {
		all, err := store.Runs(t.Context(), engine.RunFilter{Script: "old.star"})
		if err != nil {
			t.Fatal(err)
		}
		ids := text.Each(all, func(r engine.RunInfo) string { return r.ID })
		slices.Sort(ids)
		return strings.Join(ids, " ")
	}
	if got := left(); got != "live parked" {
		t.Errorf("after a run there are %s", got)
	}
	if out := h.run(nil, "runs", "gc", "--max-bytes", "1"); out.code != 0 || !strings.HasPrefix(out.stdout, "removed 1 run,") {
		t.Errorf("exit %d: %s%s", out.code, out.stdout, out.stderr)
	}
	if got := left(); got != "live parked" {
		t.Errorf("after runs gc there are %s", got)
	}
	if err := errors.Join(live.Close(), store.Close()); err != nil {
		t.Error(err)
	}
}

// Promise 30.32 (durable): settings are stored with a run: resume uses them, accepts new limits and narrower grants,
// and refuses anything that would change ids.
func TestPromise_30_32_Settings(t *testing.T) {
	h := newHome(t, pairFlow)
	down := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Status: 503, Body: "{}", Repeat: true})
	defer down.Close()
	if err := os.Mkdir(filepath.Join(h.dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write("agentscript.toml", "[run]\nretries = 0\n\n[models]\nfast = \"openai/x\"\n")
	h.write("flow.star", strings.ReplaceAll(pairFlow, "openai/x", "fast"))
	if out := h.run(down, "run", "--allow-fs", "notes:rw", "flow.star", "go", "-q", "--max-model-calls", "2", "--model", "b=openai/y"); out.code != 6 {
		t.Fatalf("exit %d\n%s", out.code, out.stderr)
	}
	for _, name := range []string{"agentscript.toml", "flow.star"} {
		if err := os.Remove(filepath.Join(h.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range [][]string{{"--model", "openai/z"}, {"--model-alias", "fast=openai/z"}, {"--root", "."}, {"--session", "s"}, {"snow"}} {
		if out := h.run(down, append([]string{"runs", "resume", "last"}, tt...)...); out.code != 2 || !strings.Contains(out.stderr, "agentscript runs fork last") {
			t.Errorf("%q: exit %d\n%s", tt, out.code, out.stderr)
		}
	}
	before := len(down.Requests())
	out := h.run(down, "runs", "resume", "last", "--max-model-calls", "1")
	if out.code != 4 || len(down.Requests()) != before || !strings.Contains(out.stderr, "granted as before: --allow-fs notes:rw") {
		t.Errorf("with a smaller budget: exit %d after %d calls\n%s", out.code, len(down.Requests())-before, out.stderr)
	}
	if out = h.run(down, "runs", "resume", "last", "--allow-fs", "notes:ro"); out.code != 6 || strings.Contains(out.stderr, "granted as before") || len(down.Requests()) != before+1 {
		t.Errorf("with less granted: exit %d after %d calls\n%s", out.code, len(down.Requests())-before, out.stderr)
	}
	up := llmtest.New(llmtest.Reply{Text: "two"})
	defer up.Close()
	if out = h.run(up, "runs", "resume", "last"); out.code != 0 || out.stdout != "two\n" || len(up.Requests()) != 1 || !strings.Contains(string(up.Requests()[0].Body), `"model":"y"`) {
		t.Errorf("exit %d after %d calls: %q\n%s", out.code, len(up.Requests()), out.stdout, out.stderr)
	}
	files, err := filepath.Glob(h.db() + "*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && bytes.Contains(data, []byte(keyOfTest)) {
			t.Errorf("%s holds the key", file)
		}
	}
}
