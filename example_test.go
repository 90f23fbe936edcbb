package agentscript_test

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"testing/fstest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

//go:embed examples/*.star examples/lib/*.star
var embedded embed.FS

// script returns a file system with one file.
func script(text string) fs.FS { return fstest.MapFS{"flow.star": {Data: []byte(text)}} }

func Example() {
	flows, err := fs.Sub(embedded, "examples")
	if err != nil {
		fmt.Println(err)
		return
	}
	review := func(ctx context.Context, code string) error {
		models := scripted.Answers(map[string][]string{"reviewer": {`{"type": "Approved", "confidence": 0.95}`}})
		eng := agentscript.New(agentscript.WithModels(models)) // llm.New(), or answers in a test
		mod, err := eng.Load(ctx, flows, "review.star")        // any fs.FS; err holds every mistake at once
		if err != nil {
			return err
		}
		run := mod.Start(ctx, agentscript.Input(code))
		verdict, err := agentscript.As[string](run.Wait())
		if err != nil {
			return err
		}
		fmt.Println(verdict)
		return nil
	}
	if err := review(context.Background(), "def f(): pass"); err != nil {
		fmt.Println(err)
	}
	// Output: Deployed with confidence 0.95
}

func ExampleAs() {
	type Finding struct {
		Line int    `json:"line"`
		Text string `json:"text"`
	}
	type Request struct {
		Title string   `json:"title"`
		Lines []string `json:"lines"`
	}
	mod, err := agentscript.New().Load(context.Background(), script(`
Request = schema("What to look at", title = str, lines = list[str])
Finding = schema("A finding", line = int, text = str)

def look(request):
    return [Finding(line = i + 1, text = line) for i, line in enumerate(request.lines) if "TODO" in line]

main = agent(input = Request, output = list[Finding], run = look)
`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	run := mod.Start(context.Background(), agentscript.Input(Request{
		Title: "main.go",
		Lines: []string{"package main", "// TODO: write it"},
	}))
	findings, err := agentscript.As[[]Finding](run.Wait())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(findings[0].Line, findings[0].Text)
	// Output: 2 // TODO: write it
}

func ExampleRun_Cancel() {
	started := make(chan struct{})
	stuck := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
		close(started)
		<-ctx.Done() // a model that never answers
		return engine.Failed(engine.Errorf(engine.KindCancelled, "AS712", "stopped"))
	})
	mod, err := agentscript.New(agentscript.WithModels(stuck)).Load(context.Background(), script(`main = agent(prompt = "Think.")`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	run := mod.Start(context.Background(), agentscript.Input("?"))
	<-started
	run.Cancel()
	_, err = run.Wait()
	fmt.Println(errors.Is(err, engine.ErrCancelled))
	// Output: true
}

func ExampleLimits() {
	models := scripted.Answers(map[string][]string{"a": {"one"}, "b": {"two"}})
	mod, err := agentscript.New(agentscript.WithModels(models)).Load(context.Background(), script(`
a = agent(prompt = "First.")
b = agent(prompt = "Second.")
main = a >> b
`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	tenants := map[string]engine.Limits{
		"free": {ModelCalls: engine.AtMost(1)},
		"paid": {ModelCalls: engine.AtMost(100), Steps: engine.AtMost(50_000_000)},
	}
	_, err = mod.Start(context.Background(), agentscript.Input("x"), agentscript.RunLimits(tenants["free"])).Wait()
	fmt.Println(errors.Is(err, engine.ErrBudget))
	// Output: true
}

func ExampleOnEvent() {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	mod, err := agentscript.New().Load(context.Background(), script(`
upper = agent(run = lambda s: s.upper())
main = upper
`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	run := mod.Start(context.Background(), agentscript.Input("x"),
		agentscript.OnEvent(engine.EventNode|engine.EventEffect, func(e engine.Event) {
			log.Info(e.Kind.String(), "phase", e.Phase(), "path", e.Path)
		}))
	if _, err := run.Wait(); err != nil {
		fmt.Println(err)
	}
	fmt.Print(out.String())
	// Output:
	// level=INFO msg=node phase=start path=main/agent:upper#0
	// level=INFO msg=node phase=end path=main/agent:upper#0
}

func ExampleWithTool() {
	params, errs := generable.NewSchema("weather", "", []generable.Field{{Name: "city", Type: generable.StrT, Guide: "where"}})
	if errs != nil {
		fmt.Println(errs)
		return
	}
	weather := agent.HostTool{
		Tool: agent.Tool{Name: "weather", Doc: "Tells the weather in a city.", Params: params, Returns: generable.StrT, Class: engine.ClassRead},
		Do: func(ctx context.Context, call agent.ToolCallInfo, args generable.Value) (generable.Value, error) {
			r, _ := args.AsRecord()
			city, _ := r.Get("city")
			name, _ := city.AsStr()
			return generable.StrOf("rain in " + name), nil
		},
	}
	models := scripted.New([]scripted.Row{
		{Agent: "guide", Calls: []scripted.Call{{Name: "weather", Args: []byte(`{"city": "Bergen"}`)}}},
		{Agent: "guide", Text: new("Take an umbrella.")},
	})
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithTool(weather))
	mod, err := eng.Load(context.Background(), script(`
guide = agent(prompt = "Say what to wear.", tools = [weather])
main = guide
`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agentscript.As[string](mod.Start(context.Background(), agentscript.Input("Bergen")).Wait()))
	// Output: Take an umbrella. <nil>
}

// parrot is a host's own model: any langchaingo model can be used.
type parrot struct{ llms.Model }

func (parrot) GenerateContent(_ context.Context, messages []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	last := messages[len(messages)-1].Parts[0].(llms.TextContent)
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: "parrot says " + last.Text, StopReason: "stop"}}}, nil
}

func ExampleWithModels() {
	models := llm.New(llm.WithModel("acme/parrot", parrot{}, llm.Caps{}))
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/parrot"))
	mod, err := eng.Load(context.Background(), script(`main = agent(prompt = "Repeat.")`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(agentscript.As[string](mod.Start(context.Background(), agentscript.Input("hello")).Wait()))
	// Output: parrot says hello <nil>
}

// A host uses options where the command line has flags for failing providers.
func ExampleWithModels_failing() {
	models := llm.New(
		llm.WithRetry(llm.RetryPolicy{Attempts: 6, Within: 2 * time.Minute}), // zero members keep their defaults
		llm.WithFallbacks("mistral/mistral-large-latest"),                    // behind those of the scripts
		llm.WithLimits("openai", llm.Limits{InFlight: 32, RequestsPerMinute: 500, TokensPerMinute: 200_000}),
	)
	defer models.Close()
	eng := agentscript.New(agentscript.WithModels(models))
	mod, err := eng.Load(context.Background(), script(`main = agent(model = ["openai/gpt-5-mini", "ollama/qwen2.5:7b"], prompt = "Judge.")`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mod.Nodes()[0].Agent().Fallbacks)
	// Output: [ollama/qwen2.5:7b]
}

func ExampleJournal() {
	models := scripted.Answers(map[string][]string{"main": {"hello"}})
	mod, err := agentscript.New(agentscript.WithModels(models)).Load(context.Background(), script(`main = agent(prompt = "Greet.")`), "flow.star")
	if err != nil {
		fmt.Println(err)
		return
	}
	in := agentscript.Input("x")
	refuse := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s is not recorded", e.ID()))
	})
	record := &store.Memory{}
	first, err := agentscript.As[string](mod.Start(context.Background(), in, agentscript.RunJournal(record)).Wait())
	again, err2 := agentscript.As[string](mod.Start(context.Background(), in, agentscript.RunJournal(record), agentscript.HandlerForAll(refuse)).Wait())
	fmt.Println(first, err, again, err2)
	// Output: hello <nil> hello <nil>
}

func ExampleEngine_Load() {
	_, err := agentscript.New().Load(context.Background(), script(`
n = agent(input = int, output = int, run = lambda n: n)
s = agent(input = str, output = str, run = lambda s: s)
main = n >> s >> undefined_name
`), "flow.star")
	var found *agentscript.LoadError
	if errors.As(err, &found) {
		for _, d := range found.List {
			fmt.Println(d.Code, d.Span.Line)
		}
	}
	// Output: AS201 4
}
