package engine

import (
	"fmt"
	"github.com/agentscript/agentscript/internal/text"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// Selection says how an agent chooses among its skills, where their types alone do not decide:
// by a function, or by a model that reads their descriptions.
type Selection struct {
	By    Func       // gets the input and gives the name of a skill; asked for every input
	Names []Literal  // names that By gives, as far as it spells them out
	All   bool       // By gives none but these
	Ask   *AgentSpec // the model that is asked, when several skills take an input: Model, Fallbacks, Params, Structured, Repairs and Prompt count

	Threshold float64 // of Ask: how sure, from 0 to 1, the model must be
	Otherwise Literal // of Ask: the skill for when it is less sure, or comes to no choice; "" is an error
	Span      diag.Span
}

// DefaultThreshold is how sure a model must be of the skill that it chooses.
const DefaultThreshold = 0.6

// Literal is a text that stands in a script.
type Literal struct {
	Text string
	Span diag.Span
}

// Asks gives the agents that a model carries out in a: itself, and what chooses among its skills.
// They are named apart, triage and triage.router.
func (a *AgentSpec) Asks() []*AgentSpec {
	var out []*AgentSpec
	for _, sk := range a.Skills {
		if sk.Run == nil {
			out = append(out, a)
			break
		}
	}
	if r := a.routes(); r != nil {
		out = append(out, r)
	}
	return out
}

// routes is the router that may be asked, nil when there is none.
func (a *AgentSpec) routes() *AgentSpec {
	if a.Select == nil || a.Select.Ask == nil || !a.ambiguous() {
		return nil
	}
	return a.Select.Ask
}

// ambiguous reports whether several skills may take one input.
func (a *AgentSpec) ambiguous() bool {
	fit := a.candidates()
	for _, c := range typing.Cases(a.In) {
		taking := 0
		for _, sk := range fit {
			if generable.Assignable(c, sk.In) == nil {
				taking++
			}
		}
		if taking > 1 {
			return true
		}
	}
	return false
}

// checkSelect checks how an agent chooses among its skills, whose types are settled, and reports
// skills that nothing chooses.
func (c *checker) checkSelect(a *AgentSpec) bool {
	ok := true
	if sel := a.Select; sel != nil {
		at := sel.Span.Or(c.at)
		if sel.By != nil {
			ok = arity(c.Reporter, at, sel.By.Info(), 1, "select") && c.checkNames(a, sel)
		}
		if sel.Ask != nil {
			ok = c.checkRouter(at, a, sel) && ok
		}
	}
	if ok {
		c.unreached(a)
	}
	return ok
}

// checkNames checks the names that a function is seen to give.
func (c *checker) checkNames(a *AgentSpec, sel *Selection) bool {
	ok := true
	for _, name := range sel.Names {
		ok = c.known(a, name, "select") && ok
	}
	return ok
}

// known checks that a name is that of a skill which gives the agent's output.
func (c *checker) known(a *AgentSpec, name Literal, what string) bool {
	names := namesOf(a.candidates())
	for _, sk := range a.candidates() {
		if sk.Name == name.Text {
			return true
		}
	}
	d := c.Errorf(diag.NoSkill, name.Span, "agent %q has no skill %q for %s to choose", a.Name, name.Text, what)
	for _, sk := range a.Skills {
		if sk.Name == name.Text {
			d.Message = fmt.Sprintf("%s cannot choose skill %q: it gives %s, and agent %q gives %s", what, sk.Name, sk.Out, a.Name, a.Out)
			d.Notef(sk.Span.Pos, "the skill is made")
		}
	}
	if hint := diag.DidYouMean(name.Text, names); hint != "" {
		d.Helpf("%s", hint)
	}
	d.Helpf("its skills are: %s", strings.Join(names, ", "))
	return false
}

// checkRouter settles what a router takes over from its agent.
func (c *checker) checkRouter(at diag.Span, a *AgentSpec, sel *Selection) bool {
	own := *sel.Ask // one router may choose for several agents
	own.Name, own.In, own.Of = a.Name+".router", a.In, a
	kept := *sel
	kept.Ask, a.Select = &own, &kept
	if sel.Otherwise.Text != "" && !c.known(a, sel.Otherwise, "otherwise") {
		return false
	}
	if !a.ambiguous() {
		d := c.Warnf(diag.Unreachable, at, "the router of agent %q is never asked", a.Name)
		d.Helpf("no input is taken by two of its skills: leave out select, or add a skill to choose from")
	}
	return true
}

// unreached warns of skills that no input leads to.
func (c *checker) unreached(a *AgentSpec) {
	for _, sk := range a.Skills {
		why := ""
		switch {
		case generable.Assignable(sk.Out, a.Out) != nil:
			why = fmt.Sprintf("it gives %s, and the agent gives %s", sk.Out, a.Out)
		case !anyCase(a.In, func(c *generable.Type) bool { return generable.Assignable(c, sk.In) == nil }):
			why = fmt.Sprintf("it takes %s, and the agent takes %s", sk.In, a.In)
		case a.Select != nil && a.Select.By != nil && a.Select.All && !a.Select.gives(sk.Name):
			why = "select never gives its name"
		default:
			continue
		}
		d := c.Warnf(diag.Unreachable, sk.Span.Or(c.at), "nothing comes to skill %q of agent %q: %s", sk.Name, a.Name, why)
		d.Helpf("leave the skill out, or let something choose it")
	}
}

func (sel *Selection) gives(name string) bool {
	for _, l := range sel.Names {
		if l.Text == name {
			return true
		}
	}
	return false
}

func anyCase(t *generable.Type, is func(*generable.Type) bool) bool {
	for _, c := range typing.Cases(t) {
		if is(c) {
			return true
		}
	}
	return false
}

func namesOf(skills []*Skill) []string {
	names := make([]string, len(skills))
	for i, sk := range skills {
		names[i] = sk.Name
	}
	return names
}

// pickSkill finds the skill for an input: by the function that selects, by the input's type or, when
// several skills take it, by asking the router.
func (b *branch) pickSkill(p *agentPlan, v generable.Value, said told) (*skillPlan, error) {
	sel := p.spec.Select
	switch {
	case p.only != nil:
		return p.only, nil
	case said.brief != nil && said.brief.talk != nil && said.brief.talk.plan != nil:
		return said.brief.talk.plan.(*skillPlan), nil // a conversation goes on as it began
	case sel == nil:
		sk, err := p.skillFor(v)
		return b.chose(p, sk, choice{}, err)
	case sel.By != nil:
		sk, err := b.selected(p, v)
		return b.chose(p, sk, choice{}, err)
	}
	fit := p.taking(v)
	if len(fit) < 2 || sel.Ask == nil {
		sk, err := p.skillFor(v)
		return b.chose(p, sk, choice{}, err)
	}
	sk, c, err := b.routed(p, fit, v, said)
	return b.chose(p, sk, c, err)
}

// chose tells which skill of several it is to be.
func (b *branch) chose(p *agentPlan, sk *skillPlan, c choice, err error) (*skillPlan, error) {
	if err == nil && len(p.skills) > 1 && b.Wants(EventSkill) {
		b.emit(Event{Kind: EventSkill, Data: &SkillData{p.spec.Name, sk.Name, c.rationale, c.confidence}})
	}
	return sk, err
}

// event is what a call of a tool is told as: reading what a skill knows is an event of its own.
func (p *skillPlan) event(name string) EventKind {
	if t := p.tool(name); t != nil && t.knows {
		return EventKnowledge
	}
	return EventTool
}

// taking lists the skills that take an input.
func (p *agentPlan) taking(v generable.Value) []*skillPlan {
	var fit []*skillPlan
	for _, sk := range p.skills {
		if sk.In.Conforms(v) == nil {
			fit = append(fit, sk)
		}
	}
	return fit
}

// selected asks the function for the name of a skill.
func (b *branch) selected(p *agentPlan, v generable.Value) (*skillPlan, error) {
	out, err := b.invokeAs("select", 0, p.spec.Select.By, v)
	if err != nil {
		return nil, err
	}
	name, ok := out.AsStr()
	if !ok {
		return nil, p.notChosen(v, "select of agent %q gives %s, want the name of a skill", p.spec.Name, out.TypeName())
	}
	return p.named(name, v, "select")
}

// named finds the skill of a name, which has to take the input.
func (p *agentPlan) named(name string, v generable.Value, by string) (*skillPlan, error) {
	for _, sk := range p.skills {
		if sk.Name != name {
			continue
		}
		if errs := sk.In.Conforms(v); errs != nil {
			return nil, p.notChosen(v, "%s chose skill %q for agent %q, which takes %s, not %s", by, name, p.spec.Name, sk.In, v.TypeName())
		}
		return sk, nil
	}
	for _, sk := range p.spec.Skills {
		if sk.Name == name {
			return nil, p.notChosen(v, "%s chose skill %q for agent %q, which gives %s, not %s", by, name, p.spec.Name, sk.Out, p.spec.Out)
		}
	}
	return nil, p.notChosen(v, "%s chose skill %q, which agent %q does not have", by, text.Clip(name, maxToolName), p.spec.Name)
}

// notChosen is the failure of a choice. It lists the skills that take the input.
func (p *agentPlan) notChosen(v generable.Value, format string, args ...any) *Error {
	e := Errorf(KindSkill, diag.NotChosen, format, args...)
	var names []string
	for _, sk := range p.taking(v) {
		names = append(names, sk.Name)
	}
	if sel := p.spec.Select; sel != nil {
		e.Pos = sel.Span.Pos
	}
	if len(names) == 0 {
		return e.WithHelp("no skill takes %s", v.TypeName())
	}
	return e.WithHelp("the skills for this input are: %s", strings.Join(names, ", "))
}
