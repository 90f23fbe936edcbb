package engine

import (
	"github.com/agentscript/agentscript/internal/text"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// choice is what a router answers.
type choice struct {
	name       string
	confidence *float64
	rationale  string
}

const routerTask = "Choose the one skill that is to handle the input, by what the skills are described to take, give and do. " +
	"Do not carry it out yourself. Say how sure you are, from 0 (a guess) to 1 (certain), and why, in a sentence."

// choiceOf is the type of a router's answer.
func choiceOf(fit []*skillPlan) *generable.Type {
	names := make([]string, len(fit))
	for i, sk := range fit {
		names[i] = sk.Name
	}
	zero, one := 0.0, 1.0
	// The names of one agent's skills differ, which was checked: nothing can be wrong here.
	skill, _ := generable.NewEnum("Skill", "", names)
	t, _ := generable.NewSchema("SkillChoice", "", []generable.Field{
		{Name: "skill", Type: skill, Guide: "the name of the chosen skill"},
		{Name: "confidence", Type: generable.FloatT, Guide: "how sure you are, from 0 to 1", Limits: &generable.Limits{Ge: &zero, Le: &one}},
		{Name: "rationale", Type: generable.StrT, Guide: "why, in a sentence"},
	})
	return t
}

// routed asks a model which of several skills is to take an input. The call is an effect of the
// agent like any other, at a position of its own, and passes the agent's hooks.
func (b *branch) routed(p *agentPlan, fit []*skillPlan, v generable.Value, said told) (*skillPlan, choice, error) {
	r, at := p.spec.Select.Ask, b.at
	b.at = at.child("router", "", 0)
	defer func() { b.at = at }()
	t := choiceOf(fit)
	req := b.routerRequest(p, fit, t, v, said)
	for asked := 0; ; asked++ {
		resp, err := b.askRouter(p.spec, r, req, asked)
		if err == nil {
			err = finished(resp, r.Name)
		}
		if err != nil {
			if sk := p.otherwise(v); sk != nil && undecided(err) {
				return sk, choice{rationale: "the router came to no choice: " + asError(err).Message}, nil
			}
			return nil, choice{}, err
		}
		c, complaint, err := b.readChoice(p, t, fit, v, resp)
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
			e := p.notChosen(v, "the router of agent %q chose none of its skills: %s", p.spec.Name, why)
			e.Raw = resp.Text()
			return nil, c, e
		}
		if b.Wants(EventRepair) {
			b.emit(Event{Kind: EventRepair, Data: &RepairData{Name: r.Name, Text: "asked again: " + complaint}})
		}
		if text := resp.Text(); strings.TrimSpace(text) != "" { // calls of tools cannot be answered: it has none
			req = req.Extend(TextMessage(RoleAssistant, text))
		}
		req = req.Extend(TextMessage(RoleUser, complaint))
	}
}

// askRouter makes one model call of a router.
func (b *branch) askRouter(a, r *AgentSpec, req *Request, turn int) (*Response, error) {
	once := func(req *Request) (*Response, error) {
		out := b.do((&inFlight{effect: Effect{Kind: EffectModel, Name: req.Model, Agent: r.Name, Run: b.RunID(), At: b.at.child("llm", "", turn),
			Req: req, Class: ClassIdempotent}}).begin(), &ask{want: estimate{resModelCalls: 1}}) // not streamed: it is no part of what the agent says
		if out.Err != nil {
			return nil, r.atModel(req.Model, out.Err)
		}
		return out.Response, nil
	}
	if !b.hooked(a) {
		return once(req)
	}
	return b.around(a, r.Name, req, turn, func(change func(*Request) (*Request, error)) (*Response, error) {
		made, err := change(req)
		if err != nil {
			return nil, err
		}
		return once(made)
	})
}

// undecided reports whether a router answered without choosing: it refused, or its answer is empty or
// was cut off.
func undecided(err error) bool {
	switch asError(err).Kind {
	case KindRefused, KindBadResponse, KindTruncated:
		return true
	}
	return false
}

func (b *branch) routerRequest(p *agentPlan, fit []*skillPlan, t *generable.Type, v generable.Value, said told) *Request {
	r := p.spec.Select.Ask
	parts := []string{routerTask}
	if r.Prompt != "" {
		parts = append(parts, r.Prompt)
	}
	for _, sk := range fit {
		parts = append(parts, sk.Describe())
	}
	parts = append(parts, t.PromptFragment())
	after := ""
	if said.last != nil {
		after = "\n\n## Transcript\n\n" + said.text()
	}
	model, fallbacks := b.run.modelFor(r)
	return &Request{Model: model, Fallbacks: fallbacks, System: strings.Join(parts, "\n\n"),
		Messages: []Message{{Role: RoleUser, Parts: inputParts(v, p.spec.In, after)}},
		Output:   &Output{Type: t, Structured: r.Structured}, Params: r.Params}
}

// readChoice reads a router's answer, or says what is wrong with it. A name alone is a choice, too.
func (b *branch) readChoice(p *agentPlan, t *generable.Type, fit []*skillPlan, v generable.Value, resp *Response) (c choice, complaint string, err error) {
	if calls := resp.Calls(); len(calls) > 0 {
		return c, "There are no tools here, and " + text.Clip(calls[0].Name, maxToolName) + " is none. Answer with the name of a skill, in the form that you were given.", nil
	}
	text := resp.Text()
	res, err := b.decode(t, text, resp.Dialect)
	if err != nil {
		return c, "", err
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
	b.tellRepairs(res.Repairs)
	rec, _ := res.Value.AsRecord()
	c.name, _ = rec.At(0).AsStr()
	confidence, _ := rec.At(1).AsFloat()
	c.confidence = &confidence
	c.rationale, _ = rec.At(2).AsStr()
	return c, "", nil
}

// confident takes a choice that the router is sure enough of. One without a confidence is a name
// alone, and taken at its word.
func (p *agentPlan) confident(c choice, v generable.Value, raw string) (*skillPlan, choice, error) {
	sel := p.spec.Select
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
	e := p.notChosen(v, "the router of agent %q is too unsure of skill %q, %.2g where at least %.2g is wanted%s", p.spec.Name, c.name, *c.confidence, sel.Threshold, why)
	e.Raw = raw
	e.Help += "; describe them more sharply, lower the threshold, or name a skill for the rest: router(otherwise = \"...\")"
	return nil, c, e
}

// otherwise is the skill for what the router does not decide, nil when there is none that takes
// the input.
func (p *agentPlan) otherwise(v generable.Value) *skillPlan {
	for _, sk := range p.taking(v) {
		if sk.Name == p.spec.Select.Otherwise.Text {
			return sk
		}
	}
	return nil
}
