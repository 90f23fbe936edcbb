package flow_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/generable"
)

func TestAgentChecks(t *testing.T) {
	tool := func(name string) *agent.Tool {
		return &agent.Tool{Name: name, Run: enginetest.Stop, Class: engine.ClassRead}
	}
	skill := func(name string, in, out *generable.Type) *agent.Skill {
		return &agent.Skill{Name: name, In: in, Out: out}
	}
	rows := []struct {
		name string
		spec agent.Spec
		want string
	}{
		{"nothing to do", agent.Spec{}, "AS312"},
		{"run and prompt", agent.Spec{Run: enginetest.Stop, Prompt: "x"}, "AS313: a prompt"},
		{"run and skills", agent.Spec{Run: enginetest.Stop, Skills: []*agent.Skill{skill("s", nil, nil)}}, "AS313: skills"},
		{"run and tools", agent.Spec{Run: enginetest.Stop, Tools: []*agent.Tool{tool("t")}}, "AS313: tools"},
		{"no skill gives the output", agent.Spec{Out: intT, Skills: []*agent.Skill{skill("s", nil, strT)}}, "AS312: no skill producing int"},
		{"two skills of one name", agent.Spec{Skills: []*agent.Skill{skill("s", strT, nil), skill("s", intT, nil)}}, `AS508: "s"`},
		{"two skills for one input", agent.Spec{Skills: []*agent.Skill{skill("a", nil, nil), skill("b", nil, nil)}}, "AS312: a; b; several skills for str"},
		{"a skill for none of the input", agent.Spec{In: oneOf(strT, intT), Skills: []*agent.Skill{skill("a", strT, nil)}}, "AS312: no skill that takes int"},
		{"skills for all of the input", agent.Spec{In: oneOf(strT, intT), Skills: []*agent.Skill{skill("a", strT, nil), skill("b", intT, nil)}}, ""},
		{"a step towards the output", agent.Spec{Out: intT, Skills: []*agent.Skill{skill("a", nil, intT), skill("b", nil, strT)}}, "AS322: it returns str, and the agent returns int"},
		{"one tool on both levels", agent.Spec{Prompt: "x", Tools: []*agent.Tool{sharedTool}, Skills: []*agent.Skill{{Name: "s", Tools: []*agent.Tool{sharedTool}}}}, ""},
		{"two tools of one name", agent.Spec{Prompt: "x", Tools: []*agent.Tool{tool("t"), tool("t")}}, `AS508: "t"`},
		{"knowledge named like a tool", agent.Spec{Prompt: "x", Tools: []*agent.Tool{tool("style")}, Skills: []*agent.Skill{{Name: "s", Knowledge: []agent.Knowledge{{Key: "style"}}}}}, `AS508: "style"`},
		{"knowledge twice", agent.Spec{Prompt: "x", Skills: []*agent.Skill{{Name: "s", Knowledge: []agent.Knowledge{{Key: "a"}, {Key: "a"}}}}}, `AS508: "a"`},
		{"a host's tool that takes no fields", agent.Spec{Prompt: "x", Tools: []*agent.Tool{{Name: "t", Params: generable.IntT}}}, "AS204: a schema or a dict, not int"},
		{"a host's tool that takes a dict", agent.Spec{Prompt: "x", Tools: []*agent.Tool{{Name: "t", Params: generable.DictOfType(generable.IntT)}}}, ""},
		{"a script's tool that runs once", agent.Spec{Prompt: "x", Tools: []*agent.Tool{{Name: "t", Run: enginetest.Stop, Class: engine.ClassOnce}}}, "AS204: once"},
		{"a rule for no tool", agent.Spec{Prompt: "x", Tools: []*agent.Tool{tool("t")}, Policy: enginetest.Policy(t, policy.Rules{Deny: []string{"nope"}})}, string(diag.UnknownRule) + ": nope"},
		{"a hook that needs too much", agent.Spec{Prompt: "x", Hooks: []*agent.Hooks{{OnSkill: []engine.Func{engine.GoFunc("h", 2, nil)}}}}, "AS216: on_skill_chosen"},
		{"on_bad_output without arguments", agent.Spec{Prompt: "x", OnBadOutput: asks0}, "AS216: on_bad_output"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c := enginetest.Compose()
			spec := r.spec
			spec.Name = "agent"
			c.Agent(c.Site("agent", "agent"), &spec)
			found := c.Diagnostics()
			if r.want == "" {
				if len(found) > 0 {
					t.Errorf("said\n%s", enginetest.Said(found))
				}
				return
			}
			code, words, _ := strings.Cut(r.want, ": ")
			if len(found) != 1 || string(found[0].Code) != code {
				t.Fatalf("want one %s, said\n%s", code, enginetest.Said(found))
			}
			for word := range strings.SplitSeq(words, "; ") {
				if !strings.Contains(enginetest.Said(found), word) {
					t.Errorf("%q is not in\n%s", word, enginetest.Said(found))
				}
			}
		})
	}
}

var sharedTool = &agent.Tool{Name: "shared", Run: enginetest.Stop, Class: engine.ClassRead}

var asks0 = engine.GoFunc("none", 0, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.Value{}, nil })

func TestConditionsAloneDoNotCoverABranch(t *testing.T) {
	yes := engine.GoFunc("yes", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.BoolOf(true), nil })
	for _, otherwise := range []bool{false, true} {
		c := enginetest.Compose()
		o := flow.BranchOptions{}
		if otherwise {
			o.Otherwise = c.Text()
		}
		c.Branch(c.Site("branch", ""), c.Text(), []flow.Route{{When: yes, Handler: c.Text()}}, o)
		if got := len(c.Codes()); got != map[bool]int{false: 1, true: 0}[otherwise] {
			t.Errorf("otherwise %v: reported %v", otherwise, c.Codes())
		}
	}
}

func TestPickWithADeclaredInput(t *testing.T) {
	c := enginetest.Compose()
	doc := enginetest.Schema(t, "Doc", generable.Field{Name: "title", Type: generable.StrT})
	if n := c.Pick(c.Site("pick", ""), "title", doc); n.In() != doc || n.Out().Kind != generable.StrType || n.Failed() {
		t.Errorf("%s -> %s", n.In(), n.Out())
	}
	if n := c.Pick(c.Site("pick", ""), "titel", doc); !n.Failed() {
		t.Error("a field that is not there is picked")
	}
	if got := c.Codes(); len(got) != 1 || got[0] != "AS311" {
		t.Errorf("reported %v", got)
	}
}
