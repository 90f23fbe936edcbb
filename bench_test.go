package agentscript_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// module loads a valid script.
func module(b testing.TB, eng *agentscript.Engine, src string) *agentscript.Module {
	b.Helper()
	mod, err := eng.Load(context.Background(), script(src), "flow.star")
	if err != nil {
		b.Fatal(err)
	}
	return mod
}

// talker is an agent with a typed output and a tool. Its requests have about 2 KB.
const talker = `
Report = schema("What was found", summary = field(str, "In one sentence"), score = field(int, "0 to 100", ge = 0, le = 100), files = field(list[str], default = []))
%s
main = agent(output = Report, tools = [look], budget = budget(turns = 1000, tool_calls = 10000, same_call = 10000), prompt = "Look for mistakes." + 20 * " Name the line, say what to do. Be exact.")
`

const scriptTool = `
def look(path = str, lines = field(int, "how many", default = 10)):
    """Looks into a file.

    Args:
      path: which one
    """
    return path + ": nothing special"
`

// conversation is a model that calls a tool in every turn but the last, which is a report. It records the CPU time at
// which it was asked, and keeps the run on one thread, so that the time is the run's own.
type conversation struct {
	turns int
	asked []time.Duration
}

func answer(p model.Part, f model.Finish) engine.Outcome {
	return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: f, Parts: []model.Part{p}}}
}

var (
	toolAnswer = answer(model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "call_1", Name: "look", Args: `{"path": "engine/frame.go", "lines": 40}`}}, model.FinishCalls)
	lastAnswer = answer(model.Part{Kind: model.PartText, Text: `{"summary": "Small and clear. Say what the index means when it is -1.", "score": 92, "files": ["engine/frame.go"]}`}, model.FinishStop)
)

func (c *conversation) Do(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
	if len(c.asked) == 0 && c.turns > 1 {
		runtime.LockOSThread() // the goroutine ends with the run, and its thread with it
	}
	if c.asked = append(c.asked, threadTime()); len(c.asked) < c.turns {
		return toolAnswer
	}
	return lastAnswer
}

// BenchmarkAgentTurn measures a conversation with an agent that has a typed output and a tool, per turn and without
// the model's own time: with one turn, which is a whole run including the decoding of its answer, and with 21 turns,
// for which it also reports the first and the twentieth separately, each in CPU time.
func BenchmarkAgentTurn(b *testing.B) {
	for kind, start := range talkers(b) {
		for _, turns := range []int{1, 21} {
			b.Run(fmt.Sprintf("tool=%s/turns=%d", kind, turns), func(b *testing.B) {
				var first, twentieth, all time.Duration
				b.ReportAllocs()
				for b.Loop() {
					c := start(b, turns)
					if turns == 21 {
						first += c.asked[1] - c.asked[0]
						twentieth += c.asked[20] - c.asked[19]
						all += c.asked[20] - c.asked[0]
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
				if turns == 21 {
					b.ReportMetric(float64(all.Nanoseconds())/float64(20*b.N), "cpu-ns/turn")
					b.ReportMetric(float64(first.Nanoseconds())/float64(b.N), "cpu-ns/turn1")
					b.ReportMetric(float64(twentieth.Nanoseconds())/float64(b.N), "cpu-ns/turn20")
					b.ReportMetric(float64(twentieth)/float64(first), "turn20/turn1")
				}
			})
		}
	}
}

// The conversations that the benchmark measures complete.
func TestTheMeasuredConversations(t *testing.T) {
	for kind, start := range talkers(t) {
		for _, turns := range []int{1, 21} {
			if c := start(t, turns); len(c.asked) != turns {
				t.Errorf("with a tool of the %s: %d turns, want %d", kind, len(c.asked), turns)
			}
		}
	}
}

// talkers returns functions that have one conversation of the given number of turns, with a tool of the script or of
// the host.
func talkers(b testing.TB) map[string]func(b testing.TB, turns int) *conversation {
	params, errs := generable.NewSchema("look", "", []generable.Field{{Name: "path", Type: generable.StrT}, {Name: "lines", Type: generable.IntT}})
	if errs != nil {
		b.Fatal(errs)
	}
	hostTool := agent.HostTool{Tool: agent.Tool{Name: "look", Doc: "Looks into a file.", Params: params, Returns: generable.StrT, Class: engine.ClassRead},
		Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
			return generable.StrOf("engine/frame.go: nothing special"), nil
		}}
	out := map[string]func(b testing.TB, turns int) *conversation{}
	for kind, mod := range map[string]*agentscript.Module{
		"script": module(b, agentscript.New(), fmt.Sprintf(talker, scriptTool)),
		"host":   module(b, agentscript.New(agentscript.WithTool(hostTool)), fmt.Sprintf(talker, "")),
	} {
		out[kind] = func(b testing.TB, turns int) *conversation {
			c := &conversation{turns: turns, asked: make([]time.Duration, 0, turns)}
			h := engine.Handlers{engine.EffectModel: c, engine.EffectTool: agent.HostTools{"look": &hostTool}}
			if _, err := mod.Start(context.Background(), agentscript.Input("x"), agentscript.HandlerForAll(h)).Wait(); err != nil {
				b.Fatal(err)
			}
			return c
		}
	}
	return out
}
