package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

func finishing(f model.Finish, text string) engine.Outcome {
	out := said(text)
	own := *out.Response
	own.Finish = f
	out.Response = &own
	return out
}

// Promise 19.10 (skills): if a router's answer is empty, refused or cut off, the `otherwise` skill is chosen, with an
// event that says why; without such a skill it is an error. Other failures of the call remain errors.
func TestPromise_19_10_UndecidedRouters(t *testing.T) {
	for name, one := range map[string]struct {
		answer engine.Outcome
		why    string
	}{
		"empty":   {said(" "), "empty answer"},
		"refused": {finishing(model.FinishRefusal, "I cannot"), "refused to answer"},
		"cut off": {finishing(model.FinishLength, `{"skill": "bil`), "cut off"},
		"an error of the provider": {engine.Failed(engine.Errorf(engine.KindRefused, "AS711", "the provider refuses this")),
			"the provider refuses this"},
	} {
		r := toolLoop(t, deskOf(`select = router(otherwise = "shipping"),`), answersOf{"desk.router": {one.answer}, "desk": {said("looked")}})
		told := r.of(engine.EventSkill)
		if r.err != nil || r.res.Text() != "looked" || len(told) != 1 || told[0].Name() != "shipping" || !strings.Contains(told[0].Text(), "came to no choice") || !strings.Contains(told[0].Text(), one.why) {
			t.Errorf("%s: %v, %v; told %+v", name, r.res, r.err, told)
		}
		if r = toolLoop(t, deskOf(`select = router(),`), answersOf{"desk.router": {one.answer}}); r.err == nil || !strings.Contains(r.err.Error(), one.why) {
			t.Errorf("%s, without a skill for the rest: %v", name, r.err)
		}
	}
	r := toolLoop(t, deskOf(`select = router(otherwise = "shipping"),`), answersOf{"desk.router": {engine.Failed(engine.Errorf(engine.KindAuth, "AS709", "no key"))}})
	if !errors.Is(r.err, engine.ErrAuth) {
		t.Errorf("a router without a key: %v", r.err)
	}
}

// Promise 19.11 (skills): a router's call passes through the hooks of its agent and of the host, under the router's
// name: an interceptor may change, answer or deny it, and observers are notified.
func TestPromise_19_11_RouterHooks(t *testing.T) {
	said19 := func(hook string) string { return deskOf(`select = router(), hooks = hooks(` + hook + `),`) }
	answers := answersOf{"desk.router": {said(chooses)}, "desk": {said("paid")}}
	r := toolLoop(t, said19(`before_model = lambda call: proceed({"system": "Changed."}) if call.agent == "desk.router" else None`), answers)
	if r.err != nil || r.requests["desk.router"][0].System != "Changed." || r.requests["desk"][0].System == "Changed." {
		t.Errorf("changed: %v", r.err)
	}
	r = toolLoop(t, said19(`before_model = lambda call: substitute("shipping") if call.agent == "desk.router" else None`), answers)
	if r.err != nil || len(r.requests["desk.router"]) != 0 || !strings.Contains(r.requests["desk"][0].System, "## Skill: shipping") {
		t.Errorf("substituted: %v after %d calls", r.err, len(r.requests["desk.router"]))
	}
	r = toolLoop(t, said19(`after_model = lambda call, answer: substitute("shipping") if call.agent == "desk.router" else None`), answers)
	if r.err != nil || len(r.requests["desk.router"]) != 1 || !strings.Contains(r.requests["desk"][0].System, "## Skill: shipping") {
		t.Errorf("answer substituted: %v", r.err)
	}
	r = toolLoop(t, said19(`before_model = lambda call: deny("not now") if call.agent == "desk.router" else None`), answers)
	if !errors.Is(r.err, engine.ErrPolicy) || !strings.Contains(r.err.Error(), `"desk.router" was denied: not now`) || len(r.requests["desk.router"]) != 0 {
		t.Errorf("denied: %v", r.err)
	}
	p := policyRun{src: said19(`on_model_call = lambda call, answer: print(call.agent, call.turn)`),
		answers: nil, run: []agentscript.RunOption{agentscript.HandlerForAll(engine.Handlers{engine.EffectModel: answers.handler(map[string][]*model.Request{})})}}.do(t)
	var logs []string
	for _, e := range p.events {
		if e.Kind == engine.EventLog {
			logs = append(logs, e.Text())
		}
	}
	if got := strings.Join(logs, "; "); p.err != nil || got != "desk.router 0; desk 0" {
		t.Errorf("%v; observed %s", p.err, got)
	}
}

