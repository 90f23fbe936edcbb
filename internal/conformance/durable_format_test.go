package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// echoing returns a handler that answers each call with its last message and counts the calls.
func echoing(calls *atomic.Int32) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		calls.Add(1)
		messages := e.Req.(*model.Request).Messages
		said := model.TextIn(messages[len(messages)-1].Parts)
		return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "<" + said + ">"}}}, Usage: model.Usage{In: 1, Out: 2}, Attempt: 1}
	})
}

// runFile reads a file of a run: its head, its steps and its end.
func runFile(t *testing.T, data []byte) (head runfile.Head, steps []engine.Step, end engine.RunEnd, r *runfile.Reader) {
	t.Helper()
	r = runfile.NewReader(bytes.NewReader(data), "x.run")
	for {
		line, err := r.Next()
		if err == io.EOF {
			return head, steps, end, r
		}
		switch {
		case err != nil:
			t.Fatal(err)
		case line.Head != nil:
			head = *line.Head
		case line.Step != nil:
			steps = append(steps, *line.Step)
		default:
			end = *line.End
		}
	}
}

const asksTwice = `
poet = agent(model = "test/model", prompt = "Write.")

def main(topic = str):
    return poet(poet(topic))
`

// Promise 30.19 (durable): a record file is an exported run: a header, one row per effect in commit order, and an end.
// The store, records and the cache share the format of a row.
func TestPromise_30_19_OneForm(t *testing.T) {
	var calls atomic.Int32
	kept, dir := store.NewMemory(), t.TempDir()
	cache, err := cassette.NewCache(dir, echoing(&calls), nil)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	mod := loaded(t, agentscript.New(agentscript.WithStore(kept)), asksTwice)
	run := mod.Start(t.Context(), agentscript.InputText("a"), agentscript.HandlerFor(engine.EffectModel, cache), agentscript.RecordRun(runfile.NewWriter(&file, nil)))
	if res, err := run.Wait(); err != nil || res.Text() != "<<a>>" {
		t.Fatal(res, err)
	}
	head, steps, end, _ := runFile(t, file.Bytes())
	info, err := kept.Run(t.Context(), run.ID())
	if err != nil {
		t.Fatal(err)
	}
	was := info.RunHead
	was.Begun, head.Begun = time.Time{}, time.Time{}
	if !reflect.DeepEqual(head.RunHead, was) || head.Bundle != mod.Hash() || head.ABI != engine.ABI || end.Status != engine.RunDone || end.Text != "<<a>>" || !bytes.Equal(end.Result, info.Result) {
		t.Errorf("the file has %+v and %+v, the store %+v", head, end, info)
	}
	plain := func(s engine.Step) engine.Step {
		s.Seq, s.Begun, s.Ended = 0, time.Time{}, time.Time{}
		return s
	}
	i := 0
	err = kept.Steps(t.Context(), run.ID(), 0, func(s engine.Step) error {
		if i >= len(steps) || !reflect.DeepEqual(plain(s), plain(steps[i])) {
			t.Errorf("step %d is %+v in the store, and not in the file: %+v", i, s, steps)
		}
		i++
		return nil
	})
	if err != nil || i != 2 || len(steps) != 2 {
		t.Errorf("%d steps in the store, %d in the file, %v", i, len(steps), err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := runfile.DecodeStep(data)
		if s.ID = ""; err != nil || !slices.ContainsFunc(steps, func(of engine.Step) bool { of.ID = ""; return reflect.DeepEqual(plain(of), plain(s)) }) {
			t.Errorf("the cache holds %s, %v", data, err)
		}
	}
}

// Promise 30.20 (durable): --record writes during the run, leaves a readable file after a kill, and refuses an existing
// file without --force.
func TestPromise_30_20_RecordAsItGoes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no sleep to kill")
	}
	dir := t.TempDir()
	script := "poet = agent(model = \"test/model\", prompt = \"Write.\")\n\ndef main(topic = str):\n    first = poet(topic)\n    sh.run([\"sleep\", \"60\"])\n    return first\n"
	for name, text := range map[string]string{"flow.star": script, "answers.jsonl": `{"agent":"*","text":"one","repeat":true}` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"run", "-q", "flow.star", "a", "--scripted", "answers.jsonl", "--record", "r.run", "--allow-exec", "sleep"}
	cmd := exec.Command(command(t), args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "r.run")
	var data []byte
	hang.Until(t, "the record has its head and two steps", func() bool {
		data, _ = os.ReadFile(file)
		return bytes.Count(data, []byte("\n")) >= 3
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	head, steps, end, _ := runFile(t, data)
	if head.Bundle == "" || len(steps) != 2 || steps[0].State != engine.StepDone || steps[1].State != engine.StepIntent || steps[1].Kind != engine.EffectExec || end.Status != "" {
		t.Errorf("%+v %+v %+v", head, steps, end)
	}
	// What was recorded is answered; what was only begun has no answer.
	if got := frozenCommand(t, dir, "run", "-q", "flow.star", "a", "--replay", "r.run"); got.code != 9 || !strings.Contains(got.stderr, "sh.run") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if err := os.WriteFile(file, data[:len(data)-9], 0o600); err != nil { // in the middle of a line
		t.Fatal(err)
	}
	if got := frozenCommand(t, dir, "run", "-q", "flow.star", "a", "--replay", "r.run"); got.code != 9 || !strings.Contains(got.stderr, "warning: r.run ends in the middle of line 3") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if got := frozenCommand(t, dir, args...); got.code != 2 || !strings.Contains(got.stderr, "--force") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if is, err := os.ReadFile(file); err != nil || !bytes.Equal(is, data[:len(data)-9]) {
		t.Errorf("the refused file was changed: %s, %v", is, err)
	}
	short := strings.Replace(script, `"60"`, `"0"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "flow.star"), []byte(short), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := frozenCommand(t, dir, append(args, "--force")...); got.code != 0 || got.stdout != "one\n" {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if got := frozenCommand(t, dir, "run", "-q", "flow.star", "a", "--replay", "r.run"); got.code != 0 || got.stdout != "one\n" {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
}

// Promise 30.21 (durable): a record file can be given wherever a run is named, and the reverse.
func TestPromise_30_21_FileOrRun(t *testing.T) {
	h := newHome(t, "a = agent(model = \"openai/x\", prompt = \"A.\")\n\ndef main(topic = str):\n    line = a(topic)\n    return line + wait(\"more\", str)\n")
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two"})
	defer p.Close()
	if out := h.run(p, "run", "flow.star", "go", "-q", "--ephemeral", "--record", "r.run"); out.code != 5 {
		t.Fatalf("exit %d\n%s", out.code, out.stderr)
	}
	before, err := os.ReadFile(filepath.Join(h.dir, "r.run"))
	if err != nil {
		t.Fatal(err)
	}
	// Verbs that only read need no store, and create none.
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"runs", "show", "r.run"}, "it continues with agentscript runs resume r.run"},
		{[]string{"runs", "show", "r.run"}, "agentscript runs answer r.run more --result JSON"},
		{[]string{"runs", "show", "r.run", "--json"}, `"status": "parked"`},
		{[]string{"runs", "cost", "r.run"}, "flow.star"},
		{[]string{"runs", "export", "r.run"}, `{"v":2,"run":"`},
		{[]string{"runs", "fork", "r.run", "--plan"}, "takes 1 step of "},
	} {
		if out := h.run(nil, c.args...); out.code != 0 || !strings.Contains(out.stdout, c.want) {
			t.Errorf("%v: exit %d: %s\n%s", c.args, out.code, out.stdout, out.stderr)
		}
	}
	if _, err := os.Stat(h.db()); err == nil {
		t.Error("there is a store")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"runs", "show", "r.run", "--follow"}, "leave --follow out"},
		{[]string{"runs", "rm", "r.run"}, "agentscript runs import r.run takes the run over"},
		{[]string{"runs", "cancel", "r.run"}, "agentscript runs import r.run takes the run over"},
		{[]string{"runs", "cost", "r.run", "./r.run"}, "more than one of these files"},
		{[]string{"runs", "show", "flow.star"}, "flow.star"},
		{[]string{"runs", "cost", "r.run", "other"}, "no run is kept yet"},
	} {
		if out := h.run(nil, c.args...); out.code != 2 || !strings.Contains(out.stderr, c.want) {
			t.Errorf("%v: exit %d: %s\n%s", c.args, out.code, out.stdout, out.stderr)
		}
	}
	// A fork of a file is in the store and continues without the file.
	if out := h.run(p, "runs", "fork", "r.run", "-q"); out.code != 5 || strings.Contains(out.stderr, "r.run") {
		t.Fatalf("exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "answer", "last", "--result", `" two"`); out.code != 0 {
		t.Fatal(out.stderr)
	}
	if out := h.run(p, "runs", "resume", "last", "-q"); out.code != 0 || out.stdout != "one two\n" {
		t.Fatalf("exit %d: %s\n%s", out.code, out.stdout, out.stderr)
	}
	fork := h.last()
	// Verbs that write import the run, once.
	if out := h.run(nil, "runs", "answer", "r.run", "--result", `" three"`); out.code != 0 {
		t.Fatal(out.stderr)
	}
	if out := h.run(p, "runs", "resume", "r.run", "-q"); out.code != 0 || out.stdout != "one three\n" {
		t.Fatalf("exit %d: %s\n%s", out.code, out.stdout, out.stderr)
	}
	// A run can be named in place of a file: by its id, a prefix of it, or as the last.
	for _, word := range []string{fork, fork[:len(fork)-1], "last"} {
		out := h.run(nil, "run", "flow.star", "go", "--replay", word, "-q")
		if out.code != 0 || !strings.HasPrefix(out.stdout, "one t") {
			t.Errorf("%s: exit %d: %s\n%s", word, out.code, out.stdout, out.stderr)
		}
	}
	if after, err := os.ReadFile(filepath.Join(h.dir, "r.run")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
	if n := len(p.Requests()); n != 1 {
		t.Errorf("%d calls of models", n)
	}
}

// Promise 30.22 (durable): a replay answers by request, with the position as a hint, and executes nothing live. Resume
// and fork answer by id.
func TestPromise_30_22_ReplayByRequest(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.db")
	kept, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	host := func(src string) *agentscript.Module {
		return loaded(t, agentscript.New(agentscript.WithStore(kept), agentscript.WithModels(echoing(&calls))), src)
	}
	run := host(asksTwice).Start(t.Context(), agentscript.InputText("a"))
	if res, err := run.Wait(); err != nil || res.Text() != "<<a>>" {
		t.Fatal(res, err)
	}
	// The same requests are elsewhere now: inside a node, the second by an agent with another name.
	moved := "poet = agent(model = \"test/model\", prompt = \"Write.\")\nother = agent(model = \"test/model\", prompt = \"Write.\")\nmain = poet >> other\n"
	fork := host(moved).Start(t.Context(), agentscript.InputText("a"), agentscript.ForkRun(run.ID()))
	if res, err := fork.Wait(); err != nil || res.Text() != "<<a>>" || calls.Load() != 4 {
		t.Errorf("%v, %v: %d calls, and a fork answers by id", res, err, calls.Load())
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"moved.star": moved, "other.star": strings.Replace(moved, "Write", "Read", 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + dir, "AGENTSCRIPT_STORE=" + path}
	for _, id := range []string{run.ID(), run.ID()[:10]} {
		if got := runCommandIn(t, dir, env, "run", "-q", "moved.star", "a", "--replay", id); got.code != 0 || got.stdout != "<<a>>\n" || got.stderr != "" {
			t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
		}
	}
	if got := runCommandIn(t, dir, env, "run", "-q", "other.star", "a", "--replay", run.ID()); got.code != 9 || !strings.Contains(got.stderr, "run "+run.ID()+" does not hold this call") || !strings.Contains(got.stderr, "in step 1; it differs in the system text") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	if got := runCommandIn(t, dir, []string{"HOME=" + dir, "AGENTSCRIPT_STORE=off"}, "run", "-q", "moved.star", "a", "--replay", run.ID()); got.code != 2 || !strings.Contains(got.stderr, "there is no such file") {
		t.Errorf("exit %d: %s", got.code, got.stderr)
	}
	// Of two identical requests the position decides, whichever comes first.
	var file bytes.Buffer
	var n atomic.Int32
	rec := cassette.Record(&file, engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		text := string(rune('a' + n.Add(1) - 1))
		return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}}}
	}), nil)
	twins := loaded(t, agentscript.New(), "one = agent(model = \"test/model\", prompt = \"Write.\")\ntwo = agent(model = \"test/model\", prompt = \"Write.\")\nmain = one / two\n")
	was, err := twins.Start(t.Context(), agentscript.InputText("x"), agentscript.HandlerFor(engine.EffectModel, rec)).Wait()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(file.String(), "\n")
	for _, text := range []string{file.String(), lines[0] + lines[2] + lines[1]} {
		r, err := cassette.Replay(strings.NewReader(text), "x.run", nil)
		if err != nil {
			t.Fatal(err)
		}
		if is, err := twins.Start(t.Context(), agentscript.InputText("x"), agentscript.HandlerFor(engine.EffectModel, r)).Wait(); err != nil || is.Text() != was.Text() || len(r.Unused()) != 0 {
			t.Errorf("%s, %v, was %s", is.Text(), err, was.Text())
		}
	}
}

