package agentscript_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// A host may raise a bound that a run has come to.
func ExampleOnBudget() {
	ctx := context.Background()
	calls := 0
	models := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		calls++
		look := &model.ToolCall{ID: fmt.Sprint(calls), Name: "look", Args: fmt.Sprintf(`{"at": "%d"}`, calls)}
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishCalls, Parts: []model.Part{{Kind: model.PartCall, Call: look}}}}
	})
	mod, err := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x")).Load(ctx, script(`
def look(at = str):
    return "nothing"

a = agent(prompt = "Look around.", tools = [look])
main = a
`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	run := mod.Start(ctx, agentscript.Input("x"), agentscript.OnBudget(func(_ context.Context, l engine.BudgetLimit) engine.Cap {
		if l.Resource == "turns" && l.Agent == "a" {
			return engine.AtMost(12)
		}
		return engine.Cap{} // leave it at that
	}))
	_, err = run.Wait()
	fmt.Println(errors.Is(err, engine.ErrBudget), calls)
	// Output: true 12
}
