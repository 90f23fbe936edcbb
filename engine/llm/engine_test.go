package llm_test

import (
	"encoding/json"
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

// Reasoning turns are requests that providers accept: the last message is the user's, each call is followed by its
// result, tools are declared if the provider can be told not to call any, and no schema is requested. Other turns are
// unchanged.
func TestThoughtsOverTheWire(t *testing.T) {
	for model, form := range map[string]struct{ none, schema string }{
		"openai/gpt-5":                {`"tool_choice":"none"`, `"response_format"`},
		"mistral/m":                   {`"tool_choice":"none"`, `"response_format"`},
		"compat/m":                    {`"tool_choice":"none"`, ""},
		"anthropic/claude-sonnet-4-5": {`"tool_choice":{"type":"none"}`, `"output_config"`},
		"google/gemini-2.5-flash":     {`"functionCallingConfig":{"mode":"NONE"}`, ""},
		"ollama/qwen3":                {"", ""}, // it has no such choice, and accepts earlier calls of tools that are not declared
	} {
		t.Run(model, func(t *testing.T) {
			session := flow.NewSession()
			node := session.Agent(site("agent", "thinker"), &agent.Spec{Name: "thinker", Out: verdict(), Prompt: "Fix the file.", Tools: compiler(t, session).Agent().Tools, ReasoningEvery: 1})
			if l := session.Diagnostics(); l.HasErrors() {
				t.Fatal(l.Error())
			}
			session.Seal()
			s := server(t,
				llmtest.Reply{Text: "I compile it first.", In: 10, Out: 5},
				llmtest.Reply{Calls: []llmtest.Call{{Name: "compile", Args: `{"path":"a.go"}`}}, In: 10, Out: 5},
				llmtest.Reply{Text: "It compiles.", In: 10, Out: 5},
				llmtest.Reply{Text: `{"ok": true, "score": 0.5}`, In: 20, Out: 6})
			out, err := runNode(t, node, port(t, s), model)
			if err != nil || out != `{"ok":true,"score":0.5}` || len(s.Requests()) != 4 {
				t.Fatalf("%s %v after %d requests", out, err, len(s.Requests()))
			}
			for i, r := range s.Requests() {
				body, thinks := string(r.Body), i%2 == 0
				if declared := strings.Contains(body, `"tools":`); declared != (!thinks || form.none != "") {
					t.Errorf("request %d: tools are declared: %v\n%s", i, declared, body)
				}
				if none := form.none != "" && strings.Contains(body, form.none); none != (thinks && form.none != "") {
					t.Errorf("request %d: no tool may be called: %v\n%s", i, none, body)
				}
				if form.schema != "" && strings.Contains(body, form.schema) == thinks {
					t.Errorf("request %d asks for a schema: %v", i, !thinks)
				}
				roles := rolesOf(t, &r)
				if strings.Contains(roles, "tool assistant user") && strings.HasPrefix(model, "mistral") { // it accepts no user's turn after a result
					roles = strings.Replace(roles, "tool assistant user", "tool user", 1)
				}
				var want string
				switch form.none {
				case `"tool_choice":{"type":"none"}`:
					want = [...]string{"user", "user assistant user", "user assistant user assistant user", "user assistant user assistant user assistant user"}[i]
				case `"functionCallingConfig":{"mode":"NONE"}`:
					want = [...]string{"user user", "user user model user", "user user model user model user user", "user user model user model user user model user"}[i]
				default:
					want = "system " + [...]string{"user user", "user user assistant user", "user user assistant user assistant tool user", "user user assistant user assistant tool user assistant user"}[i]
				}
				if roles != want {
					t.Errorf("request %d: the messages are of %s, want %s", i, roles, want)
				}
			}
		})
	}
}

// rolesOf lists the roles of a request's messages.
func rolesOf(t *testing.T, r *llmtest.Request) string {
	t.Helper()
	var body struct {
		Messages, Contents []struct{ Role string }
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, m := range append(body.Messages, body.Contents...) {
		roles = append(roles, m.Role)
	}
	return strings.Join(roles, " ")
}
