package conformance

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/exampleruns"
)

// Promise 5.1 (runs): every example and test flow gives equal results and equal sets of effect ids
// on goroutines, on seeded cooperative schedules and on replay with handlers that fail if called.
func TestPromise_5_1_ThreeWays(t *testing.T) {
	t.Run("examples", func(t *testing.T) {
		for _, ex := range examples {
			if ex.Grants != nil { // see what a script may touch
				continue
			}
			t.Run(ex.Name(), func(t *testing.T) {
				mod := loadedFile(t, agentscript.New(agentscript.WithPricer(llm.New())), "examples/"+ex.File)
				res, ids, err := everywhere(t, mod, func() engine.Handler { return answersBeside(t, ex.File) }, ex.Options(t, repository(""))...)
				if err != nil {
					t.Fatal(err)
				}
				if res.Text() != ex.Want {
					t.Errorf("got %s, want %s", res.Text(), ex.Want)
				}
				if asks := len(answersBeside(t, ex.File).Unused()); asks > len(regexp.MustCompile(`llm[0-9]+@`).FindAllString(ids, -1)) {
					t.Errorf("the answers beside it are for %d calls or more, the effects are\n%s", asks, ids)
				}
			})
		}
	})
	t.Run("test flows", func(t *testing.T) {
		files, err := filepath.Glob(repository("starlib/testdata/flows/*.star"))
		if err != nil || len(files) == 0 {
			t.Fatal("there are no test flows", err)
		}
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".star"), func(t *testing.T) { flowEverywhere(t, file) })
		}
	})
	t.Run("all operators", func(t *testing.T) {
		mod := loaded(t, agentscript.New(), allOperators)
		res, ids, err := everywhere(t, mod, func() engine.Handler { return replies(nil) }, input("one two three four five"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(ids, "@"); n != 5*(4+5+1) { // per word: four turns, five speakers, one route
			t.Errorf("%d effects:\n%s", n, ids)
		}
		if !strings.HasPrefix(res.Text(), "improve(improve(improve(improve(one))))|cap(one\n\n## Transcript") {
			t.Errorf("got %s", res.Text())
		}
	})
	t.Run("tools", func(t *testing.T) {
		tools := agent.HostTools{"stock": stock(new(atomic.Int64))}
		mod := loaded(t, agentscript.New(agentscript.WithTool(*tools["stock"])), toolUser)
		handler := func() engine.Handler {
			return engine.Handlers{engine.EffectModel: shopkeeper, engine.EffectTool: tools}
		}
		res, ids, err := everywhere(t, mod, handler, input("pears"))
		if err != nil || res.JSON() != `[{"text":"3 of pears"},{"text":"3 of pears"},{"text":"unsure: I would rather not."}]` {
			t.Errorf("%s, %v", res.JSON(), err)
		}
		// Twice: a turn of calls with the host's tool in it twice and a script's that calls a model, an answer that is
		// not a Report, one that is. Once: two answers that are not.
		if n := strings.Count(ids, "@"); n != 2*(1+2+1+2)+2 {
			t.Errorf("%d effects:\n%s", n, ids)
		}
	})
}

// flowEverywhere runs the cases of one flow file.
func flowEverywhere(t *testing.T, file string) {
	mod, err := agentscript.New(agentscript.WithDefaultModel("test/model")).LoadFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	flow := exampleruns.ReadFlow(t, file)
	for _, c := range flow.Cases {
		res, _, err := everywhere(t, mod, func() engine.Handler { return replies(flow.Texts) }, c.Option(t, mod))
		if c.Fails != "" {
			code, pattern, _ := strings.Cut(c.Fails, " ")
			e, ok := err.(*engine.Error)
			if !ok || string(e.Code) != code || !regexp.MustCompile(pattern).MatchString(e.Message) {
				t.Errorf("line %d: got %v, want the error %s", c.Line, err, c.Fails)
			}
			continue
		}
		want := lenient.Decode(nil, c.Gives, generable.Options{Level: generable.Strict})
		got := lenient.Decode(nil, res.JSON(), generable.Options{Level: generable.Strict})
		if err != nil || !want.OK || !generable.Equal(got.Value, want.Value) {
			t.Errorf("line %d: got %s, %v, want %s", c.Line, res.JSON(), err, c.Gives)
		}
	}
}

// allOperators has every operator around and inside others, each with models below it.
const allOperators = `
def says(name):
    return agent(name = name, prompt = "You are " + name + ".")

Length = enum("short", "long")
measure = agent(output = Length, run = lambda s: "long" if len(s) > 3 else "short")

def each_word():
    longer = says("improve").loop(lambda s: None if s.startswith("improve(improve(improve(improve") else s)
    panel = forum(says("ann"), says("bob"), says("cap"), rounds = 2)
    route = branch(measure, {"short": says("grow"), "long": says("shrink")})
    return longer / panel / route >> fn("|".join, input = list[str], output = str)

words = fn(lambda s: s.split(" "), input = str, output = list[str])
main = words >> each(each_word(), limit = 2) >> fn("\n".join, input = list[str], output = str)
`

// toolUser has agents with tools of the host and of the script, one of which calls an agent, and answers that are
// repaired, requested again, and given up.
const toolUser = `
Report = schema("A report", text = str)
doubt = agent(prompt = "Doubt it.")

def check(text = str):
    """Checks a text.

    Args:
      text: what to check
    """
    return doubt(text)

def clerk():
    return agent(name = "clerk", output = Report, prompt = "Report.", tools = [stock, check])

shy = agent(output = Report, prompt = "Say nothing.", on_bad_output = lambda raw: Report(text = "unsure: " + raw))
main = clerk() / clerk() / shy
`

// shopkeeper answers by the contents of the conversation, so that its answers do not depend on the order of calls.
var shopkeeper = answering(func(_ context.Context, agent string, r *model.Request) engine.Outcome {
	last := r.Messages[len(r.Messages)-1]
	switch {
	case agent == "shy":
		return said("I would rather not.")
	case agent == "doubt":
		return said("sure")
	case last.Role == model.RoleTool:
		if len(last.Parts) != 3 || last.Parts[2].Result.Text != "sure" {
			return said("the results are wrong")
		}
		return said("I count " + last.Parts[0].Result.Text)
	case len(r.Messages) > 1: // asked again
		return said("Here: {'text': '3 of pears',}")
	}
	return calling("stock", `{"what": "pears"}`, "stock", `{"what": "plums"}`, "check", `{"text": "pears"}`)
})

// stock returns a tool of the host that counts its calls.
func stock(calls *atomic.Int64) *agent.HostTool {
	params, errs := generable.NewSchema("stock", "", []generable.Field{{Name: "what", Type: generable.StrT}})
	if errs != nil {
		panic(errs)
	}
	return &agent.HostTool{
		Tool: agent.Tool{Name: "stock", Doc: "Counts what is there.", Params: params, Returns: generable.IntT},
		Do: func(_ context.Context, _ agent.ToolCallInfo, args generable.Value) (generable.Value, error) {
			calls.Add(1)
			r, _ := args.AsRecord()
			what, _ := r.Get("what")
			name, _ := what.AsStr()
			if name == "snakes" {
				return generable.Value{}, errors.New("nobody counts snakes")
			}
			return generable.IntOf(int64(len(name) - 2)), nil
		},
	}
}
