package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// desk returns an agent with two skills for a text, and one for a number.
func desk(c *enginetest.Composer, sel *agent.Selection) *flow.Node {
	gives := func(text string) engine.Func {
		return engine.GoFunc(text, 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.StrOf(text), nil })
	}
	return c.Agent(c.Site("agent", "desk"), &agent.Spec{Name: "desk", In: generable.OneOf(generable.StrT, generable.IntT), Select: sel, Skills: []*agent.Skill{
		{Name: "billing", Doc: "Answers about bills.", In: generable.StrT, Run: gives("a bill")},
		{Name: "shipping", Doc: "Answers about parcels.", In: generable.StrT, Run: gives("a parcel"), Knowledge: []agent.Knowledge{{Key: "carriers", Doc: "Who carries what"}}},
		{Name: "number", Doc: "Takes numbers.", In: generable.IntT, Run: gives("a number")},
	}})
}

func router(threshold float64, repairs int) *agent.Selection {
	return &agent.Selection{Ask: &agent.Spec{Repairs: repairs}, Threshold: threshold}
}

func TestSkillChosenByAModel(t *testing.T) {
	unsure := enginetest.Says(`{"skill": "billing", "confidence": 0.3, "rationale": "It may be a bill."}`)
	rows := []struct {
		name    string
		sel     *agent.Selection
		in      generable.Value
		answers []model.Response
		want    string // its result, or the words of its error, separated by "; "
		asked   int
	}{
		{"a clear choice", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Says(`{"skill": "shipping", "confidence": 0.9, "rationale": "r"}`)}, "a parcel", 1},
		{"exactly at the threshold", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Says(`{"skill": "shipping", "confidence": 0.6, "rationale": "r"}`)}, "a parcel", 1},
		{"prose around it and broken JSON", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Says("I choose:\n{skill: 'Shipping', confidence: .9, rationale: 'r',")}, "a parcel", 1},
		{"a name alone", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Says("`Billing`.")}, "a bill", 1},
		{"one candidate by type asks nobody", router(0.6, 0), generable.IntOf(4), nil, "a number", 0},
		{"below the threshold", router(0.6, 1), generable.StrOf("x"), []model.Response{unsure}, `AS735; "billing"; 0.3; 0.6; It may be a bill.; help: the skills for this input are: billing, shipping`, 1},
		{"an unknown name", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Says(`{"skill": "refunds", "confidence": 1, "rationale": "r"}`)}, `AS735; none of its skills; refunds; help: the skills for this input are: billing, shipping`, 1},
		{"a skill that does not take the input", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Says(`{"skill": "number", "confidence": 1, "rationale": "r"}`)}, `AS735; number; billing, shipping`, 1},
		{"nonsense", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Says("The weather is fine.")}, `AS735; none of its skills`, 1},
		{"a call of a tool", router(0.6, 0), generable.StrOf("x"), []model.Response{enginetest.Calls("shipping", `{}`)}, `AS735; none of its skills; no tools`, 1},
		{"nonsense is asked about once", router(0.6, 1), generable.StrOf("x"), []model.Response{enginetest.Says("Hm."), enginetest.Calls("billing", `{}`)}, `AS735`, 2},
		{"and mended", router(0.6, 1), generable.StrOf("x"), []model.Response{enginetest.Calls("billing", `{}`), enginetest.Says(`{"skill": "billing", "confidence": 1, "rationale": "r"}`)}, "a bill", 2},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c := enginetest.Compose()
			main := desk(c, r.sel)
			c.Sound(t)
			h := &enginetest.Answers{Next: r.answers}
			out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: r.in, Handler: h, Model: "test/model"})
			if len(h.Seen) != r.asked {
				t.Errorf("the model was asked %d times, want %d", len(h.Seen), r.asked)
			}
			code, words, isErr := strings.Cut(r.want, "; ")
			if !strings.HasPrefix(code, "AS") {
				if err != nil || enginetest.Str(out) != r.want {
					t.Fatalf("got %q, %v", enginetest.Str(out), err)
				}
				return
			}
			var e *engine.Error
			if !errors.As(err, &e) || string(e.Code) != code || !errors.Is(err, engine.ErrSkill) {
				t.Fatalf("got %v", err)
			}
			if isErr {
				for word := range strings.SplitSeq(words, "; ") {
					if !strings.Contains(e.Message+" help: "+e.Help, word) {
						t.Errorf("%q is not in %s\nhelp: %s", word, e.Message, e.Help)
					}
				}
			}
		})
	}
}

