package agentscript_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// module loads a sound script.
func module(b testing.TB, eng *agentscript.Engine, src string) *agentscript.Module {
	b.Helper()
	mod, err := eng.Load(context.Background(), script(src), "flow.star")
	if err != nil {
		b.Fatal(err)
	}
	return mod
}

// talker is an agent with a typed output and a tool; its requests have about 2 KB.
const talker = `
Report = schema("What was found", summary = field(str, "In one sentence"), score = field(int, "0 to 100", ge = 0, le = 100), files = field(list[str], default = []))
%s
main = agent(output = Report, tools = [look], budget = budget(turns = 1000, tool_calls = 10000), prompt = "Look for mistakes." + 20 * " Name the line, say what to do. Be exact.")
`

const scriptTool = `
def look(path = str, lines = field(int, "how many", default = 10)):
    """Looks into a file.

    Args:
      path: which one
    """
    return path + ": nothing special"
`

// conversation is a model that calls a tool until its last turn, which is a report. It notes when
// it was asked.
type conversation struct {
	turns int
	asked []time.Time
}

func answer(p engine.Part, f engine.Finish) engine.Outcome {
	return engine.Outcome{Attempt: 1, Response: &engine.Response{Finish: f, Parts: []engine.Part{p}}}
}

var (
	toolAnswer = answer(engine.Part{Kind: engine.PartCall, Call: &engine.ToolCall{ID: "call_1", Name: "look", Args: `{"path": "engine/frame.go", "lines": 40}`}}, engine.FinishCalls)
	lastAnswer = answer(engine.Part{Kind: engine.PartText, Text: `{"summary": "Small and clear. Say what the index means when it is -1.", "score": 92, "files": ["engine/frame.go"]}`}, engine.FinishStop)
)

func (c *conversation) Do(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
	if c.asked = append(c.asked, time.Now()); len(c.asked) < c.turns {
		return toolAnswer
	}
	return lastAnswer
}

// BenchmarkAgentTurn is a conversation with an agent that has a typed output and a tool, per turn
// and without the model's own time: of one turn, which is a whole run with its answer decoded, and
// of 21, whose first and twentieth are also told apart.
func BenchmarkAgentTurn(b *testing.B) {
	params, errs := generable.NewSchema("look", "", []generable.Field{{Name: "path", Type: generable.StrT}, {Name: "lines", Type: generable.IntT}})
	if errs != nil {
		b.Fatal(errs)
	}
	hostTool := engine.HostTool{Tool: engine.Tool{Name: "look", Doc: "Looks into a file.", Params: params, Returns: generable.StrT, Class: engine.ClassRead},
		Do: func(context.Context, engine.ToolCallInfo, generable.Value) (generable.Value, error) {
			return generable.StrOf("engine/frame.go: nothing special"), nil
		}}
	for _, kind := range []string{"script", "host"} {
		var mod *agentscript.Module
		if kind == "script" {
			mod = module(b, agentscript.New(), fmt.Sprintf(talker, scriptTool))
		} else {
			mod = module(b, agentscript.New(agentscript.WithTool(hostTool)), fmt.Sprintf(talker, ""))
		}
		for _, turns := range []int{1, 21} {
			b.Run(fmt.Sprintf("tool=%s/turns=%d", kind, turns), func(b *testing.B) {
				var first, twentieth time.Duration
				b.ReportAllocs()
				for b.Loop() {
					c := &conversation{turns: turns, asked: make([]time.Time, 0, turns)}
					h := engine.Handlers{engine.EffectModel: c, engine.EffectTool: engine.HostTools{"look": &hostTool}}
					if _, err := mod.Start(context.Background(), agentscript.Input("x"), agentscript.Handler(h)).Wait(); err != nil {
						b.Fatal(err)
					}
					if turns == 21 {
						first += c.asked[1].Sub(c.asked[0])
						twentieth += c.asked[20].Sub(c.asked[19])
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
				if turns == 21 {
					b.ReportMetric(float64(first.Nanoseconds())/float64(b.N), "ns/turn1")
					b.ReportMetric(float64(twentieth.Nanoseconds())/float64(b.N), "ns/turn20")
				}
			})
		}
	}
}
