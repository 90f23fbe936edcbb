package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// agentPlan is what a run needs of an agent and need not build again.
type agentPlan struct {
	spec   *AgentSpec
	skills map[*Skill]*skillPlan
}

// skillPlan is a skill that a model carries out.
type skillPlan struct {
	system string // the system text; of a template agent, what follows the rendered template
	tools  []*Tool
	defs   []ToolDef
	output *Output
}

func planAgent(n *Node) *agentPlan {
	p := &agentPlan{spec: n.agent, skills: map[*Skill]*skillPlan{}}
	for _, sk := range n.agent.Skills {
		if sk.Run == nil {
			p.skills[sk] = planSkill(n.agent, sk)
		}
	}
	return p
}

func planSkill(a *AgentSpec, sk *Skill) *skillPlan {
	p := &skillPlan{tools: append(append(a.Tools[:len(a.Tools):len(a.Tools)], sk.Tools...), knowledgeTools(sk)...)}
	for _, t := range p.tools {
		p.defs = append(p.defs, ToolDef{Name: t.Name, Description: t.Doc, Params: t.Params})
	}
	p.system = systemText(a, sk)
	if sk.Out.Deref().Kind != generable.StrType {
		p.output = &Output{Type: sk.Out, Structured: a.Structured}
	}
	return p
}

