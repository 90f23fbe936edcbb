package llm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func site(what, name string) flow.Site { return flow.Site{What: what, Name: name} }

func runNode(t *testing.T, node *flow.Node, h engine.Handler, model string) (string, error) {
	t.Helper()
	out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: node, Input: generable.StrOf("fix a.go"), Handler: h, Model: model})
	return generable.JSON(out, nil), err
}

func compiler(t *testing.T, s *flow.Session) *flow.Node {
	t.Helper()
	params := &generable.Type{Kind: generable.RecordType, Name: "compile", Fields: []generable.Field{{Name: "path", Type: generable.StrT}}}
	return s.Agent(site("agent", "coder"), &agent.Spec{Name: "coder", Out: verdict(), Prompt: "Fix the file.", Tools: []*agent.Tool{{
		Name: "compile", Doc: "Compiles a file", Params: params, Returns: generable.StrT, Class: engine.ClassRead,
		Run: engine.GoFunc("compile", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			return generable.StrOf("compiled " + strings.TrimSpace(generable.JSON(args[0], nil))), nil
		}),
	}}})
}

// TestAgentOverTheWire runs an agent with a tool against a server, through the whole port.
func TestAgentOverTheWire(t *testing.T) {
	for _, model := range []string{"openai/gpt-5", "ollama/qwen3", "mistral/m"} {
		session := flow.NewSession()
		node := compiler(t, session)
		if l := session.Diagnostics(); l.HasErrors() {
			t.Fatal(l.Error())
		}
		session.Seal()
		s := server(t,
			llmtest.Reply{Text: "Let me see.", Calls: []llmtest.Call{{Name: "compile", Args: `{"path":"a.go"}`}, {Name: "compile", Args: `{"path":"b.go"}`}}, In: 10, Out: 5},
			llmtest.Reply{Text: "```json\n{\"ok\": true, \"score\": 0.5}\n```", In: 20, Out: 6})
		out, err := runNode(t, node, port(t, s), model)
		if err != nil || out != `{"ok":true,"score":0.5}` {
			t.Fatalf("%s: %s %v", model, out, err)
		}
		second := string(s.Requests()[1].Body)
		hasAll(t, "the second request", second, "fix a.go", "Let me see.", "b.go", "compiled", "tool_calls")
	}
}

func TestRunErrorSaysWhere(t *testing.T) {
	session := flow.NewSession()
	node := compiler(t, session)
	session.Seal()
	s := server(t, llmtest.Reply{Status: 401, Body: `{"error":{"message":"no","code":"invalid_api_key"}}`})
	_, err := runNode(t, node, port(t, s), "openai/gpt-5")
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindAuth || !strings.Contains(e.Path, "agent:coder#0") {
		t.Errorf("%v", err)
	}
	if _, err := runNode(t, compiler(t, flow.NewSession()), llm.New(env()), ""); !errors.As(err, &e) || e.Code != diag.NoModel {
		t.Errorf("%v", err)
	}
}
