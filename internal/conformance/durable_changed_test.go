package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// deskFlow calls a server, which serve.sh starts, for what a person must approve.
const deskFlow = `desk = mcp("sh", args = ["serve.sh"])
a = agent("a", model = "openai/x", prompt = "A.", tools = [desk])

def main(topic = str):
    return a(topic)
`

// Promise 30.48 (durable): a server whose tools changed, a missing bundle and a tool that no longer exists are each a
// clear error.
//
// The error has a code and says where it occurred and what to do, and nothing is spent. Once the world is as it was,
// the run continues.
func TestPromise_30_48_ChangedWorld(t *testing.T) {
	t.Run("server", changedServer)
	t.Run("bundle", bundleGone)
	t.Run("host", changedHost)
}

// changedServer checks that recorded calls stay, and that a call that the server no longer accepts is refused with the
// reason, which the model gets.
func changedServer(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	const desk = "def ask(word = str):\n    \"\"\"Asks.\"\"\"\n    return \"answer \" + word\n\ndef tell(word = str):\n    \"\"\"Tells.\"\"\"\n    return word\n"
	serves := "exec '" + command(t) + "' serve mcp desk.star --expose ask\n"
	for name, tt := range map[string]struct {
		desk, serves string
		told         []string // sent to the model about the call
	}{
		"as it was":         {desk, serves, []string{"answer hi"}},
		"another parameter": {strings.Replace(desk, "word = str", "word = str, loud = bool", 1), serves, []string{"AS716", "the arguments do not fit ask: loud: want bool"}},
		"no such tool":      {desk, strings.Replace(serves, "--expose ask", "--expose tell", 1), []string{`MCP server \"desk\" refused the call of ask: unknown tool \"ask\"`}},
		"no server":         {desk, "echo gone >&2\nexit 3\n", []string{`MCP server \"desk\" ended before it said hello (exit status 3); its last words: gone`}},
	} {
		h := newHome(t, deskFlow)
		h.write("desk.star", desk)
		h.write("serve.sh", serves)
		p := llmtest.New(llmtest.Reply{Calls: []llmtest.Call{{ID: "c1", Name: "ask", Args: `{"word": "hi"}`}}}, llmtest.Reply{Text: "two"})
		if out := h.run(p, "run", "flow.star", "go", "--allow-exec", "sh", "--ask", "ask"); out.code != 5 || len(p.Requests()) != 1 {
			t.Fatalf("exit %d after %d calls: %s", out.code, len(p.Requests()), out.stderr)
		}
		if out := h.run(nil, "runs", "answer", "last", "--approve"); out.code != 0 {
			t.Fatal(out.stderr)
		}
		h.write("desk.star", tt.desk)
		h.write("serve.sh", tt.serves)
		out := h.run(p, "runs", "resume", "last")
		p.Close()
		if out.code != 0 || out.stdout != "two\n" || len(p.Requests()) != 2 {
			t.Errorf("%s: exit %d after %d calls: %q\n%s", name, out.code, len(p.Requests()), out.stdout, out.stderr)
			continue
		}
		for _, want := range tt.told {
			if !strings.Contains(string(p.Requests()[1].Body), want) {
				t.Errorf("%s: the model is not told %q: %s", name, want, p.Requests()[1].Body)
			}
			if want = strings.ReplaceAll(want, `\"`, `"`); name != "as it was" && !strings.Contains(out.stderr, want) {
				t.Errorf("%s: it does not say %q:\n%s", name, want, out.stderr)
			}
		}
	}
}

