package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/hang"
)

const (
	pairFlow = "a = agent(model = \"openai/x\", prompt = \"A.\")\nb = agent(model = \"openai/x\", prompt = \"B.\")\nmain = a >> b\n"
	waitFlow = "a = agent(model = \"openai/x\", prompt = \"A.\")\n\ndef main(topic = str):\n    first = a(topic)\n    return a(first + wait(\"go\", str))\n"
	askFlow  = "a = agent(model = \"openai/x\", prompt = \"A.\")\nb = agent(model = \"openai/x\", prompt = \"B.\")\nmain = a >> approval(\"go on?\") >> b\n"

	keyOfTest = "sk-key-of-this-test-0123456789"
)

// home is a user with a directory, in which the command runs.
type home struct {
	t   *testing.T
	dir string
	env []string
}

func newHome(t *testing.T, flow string) *home {
	h := &home{t: t, dir: t.TempDir(), env: []string{"AGENTSCRIPT_STORE="}}
	h.env = append(h.env, "HOME="+h.dir, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"), "OPENAI_API_KEY="+keyOfTest)
	h.write("flow.star", flow)
	return h
}

func (h *home) write(name, text string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) db() string { return filepath.Join(h.dir, "state", "agentscript", "runs.db") }

func (h *home) with(p *llmtest.Server) []string {
	if p == nil {
		return h.env
	}
	return append(slices.Clone(h.env), "OPENAI_BASE_URL="+p.OpenAI())
}

// run runs the command to its end.
func (h *home) run(p *llmtest.Server, args ...string) output {
	h.t.Helper()
	return runCommandIn(h.t, h.dir, h.with(p), args...)
}

// command returns a command that the caller starts and waits for.
func (h *home) command(p *llmtest.Server, args ...string) *exec.Cmd {
	h.t.Helper()
	cmd := hang.Command(h.t, command(h.t), args...)
	cmd.Dir, cmd.Env = h.dir, append([]string{"NO_COLOR=1", "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, h.with(p)...)
	return cmd
}

// last returns the id of the newest run.
func (h *home) last() string {
	h.t.Helper()
	id, _, _ := strings.Cut(h.run(nil, "runs", "export", "last").stdout, `","`)
	return strings.TrimPrefix(id, `{"v":2,"run":"`)
}

// steady replaces what differs between runs by constants.
func (h *home) steady(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, h.last(), "RUN"), h.dir, "DIR")
	for old, is := range map[string]string{`\d{4}-\d\d-\d\dT[0-9:.]+Z`: "TIME", `"seed": "\d+"`: `"seed": "SEED"`, `"[0-9a-f]{64}"`: `"HASH"`, `"bytes": \d+`: `"bytes": 0`} {
		text = regexp.MustCompile(old).ReplaceAllString(text, is)
	}
	return text
}

// runAndSteps returns everything that a store contains about a run.
func runAndSteps(t *testing.T, s engine.Store, id string) (info engine.RunInfo, steps []engine.Step) {
	t.Helper()
	info, err := s.Run(t.Context(), id)
	if err == nil {
		err = s.Steps(t.Context(), id, 0, func(s engine.Step) error { steps = append(steps, s); return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return info, steps
}
