package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Selection says how an agent chooses among its skills if their types alone do not decide: by a function, or by a
// model that reads their descriptions.
type Selection struct {
	By    engine.Func // receives the input and returns the name of a skill; called for every input
	Names []Literal   // names that By returns, as far as it spells them out
	All   bool        // By returns only these
	Ask   *Spec       // the model that is asked if several skills take an input: Model, Fallbacks, Params, Structured, Repairs and Prompt count

	Threshold float64 // of Ask: how sure the model must be, from 0 to 1
	Otherwise Literal // of Ask: the skill if the model is less sure, or makes no choice; "" is an error
	Span      diag.Span
}

// DefaultThreshold is how sure a model must be of the skill that it chooses.
const DefaultThreshold = 0.6

// Literal is a text written in a script.
type Literal struct {
	Text string
	Span diag.Span
}

// Asks returns the agents for which a model is asked: a itself, and the router that chooses among its skills. Their
// names differ, as in triage and triage.router.
func (a *Spec) Asks() []*Spec {
	var out []*Spec
	if slices.ContainsFunc(a.Skills, func(sk *Skill) bool { return sk.Run == nil }) {
		out = append(out, a)
	}
	if a.Select != nil && a.Select.Ask != nil && a.ambiguous() {
		out = append(out, a.Select.Ask)
	}
	return out
}

// ambiguous reports whether several skills may take one input.
func (a *Spec) ambiguous() bool {
	fit := a.Candidates()
	return slices.ContainsFunc(typing.Cases(a.In), func(c *generable.Type) bool {
		taking := 0
		for _, sk := range fit {
			if generable.Assignable(c, sk.In) == nil {
				taking++
			}
		}
		return taking > 1
	})
}

// checkSelect checks how an agent chooses among its skills, whose types are known by then, and reports skills that
// are never chosen.
func (c *checker) checkSelect(a *Spec) bool {
	ok := true
	if sel := a.Select; sel != nil {
		at := sel.Span.Or(c.at)
		if sel.By != nil {
			if ok = callback.CheckArity(c.Reporter, at, sel.By, 1, "select"); ok {
				for _, name := range sel.Names { // as far as the function visibly returns them
					ok = c.known(a, name, "select") && ok
				}
			}
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

// known checks that a name is that of a skill which returns the agent's output.
func (c *checker) known(a *Spec, name Literal, what string) bool {
	names := namesOf(a.Candidates())
	if slices.Contains(names, name.Text) {
		return true
	}
	d := c.Errorf(diag.NoSkill, name.Span, "agent %q has no skill %q for %s to choose", a.Name, name.Text, what)
	for _, sk := range a.Skills {
		if sk.Name == name.Text {
			d.Message = fmt.Sprintf("%s cannot choose skill %q: it returns %s, and agent %q returns %s", what, sk.Name, sk.Out, a.Name, a.Out)
			d.Notef(sk.Span.Pos, "the skill is made")
		}
	}
	if hint := diag.DidYouMean(name.Text, names); hint != "" {
		d.Helpf("%s", hint)
	}
	d.Helpf("its skills are: %s", strings.Join(names, ", "))
	return false
}

// checkRouter sets what a router takes over from its agent.
func (c *checker) checkRouter(at diag.Span, a *Spec, sel *Selection) bool {
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

// unreached warns about skills that no input reaches.
func (c *checker) unreached(a *Spec) {
	for _, sk := range a.Skills {
		why := ""
		switch {
		case generable.Assignable(sk.Out, a.Out) != nil:
			why = fmt.Sprintf("it returns %s, and the agent returns %s", sk.Out, a.Out)
		case !slices.ContainsFunc(typing.Cases(a.In), func(c *generable.Type) bool { return generable.Assignable(c, sk.In) == nil }):
			why = fmt.Sprintf("it takes %s, and the agent takes %s", sk.In, a.In)
		case a.Select != nil && a.Select.By != nil && a.Select.All && !slices.ContainsFunc(a.Select.Names, func(l Literal) bool { return l.Text == sk.Name }):
			why = "select never returns its name"
		default:
			continue
		}
		d := c.Warnf(diag.Unreachable, sk.Span.Or(c.at), "nothing reaches skill %q of agent %q: %s", sk.Name, a.Name, why)
		d.Helpf("leave the skill out, or let something choose it")
	}
}

func namesOf(skills []*Skill) []string {
	return text.Each(skills, func(sk *Skill) string { return sk.Name })
}

// keys returns the names under which a model asks for what the skill knows, as tools with a name and nothing else.
func (sk *Skill) keys() []*Tool {
	keys := make([]*Tool, len(sk.Knowledge))
	for i, k := range sk.Knowledge {
		keys[i] = &Tool{Name: k.Key, Span: sk.Span}
	}
	return keys
}

// checkKnowledge checks that each piece of knowledge has its own key, and can be read.
func (c *checker) checkKnowledge(at diag.Span, sk *Skill) bool {
	seen := map[string]bool{}
	for _, k := range sk.Knowledge {
		if seen[k.Key] {
			d := c.Errorf(diag.DuplicateName, at, "skill %q knows two texts by the key %q", sk.Name, k.Key)
			d.Helpf("a model asks for a text by its key: rename one")
			return false
		}
		seen[k.Key] = true
		if k.Load != nil && k.Load.Info().Needs > 1 && !callback.CheckArity(c.Reporter, at, k.Load, 1, "knowledge "+k.Key) {
			return false
		}
	}
	return true
}

// SystemText returns the system text that an agent sends for a skill, before a template is rendered: its prompt, the
// skill's description if the script has one, the declared meaning of the types if it is not included yet, and the
// format of the answer.
func (a *Spec) SystemText(sk *Skill) string {
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
	case model.Aloud(out):
		return strings.Join(parts, "\n\n")
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

// Describe returns the text that describes the skill to a model: what it takes, returns and knows.
func (sk *Skill) Describe() string {
	if sk.Description != "" {
		return sk.Description
	}
	known := make([]generable.Knowledge, len(sk.Knowledge))
	for i, k := range sk.Knowledge {
		known[i] = generable.Knowledge{Key: k.Key, Description: k.Doc}
	}
	return generable.SkillDescription(sk.Name, sk.Doc, cmp.Or(sk.In, generable.StrT), cmp.Or(sk.Out, generable.StrT), known)
}

// Skill is one thing that an agent can do.
type Skill struct {
	Name, Doc   string
	In, Out     *generable.Type // nil: the agent's
	Run         engine.Func     // deterministic; excludes Tools
	Tools       []*Tool
	Servers     []*remote.Server // whose tools it also has
	Knowledge   []Knowledge
	Description string         // replaces the generated description verbatim, if not empty
	Policy      *policy.Policy // for its calls of tools, in addition to the agent's and the host's
	Span        diag.Span
}

// Knowledge is a text that a model can ask for. It is not part of the prompt.
type Knowledge struct {
	Key, Doc string
	Text     string
	Load     engine.Func // called when the model asks, instead of Text; a function that needs an argument receives what the model looks for
}
