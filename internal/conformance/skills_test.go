package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
)

// deskOf returns an agent with two skills for a text; more are the further arguments of agent.
func deskOf(more string) string {
	return `def track(order = str):
    """Finds an order."""
    return "in Lyon"

def refund(order = str):
    """Gives money back."""
    return "given"

main = agent(
    name = "desk",
    prompt = "You serve.",
    skills = [
        skill("billing", "Answers about bills.", tools = [refund], knowledge = {"rules": knowledge("When money goes back", "Within 14 days.")}),
        skill("shipping", "Finds parcels.", tools = [track]),
    ],` + more + `
)
`
}

const chooses = `{"skill": "billing", "confidence": 0.9, "rationale": "It is about money."}`

// Promise 19.1 (skills): if several skills take an input, a function chooses one by name; without a choice they are an
// error of check, and so is a name that check can see is not a skill.
func TestPromise_19_1_ByFunction(t *testing.T) {
	r := toolLoop(t, deskOf(`select = lambda s: "ship" + "ping",`), answersOf{"desk": {said("there")}})
	if r.err != nil || !strings.Contains(r.requests["desk"][0].System, "## Skill: shipping") || len(r.of(engine.EventSkill)) != 1 {
		t.Errorf("%v; asked %v", r.err, r.requests)
	}
	for _, one := range []struct{ sel, code, words string }{
		{"", "AS312", "several skills for str: billing, shipping"},
		{`select = lambda s: "biling",`, "AS312", `did you mean "billing"?`},
		{`select = lambda s: "billing" if s else "refunds",`, "AS312", "its skills are: billing, shipping"},
		{`select = router(otherwise = "rest"),`, "AS312", `no skill "rest" for otherwise`},
		{`select = lambda: "billing",`, "AS216", "it takes no arguments"},
	} {
		found, shown := checked(deskOf(one.sel))
		if codes(found) != one.code || !strings.Contains(shown, one.words) {
			t.Errorf("%s: found %s\n%s", one.sel, codes(found), shown)
		}
	}
	bad := toolLoop(t, deskOf(`select = lambda s: s + "ne",`), nil)
	if e := bad.failure(); e == nil || e.Code != diag.NotChosen || !errors.Is(bad.err, engine.ErrSkill) || !strings.Contains(e.Help, "billing, shipping") {
		t.Errorf("a name that is only known in the run: %v", bad.err)
	}
}

// Promise 19.2 (skills): if the type of the input fits exactly one skill, that skill is chosen without asking a model
// or a function.
func TestPromise_19_2_ByType(t *testing.T) {
	src := `main = agent(
    name = "desk",
    input = str | int,
    skills = [skill("text", "Reads texts.", input = str), skill("count", "Counts.", input = int, run = lambda n: "n%d" % n)],
    select = router(),
)
`
	r := toolLoop(t, src, answersOf{"desk": {said("read")}})
	if r.err != nil || r.res.Text() != "read" || len(r.requests["desk.router"]) > 0 {
		t.Errorf("got %v, %v after %v", r.res, r.err, r.requests)
	}
	if found, _ := checked(src); codes(found) != "AS322" {
		t.Errorf("a router that is never asked: %s", codes(found))
	}
}

// Promise 19.3 (skills): a router is one model call: it receives the descriptions of the skills that take the input,
// and an event reports its answer with how sure it is and why.
func TestPromise_19_3_ByModel(t *testing.T) {
	r := toolLoop(t, deskOf(`select = router(prompt = "Parcels first."),`), answersOf{
		"desk.router": {said("Well: {skill: 'Billing', confidence: 0.9, rationale: 'It is about money.'")},
		"desk":        {said("paid")},
	})
	if r.err != nil || r.res.Text() != "paid" || len(r.requests["desk.router"]) != 1 {
		t.Fatalf("got %v, %v", r.res, r.err)
	}
	req := r.requests["desk.router"][0]
	for _, want := range []string{"## Skill: billing", "Answers about bills.", "rules — When money goes back", "## Skill: shipping", "Finds parcels.", "Parcels first."} {
		if !strings.Contains(req.System, want) {
			t.Errorf("the router is not told %q:\n%s", want, req.System)
		}
	}
	if req.Output == nil || req.Tools != nil || req.Messages[0].Parts[0].Text != "go" {
		t.Errorf("it is asked %+v", req)
	}
	told := r.of(engine.EventSkill)
	if len(told) != 1 {
		t.Fatalf("the events are %+v", told)
	}
	if d := told[0].Data.(*event.Skill); d.Agent != "desk" || d.Name != "billing" || *d.Confidence != 0.9 || d.Text != "It is about money." {
		t.Errorf("the events are %+v", told)
	}
	if sys := r.requests["desk"][0].System; !strings.Contains(sys, "You serve.") || !strings.Contains(sys, "## Skill: billing") || strings.Contains(sys, "shipping") {
		t.Errorf("the chosen skill is told\n%s", sys)
	}
}

