package agentscript_test

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/grant"
)

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
