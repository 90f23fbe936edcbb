package agentscript_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/grant"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/generable"
)

func ExampleWithBuiltin() {
	slug := agentscript.Builtin{
		Name: "slug", Doc: "Makes a title part of a URL.", Returns: generable.StrT,
		Params: []generable.Field{
			{Name: "title", Type: generable.StrT, Guide: "the title"},
			{Name: "sep", Type: generable.StrT, Guide: "what stands between words", Optional: true, Default: generable.StrOf("-")},
		},
		Func: func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			title, _ := args[0].AsStr()
			sep, _ := args[1].AsStr()
			return generable.StrOf(strings.Join(strings.Fields(strings.ToLower(title)), sep)), nil
		},
	}
	eng := agentscript.New(agentscript.WithBuiltin(slug))
	mod, err := eng.Load(context.Background(), script(`main = fn(lambda t: slug(t) + " " + slug(t, sep = "_"), input = str, output = str)`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := mod.Start(context.Background(), agentscript.Input("Ports of the North")).Wait()
	fmt.Println(res.Text(), err)

	_, err = eng.Load(context.Background(), script(`x = slug(titel = "Ports")`), "flow.star")
	fmt.Println(err)
	// Output:
	// ports-of-the-north ports_of_the_north <nil>
	// flow.star:1:10: error[AS202]: slug has no argument titel
}

func ExampleWithGrants() {
	count := func(ctx context.Context) error {
		g, err := grant.New(grant.FSAs("notes", "examples/notes", grant.ReadOnly))
		if err != nil {
			return err
		}
		defer g.Close()
		eng := agentscript.New(agentscript.WithGrants(g))
		mod, err := eng.Load(ctx, script("def main():\n    return fs.list(\"notes\")\n"), "flow.star")
		if err != nil {
			return err
		}
		res, err := mod.Start(ctx).Wait()
		fmt.Println(res.JSON())
		return err
	}
	if err := count(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: ["bread.md","tea.md"]
}

// A host lets scripts use MCP servers, as far as it grants access to them.
func ExampleWithMCP() {
	grants, err := grant.New(grant.Net("tickets.example.com"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer grants.Close()
	client := mcp.New(mcp.WithGrants(grants))
	defer client.Close()
	eng := agentscript.New(agentscript.WithMCP(client), agentscript.WithGrants(grants))
	fmt.Println(eng != nil)
	// Output: true
}

// A host that retries failing tools, and notifies people when that does not help.
func ExampleWithToolErrors() {
	script := fstest.MapFS{"ask.star": {Data: []byte(`
clerk = agent(prompt = "Look it up.", tools = [lookup])

def main(q = str):
    return clerk(q)
`)}}
	failures := 0
	lookup := agent.HostTool{
		Tool: agent.Tool{Name: "lookup", Doc: "Looks it up.", Returns: generable.StrT, Class: engine.ClassRead},
		Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
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
			d := e.Data.(*event.Escalation)
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