func TestRouterIsToldOfTheCandidates(t *testing.T) {
	c := enginetest.Compose()
	main := desk(c, router(0.6, 0))
	c.Sound(t)
	h := &enginetest.Answers{Next: []model.Response{enginetest.Says(`{"skill": "shipping", "confidence": 0.9, "rationale": "It asks for a parcel."}`)}}
	var events []engine.Event
	spec := &run.Spec{Node: main, Input: generable.StrOf("Where is it?"), Handler: h, Model: "test/model",
		Listener: engine.Listener{Kinds: engine.EventAll, Emit: func(e engine.Event) { events = append(events, e) }}}
	if _, err := run.Exec(sched.NewGoSched(t.Context()), spec); err != nil {
		t.Fatal(err)
	}
	req := h.Seen[0]
	for _, want := range []string{"## Skill: billing", "Answers about bills.", "## Skill: shipping", "carriers — Who carries what", `"confidence"`} {
		if !strings.Contains(req.System, want) {
			t.Errorf("the router is not told %q:\n%s", want, req.System)
		}
	}
	if strings.Contains(req.System, "## Skill: number") {
		t.Error("it is told of a skill that does not take the input")
	}
	if req.Output == nil || len(req.Tools) > 0 || req.Messages[0].Parts[0].Text != "Where is it?" {
		t.Errorf("request %+v", req)
	}
	effect, chosen := 0, 0
	for _, e := range events {
		switch e.Kind {
		case engine.EventEffect:
			if effect++; e.Path != "main/agent:desk#0/router0/llm0" {
				t.Errorf("the call stands at %s", e.Path)
			}
		case engine.EventSkill:
			d := e.Data.(*event.Skill)
			if chosen++; d.Agent != "desk" || d.Name != "shipping" || d.Confidence == nil || *d.Confidence != 0.9 || d.Text != "It asks for a parcel." || e.Path != "main/agent:desk#0" {
				t.Errorf("the choice is told as %+v", e)
			}
		case engine.EventToken, engine.EventPartial:
			t.Errorf("a choice is no part of the answer: %+v", e)
		}
	}
	if effect != 2 || chosen != 1 {
		t.Errorf("%d ends of effects and %d choices, want 2 and 1", effect, chosen)
	}
}

func TestSkillForTheRest(t *testing.T) {
	for name, answer := range map[string]model.Response{
		"unsure": enginetest.Says(`{"skill": "billing", "confidence": 0.3, "rationale": "r"}`), "nonsense": enginetest.Says("Hm."), "a tool": enginetest.Calls("x", "{}"),
	} {
		c := enginetest.Compose()
		sel := router(0.6, 0)
		sel.Otherwise.Text = "shipping"
		main := desk(c, sel)
		c.Sound(t)
		out, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: []model.Response{answer}}, "x")
		if err != nil || enginetest.Str(out) != "a parcel" {
			t.Errorf("%s: got %q, %v", name, enginetest.Str(out), err)
		}
	}
}

func TestSkillChosenByAFunction(t *testing.T) {
	rows := []struct{ gives, in, want string }{
		{"shipping", "text", "a parcel"},
		{"refunds", "text", `AS735: select chose skill "refunds", which agent "desk" does not have: the skills for this input are: billing, shipping`},
		{"number", "text", `AS735: select chose skill "number" for agent "desk", which takes int, not str: the skills for this input are: billing, shipping`},
		{"", "text", `AS735: select of agent "desk" returned int, want the name of a skill: the skills for this input are: billing, shipping`},
	}
	for _, r := range rows {
		c := enginetest.Compose()
		main := desk(c, &agent.Selection{By: engine.GoFunc("select", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			if r.gives == "" {
				return generable.IntOf(1), nil
			}
			return generable.StrOf(r.gives), nil
		})})
		c.Sound(t)
		h := &enginetest.Answers{}
		out, err := enginetest.RunNode(t, main, h, r.in)
		got := enginetest.Str(out)
		var e *engine.Error
		if errors.As(err, &e) {
			got = string(e.Code) + ": " + e.Message + ": " + e.Help
		}
		if got != r.want || len(h.Seen) > 0 {
			t.Errorf("%q: got %s after %d model calls, want %s", r.gives, got, len(h.Seen), r.want)
		}
	}
}

