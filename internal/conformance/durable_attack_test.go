package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// paidFlow pays, and asks a model.
const paidFlow = "a = agent(model = \"openai/x\", prompt = \"A.\")\n\ndef main(n = str):\n    sh.run([\"sh\", \"-c\", \"echo paid >> paid.txt\"])\n    return a(n)\n"

// lines is how many lines a file of the user has.
func (h *home) lines(name string) int {
	data, _ := os.ReadFile(filepath.Join(h.dir, name)) // none where it is not there
	return strings.Count(string(data), "\n")
}

// want runs the command, and reports what it does not print. What begins with ! must not be there.
func (h *home) want(p *llmtest.Server, args []string, code int, said ...string) output {
	h.t.Helper()
	out := h.run(p, args...)
	all := out.stdout + out.stderr
	bad := out.code != code
	for _, s := range said {
		if no := strings.TrimPrefix(s, "!"); no != s == strings.Contains(all, no) {
			bad = true
		}
	}
	if bad {
		h.t.Errorf("%q: exit %d, want %d and %q:\n%s", args, out.code, code, said, all)
	}
	return out
}

func split(line string) []string { return strings.Fields(line) }

// A fork that is killed before it has written anything holds what it took, or reads it from its run again.
func TestForkKilledInItsFirstCallPaysNothingTwice(t *testing.T) {
	h := newHome(t, paidFlow)
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Fault: llmtest.StallHeaders}, llmtest.Reply{Text: "two"})
	defer p.Close()
	h.want(p, split("run flow.star q --allow-exec sh"), 0, "one")
	fork := h.command(p, split("runs fork last --from main/agent:a#0")...)
	if err := fork.Start(); err != nil {
		t.Fatal(err)
	}
	for n := 0; len(p.Requests()) < 2 && n < 1000; n++ {
		time.Sleep(10 * time.Millisecond)
	}
	_ = fork.Process.Kill()
	_ = fork.Wait() // it was killed
	h.want(p, split("runs show last"), 0, "a fork of", "main/exec:run#0")
	h.want(p, split("runs resume last"), 0, "two")
	if n := h.lines("paid.txt"); n != 1 {
		t.Errorf("paid %d times", n)
	}
}
