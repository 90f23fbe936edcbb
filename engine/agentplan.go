package engine

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// agentPlan is what a run needs of an agent and need not build again.
type agentPlan struct {
	spec   *AgentSpec
	only   *skillPlan // the skill for every input; nil when the input decides
	skills []*skillPlan
	bounds bool // it has a budget over what it calls
}

// skillPlan is a skill that gives the agent's output.
type skillPlan struct {
	*Skill
	agent  *AgentSpec
	loose  bool   // what it gives is not proven to be of the agent's output type
	system string // of a model: the system text; of a template agent, what follows the rendered template
	tools  []*Tool

	hasRules bool // some tool may not always be called
	defs     []ToolDef
	output   *Output
	head     headCache
	servers  *servers // whose tools it has as well, nil without
	history  *History // nil: each call begins anew
}

func planAgent(a *AgentSpec) *agentPlan {
	p := &agentPlan{spec: a, bounds: a.Budget.over()}
	for _, sk := range a.candidates() {
		p.skills = append(p.skills, planSkill(a, sk))
	}
	if len(p.skills) == 1 && typing.Proven(a.In, p.skills[0].In) && (a.Select == nil || a.Select.By == nil) {
		p.only = p.skills[0]
	}
	return p
}

// skillFor finds the plan of the skill for an input.
func (p *agentPlan) skillFor(v generable.Value) (*skillPlan, error) {
	if p.only != nil {
		return p.only, nil
	}
	sk, err := p.spec.skillFor(v)
	if err != nil {
		return nil, err
	}
	for _, s := range p.skills {
		if s.Skill == sk {
			return s, nil
		}
	}
	return nil, Errorf(KindScript, diag.NoSkill, "agent %q has no skill %q", p.spec.Name, sk.Name)
}

// give makes what the skill came to a value of the agent's output type.
func (p *skillPlan) give(v generable.Value) (generable.Value, error) {
	if !p.loose {
		return v, nil
	}
	return converted(v, p.agent.Out, p.agent.Name)
}

func planSkill(a *AgentSpec, sk *Skill) *skillPlan {
	p := &skillPlan{Skill: sk, agent: a, loose: !typing.Proven(sk.Out, a.Out)}
	if sk.Run != nil {
		return p
	}
	seen := map[*Tool]bool{} // one that agent and skill both list is offered once
	for _, list := range [][]*Tool{a.Tools, sk.Tools, knowledgeTools(sk), memoryTools(a)} {
		for _, t := range list {
			if !seen[t] {
				seen[t] = true
				p.tools = append(p.tools, runnable(t))
				p.defs = append(p.defs, t.def())
			}
		}
	}
	p.servers = serversOf(a, sk)
	p.system = a.SystemText(sk)
	p.rules()
	if sk.Out.Deref().Kind != generable.StrType {
		p.output = &Output{Type: sk.Out, Structured: a.Structured}
		if sk.Out.ID() == a.Out.ID() {
			p.output.Enough = a.Enough
		}
	}
	return p
}

// runnable gives a tool that is a node the function that calls it.
func runnable(t *Tool) *Tool {
	if t.Node == nil {
		return t
	}
	n := t.Node.(*Node)
	own := *t
	own.Run = &nodeTool{n: n, name: t.Name, boxed: n.In().Deref().Kind != generable.RecordType}
	return &own
}

// nodeTool calls a node with the arguments of a tool.
type nodeTool struct {
	n     *Node
	name  string
	boxed bool // the input is a parameter of its own
}

func (t *nodeTool) Info() FuncInfo {
	return FuncInfo{Name: t.name, Pos: t.n.Pos(), Params: 1, Needs: 1}
}

func (t *nodeTool) Call(b Branch, args []generable.Value) (generable.Value, error) {
	in := args[0]
	if r, ok := in.AsRecord(); ok && t.boxed {
		in = r.At(0)
	}
	out, err := b.(*branch).Call(t.n, in)
	if e, ok := err.(*Error); ok && e.Verdict != nil { // it ended the agent inside, not the one that asks
		own := *e
		own.Verdict, err = nil, &own
	}
	return out, err
}

// SystemText is the system text that an agent sends for a skill, before a template is rendered: its
// prompt, the skill's description where the script gave one, what the types were declared to mean
// where that does not stand there already, and the format of the answer.
func (a *AgentSpec) SystemText(sk *Skill) string {
	var parts []string
	if a.Prompt != "" {
		parts = append(parts, a.Prompt)
	}
	switch {
	case sk.Description != "":
		parts = append(parts, sk.Description)
	case sk.Doc != "":
		parts = append(parts, sk.Describe())
	}
	if own := sk.In.Deref().Description; own != "" && sk.In.Deref() != sk.Out.Deref() {
		parts = append(parts, own)
	}
	switch out := sk.Out.Deref(); { // the format does not say what the answer is about
	case out.Description != "":
		parts = append(parts, out.Description)
	case out.Doc != "" && sk.Description == "" && sk.Doc == "":
		parts = append(parts, out.String()+": "+out.Doc)
	}
	if sk.Out.Deref().Kind != generable.StrType {
		parts = append(parts, sk.Out.PromptFragment())
	}
	return strings.Join(parts, "\n\n")
}

// Describe is the text that tells a model about the skill: what it takes, gives and knows.
func (sk *Skill) Describe() string {
	if sk.Description != "" {
		return sk.Description
	}
	known := make([]generable.Knowledge, len(sk.Knowledge))
	for i, k := range sk.Knowledge {
		known[i] = generable.Knowledge{Key: k.Key, Description: k.Doc}
	}
	return generable.SkillDescription(sk.Name, sk.Doc, orStr(sk.In), orStr(sk.Out), known)
}

// params are the tool's parameters, none when it declares none.
func (t *Tool) params() *generable.Type {
	if t.Params == nil {
		return &generable.Type{Kind: generable.RecordType, Name: t.Name}
	}
	return t.Params
}
