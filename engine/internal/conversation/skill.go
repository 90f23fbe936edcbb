package conversation

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// theOnly returns the only skill that takes an input, or an error.
func (p *Plan) theOnly(fit []*skillPlan, v generable.Value) (*skillPlan, error) {
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return nil, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "agent %q has no skill that takes %s", p.Spec.Name, v.TypeName()).
			WithHelp("add a skill with that input")
	}
	return nil, engine.Errorf(engine.KindType, diag.NoSkill, "agent %q has several skills for %s: %s", p.Spec.Name, v.TypeName(), strings.Join(names(fit), ", ")).
		WithHelp(agent.SkillsHelp)
}

func names(skills []*skillPlan) []string {
	return text.Each(skills, func(sk *skillPlan) string { return sk.Name })
}

// pickSkill finds the skill for an input: by the selecting function, by the input's type or, if several skills take it,
// by asking the router.
func pickSkill(b *exec.Branch, p *Plan, v generable.Value, said promptContext) (sk *skillPlan, err error) {
	switch {
	case p.only != nil:
		return p.only, nil
	case said.instructions != nil && said.instructions.Continuation != nil && said.instructions.Continuation.Plan != nil:
		return said.instructions.Continuation.Plan.(*skillPlan), nil // a conversation continues with the skill it began with
	}
	var c choice
	if sel := p.Spec.Select; sel != nil && sel.By != nil {
		sk, err = selected(b, p, v)
	} else if fit := p.taking(v); sel != nil && sel.Ask != nil && len(fit) > 1 {
		sk, c, err = routed(b, p, fit, v, said)
	} else {
		sk, err = p.theOnly(fit, v)
	}
	if err == nil && len(p.Skills) > 1 && b.Wants(engine.EventSkill) {
		b.Emit(engine.Event{Kind: engine.EventSkill, Data: &event.Skill{Agent: p.Spec.Name, Name: sk.Name, Text: c.rationale, Confidence: c.confidence, Of: p.Spec}})
	}
	return sk, err
}

// taking returns the skills that take an input.
func (p *Plan) taking(v generable.Value) []*skillPlan {
	var fit []*skillPlan
	for _, sk := range p.Skills {
		if sk.In.Conforms(v) == nil {
			fit = append(fit, sk)
		}
	}
	return fit
}

// selected calls the function that returns the name of a skill.
func selected(b *exec.Branch, p *Plan, v generable.Value) (*skillPlan, error) {
	out, err := b.InvokeAs("select", 0, p.Spec.Select.By, v)
	if err != nil {
		return nil, err
	}
	name, ok := out.AsStr()
	if !ok {
		return nil, p.notChosen(v, "select of agent %q returned %s, want the name of a skill", p.Spec.Name, out.TypeName())
	}
	return p.named(name, v, "select")
}

// named finds the skill with a name; it must take the input.
func (p *Plan) named(name string, v generable.Value, by string) (*skillPlan, error) {
	for _, sk := range p.Skills {
		if sk.Name != name {
			continue
		}
		if errs := sk.In.Conforms(v); errs != nil {
			return nil, p.notChosen(v, "%s chose skill %q for agent %q, which takes %s, not %s", by, name, p.Spec.Name, sk.In, v.TypeName())
		}
		return sk, nil
	}
	for _, sk := range p.Spec.Skills {
		if sk.Name == name {
			return nil, p.notChosen(v, "%s chose skill %q for agent %q, which returns %s, not %s", by, name, p.Spec.Name, sk.Out, p.Spec.Out)
		}
	}
	return nil, p.notChosen(v, "%s chose skill %q, which agent %q does not have", by, text.Clip(name, agent.MaxToolName), p.Spec.Name)
}

// notChosen returns the failure of a choice. It lists the skills that take the input.
func (p *Plan) notChosen(v generable.Value, format string, args ...any) *engine.Error {
	e := engine.Errorf(engine.KindSkill, diag.NotChosen, format, args...)
	fit := p.taking(v)
	if sel := p.Spec.Select; sel != nil {
		e.Pos = sel.Span.Pos
	}
	if len(fit) == 0 {
		return e.WithHelp("no skill takes %s", v.TypeName())
	}
	return e.WithHelp("the skills for this input are: %s", strings.Join(names(fit), ", "))
}