// Promise 21.14 (policy): interceptors of model calls are asked once per turn, even if a budget refuses the turn's call
// and a last answer is requested instead: their decision applies to the last answer.
func TestPromise_21_14_HooksOfALastAnswer(t *testing.T) {
	src := `
def look(q = str):
    """Looks."""
    return q

main = agent(prompt = "Look.", tools = [look], budget = budget(model_calls = 2, on_limit = "answer"), hooks = hooks(
    before_model = lambda call: [print("asked", call.turn), proceed({"system": "Briefly."})][1],
    on_model_call = lambda call, answer: print("answered", call.turn, answer.text),
))
`
	seen := map[string][]*model.Request{}
	answers := answersOf{"main": {calling("look", `{"q": "x"}`), said("what I have")}}
	var logs []string
	mod := loaded(t, agentscript.New(agentscript.WithDefaultModel("test/model")), src)
	res, err := mod.Start(t.Context(), agentscript.InputText("go"), agentscript.HandlerForAll(engine.Handlers{engine.EffectModel: answers.handler(seen)}),
		agentscript.OnEvent(engine.EventLog, func(e engine.Event) { logs = append(logs, e.Text()) })).Wait()
	last := seen["main"][len(seen["main"])-1]
	if err != nil || res.Text() != "what I have" || last.Choice.Mode != model.ChoiceNone || last.System != "Briefly." {
		t.Fatalf("%v, %v; the last request is %+v", res, err, last)
	}
	if got := strings.Join(logs, "; "); got != "asked 0; answered 0 ; asked 1; answered 1 what I have" {
		t.Errorf("observed %s", got)
	}
}

// Promise 18.12 (tools): check warns of a fixer or value that does not fit the result of the tool it recovers, and
// explains how to give arguments instead; arguments that a fixer gives are subject to arg_bytes.
func TestPromise_18_12_FixersFit(t *testing.T) {
	src := func(remedy string) string {
		return `
Where = schema("A place", city = str)

def weather(city = str):
    """Tells the weather."""
    if city != "Ulm":
        fail("unknown")
    return "rain"

mender = agent(name = "mender", input = ToolFailure, output = Where, prompt = "Mend.")
main = agent(prompt = "A.", tools = [tool(weather, returns = str, on_error = ` + remedy + `)], budget = budget(arg_bytes = 40))
`
	}
	for remedy, want := range map[string]string{
		"fix(mender)":                            "mender returns Where, the tool returns str",
		"recover(failure = fix(mender))":         "mender returns Where, the tool returns str",
		"fix(mender, then = \"call\")":           "",
		"recover(bad_args = fix(mender))":        "",
		"recover(failure = fixed(3))":            "the value returns int, the tool returns str",
		"recover(failure = fixed(\"sunny\"))":    "",
		"[again(2), fix(mender), give_up(\"\")]": "mender returns Where, the tool returns str",
	} {
		found, shown := checked(src(remedy))
		if warned := strings.Contains(shown, "AS301"); warned != (want != "") || found.HasErrors() || !strings.Contains(shown, want) || warned && !strings.Contains(shown, `then = "call"`) && !strings.Contains(shown, "write fixed(...) with a value of str") {
			t.Errorf("%s: found %s\n%s", remedy, codes(found), shown)
		}
	}
	r := toolLoop(t, src(`fix(mender, then = "call", retries = 2)`), answersOf{
		"main":   {calling("weather", `{"city": "Rome"}`), said("done")},
		"mender": {said(`{"city": "` + strings.Repeat("Ulm", 30) + `"}`), said(`{"city": "Ulm"}`)},
	})
	if r.err != nil || len(r.requests["mender"]) != 2 || !strings.Contains(strings.Join(r.told("main"), " "), "rain") {
		t.Errorf("%v; %d fixes", r.err, len(r.requests["mender"]))
	}
}