// systemText is the agent's prompt, the skill's description where the script gave one, what the
// types were declared to mean where that does not stand there already, and the format of the
// answer.
func systemText(a *AgentSpec, sk *Skill) string {
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

// SystemText is the system text that an agent sends for a skill, before a template is rendered.
func (a *AgentSpec) SystemText(sk *Skill) string { return systemText(a, sk) }

// knowledgeTools offers each piece of knowledge as a tool, so that its text reaches the model
// only when asked for.
func knowledgeTools(sk *Skill) []*Tool {
	var tools []*Tool
	for _, k := range sk.Knowledge {
		tools = append(tools, &Tool{
			Name: k.Key, Doc: k.Doc, Class: ClassRead, Returns: generable.StrT,
			Params: &generable.Type{Kind: generable.RecordType, Name: k.Key},
			Run: GoFunc(k.Key, 1, func(b *Branch, _ []generable.Value) (generable.Value, error) {
				if k.Load != nil {
					return b.invoke(k.Load)
				}
				return generable.StrOf(k.Text), nil
			}),
		})
	}
	return tools
}

// agent runs an agent once.
func (b *Branch) agent(s *step, v generable.Value) (generable.Value, error) {
	a := s.agent.spec
	said := b.transcript
	b.transcript = nil
	sk, err := a.skillFor(v)
	if err != nil {
		return v, err
	}
	if sk.Run != nil {
		return b.deterministic(a, sk, v, said)
	}
	outer := b.budget
	defer func() { b.budget = outer }()
	limits := a.Budget
	if !limits.Turns.set {
		limits.Turns = AtMost(DefaultTurns)
	}
	if !limits.ToolCalls.set {
		limits.ToolCalls = AtMost(DefaultToolCalls)
	}
	b.budget = newBudget(outer, fmt.Sprintf("agent %q has its budget", a.Name), limits)
	t := &turns{b: b, a: a, sk: sk, plan: s.agent.skills[sk], input: v, said: said, limits: limits}
	if limits.Wall <= 0 {
		return t.run()
	}
	return t.within(limits.Wall)
}

func (b *Branch) deterministic(a *AgentSpec, sk *Skill, v generable.Value, said *transcript) (generable.Value, error) {
	args := []generable.Value{v}
	if sk.Run.Info().Needs == 2 {
		args = append(args, said.value())
	}
	out, err := b.invoke(sk.Run, args...)
	if err != nil {
		return out, err
	}
	return converted(out, a.Out, a.Name)
}

// turns is the conversation of one agent call.
type turns struct {
	b      *Branch
	a      *AgentSpec
	sk     *Skill
	plan   *skillPlan
	input  generable.Value
	said   *transcript
	limits Limits
	usage  Usage
	calls  map[string]int // of each tool, for positions
}

// within ends the agent call when its time is up.
func (t *turns) within(d time.Duration) (generable.Value, error) {
	parent := t.b
	var out generable.Value
	_, err := parent.sched.First(2, func(i int, s Sched) (bool, error) {
		if i == 1 {
			if err := s.SleepUntil(s.Now().Add(d)); err != nil {
				return false, err
			}
			return true, Errorf(KindBudget, diag.BudgetExceeded, "agent %q used up its time of %s", t.a.Name, d).
				WithHelp("raise it with budget(wall = ...)")
		}
		br := parent.fork(s, parent.at)
		own := *t
		own.b = br
		return true, br.guard(func() (err error) {
			out, err = own.run()
			return err
		})
	})
	return out, err
}

// run talks to the model until it gives an answer that fits, or a budget ends.
func (t *turns) run() (generable.Value, error) {
	req, err := t.request()
	if err != nil {
		return generable.Value{}, err
	}
	asked := 0
	for turn := 0; ; turn++ {
		if n, ok := t.limits.Turns.Value(); ok && int64(turn) >= n {
			return generable.Value{}, t.spent(n)
		}
		out := t.b.model(req, t.a.Name, turn)
		t.usage = t.usage.Add(out.Usage)
		if out.Err != nil {
			return generable.Value{}, out.Err
		}
		resp := out.Response
		if calls := resp.Calls(); len(calls) > 0 {
			results, err := t.tools(calls)
			if err != nil {
				return generable.Value{}, err
			}
			req = req.Extend(Message{Role: RoleAssistant, Parts: resp.Parts}, Message{Role: RoleTool, Parts: results})
			continue
		}
		if err := finished(resp, t.a.Name); err != nil {
			return generable.Value{}, err
		}
		text := resp.Text()
		if t.plan.output == nil {
			return generable.StrOf(text), nil
		}
		v, complaint, err := t.decode(text)
		if err == nil {
			return v, nil
		}
		if asked >= t.a.Repairs {
			return t.badOutput(text, err)
		}
		asked++
		if t.b.Wants(EventRepair) {
			t.b.emit(Event{Kind: EventRepair, Name: t.a.Name, Text: "asked again: " + complaint})
		}
		req = req.Extend(Message{Role: RoleAssistant, Parts: resp.Parts}, TextMessage(RoleUser, complaint))
	}
}

// request is the first turn's request.
func (t *turns) request() (*Request, error) {
	system := t.plan.system
	if t.a.Template != nil {
		text, err := t.a.Template.Render(t.input, t.a.In)
		if err != nil {
			return nil, Errorf(KindType, diag.UnknownPlaceholder, "%w", err)
		}
		system = strings.Trim(text+"\n\n"+system, "\n")
	}
	user := inputText(t.input, t.sk.In)
	if t.said != nil {
		user += "\n\n## Transcript\n\n" + strings.TrimRight(t.said.text(), "\n")
	}
	return &Request{
		Model: t.b.run.modelFor(t.a), System: system, Messages: []Message{TextMessage(RoleUser, user)},
		Tools: t.plan.defs, Output: t.plan.output, Params: t.a.Params,
	}, nil
}

// finished refuses answers that are none.
func finished(r *Response, agent string) error {
	switch r.Finish {
	case FinishLength:
		e := Errorf(KindTruncated, diag.ProviderError, "the answer to agent %q was cut off by the token limit", agent)
		e.Raw = r.Text()
		return e.WithHelp("raise max_tokens, or ask for less")
	case FinishRefusal, FinishFilter:
		e := Errorf(KindRefused, diag.ProviderError, "the model refused to answer agent %q (%s)", agent, r.Finish)
		e.Raw = r.Text()
		return e
	}
	return nil
}

// decode reads an answer as the skill's output.
func (t *turns) decode(text string) (generable.Value, string, error) {
	res := generable.Decode(t.sk.Out, text, generable.Options{})
	if len(res.Repairs) > 0 && t.b.Wants(EventRepair) {
		for _, r := range res.Repairs {
			t.b.emit(Event{Kind: EventRepair, Name: r.Kind, Text: fmt.Sprintf("%s %s → %s", r.Path, r.Before, r.After)})
		}
	}
	if res.OK {
		return res.Value, "", nil
	}
	e := Errorf(KindSchema, diag.BadModelOutput, "the answer to agent %q is no %s: %w", t.a.Name, t.sk.Out, res.Errors)
	e.Raw, e.Partial, e.Usage = text, res.Value, t.usage
	return res.Value, res.Complaint(), e.WithHelp("ask again with repairs = 1, or set on_bad_output")
}

// badOutput is the last resort for an answer that does not fit.
func (t *turns) badOutput(raw string, cause error) (generable.Value, error) {
	if t.a.OnBadOutput == nil {
		return generable.Value{}, cause
	}
	out, err := t.b.invoke(t.a.OnBadOutput, generable.StrOf(raw))
	if err != nil {
		return out, err
	}
	return converted(out, t.a.Out, "on_bad_output of "+t.a.Name)
}

func (t *turns) spent(n int64) error {
	e := Errorf(KindBudget, diag.BudgetExceeded, "agent %q gave no answer within %s", t.a.Name, count(int(n), "turn"))
	e.Usage = t.usage
	return e.WithHelp("raise it with budget(turns = ...), or see in the events which tools it keeps calling")
}