func bundleGone(t *testing.T) {
	h := newHome(t, waitFlow)
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two", Repeat: true})
	defer p.Close()
	if out := h.run(p, "run", "flow.star", "go"); out.code != 5 {
		t.Fatalf("exit %d: %s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "answer", "last", "go", "--result", `"!"`); out.code != 0 {
		t.Fatal(out.stderr)
	}
	id := h.last()
	statement(t, h.db(), "DELETE FROM bundle_files; DELETE FROM bundles")
	for _, verb := range [][]string{{"resume", "last"}, {"fork", "last"}, {"fork", "last", "--plan"}} {
		out := h.run(p, append([]string{"runs"}, verb...)...)
		if out.code != 2 || out.stdout != "" || len(p.Requests()) != 1 {
			t.Errorf("%q: exit %d after %d calls: %q\n%s", verb, out.code, len(p.Requests()), out.stdout, out.stderr)
		}
		for _, want := range []string{"AS778", "the script of run " + id + ", which was flow.star", "agentscript runs fork " + id + " --script flow.star"} {
			if !strings.Contains(out.stderr, want) {
				t.Errorf("%q does not say %q:\n%s", verb, want, out.stderr)
			}
		}
	}
	if out := h.run(p, "runs", "show", "last"); out.code != 0 || !strings.Contains(out.stdout, "agent:a#0/llm0  done") {
		t.Errorf("runs show: exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if out := h.run(p, "runs", "fork", "last", "--script", "flow.star"); out.code != 5 || len(p.Requests()) != 1 {
		t.Errorf("a fork with a script: exit %d after %d calls\n%s", out.code, len(p.Requests()), out.stderr)
	}
}

func changedHost(t *testing.T) {
	const script = `
clerk = agent("clerk", prompt = "Look.", tools = [lookup])

def main(x = str):
    return clerk(x) + wait("go", str)
`
	tool := durableTool("lookup", engine.ClassRead, func(agentscript.ToolCallInfo) (string, error) { return "found", nil })
	other := durableTool("search", engine.ClassRead, func(agentscript.ToolCallInfo) (string, error) { return "found", nil })
	s := store.NewMemory()
	id := parkedRun(t, s, script, tool)
	var calls atomic.Int32
	host := func(opts ...agentscript.Option) *agentscript.Engine {
		return agentscript.New(append(opts, agentscript.WithStore(s), agentscript.WithModels(echoing(&calls)), agentscript.WithDefaultModel("test/model"))...)
	}
	eng := host(other)
	if err := eng.Signal(t.Context(), id, "go", "", engine.Answer{Result: json.RawMessage(`"!"`)}); err != nil {
		t.Fatal(err)
	}
	before, steps := runAndSteps(t, s, id)
	for name, run := range map[string]*agentscript.Run{"resumed": eng.Resume(t.Context(), id), "forked": eng.Fork(t.Context(), id)} {
		_, err := run.Wait()
		load, ok := errors.AsType[*agentscript.LoadError](err)
		if !ok || len(load.List) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		d := load.List[0]
		if d.Code != diag.UndefinedName || d.Span.Pos.Line != 2 || !strings.Contains(d.Message, "lookup") || len(d.Help) == 0 || calls.Load() != 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if after, now := runAndSteps(t, s, id); fmt.Sprint(before) != fmt.Sprint(after) || fmt.Sprint(steps) != fmt.Sprint(now) {
		t.Errorf("the run became\n%+v\nof\n%+v", after, before)
	}
	wider := agentscript.HostTool{Do: func(context.Context, agentscript.ToolCallInfo, generable.Value) (generable.Value, error) {
		return generable.StrOf("found"), nil
	}}
	wider.Name, wider.Doc, wider.Class, wider.Returns = "lookup", "Does it.", engine.ClassRead, generable.StrT
	wider.Params = &generable.Type{Kind: generable.RecordType, Name: "lookup", Fields: []generable.Field{{Name: "what", Type: generable.StrT}}}
	_, err := host(agentscript.WithTool(wider)).Resume(t.Context(), id).Wait()
	if e := engine.AsError(err); e.Code != diag.RunDiverged || !strings.Contains(e.Message, "at main/agent:clerk#0/llm0 the run recorded model") || !strings.Contains(e.Help, "agentscript runs fork") || calls.Load() != 0 {
		t.Errorf("with other parameters: %v after %d calls", err, calls.Load())
	}
	if out, err := host(tool).Resume(t.Context(), id).Wait(); err != nil || out.Text() != "found!" || calls.Load() != 0 {
		t.Errorf("with the tool: %q, %v after %d calls", out.Text(), err, calls.Load())
	}
}