// Promise 30.23 (durable): records in the previous format can be read. Promise 25.3 covers the results of replaying
// them.
func TestPromise_30_23_OldRecords(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(frozenDir, "recorded", "*.rec"))
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, steps, _, _ := runFile(t, data)
		sessions := bytes.Count(data, []byte(`"kind":"session","name"`))
		if want := bytes.Count(data, []byte("\n")) - sessions; len(steps) != want {
			t.Errorf("%s: %d steps, want %d", name, len(steps), want)
		}
	}
	// So do the files of a cache, which contained the same line.
	dir := t.TempDir()
	for name, text := range map[string]string{
		"flow.star": "main = agent(model = \"openai/gpt-a\", prompt = \"Say hello.\")\n",
		"kept/30c2d742b84b6533c8ef3573420c09e8-1.json": `{"v":1,"key":"30c2d742b84b6533c8ef3573420c09e8","n":1,"agent":"main","path":"main/agent:main#0/llm0","request":{"model":"openai/gpt-a","system":"Say hello.","messages":[{"role":"user","parts":[{"kind":"text","text":"x"}]}]},"response":{"parts":[{"kind":"text","text":"from before"}],"finish":"stop"},"usage":{"in":3,"out":3},"attempt":1}` + "\n",
	} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got := runCommandIn(t, dir, []string{"HOME=" + dir, "OPENAI_API_KEY=sk-none-0123456789", "OPENAI_BASE_URL=http://127.0.0.1:1/v1"}, "run", "-q", "flow.star", "x", "--cache", "kept")
	if got.code != 0 || got.stdout != "from before\n" {
		t.Errorf("exit %d: %s%s", got.code, got.stdout, got.stderr)
	}
}
