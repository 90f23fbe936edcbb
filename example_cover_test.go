package agentscript_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/cover"
)

// What the runs of a flow have not covered.
func Example_coverage() {
	ctx := context.Background()
	files := fstest.MapFS{"grade.star": {Data: []byte(`Grade = enum("low", "high")
grade = agent(input = int, output = Grade, run = lambda n: "high" if n > 50 else "low")
main = branch(grade, {
    "low": fn(lambda g: "again", input = Grade, output = str),
    "high": fn(lambda g: "well done", input = Grade, output = str),
})
`)}}
	module, err := agentscript.New().Load(ctx, files, "grade.star")
	if err != nil {
		fmt.Println(err)
		return
	}

	covered := cover.New(module.Nodes()...)
	run := module.Start(ctx, agentscript.Input(90), agentscript.OnEvent(cover.Events, covered.Event))
	if _, err := run.Wait(); err != nil {
		fmt.Println(err)
	}
	for _, item := range covered.Items() {
		if item.Count == 0 {
			fmt.Println(item)
		}
	}
	// Output:
	// grade.star:3:8: branch main: "low"
	// grade.star:4:5: branch main: "low"
}
