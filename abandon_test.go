package agentscript_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// A run whose time is up, or that its caller cancelled, is not waited for if a handler, a tool or a builtin ignores
// its context: the error and the last event say what is still running.
func TestWaitGivesUpOnWhatIsDeaf(t *testing.T) {
	for name, c := range map[string]struct {
		src, says, path string
		input           bool
	}{
		"a tool":    {`main = agent(prompt = "A.", tools = [deaf])`, `tool "deaf" has not returned`, "main/agent:main#0/tool:deaf#0", true},
		"a model":   {`main = agent(prompt = "A.", model = "acme/deaf")`, `model "acme/deaf" has not returned`, "main/agent:main#0/llm0", true},
		"many":      {`main = each(agent(prompt = "A.", model = "acme/deaf"))`, `model "acme/deaf", model "acme/deaf", model "acme/deaf" and 2 more has not returned`, "", true},
		"a builtin": {"def main():\n    return hush()", "its script has not stopped", "main", false},
	} {
		for how, end := range map[string]string{"by the run": "cancelled", "by its context": "deadline", "by its time": "within 20ms"} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					release, entered := make(chan struct{}), make(chan struct{}, 10)
					left := make(chan struct{}, 10)
					block := func() {
						entered <- struct{}{}
						<-release
						left <- struct{}{}
					}
					tool := agent.HostTool{Tool: agent.Tool{Name: "deaf", Doc: "Ignores its context.", Returns: generable.StrT, Class: engine.ClassRead},
						Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
							block()
							return generable.StrOf("late"), nil
						}}
					models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
						if e.Name == "acme/deaf" {
							block()
						}
						return engine.Outcome{Response: &model.Response{Finish: model.FinishCalls, Parts: []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "deaf", Args: "{}"}}}}}
					})
					eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x"), agentscript.WithTool(tool),
						agentscript.WithGrace(10*time.Millisecond), agentscript.WithBuiltin(agentscript.Builtin{Name: "hush", Doc: "Waits.", Returns: generable.IntT, Func: func(engine.Branch, []generable.Value) (generable.Value, error) {
							block()
							return generable.IntOf(1), nil
						}}))
					mod, err := eng.Load(t.Context(), script(c.src+"\n"), "flow.star")
					if err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					opts := []agentscript.RunOption{agentscript.Watch(engine.EventRun)}
					calls := 1
					if c.input {
						opts = append(opts, agentscript.Input("x"))
					}
					if name == "many" {
						opts, calls = append(opts, agentscript.Input(make([]string, 5))), 5
					}
					switch how {
					case "by its context":
						ctx, cancel = context.WithTimeout(ctx, 20*time.Millisecond)
						defer cancel()
					case "by its time":
						opts = append(opts, agentscript.RunLimits(engine.Limits{Wall: 20 * time.Millisecond}))
					}
					run := mod.Start(ctx, opts...)
					for range calls {
						<-entered
					}
					if how == "by the run" {
						run.Cancel()
					}
					_, err = run.Wait()
					var e *engine.Error
					if !errors.As(err, &e) || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Message, end) || !strings.Contains(e.Help, "left behind") ||
						c.path != "" && e.Path != c.path || errors.Is(err, engine.ErrTimeout) == (how == "by the run") {
						t.Errorf("the error is %+v, at %s: %s", e, e.Path, e.Help)
					}
					var last engine.Event
					for ev := range run.Events() {
						last = ev
					}
					if last.Kind != engine.EventRun || last.Phase() != engine.PhaseEnd || last.Err() == nil || last.Err().Message != e.Message {
						t.Errorf("the last event is %+v", last)
					}
					close(release) // what was left behind ends by itself, and changes nothing
					for range calls {
						<-left
					}
					if _, again := run.Wait(); again != err {
						t.Errorf("the error has become %v", again)
					}
				})
			})
		}
	}
}

// A listener that does not return is no reason to wait, either.
func TestWaitGivesUpOnADeafListener(t *testing.T) {
	release, entered := make(chan struct{}), make(chan struct{})
	defer close(release)
	mod := flow(t, "def main():\n    print(1)\n", agentscript.WithGrace(10*time.Millisecond))
	run := mod.Start(t.Context(), agentscript.OnEvent(engine.EventLog, func(engine.Event) {
		close(entered)
		<-release
	}))
	<-entered
	run.Cancel()
	if _, err := run.Wait(); !errors.Is(err, engine.ErrCancelled) {
		t.Errorf("got %v", err)
	}
}

// Without a grace period a run is waited for, however long its handlers take to end.
func TestNoGraceWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, entered := make(chan struct{}), make(chan struct{})
		slow := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			close(entered)
			<-release
			return engine.Failed(engine.Errorf(engine.KindNetwork, "AS710", "closed"))
		})
		mod := flow(t, `main = agent(prompt = "A.", model = "acme/x")`, agentscript.WithModels(slow), agentscript.WithGrace(0))
		run := mod.Start(t.Context(), agentscript.Input("x"))
		<-entered
		run.Cancel()
		select {
		case <-run.Done():
			t.Error("the run was given up")
		case <-time.After(time.Hour): // time of the bubble
		}
		close(release)
		if _, err := run.Wait(); !errors.Is(err, engine.ErrCancelled) {
			t.Errorf("got %v", err)
		}
	})
}
