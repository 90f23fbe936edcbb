package conversation

import (
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// choice is a router's answer.
type choice struct {
	name       string
	confidence *float64
	rationale  string
}

const routerTask = "Choose the one skill that is to handle the input, by what the skills are described to take, give and do. " +
	"Do not carry it out yourself. Say how sure you are, from 0 (a guess) to 1 (certain), and why, in a sentence."

// reasoned and unreasoned are the last field of a router's answer: as requested, and as it is also accepted.
var (
	reasoned   = generable.Field{Name: "rationale", Type: generable.StrT, Guide: "why, in a sentence"}
	unreasoned = generable.Field{Name: "rationale", Type: generable.OneOf(generable.StrT, generable.NoneT), Optional: true}
)

// choiceOf returns the type of a router's answer. A reason is requested, but an answer without one is accepted as well,
// since it is not worth another call.
func choiceOf(fit []*skillPlan, reason generable.Field) *generable.Type {
	zero, one := 0.0, 1.0
	// The names of an agent's skills are distinct, which was checked before: this cannot fail.
	skill, _ := generable.NewEnum("Skill", "", names(fit))
	t, _ := generable.NewSchema("SkillChoice", "", []generable.Field{
		{Name: "skill", Type: skill, Guide: "the name of the chosen skill"},
		{Name: "confidence", Type: generable.FloatT, Guide: "how sure you are, from 0 to 1", Limits: &generable.Limits{Ge: &zero, Le: &one}},
		reason,
	})
	return t
}

// routed asks a model which of several skills should take an input. The call is an effect of the agent like any other,
// at a separate position, and it passes the agent's hooks.
func routed(b *exec.Branch, p *Plan, fit []*skillPlan, v generable.Value, said promptContext) (*skillPlan, choice, error) {
	r, at := p.Spec.Select.Ask, b.At
	b.At = at.Child("router", "", 0)
	defer func() { b.At = at }()
	t := choiceOf(fit, reasoned)
	req := routerRequest(b, p, fit, t, v, said)
	for asked := 0; ; asked++ {
		resp, err := askRouter(b, p.Spec, r, req, asked)
		if err == nil {
			err = finished(resp, r.Name)
		}
		if err != nil {
			if sk := p.otherwise(v); sk != nil && undecided(err) {
				return sk, choice{rationale: "the router came to no choice: " + engine.AsError(err).Message}, nil
			}
			return nil, choice{}, err
		}
		c, complaint, err := readChoice(b, t, fit, resp)
		if err != nil {
			return nil, c, err
		}
		if complaint == "" {
			return p.confident(c, v, resp.Text())
		}
		if asked >= r.Repairs {
			why := strings.ReplaceAll(complaint, "\n", " ")
			if sk := p.otherwise(v); sk != nil {
				return sk, choice{rationale: "the router came to no choice: " + why}, nil
			}
			e := p.notChosen(v, "the router of agent %q chose none of its skills: %s", p.Spec.Name, why)
			e.Raw = resp.Text()
			return nil, c, e
		}
		b.Tell(engine.EventRepair, &event.Repair{Name: r.Name, Text: "asked again: " + complaint})
		if text := resp.Text(); strings.TrimSpace(text) != "" { // tool calls cannot be answered: it has no tools
			req = req.Extend(model.TextMessage(model.RoleAssistant, text))
		}
		req = req.Extend(model.TextMessage(model.RoleUser, complaint))
	}
}

// askRouter makes one model call of a router.
func askRouter(b *exec.Branch, a, r *agent.Spec, req *model.Request, turn int) (*model.Response, error) {
	once := func(req *model.Request) (*model.Response, error) {
		out := b.Do((&exec.InFlight{Effect: engine.Effect{Kind: engine.EffectModel, Name: req.Model, Agent: r.Name, Run: b.RunID(), At: b.At.Child("llm", "", turn),
			Req: req, Class: engine.ClassIdempotent}}).Begin(), &exec.Ask{Want: exec.Estimate{units.ModelCalls: 1}}) // not streamed: it is not part of what the agent says
		if out.Err != nil {
			return nil, atModel(b.Run, r, req.Model, out.Err)
		}
		return out.Response, nil
	}
	if !hooked(b, a) {
		return once(req)
	}
	return around(b, a, r.Name, req, turn, func(change func(*model.Request) (*model.Request, error)) (*model.Response, error) {
		made, err := change(req)
		if err != nil {
			return nil, err
		}
		return once(made)
	})
}

// undecided reports whether a router answered without choosing: it refused, or its answer is empty or cut off.
func undecided(err error) bool {
	switch engine.AsError(err).Kind {
	case engine.KindRefused, engine.KindBadResponse, engine.KindTruncated:
		return true
	}
	return false
}

func routerRequest(b *exec.Branch, p *Plan, fit []*skillPlan, t *generable.Type, v generable.Value, said promptContext) *model.Request {
	r := p.Spec.Select.Ask
	parts := []string{routerTask}
	if r.Prompt != "" {
		parts = append(parts, r.Prompt)
	}
	for _, sk := range fit {
		parts = append(parts, sk.Describe())
	}
	parts = append(parts, t.PromptFragment())
	after := ""
	if said.Last != nil {
		after = "\n\n## Transcript\n\n" + said.Text()
	}
	m, fallbacks := modelFor(b.Run, r)
	return &model.Request{Model: m, Fallbacks: fallbacks, System: strings.Join(parts, "\n\n"),
		Messages: model.InputMessage(v, p.Spec.In, after),
		Output:   &model.Output{Type: t, Structured: r.Structured}, Params: r.Params}
}

// readChoice reads a router's answer, or returns what is wrong with it. A bare name is a valid choice.
func readChoice(b *exec.Branch, t *generable.Type, fit []*skillPlan, resp *model.Response) (c choice, complaint string, err error) {
	if calls := resp.Calls(); len(calls) > 0 {
		return c, "There are no tools here, and " + text.Clip(calls[0].Name, agent.MaxToolName) + " is none. Answer with the name of a skill, in the form that you were given.", nil
	}
	text := resp.Text()
	res, err := decode(b, t, text, resp.Dialect)
	if err != nil {
		return c, "", err
	}
	if !res.OK {
		if short, err := decode(b, choiceOf(fit, unreasoned), text, resp.Dialect); err == nil && short.OK {
			res = short
		}
	}
	if !res.OK {
		if bare := strings.Trim(text, " \t\r\n\"'`*."); bare != "" {
			for _, sk := range fit {
				if strings.EqualFold(bare, sk.Name) {
					return choice{name: sk.Name}, "", nil
				}
			}
		}
		return c, res.Complaint(), nil
	}
	emitRepairs(b, res.Repairs)
	rec, _ := res.Value.AsRecord()
	c.name, _ = rec.At(0).AsStr()
	confidence, _ := rec.At(1).AsFloat()
	c.confidence = &confidence
	c.rationale, _ = rec.At(2).AsStr()
	return c, "", nil
}

// confident accepts a choice whose confidence is high enough. A choice without a confidence, a bare name, is accepted.
func (p *Plan) confident(c choice, v generable.Value, raw string) (*skillPlan, choice, error) {
	sel := p.Spec.Select
	if c.confidence == nil || *c.confidence >= sel.Threshold {
		sk, err := p.named(c.name, v, "the router")
		return sk, c, err
	}
	if sk := p.otherwise(v); sk != nil {
		return sk, c, nil
	}
	why := c.rationale
	if why != "" {
		why = ": " + why
	}
	e := p.notChosen(v, "the router of agent %q is too unsure of skill %q, %.2g where at least %.2g is wanted%s", p.Spec.Name, c.name, *c.confidence, sel.Threshold, why)
	e.Raw = raw
	e.Help += "; describe them more sharply, lower the threshold, or name a skill for the rest: router(otherwise = \"...\")"
	return nil, c, e
}

// otherwise returns the skill for inputs that the router does not decide, nil if that skill does not take the input.
func (p *Plan) otherwise(v generable.Value) *skillPlan {
	for _, sk := range p.taking(v) {
		if sk.Name == p.Spec.Select.Otherwise.Text {
			return sk
		}
	}
	return nil
}
