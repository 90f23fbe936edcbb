package engine_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
)

func TestAgentChecks(t *testing.T) {
	tool := func(name string) *agent.Tool { return &agent.Tool{Name: name, Run: stop, Class: engine.ClassRead} }
	skill := func(name string, in, out *generable.Type) *agent.Skill {
		return &agent.Skill{Name: name, In: in, Out: out}
	}
	rows := []struct {
		name string
		spec agent.AgentSpec
		want string
	}{
		{"nothing to do", agent.AgentSpec{}, "AS312"},
		{"run and prompt", agent.AgentSpec{Run: stop, Prompt: "x"}, "AS313: a prompt"},
		{"run and skills", agent.AgentSpec{Run: stop, Skills: []*agent.Skill{skill("s", nil, nil)}}, "AS313: skills"},
		{"run and tools", agent.AgentSpec{Run: stop, Tools: []*agent.Tool{tool("t")}}, "AS313: tools"},
		{"no skill gives the output", agent.AgentSpec{Out: intT, Skills: []*agent.Skill{skill("s", nil, strT)}}, "AS312: no skill producing int"},
		{"two skills of one name", agent.AgentSpec{Skills: []*agent.Skill{skill("s", strT, nil), skill("s", intT, nil)}}, `AS508: "s"`},
		{"two skills for one input", agent.AgentSpec{Skills: []*agent.Skill{skill("a", nil, nil), skill("b", nil, nil)}}, "AS312: a; b; several skills for str"},
		{"a skill for none of the input", agent.AgentSpec{In: oneOf(strT, intT), Skills: []*agent.Skill{skill("a", strT, nil)}}, "AS312: no skill that takes int"},
		{"skills for all of the input", agent.AgentSpec{In: oneOf(strT, intT), Skills: []*agent.Skill{skill("a", strT, nil), skill("b", intT, nil)}}, ""},
		{"a step towards the output", agent.AgentSpec{Out: intT, Skills: []*agent.Skill{skill("a", nil, intT), skill("b", nil, strT)}}, "AS322: it gives str, and the agent gives int"},
		{"one tool on both levels", agent.AgentSpec{Prompt: "x", Tools: []*agent.Tool{sharedTool}, Skills: []*agent.Skill{{Name: "s", Tools: []*agent.Tool{sharedTool}}}}, ""},
		{"two tools of one name", agent.AgentSpec{Prompt: "x", Tools: []*agent.Tool{tool("t"), tool("t")}}, `AS508: "t"`},
		{"knowledge named like a tool", agent.AgentSpec{Prompt: "x", Tools: []*agent.Tool{tool("style")}, Skills: []*agent.Skill{{Name: "s", Knowledge: []agent.Knowledge{{Key: "style"}}}}}, `AS508: "style"`},
		{"knowledge twice", agent.AgentSpec{Prompt: "x", Skills: []*agent.Skill{{Name: "s", Knowledge: []agent.Knowledge{{Key: "a"}, {Key: "a"}}}}}, `AS508: "a"`},
		{"a script's tool that runs once", agent.AgentSpec{Prompt: "x", Tools: []*agent.Tool{{Name: "t", Run: stop, Class: engine.ClassOnce}}}, "AS204: once"},
		{"on_bad_output without arguments", agent.AgentSpec{Prompt: "x", OnBadOutput: asks0}, "AS216: on_bad_output"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c := compose()
			spec := r.spec
			spec.Name = "agent"
			c.Agent(c.site("agent", "agent"), &spec)
			found := c.Diagnostics()
			if r.want == "" {
				if len(found) > 0 {
					t.Errorf("said\n%s", said(found))
				}
				return
			}
			code, words, _ := strings.Cut(r.want, ": ")
			if len(found) != 1 || string(found[0].Code) != code {
				t.Fatalf("want one %s, said\n%s", code, said(found))
			}
			for word := range strings.SplitSeq(words, "; ") {
				if !strings.Contains(said(found), word) {
					t.Errorf("%q is not in\n%s", word, said(found))
				}
			}
		})
	}
}

var sharedTool = &agent.Tool{Name: "shared", Run: stop, Class: engine.ClassRead}

var asks0 = engine.GoFunc("none", 0, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.Value{}, nil })