// Promise 19.4 (skills): a router that is less sure than its threshold, names no skill of the agent, writes nonsense
// or calls a tool is asked once more if that may help. After that it is an error with its rationale and the available
// skills, or the `otherwise` skill is chosen.
func TestPromise_19_4_BadRouters(t *testing.T) {
	for name, one := range map[string]struct {
		answers []engine.Outcome
		words   []string
	}{
		"unsure":         {[]engine.Outcome{said(`{"skill": "billing", "confidence": 0.59, "rationale": "Perhaps a bill."}`)}, []string{"0.59", "0.6", "Perhaps a bill."}},
		"an unknown one": {[]engine.Outcome{said(`{"skill": "sales", "confidence": 1, "rationale": "r"}`), said("sales")}, []string{"chose none"}},
		"nonsense":       {[]engine.Outcome{said("It rains."), said("[]")}, []string{"chose none"}},
		"a call":         {[]engine.Outcome{calling("billing", "{}"), calling("track", "{}")}, []string{"no tools"}},
	} {
		r := toolLoop(t, deskOf(`select = router(),`), answersOf{"desk.router": one.answers})
		e := r.failure()
		if e == nil || e.Code != diag.NotChosen || !strings.Contains(e.Help, "billing, shipping") || len(r.requests["desk.router"]) != len(one.answers) {
			t.Errorf("%s: %v after %d calls", name, r.err, len(r.requests["desk.router"]))
			continue
		}
		for _, w := range one.words {
			if !strings.Contains(e.Message, w) {
				t.Errorf("%s: %q is not in %q", name, w, e.Message)
			}
		}
		r = toolLoop(t, deskOf(`select = router(otherwise = "shipping"),`), answersOf{"desk.router": one.answers, "desk": {said("looked")}})
		if r.err != nil || !strings.Contains(r.requests["desk"][0].System, "shipping") {
			t.Errorf("%s, with a skill for the rest: %v", name, r.err)
		}
	}
	mended := toolLoop(t, deskOf(`select = router(),`), answersOf{"desk.router": {said("It rains."), said(chooses)}, "desk": {said("paid")}})
	if mended.err != nil || mended.res.Text() != "paid" {
		t.Errorf("asked once more: %v", mended.err)
	}
}