// A router's call is an effect: it is recorded, a replay answers it, and it counts in the agent's budget and the run's.
func TestRouterIsAnEffect(t *testing.T) {
	c := enginetest.Compose()
	main := desk(c, router(0.6, 0))
	c.Sound(t)
	pick := handlerOf(func(*model.Request) model.Response {
		return enginetest.Says(`{"skill": "billing", "confidence": 1, "rationale": "r"}`)
	})
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x"), Handler: pick, Model: "test/model"})
	if err != nil || enginetest.Str(out) != "a bill" {
		t.Fatal(enginetest.Str(out), err)
	}
	_, err = run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: pick, Model: "test/model",
		Limits: engine.Limits{ModelCalls: engine.AtMost(0)}})
	if !errors.Is(err, engine.ErrBudget) {
		t.Errorf("a run without model calls: %v", err)
	}

	c = enginetest.Compose()
	small := c.Agent(c.Site("agent", "small"), &agent.Spec{Name: "small", Budget: engine.Limits{ModelCalls: engine.AtMost(1)}, Select: router(0.6, 0),
		Skills: []*agent.Skill{{Name: "billing", Doc: "Bills."}, {Name: "shipping", Doc: "Parcels."}}})
	c.Sound(t)
	if _, err = enginetest.RunNode(t, small, pick, "x"); !errors.Is(err, engine.ErrBudget) {
		t.Errorf("an agent with one model call for choice and answer: %v", err)
	}
}

func TestBoundsCountTheRouter(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "desk"), &agent.Spec{Name: "desk", Model: "a/large", Repairs: 1,
		Select: &agent.Selection{Ask: &agent.Spec{Model: "a/small", Repairs: 1}, Threshold: 0.6},
		Skills: []*agent.Skill{{Name: "billing", Doc: "Bills."}, {Name: "shipping", Doc: "Parcels."}}})
	c.Sound(t)
	got := flow.Bounds(main, 1)
	if len(got) != 2 || got[0].Agent != "desk" || got[0].Calls != 2 || got[1].Agent != "desk.router" || got[1].Model != "a/small" || got[1].Calls != 2 {
		t.Errorf("got %+v", got)
	}
}

// A conversation keeps its skill: the complaint about a bad answer is not routed to another skill.
func TestConversationKeepsItsSkill(t *testing.T) {
	c := enginetest.Compose()
	desk := c.Agent(c.Site("agent", "desk"), &agent.Spec{Name: "desk", Select: router(0.6, 0),
		Skills: []*agent.Skill{{Name: "billing", Doc: "Bills."}, {Name: "shipping", Doc: "Parcels."}}})
	main := c.Retry(c.Site("retry", "main"), desk, flow.RetryOptions{Max: 2,
		UntilFunc: engine.GoFunc("until", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			return generable.BoolOf(enginetest.Str(args[0]) == "good"), nil
		}),
		Feedback: engine.GoFunc("feedback", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.StrOf("again"), nil
		})})
	c.Sound(t)
	h := &enginetest.Answers{Next: []model.Response{enginetest.Says(`{"skill": "shipping", "confidence": 1, "rationale": "r"}`), enginetest.Says("bad"), enginetest.Says("good")}}
	out, err := enginetest.RunNode(t, main, h, "x")
	if err != nil || enginetest.Str(out) != "good" || len(h.Seen) != 3 {
		t.Fatalf("got %q, %v after %d calls", enginetest.Str(out), err, len(h.Seen))
	}
	if !strings.Contains(h.Seen[2].System, "Parcels.") || len(h.Seen[2].Messages) != 3 {
		t.Errorf("the second attempt asks\n%s\n%d messages", h.Seen[2].System, len(h.Seen[2].Messages))
	}
}

