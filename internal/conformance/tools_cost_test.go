package conformance

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Promise 18.11 (tools): a turn of an agent with a typed output that calls a tool costs at most 40 allocations if the
// tool is a function of the script and 27 if it is the host's, as long as nothing fails: remedies for failures cost
// nothing until one occurs.
func TestPromise_18_11_TurnAllocations(t *testing.T) {
	unraced(t)
	look := agent.HostTool{Tool: agent.Tool{Name: "look", Doc: "Looks.", Class: engine.ClassRead, Returns: generable.StrT,
		Params: schemaOf(t, "look", generable.Field{Name: "path", Type: generable.StrT}, generable.Field{Name: "lines", Type: generable.IntT})},
		Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
			return generable.StrOf("nothing"), nil
		}}
	const a = `
Report = schema("What was found", summary = str, score = int)
mender = agent(input = ToolFailure, prompt = "Mend.")
main = agent(output = Report, prompt = "Look.", budget = budget(turns = 100, tool_calls = 100), tools = [tool(look, on_error = fix(mender))], on_tool_error = again())
`
	const more = 20
	var calls []engine.Outcome // each a different one: repeating the same call forever is another case
	for i := range more {
		calls = append(calls, calling("look", fmt.Sprintf(`{"path": "engine/frame.go", "lines": %d}`, 10+i)))
	}
	last := said(`{"summary": "fine", "score": 92}`)
	for _, tt := range []struct {
		name, src string
		opts      []agentscript.Option
		most      float64
	}{
		{"of the script", "def look(path = str, lines = int):\n    return path + \": nothing\"\n" + a, nil, 40},
		{"of the host", a, []agentscript.Option{agentscript.WithTool(look)}, 27},
	} {
		mod := loaded(t, agentscript.New(tt.opts...), tt.src)
		of := func(turns int) cost {
			return measured(func() {
				n := 0
				h := engine.Handlers{engine.EffectTool: agent.HostTools{"look": &look}, engine.EffectModel: answering(func(context.Context, string, *model.Request) engine.Outcome {
					if n++; n < turns {
						return calls[n-1]
					}
					return last
				})}
				if _, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(h)).Wait(); err != nil {
					t.Fatal(err)
				}
			})
		}
		// What the runtime allocates meanwhile is a fraction of one.
		if got := math.Floor((of(1+more).allocs - of(1).allocs) / more); got > tt.most {
			t.Errorf("%s: %.0f allocations a turn, want %.0f at most", tt.name, got, tt.most)
		} else {
			t.Logf("%s: %.0f", tt.name, got)
		}
	}
}
