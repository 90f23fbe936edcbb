package conformance

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// The help for continuing after a limit names the flag that sets it, or the script if the limit is in the script.
func TestLimitIsNamedThatWasHit(t *testing.T) {
	const one = "a = agent(model = \"openai/gpt-4o\", prompt = \"A.\")\nb = agent(model = \"openai/x\", prompt = \"B.\")\n\ndef use(n = str):\n    \"\"\"Use.\"\"\"\n    return n\n\nc = agent(model = \"openai/x\", prompt = \"C.\", tools = [use])\nd = bounded(agent(\"d\", model = \"openai/x\", prompt = \"D.\", tools = [use]), budget(model_calls = 1))\n\ndef main(x = str):\n    sleep(\"1ms\")\n    "
	const resume, fork = "agentscript runs resume RUN ", "raise it in the script, and continue with agentscript runs fork RUN --script flow.star --store r.db"
	for _, tt := range []struct{ calls, flags, want string }{
		{"return b(b(x))", "--max-model-calls 1", resume + "--max-model-calls N --store r.db\n"},
		{"return b(x)", "--max-tokens 10", resume + "--max-tokens N --store r.db\n"},
		{"return a(x)", "--max-usd 0.000001", resume + "--max-usd N --store r.db\n"},
		{"return c(x)", "--max-tool-calls 0", resume + "--max-tool-calls N --store r.db\n"},
		{"return b(x)", "--max-usd 1", resume + "--prices FILE --store r.db\n"},
		{"return [x + str(i) for i in range(1000000)]", "--max-steps 1000", resume + "--max-steps N --store r.db\n"},
		{"return d(x)", "", fork},
		{"return d(x)", "--max-model-calls 9", fork},
	} {
		t.Run(tt.flags+" "+tt.calls, func(t *testing.T) {
			h := newHome(t, one+tt.calls+"\n")
			p := llmtest.New(llmtest.Reply{Calls: []llmtest.Call{{Name: "use", Args: `{"n":"1"}`}}}, llmtest.Reply{Text: "one", Repeat: true})
			defer p.Close()
			out := h.run(p, append(strings.Fields("run flow.star q -q --store r.db"), strings.Fields(tt.flags)...)...)
			h.env = append(h.env, "AGENTSCRIPT_STORE=r.db")
			if want := strings.ReplaceAll(tt.want, "RUN", h.last()); out.code != 4 || !strings.Contains(out.stderr, want) {
				t.Errorf("exit %d, want 4 and %q:\n%s", out.code, want, out.stderr)
			}
		})
	}
}
