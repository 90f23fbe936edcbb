package conformance

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/starlib"
)

// Promise 9.6 (embedding): a cancelled context ends the run and its requests.
func TestPromise_9_6_Cancel(t *testing.T) {
	var inside atomic.Int64
	entered := make(chan struct{}, 100)
	blocked := func(ctx context.Context) error {
		inside.Add(1)
		defer inside.Add(-1)
		entered <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	tool := *stock(new(atomic.Int64))
	tool.Do = func(ctx context.Context, _ agent.ToolCallInfo, _ generable.Value) (generable.Value, error) {
		return generable.Value{}, blocked(ctx)
	}
	stuck := answering(func(ctx context.Context, agent string, _ *model.Request) engine.Outcome {
		if agent == "caller" {
			return calling("stock", `{"what": "x"}`)
		}
		return engine.Failed(engine.Errorf(engine.KindNetwork, "AS710", "the connection failed: %w", blocked(ctx)))
	})
	handler := agentscript.HandlerForAll(engine.Handlers{engine.EffectModel: stuck, engine.EffectTool: agent.HostTools{"stock": &tool}})
	eng := agentscript.New(agentscript.WithTool(tool), builtin("begin", func(*starlib.Call) (starlark.Value, error) {
		entered <- struct{}{}
		return starlark.None, nil
	}))
	for _, c := range []struct {
		name, src string
		in        []agentscript.RunOption
		enters    int
	}{
		{"a model", `main = agent(prompt = "A.")`, []agentscript.RunOption{input("x")}, 1},
		{"many models", `main = each(agent(prompt = "A."), limit = 30)`, []agentscript.RunOption{input(make([]string, 30))}, 30},
		{"a model called from main", "a = agent(prompt = \"A.\")\ndef main():\n    return a(\"x\")", nil, 1},
		{"a tool", `main = agent(name = "caller", prompt = "A.", tools = [stock])`, []agentscript.RunOption{input("x")}, 1},
		{"an agent with a time of its own", `main = agent(prompt = "A.", budget = budget(wall = "1h"))`, []agentscript.RunOption{input("x")}, 1},
		{"a script that computes", "def main():\n    begin(1)\n    while True:\n        pass", nil, 1},
		{"a loop of small steps", "main = loop(fn(lambda n: begin(n) or n if n == 0 else n, input = int, output = int), lambda n: n + 1, max = 1 << 40)", []agentscript.RunOption{input(0)}, 1},
	} {
		for how, wall := range map[string]time.Duration{"by the context": 0, "by the run": 0, "by a deadline": 20 * time.Millisecond, "with a wall time": time.Hour} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				mod := loaded(t, eng, c.src)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				opts := append(c.in[:len(c.in):len(c.in)], handler)
				want := error(engine.ErrCancelled)
				switch how {
				case "by a deadline":
					ctx, cancel = context.WithTimeout(t.Context(), wall)
					defer cancel()
					want = engine.ErrTimeout
				case "with a wall time":
					opts = append(opts, agentscript.RunLimits(engine.Limits{Wall: wall}))
				}
				run := mod.Start(ctx, opts...)
				for range c.enters {
					select {
					case <-entered:
					case <-run.Done(): // a deadline may come first
					}
				}
				switch how {
				case "by the run":
					run.Cancel()
				case "by the context", "with a wall time":
					cancel()
				}
				select {
				case <-run.Done():
				case <-hang.Context(t).Done():
					t.Fatal("the run goes on")
				}
				_, err := run.Wait()
				if !errors.Is(err, want) {
					t.Errorf("the error is %v", err)
				}
				var e *engine.Error
				if !errors.As(err, &e) || e.Path == "" {
					t.Errorf("the error is at %+v", e)
				}
				if n := inside.Load(); n != 0 {
					t.Errorf("%d calls go on", n)
				}
				for len(entered) > 0 {
					<-entered
				}
			})
		}
	}
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := loaded(t, agentscript.New(), `main = agent(prompt = "A.")`).Start(ctx, input("x"), agentscript.HandlerForAll(answering(func(context.Context, string, *model.Request) engine.Outcome {
			t.Error("the model is asked")
			return said("")
		}))).Wait()
		if !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("after it has ended, and twice", func(t *testing.T) {
		run := loaded(t, agentscript.New(), `main = fn(lambda s: s)`).Start(t.Context(), input("x"))
		<-run.Done()
		run.Cancel()
		run.Cancel()
		if res, err := run.Wait(); err != nil || res.Text() != "x" {
			t.Errorf("%s, %v", res.Text(), err)
		}
	})
	t.Run("with a cause of the host's", func(t *testing.T) {
		why := errors.New("the tenant left")
		ctx, cancel := context.WithCancelCause(t.Context())
		run := loaded(t, agentscript.New(), `main = agent(prompt = "A.")`).Start(ctx, input("x"), handler)
		<-entered
		cancel(why)
		if _, err := run.Wait(); !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, why) {
			t.Errorf("the error is %v", err)
		}
	})
}
