package exec_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// A resumed race is charged what its losers had used, though it does not run them: the budget has the same rest as
// before.
func TestAResumedRaceIsChargedItsLosers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := enginetest.Compose()
		loser := c.Then(c.Site("then", ""), c.Prompted("one", generable.StrT, generable.StrT), c.Prompted("two", generable.StrT, generable.StrT))
		main := c.Then(c.Site("then", ""), c.Race(c.Site("race", ""), flow.FirstOptions{}, loser, c.Prompted("quick", generable.StrT, generable.StrT)), c.Prompted("last", generable.StrT, generable.StrT))
		c.Sound(t)
		arrived := make(chan struct{})
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			switch e.Agent {
			case "two":
				close(arrived)
				<-ctx.Done()
				return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
			case "quick":
				<-arrived
			}
			return enginetest.Echo(ctx, e, k)
		})
		j := &store.Memory{}
		spec := run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Journal: j, Limits: engine.Limits{ModelCalls: engine.AtMost(4)}}
		if out, err := run.Exec(sched.NewGoSched(t.Context()), &spec); err != nil || enginetest.Str(out) != "last(quick(x))" {
			t.Fatalf("got %q, %v", enginetest.Str(out), err)
		}
		for limit, want := range map[int64]bool{3: false, 4: true} {
			again := spec
			again.Handler, again.Models = enginetest.Echo, map[string]string{"last": fmt.Sprint("test/", limit)} // requests are made anew
			again.Limits.ModelCalls = engine.AtMost(limit)
			_, err := run.Exec(sched.NewCoopSched(1), &again)
			if (err == nil) != want || err != nil && !errors.Is(err, engine.ErrBudget) {
				t.Errorf("with %d calls the resumed run ends with %v", limit, err)
			}
		}
	})
}

// What a surrounding budget ends in a branch is distinguished from the branch's own failures: skipped before its first
// call, cancelled after it. The same holds for attempts, at any depth, and on replay.
func TestStatusOfWhatABudgetEnds(t *testing.T) {
	for name, c := range map[string]struct {
		limit  int64
		calls  []int // of the branches, one after the other
		status string
	}{
		"enough":     {9, []int{1, 2, 1}, "ok ok ok"},
		"skipped":    {3, []int{1, 2, 1}, "ok ok skipped"},
		"cancelled":  {2, []int{1, 2, 1}, "ok cancelled skipped"},
		"none":       {0, []int{1, 0, 1}, "skipped ok skipped"},
		"all at one": {1, []int{3, 0}, "cancelled ok"},
	} {
		w := enginetest.Compose()
		branches := func() (nodes []*flow.Node) {
			for _, n := range c.calls {
				steps := []*flow.Node{w.Step("", generable.StrT, generable.StrT, enginetest.Identity)}
				for range n {
					steps = append(steps, w.Prompted("ask", generable.StrT, generable.StrT))
				}
				nodes = append(nodes, w.Then(w.Site("then", ""), steps...))
			}
			return nodes
		}
		kept := w.Par(w.Site("par", ""), flow.ParOptions{Limit: 1, OnError: flow.OnErrorKeep}, branches()...)
		var tried []*flow.Node
		for _, n := range branches() {
			tried = append(tried, w.Attempt(w.Site("attempt", ""), w.Par(w.Site("par", ""), flow.ParOptions{}, n)))
		}
		for how, team := range map[string]*flow.Node{"keep": kept, "attempt": w.Par(w.Site("par", ""), flow.ParOptions{Limit: 1}, tried...)} {
			main := w.Agent(w.Site("agent", "boss"), &agent.Spec{Name: "boss", Out: generable.AnyT, Budget: engine.Limits{ModelCalls: engine.AtMost(c.limit)},
				Run: engine.GoFunc("boss", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) { return run.Call(b, team, a[0]) })})
			w.Sound(t)
			out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x")})
			list, _ := out.AsList()
			got := ""
			for i, item := range list.Items() {
				r, _ := item.AsRecord()
				if i > 0 {
					got += " "
				}
				got += enginetest.Str(r.At(3))
			}
			if err != nil || got != c.status {
				t.Errorf("%s, %s: %s, %v; want %s", name, how, got, err, c.status)
			}
		}
	}
}