// Promise 19.5 (skills): a router's call counts in the budget of its agent and of the run, and in
// check --cost.
func TestPromise_19_5_RouterCosts(t *testing.T) {
	r := toolLoop(t, deskOf(`select = router(), budget = budget(model_calls = 1),`), answersOf{"desk.router": {said(chooses)}})
	if e := r.failure(); e == nil || e.Kind != engine.KindBudget || len(r.requests["desk"]) > 0 {
		t.Errorf("an agent that may ask once: %v", r.err)
	}
	file := filepath.Join(t.TempDir(), "flow.star")
	if err := os.WriteFile(file, []byte(deskOf(`model = "openai/gpt-5", select = router(model = "openai/gpt-5-nano"),`)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := offline(t, "check", file, "--cost")
	if out.code != 0 || !strings.Contains(out.stdout, "desk.router   openai/gpt-5-nano   2") || !strings.Contains(out.stdout, "at most 10 model calls") {
		t.Errorf("exit code %d\n%s\n%s", out.code, out.stdout, out.stderr)
	}
}

// Promise 19.6 (skills): the tools of a skill are offered to that skill alone; a call of another skill's tool is
// answered with this skill's tools, and the run continues.
func TestPromise_19_6_OwnTools(t *testing.T) {
	r := toolLoop(t, deskOf(`select = lambda s: "shipping",`), answersOf{"desk": {calling("refund", `{"order": "A1"}`, "track", `{"order": "A1"}`), said("found")}})
	told := r.told("desk")
	if r.err != nil || len(told) != 2 || told[1] != "in Lyon" || !strings.HasSuffix(told[0], "the tools are: track") || strings.Contains(told[0], "rules") {
		t.Errorf("%v; told %q", r.err, told)
	}
	if n := len(r.requests["desk"][0].Tools); n != 1 {
		t.Errorf("%d tools are offered", n)
	}
}

// Promise 19.7 (skills): a skill's knowledge text is not in the prompt: it is a tool named by its key, which returns
// the text when the model asks for it, and is reported by its own event and not by a tool event. One key has one text.
func TestPromise_19_7_Knowledge(t *testing.T) {
	r := toolLoop(t, deskOf(`select = lambda s: "billing",`), answersOf{"desk": {calling("rules", "{}"), said("14 days")}})
	if r.err != nil || len(r.told("desk")) != 1 || r.told("desk")[0] != "Within 14 days." {
		t.Fatalf("%v; told %q", r.err, r.told("desk"))
	}
	if sys := r.requests["desk"][0].System; strings.Contains(sys, "Within") || !strings.Contains(sys, "rules — When money goes back") {
		t.Errorf("the system text is\n%s", sys)
	}
	known := r.of(engine.EventKnowledge)
	if len(known) != 1 || known[0].Name() != "rules" || known[0].Text() != "Within 14 days." || len(r.of(engine.EventTool)) > 0 {
		t.Errorf("the events are %+v", r.events)
	}
	searched := `main = agent(name = "desk", skills = [skill("answer", "Answers.", knowledge = {"book": knowledge("The rules", lambda query: "about " + query), "date": lambda: "May"})])
`
	r = toolLoop(t, searched, answersOf{"desk": {calling("book", `{"query": "tea"}`, "date", "{}", "book", "{}"), said("so")}})
	if told := r.told("desk"); r.err != nil || len(told) != 3 || told[0] != "about tea" || told[1] != "May" || !strings.Contains(told[2], "query") {
		t.Errorf("%v; told %q", r.err, told)
	}
	s := flow.NewSession()
	s.Agent(flow.Site{}, &agent.Spec{Name: "a", Skills: []*agent.Skill{{Name: "s", Knowledge: []agent.Knowledge{{Key: "k", Text: "1"}, {Key: "k", Text: "2"}}}}})
	if found := s.Diagnostics(); codes(found) != "AS508" || !strings.Contains(found[0].Message, `two texts by the key "k"`) {
		t.Errorf("one key twice: %v", found)
	}
}

// Promise 19.8 (skills): check warns of a skill that no input reaches, because of its types or because the selecting
// function never returns its name.
func TestPromise_19_8_UnreachedSkills(t *testing.T) {
	found, shown := checked(deskOf(`select = lambda s: "billing",`))
	if codes(found) != "AS322" || found.HasErrors() || !strings.Contains(shown, `nothing reaches skill "shipping" of agent "desk": select never returns its name`) {
		t.Errorf("by a function:\n%s", shown)
	}
	found, shown = checked(`main = agent(skills = [skill("a", "A."), skill("b", "B.", output = int), skill("c", "C.", input = bool)])` + "\n")
	if codes(found) != "AS322 AS322" || !strings.Contains(shown, "it returns int, and the agent returns str") || !strings.Contains(shown, "it takes bool, and the agent takes str") {
		t.Errorf("by type:\n%s", shown)
	}
}

// Promise 19.9 (skills): describe shows how a skill is chosen, and each skill with its tools and its knowledge.
func TestPromise_19_9_Described(t *testing.T) {
	computes(t, `[true,true,true,true,true]`, strings.Replace(deskOf(`select = router(threshold = 0.8, otherwise = "billing"),`), "main =", "desk =", 1)+`
def got():
    text = describe(desk)
    return [part in text for part in ["chosen by the agent's model, at least 0.8 sure, else billing", "## Skill: billing", "- refund(order: str) — Gives money back.", "- rules — When money goes back", "- track(order: str)"]]
`)
}
