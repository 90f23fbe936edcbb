package engine

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Agent declares an agent: it settles defaults and checks that a skill yields the agent's
// output type. The spec belongs to the session from then on.
func (s *Session) Agent(site Site, spec *AgentSpec) *Node {
	n := &Node{kind: AgentNode, name: spec.Name, span: site.Span, agent: spec}
	spec.In, spec.Out = orStr(spec.In), orStr(spec.Out)
	n.in, n.out = spec.In, spec.Out
	n.failed = !s.checkAgent(site, spec)
	return s.add(n)
}

func orStr(t *generable.Type) *generable.Type {
	if t == nil {
		return generable.StrT
	}
	return t
}

func (s *Session) checkAgent(site Site, a *AgentSpec) bool {
	ok := true
	switch {
	case a.Run != nil && (a.Prompt != "" || a.Template != nil || len(a.Skills) > 0):
		d := s.errorf(diag.SkillConflict, site.Span, "agent %q has run = and %s", a.Name, other(a))
		help(d, "run = is the whole agent; give a deterministic part as skill(name, doc, run = f)")
		return false
	case a.Run != nil:
		a.Skills = []*Skill{{Name: a.Name, Run: a.Run, Span: site.Span}}
	case len(a.Skills) == 0 && a.Prompt == "" && a.Template == nil:
		d := s.errorf(diag.NoSkill, site.Span, "agent %q has nothing to do", a.Name)
		help(d, "give it prompt = \"...\", run = f or skills = [...]")
		return false
	case len(a.Skills) == 0:
		a.Skills = []*Skill{{Name: a.Name, Span: site.Span}}
	}
	if a.Template != nil {
		ok = s.placeholders(site.Span, a.Template, a.In) && ok
	}
	ok = s.checkTools(a.Tools, nil) && ok
	names := map[string]bool{}
	yields := false
	for _, sk := range a.Skills {
		at := spanOr(sk.Span, site.Span)
		if names[sk.Name] {
			s.errorf(diag.DuplicateName, at, "agent %q has two skills named %q", a.Name, sk.Name)
			ok = false
		}
		names[sk.Name] = true
		if sk.In == nil {
			sk.In = a.In
		}
		if sk.Out == nil {
			sk.Out = a.Out
		}
		yields = yields || generable.Assignable(sk.Out, a.Out) == nil
		if sk.Run != nil && len(sk.Tools) > 0 {
			d := s.errorf(diag.SkillConflict, at, "skill %q has run and tools", sk.Name)
			help(d, "run = is deterministic and calls no model; tools belong to a skill that a model carries out: choose one")
			ok = false
		}
		if sk.Run != nil {
			what := "skill " + sk.Name
			if a.Run != nil {
				what = "agent " + a.Name
			}
			ok = s.arity(at, sk.Run, s.runArity(sk.Run), what) && ok
		}
		ok = s.checkTools(sk.Tools, a.Tools) && ok
	}
	if !yields && ok {
		d := s.errorf(diag.NoSkill, site.Span, "Agent %q has no skill producing %s. At least one skill must return the agent's output type.", a.Name, a.Out)
		for _, sk := range a.Skills {
			note(d, sk.Span.Pos, "skill %s gives %s", sk.Name, sk.Out)
		}
		help(d, "set output = %s on the skill that answers, or change the agent's output", a.Out)
		ok = false
	}
	if a.OnBadOutput != nil {
		ok = s.arity(site.Span, a.OnBadOutput, 1, "on_bad_output") && ok
	}
	return ok
}

func other(a *AgentSpec) string {
	switch {
	case len(a.Skills) > 0:
		return "skills"
	case a.Template != nil:
		return "a template"
	}
	return "a prompt"
}

// runArity is one argument, or two for a forum's captain that takes the transcript as well.
func (s *Session) runArity(f Func) int {
	if f.Info().Needs == 2 {
		return 2
	}
	return 1
}

// checkTools checks names and effect classes of tools; inherited are the agent's.
func (s *Session) checkTools(tools, inherited []*Tool) bool {
	ok := true
	seen := map[string]*Tool{}
	for _, t := range inherited {
		seen[t.Name] = t
	}
	for _, t := range tools {
		if prev := seen[t.Name]; prev != nil && prev != t {
			d := s.errorf(diag.DuplicateName, t.Span, "two tools are named %q", t.Name)
			note(d, prev.Span.Pos, "the first is made")
			help(d, "rename one: tool(f, name = \"...\")")
			ok = false
		}
		seen[t.Name] = t
		if t.Run != nil && t.Class == ClassOnce {
			d := s.errorf(diag.WrongArgument, t.Span, "tool %q runs in the script and cannot be effect = \"once\"", t.Name)
			help(d, "a script's function is run again when a run is replayed; write the effect as a host tool, or declare effect = \"read\"")
			ok = false
		}
	}
	return ok
}

// skillFor finds the skills of an agent that turn its input into its output.
func (a *AgentSpec) candidates() []*Skill {
	var out []*Skill
	for _, sk := range a.Skills {
		if generable.Assignable(sk.Out, a.Out) == nil {
			out = append(out, sk)
		}
	}
	return out
}

// skillFor picks the one skill for an input. Several that fit are an error: the engine does
// not guess.
func (a *AgentSpec) skillFor(v generable.Value) (*Skill, error) {
	all := a.candidates()
	if len(all) == 1 {
		return all[0], nil
	}
	var fit []*Skill
	for _, sk := range all {
		if sk.In.Conforms(v) == nil {
			fit = append(fit, sk)
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	names := make([]string, len(fit))
	for i, sk := range fit {
		names[i] = sk.Name
	}
	if len(fit) == 0 {
		return nil, Errorf(KindType, diag.WrongTypeAtBoundary, "agent %q has no skill that takes %s", a.Name, v.TypeName())
	}
	return nil, Errorf(KindType, diag.NoSkill, "agent %q has several skills for %s: %v", a.Name, v.TypeName(), names).
		WithHelp("%s", fmt.Sprintf("give the skills different input types, or split the agent %s", a.Name))
}
