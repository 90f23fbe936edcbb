package agentscript_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/generable/lenient"
)

// A host may raise a bound that a run has reached.
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

// Shows an answer while the model still writes it, and stops reading once it is complete.
func Example_stream() {
	typ, err := govalue.TypeFor[Ticket]()
	if err != nil {
		panic(err)
	}
	pieces := []string{"```js", "on\n{\"title\": \"Printer ", "on fire\", \"urgent\": tr", "ue, \"tags\": [", "\"hardware\"]}"}

	stream := lenient.NewStream(typ, lenient.StreamOptions{
		On: func(e *lenient.StreamEvent) {
			if e.Kind == lenient.StreamText {
				fmt.Printf("%s += %q\n", e.Path(), e.Text)
			}
		},
		Stop: func(e *lenient.StreamEvent) bool { return e.Path() == ".urgent" },
	})
	for _, piece := range pieces {
		if !stream.Feed(piece) { // no more is wanted
			break
		}
	}
	fmt.Println(generable.JSON(stream.Snapshot(), nil))
	res := stream.Close()

	fmt.Println(res.OK, generable.JSON(res.Value, nil))
	// Output:
	// .title += "Printer "
	// .title += "on fire"
	// {"title":"Printer on fire","urgent":true,"tags":[]}
	// true {"title":"Printer on fire","urgent":true,"tags":[]}
}
