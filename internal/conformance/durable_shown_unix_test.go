//go:build unix

package conformance

import (
	"os"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/hang"
)

// The result of a step is shown on its line, cut, and complete with --values.
func TestValuesAreShown(t *testing.T) {
	h := newHome(t, `def pay(n = str):
    """Pay."""
    fail("card declined")

a = agent(model = "openai/x", prompt = "A.", tools = [pay])

def main(n = str):
    said = a(n)
    return [said, wait("go", dict), sh.run(["printf", "one\\ntwo\\n"]).stdout]
`)
	long := "It begins" + strings.Repeat(" and goes on", 20) + "\n\x1b[31mand ends."
	p := llmtest.New(llmtest.Reply{Calls: []llmtest.Call{{Name: "pay", Args: `{"n":"1"}`}}}, llmtest.Reply{Text: long})
	defer p.Close()
	h.want(p, strings.Fields("run flow.star q -q --allow-exec printf"), 5)
	h.want(nil, []string{"runs", "answer", "last", "go", "--result", `{"n": 7}`}, 0)
	h.want(nil, strings.Fields("runs resume last -q"), 0)
	h.want(nil, strings.Fields("runs show last"), 0, `: calls pay {"n":"1"}`+"\n", "tokens: It begins and goes on", " on an…\n",
		"done wait go, ", `: {"n":7}`, `{"code":0,"stdout":"one\ntwo\n",`)
	h.want(nil, strings.Fields("runs show last --values"), 0, "and goes on and goes on\n", "      \\u001b[31mand ends.\n", "!\x1b")
	h.want(nil, strings.Fields("runs show last --follow --values"), 0, "\n  {\"n\":7}\n")
}

// A call that must not happen twice is shown while it is being made, and as unknown once nobody is making it. A run
// that was interrupted is distinguished from one that was cancelled.
func TestInFlightAndInterrupted(t *testing.T) {
	for _, tt := range []struct {
		end    os.Signal // sent to the process; nil: runs cancel
		status string
		other  string
	}{{os.Kill, "stopped", "interrupted"}, {os.Interrupt, "interrupted", "cancelled"}, {nil, "cancelled", "interrupted"}} {
		t.Run(tt.status, func(t *testing.T) {
			h := newHome(t, slowFlow)
			cmd := h.command(nil, strings.Fields("run flow.star q --allow-exec sh")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hang.Until(t, "it pays", func() bool { return h.lines("paid.txt") > 0 })
			h.want(nil, strings.Fields("runs show last"), 0, "main/exec:run#0  in flight exec sh\n")
			if tt.end == nil {
				h.want(nil, strings.Fields("runs cancel last"), 0, " cancelled\n")
			} else if err := cmd.Process.Signal(tt.end); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was ended
			h.want(nil, strings.Fields("runs show last"), 0, "flow.star: "+tt.status+"\n", "main/exec:run#0  unknown exec sh\n")
			h.want(nil, strings.Fields("runs ls --status "+tt.status), 0, "  "+tt.status+"  ")
			h.want(nil, strings.Fields("runs ls --status "+tt.other), 0, "there is no such run")
			if tt.end != os.Kill {
				h.want(nil, strings.Fields("runs show last --json"), 0, `"status": "cancelled"`)
				h.want(nil, strings.Fields("runs cancel last"), 2, "has ended already: it is "+tt.status)
			}
		})
	}
}

// The answer that an unknown step failed is final: nobody is asked again.
func TestFailedByAnswerStays(t *testing.T) {
	h := newHome(t, slowFlow)
	cmd := h.command(nil, strings.Fields("run flow.star q --allow-exec sh")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "it pays", func() bool { return h.lines("paid.txt") > 0 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	h.want(nil, strings.Fields("runs resume last -q"), 5, "AS779")
	h.want(nil, []string{"runs", "answer", "last", "--failed", "the bank refused"}, 0)
	for range 2 {
		h.want(nil, strings.Fields("runs resume last -q"), 1, "the bank refused", "!AS779", "that it failed was answered", "--from 'main/exec:run#0'", "!runs resume")
		h.want(nil, strings.Fields("runs show last"), 0, "the bank refused", "!waits for", "--from 'main/exec:run#0'", "!runs resume")
		h.want(nil, []string{"runs", "answer", "last", "main/exec:run#0", "--failed", "the bank refused"}, 0)
		h.want(nil, []string{"runs", "answer", "last", "main/exec:run#0", "--again"}, 2, "was answered by")
	}
	h.want(nil, strings.Fields("runs export last -o r.run"), 0)
	h.want(nil, strings.Fields("runs rm last"), 0)
	h.want(nil, strings.Fields("runs resume r.run -q --allow-exec sh"), 1, "the bank refused", "!AS779")
	h.want(nil, strings.Fields("runs fork last -q --allow-exec sh"), 1, "the bank refused", "!AS779")
	if n := h.lines("paid.txt"); n != 1 {
		t.Errorf("it paid %d times", n)
	}
}
