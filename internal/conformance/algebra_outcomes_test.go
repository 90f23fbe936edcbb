package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
)

// Promise 15.13 (algebra): on_error raises and cancels the others, keeps a typed outcome in the place of each input,
// or drops failures and reports them; no failure becomes a bare None.
func TestPromise_15_13_OnError(t *testing.T) {
	const shown = numbered + `
def show(xs):
    return " ".join([x.status + ":" + str(x.value if x.ok else x.error.message) for x in xs])
shown = fn(show, input = list[Attempt[int]], output = str)
`
	flows(t, shown, []flowRow{
		{"keep, each", `main = each(odd_fails(), on_error = "keep") >> shown`, "list[int] -> str", []int{2, 3, 4, 5}, "ok:2 failed:odd 3 ok:4 failed:odd 5"},
		{"keep, par", `main = par(inc(), broken("why"), double(), on_error = "keep") >> shown`, "int -> str", 3, "ok:4 failed:why ok:6"},
		{"keep, all fail", `main = par(broken("a"), broken("b"), on_error = "keep") >> shown`, "int -> str", 3, "failed:a failed:b"},
		{"keep has its type", `main = each(odd_fails(), on_error = "keep")`, "list[int] -> list[Attempt[int]]", []int{2}, `[{"ok":true,"value":2,"error":null,"status":"ok"}]`},
		{"drop, each", `main = each(odd_fails(), on_error = "drop")`, "list[int] -> list[int]", []int{2, 3, 4, 5}, "[2,4]"},
		{"drop, par", `main = par(broken(), inc(), broken(), on_error = "drop")`, "int -> list[int]", 3, "[4]"},
	})
	computes(t, `[["ok",2],["failed","odd 3"],["ok",4]]`, shown+`
def odd(n):
    if n % 2:
        fail("odd " + str(n))
    return n
def got():
    return [[x.status, x.value if x.ok else x.error.message] for x in parallel(odd, [2, 3, 4], on_error = "keep")]
`)
	var dropped []string
	mod := loaded(t, agentscript.New(), shown+`main = each(odd_fails(), on_error = "drop")`+"\n")
	if _, err := mod.Start(t.Context(), input([]int{1, 2, 3}), agentscript.OnEvent(engine.EventDropped, func(e engine.Event) {
		dropped = append(dropped, e.Text())
	})).Wait(); err != nil || fmt.Sprint(dropped) != "[number 1 of 3 failed: odd 1 number 3 of 3 failed: odd 3]" {
		t.Errorf("%v; told of %q", err, dropped)
	}
	fails(t, "AS701", shown+"main = each(odd_fails())", []agentscript.RunOption{input([]int{2, 3, 4, 5})}, "odd 3")
}

// Promise 15.14 (algebra): an outcome is skipped if the budget around a branch was used up before its first call, and
// cancelled if it was used up midway; a branch that a sibling ended is cancelled in the events.
func TestPromise_15_14_Statuses(t *testing.T) {
	const src = `
def asks(n):
    return then([agent(name = "ask%%d" %% i, prompt = "Answer.") for i in range(n)])
def show(xs):
    return " ".join([x.status for x in xs])
shown = fn(show, input = list[Attempt[str]], output = str)
team = par(asks(1), asks(%d), asks(1), limit = 1, on_error = "keep") >> shown
def lead(s):
    return team(s)
boss = agent(budget = budget(model_calls = 2), run = lead)
main = boss
`
	echoes := func() engine.Handler {
		return answering(func(_ context.Context, agent string, _ *model.Request) engine.Outcome { return said(agent) })
	}
	for asks, want := range map[int]string{1: "ok ok skipped", 2: "ok cancelled skipped"} {
		mod := loaded(t, agentscript.New(agentscript.WithDefaultModel("test/m")), fmt.Sprintf(src, asks))
		res, _, err := everywhere(t, mod, echoes, input("x"))
		if err != nil || res.Text() != want {
			t.Errorf("%d: %s, %v; want %s", asks, res.Text(), err, want)
		}
	}
	called := loaded(t, agentscript.New(agentscript.WithDefaultModel("test/m")), `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
def lead(s):
    all = parallel([(a, s), (lambda: b(b(s))), (a, s)], limit = 1, on_error = "keep")
    return " ".join([x.status for x in all + [attempt(b, s), attempt(lambda: s)]])
main = agent(budget = budget(model_calls = 2), run = lead)
`)
	if res, _, err := everywhere(t, called, echoes, input("x")); err != nil || res.Text() != "ok cancelled skipped skipped ok" {
		t.Errorf("of calls: %s, %v", res.Text(), err)
	}
	mod := loaded(t, agentscript.New(agentscript.WithModels(answering(func(ctx context.Context, agent string, _ *model.Request) engine.Outcome {
		if agent == "slow" {
			<-ctx.Done()
			return engine.Failed(&engine.Error{Kind: engine.KindNetwork, Cause: ctx.Err()})
		}
		return said(agent)
	})), agentscript.WithDefaultModel("test/m")), `
slow = agent(prompt = "Wait.")
quick = agent(prompt = "Answer.")
main = race(slow, quick)
`)
	ended := map[string]engine.Status{}
	var mu sync.Mutex
	if _, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Phase() == engine.PhaseEnd {
			ended[e.Path[strings.LastIndexByte(e.Path, '/')+1:]] = e.Data.(*event.Node).Status
		}
	})).Wait(); err != nil {
		t.Fatal(err)
	}
	if s, began := ended["agent:slow#0"]; began && s != engine.StatusCancelled || ended["agent:quick#0"] != engine.StatusOK {
		t.Errorf("the branches of a race end %v", ended)
	}
}