// A skill's knowledge is a tool whose text is sent to the model only on request; the tools of another skill do not
// exist for it.
func TestSkillHasItsOwnToolsAndKnowledge(t *testing.T) {
	tool := func(name string) *agent.Tool {
		return &agent.Tool{Name: name, Class: engine.ClassRead, Run: engine.GoFunc(name, 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.StrOf(name + " ran"), nil
		})}
	}
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "desk"), &agent.Spec{Name: "desk", Tools: []*agent.Tool{tool("clock")},
		Select: &agent.Selection{By: engine.GoFunc("select", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.StrOf("billing"), nil
		})},
		Skills: []*agent.Skill{
			{Name: "billing", Doc: "Bills.", Tools: []*agent.Tool{tool("invoice")}, Knowledge: []agent.Knowledge{{Key: "refunds", Doc: "When money goes back", Text: "Within 14 days."}}},
			{Name: "shipping", Doc: "Parcels.", Tools: []*agent.Tool{tool("track")}},
		}})
	c.Sound(t)
	h := &enginetest.Answers{Next: []model.Response{enginetest.Calls("refunds", "{}", "track", "{}", "invoice", "{}"), enginetest.Says("done")}}
	var tools, known []engine.Event
	spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model",
		Listener: engine.Listener{Kinds: engine.EventTool | engine.EventKnowledge, Emit: func(e engine.Event) {
			if e.Kind == engine.EventKnowledge {
				known = append(known, e)
			} else if e.Phase() == engine.PhaseEnd {
				tools = append(tools, e)
			}
		}}}
	if _, err := run.Exec(sched.NewGoSched(t.Context()), spec); err != nil {
		t.Fatal(err)
	}
	var offered []string
	for _, d := range h.Seen[0].Tools {
		offered = append(offered, d.Name)
	}
	if got := strings.Join(offered, " "); got != "clock invoice refunds" {
		t.Errorf("offered %s", got)
	}
	if sys := h.Seen[0].System; strings.Contains(sys, "Within 14 days") || !strings.Contains(sys, "refunds — When money goes back") {
		t.Errorf("the system text is\n%s", sys)
	}
	results := h.Seen[1].Messages[2].Parts
	if results[0].Result.Text != "Within 14 days." || results[0].Result.IsError {
		t.Errorf("the knowledge came as %+v", results[0].Result)
	}
	if r := results[1].Result; !r.IsError || r.Text != `error: there is no tool "track"; the tools are: clock, invoice, refunds` {
		t.Errorf("another skill's tool came as %+v", r)
	}
	if len(known) != 1 || known[0].Name() != "refunds" || known[0].Text() != "Within 14 days." {
		t.Errorf("knowledge is told as %+v", known)
	}
	if len(tools) != 2 || tools[0].Name() == "refunds" || tools[1].Name() == "refunds" {
		t.Errorf("tools are told as %+v", tools)
	}
}

func TestSelectChecks(t *testing.T) {
	at := diag.Span{Pos: diag.Pos{File: "t.star", Line: 9, Col: 9}, Len: 3}
	by := func(all bool, names ...string) *agent.Selection {
		sel := &agent.Selection{By: engine.GoFunc("by", 1, nil), All: all}
		for _, n := range names {
			sel.Names = append(sel.Names, agent.Literal{Text: n, Span: at})
		}
		return sel
	}
	otherwise := router(0.6, 0)
	otherwise.Otherwise.Text = "nobody"
	rows := []struct {
		name, want string
		sel        *agent.Selection
	}{
		{"names that there are", "", by(true, "billing", "shipping", "number")},
		{"a name that there is not", `AS312 no skill "biling"; did you mean "billing"?`, by(false, "biling")},
		{"a skill that is never named", `AS322 "number"; select never returns its name`, by(true, "billing", "shipping")},
		{"a function without parameters", "AS216", &agent.Selection{By: engine.GoFunc("by", 0, nil)}},
		{"an unknown rest", `AS312 "nobody"`, otherwise},
	}
	for _, r := range rows {
		c := enginetest.Compose()
		desk(c, r.sel)
		found := c.Diagnostics()
		code, words, _ := strings.Cut(r.want, " ")
		if code == "" {
			if len(found) > 0 {
				t.Errorf("%s: said\n%s", r.name, enginetest.Said(found))
			}
			continue
		}
		if len(found) != 1 || string(found[0].Code) != code {
			t.Errorf("%s: want one %s, said\n%s", r.name, code, enginetest.Said(found))
			continue
		}
		for word := range strings.SplitSeq(words, "; ") {
			if !strings.Contains(enginetest.Said(found), word) {
				t.Errorf("%s: %q is not in\n%s", r.name, word, enginetest.Said(found))
			}
		}
	}
}

func handlerOf(answer func(*model.Request) model.Response) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		r := answer(e.Req.(*model.Request))
		return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
	})
}
