package agentscript_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
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
