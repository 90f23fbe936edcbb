package agentscript_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
)

// A host that has failing tools called again, and people told when that does not help.
func ExampleWithToolErrors() {
	script := fstest.MapFS{"ask.star": {Data: []byte(`
clerk = agent(prompt = "Look it up.", tools = [lookup])

def main(q = str):
    return clerk(q)
`)}}
	failures := 0
	lookup := agent.HostTool{
		Tool: agent.Tool{Name: "lookup", Doc: "Looks it up.", Returns: generable.StrT, Class: engine.ClassRead},
		Do: func(context.Context, engine.ToolCallInfo, generable.Value) (generable.Value, error) {
			failures++
			return generable.Value{}, fmt.Errorf("the register is down (%d)", failures)
		},
	}
	eng := agentscript.New(
		agentscript.WithTool(lookup),
		agentscript.WithToolErrors(agent.Recovery{Failure: []agent.Remedy{
			{Do: agent.RemedyAgain, Times: 2},
			{Do: agent.RemedyEscalate, Severity: engine.SeverityCritical},
		}}),
		agentscript.WithModels(scripted.New([]scripted.Row{
			{Agent: "clerk", Calls: []scripted.Call{{Name: "lookup"}}},
			{Agent: "clerk", Text: new("I could not look it up.")},
		})),
	)
	mod, err := eng.Load(context.Background(), script, "ask.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	run := mod.Start(context.Background(), agentscript.Args(map[string]any{"q": "A17"}),
		agentscript.OnEvent(engine.EventEscalation, func(e engine.Event) {
			d := e.Data.(*engine.EscalationData)
			fmt.Println(d.Severity, d.Name+":", d.Text)
		}))
	res, err := run.Wait()
	fmt.Println(res.Text(), err)
	fmt.Println(failures, "executions,", run.LeftBehind(), "left behind")
	// Output:
	// CRITICAL lookup: the register is down (3)
	// I could not look it up. <nil>
	// 3 executions, 0 left behind
}
