package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

var errHost = errors.New("the host's own error")

// failing returns a callback that fails with a wrapped error of the host.
func failing(name string, params int) engine.Func {
	return engine.GoFunc(name, params, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.Value{}, fmt.Errorf("while %s: %w", name, errHost)
	})
}

func panicking(name string, params int) engine.Func {
	return engine.GoFunc(name, params, func(engine.Branch, []generable.Value) (generable.Value, error) { panic(errHost) })
}

// Every failure has the path of its node, a position and its chain of causes, wherever the callback is and however it
// fails.
func TestEveryFailureIsLocated(t *testing.T) {
	badAnswer := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		r := enginetest.Says("no json")
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	places := map[string]struct {
		path  string
		model engine.Handler
		build func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node
	}{
		"fn": {"main/fn:f#0", nil, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Fn(c.Site("fn", "f"), f("fn", 1), generable.StrT, generable.StrT)
		}},
		"run": {"main/agent:a#0", nil, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Run: f("run", 1)})
		}},
		"on_bad_output": {"main/agent:a#0", badAnswer, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Out: generable.IntT, Prompt: "Go.", OnBadOutput: f("bad", 1)})
		}},
		"next": {"main/loop:l#0[0]", nil, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Loop(c.Site("loop", "l"), c.Text(), flow.LoopOptions{Next: f("next", 1)})
		}},
		"until": {"main/loop:l#0[0]", nil, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Loop(c.Site("loop", "l"), c.Text(), flow.LoopOptions{UntilFunc: f("until", 1), Repair: c.Text()})
		}},
		"when": {"main/branch:b#0", nil, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Branch(c.Site("branch", "b"), c.Text(), []flow.Route{{When: f("when", 1), Handler: c.Text()}}, flow.BranchOptions{Otherwise: c.Text()})
		}},
		"captain": {"main/forum:f#0/agent:cap#0", nil, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Forum(c.Site("forum", "f"), flow.ForumOptions{}, c.Text(), c.Agent(c.Site("agent", "cap"), &agent.Spec{Name: "cap", Run: f("cap", 2)}))
		}},
		"in a parallel": {"main/par:p#0[1]/fn:f#0", nil, func(c *enginetest.Composer, f func(string, int) engine.Func) *flow.Node {
			return c.Par(c.Site("par", "p"), flow.ParOptions{}, c.Text(), c.Fn(c.Site("fn", "f"), f("fn", 1), generable.StrT, generable.StrT))
		}},
	}
	for name, p := range places {
		for how, f := range map[string]func(string, int) engine.Func{"error": failing, "panic": panicking} {
			t.Run(name+" "+how, func(t *testing.T) {
				c := enginetest.Compose()
				main := p.build(c, f)
				c.Sound(t)
				enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
					_, err := run.Exec(s, &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: p.model, Model: "test/model"})
					var e *engine.Error
					if !errors.As(err, &e) || e.Path != p.path || !e.Pos.IsValid() || !errors.Is(err, errHost) {
						t.Errorf("got %#v\nwant the path %s, a position and the cause", err, p.path)
					}
					if kind := map[string]engine.ErrKind{"error": engine.KindScript, "panic": engine.KindPanic}[how]; e != nil && e.Kind != kind {
						t.Errorf("kind %s, want %s", e.Kind, kind)
					}
				})
			})
		}
	}
}

func TestFailuresOfTheRunItself(t *testing.T) {
	c := enginetest.Compose()
	main := c.Step("n", generable.IntT, generable.IntT, enginetest.Identity)
	broken := c.Then(c.Site("then", "bad"), c.Step("a", generable.IntT, generable.StrT, enginetest.Identity), c.Step("b", generable.IntT, generable.IntT, enginetest.Identity))
	for name, spec := range map[string]run.Spec{
		"input":    {Node: main, Input: generable.StrOf("x")},
		"broken":   {Node: broken, Input: generable.StrOf("x")},
		"nothing":  {},
		"listener": {Node: main, Input: generable.IntOf(1), Listener: engine.Listener{Kinds: engine.EventAll, Emit: func(engine.Event) { panic(errHost) }}},
	} {
		_, err := run.Exec(sched.NewGoSched(t.Context()), &spec)
		var e *engine.Error
		if !errors.As(err, &e) || e.Path == "" || e.Help == "" {
			t.Errorf("%s: got %#v", name, err)
		}
	}
}

// Text that a callback puts around a failure remains.
func TestWrappedFailuresKeepTheirText(t *testing.T) {
	c := enginetest.Compose()
	inner := c.Fn(c.Site("fn", "inner"), failing("digging", 1), generable.StrT, generable.StrT)
	outer := c.Fn(c.Site("fn", "outer"), engine.GoFunc("outer", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		out, err := run.Call(b, inner, a[0])
		return out, fmt.Errorf("while planning: %w", err)
	}), generable.StrT, generable.StrT)
	c.Sound(t)
	_, err := enginetest.RunNode(t, outer, nil, "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Message != "while planning: while digging: the host's own error" || e.Path != "main/fn:outer#0/fn:inner#0" || !errors.Is(err, errHost) {
		t.Errorf("got %#v", err)
	}
}

// errors.Is recognizes a host's *Error after it was located, and after it was recorded.
func TestErrorsAreRecognised(t *testing.T) {
	quota := &engine.Error{Kind: engine.KindQuota, Code: diag.RateLimited, Message: "no credits left"}
	c := enginetest.Compose()
	main := c.Fn(c.Site("fn", "f"), engine.GoFunc("f", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.Value{}, fmt.Errorf("asking: %w", quota)
	}), generable.StrT, generable.StrT)
	c.Sound(t)
	_, err := enginetest.RunNode(t, main, nil, "x")
	for _, target := range []error{quota, &engine.Error{Kind: engine.KindQuota}, &engine.Error{Code: diag.RateLimited}} {
		if !errors.Is(err, target) {
			t.Errorf("%v is not %#v", err, target)
		}
	}
	for _, target := range []error{engine.ErrBudget, &engine.Error{Kind: engine.KindQuota, Message: "other"}, &engine.Error{}} {
		if errors.Is(err, target) {
			t.Errorf("%v is %#v", err, target)
		}
	}
}

// A cancelled caller gets that as the reason, whatever failed because of it.
func TestCancelledIsReported(t *testing.T) {
	for name, fails := range map[string]engine.ErrKind{"network": engine.KindNetwork, "tool": engine.KindTool, "timeout": engine.KindTimeout, "budget": engine.KindBudget} {
		c := enginetest.Compose()
		main := c.Par(c.Site("par", "p"), flow.ParOptions{}, c.Prompted("a", generable.StrT, generable.StrT), c.Prompted("b", generable.StrT, generable.StrT))
		c.Sound(t)
		ctx, cancel := context.WithCancel(t.Context())
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			cancel()
			return engine.Failed(engine.Errorf(fails, diag.ProviderError, "closed"))
		})
		_, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Limits: engine.Limits{Wall: time.Minute}})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindCancelled || e.Code != diag.Cancelled || !errors.Is(err, context.Canceled) || engine.IsControl(err) || e.Path == "" {
			t.Errorf("%s: got %#v", name, err)
		}
	}
}

// A run inside a handler of another run is stopped by what stops that one. It reports no control outcome: those
// belong to the run in which they arose.
func TestARunInsideAHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := enginetest.Compose()
		slow := c.Prompted("slow", generable.StrT, generable.StrT)
		outer := c.Par(c.Site("par", ""), flow.ParOptions{}, c.Prompted("host", generable.StrT, generable.StrT), c.Fn(c.Site("fn", "boom"), failing("boom", 1), generable.StrT, generable.StrT))
		c.Sound(t)
		inside := make(chan error, 1)
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			_, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Node: slow, Input: generable.StrOf("x"), Handler: engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				<-ctx.Done()
				return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
			})})
			inside <- err
			return engine.Failed(engine.Errorf(engine.KindTool, diag.ToolFailed, "inside: %w", err))
		})
		_, err := enginetest.RunNode(t, outer, h, "x")
		if !errors.Is(err, errHost) {
			t.Errorf("outside: %v", err)
		}
		select {
		case err := <-inside:
			if !errors.Is(err, engine.ErrCancelled) || engine.IsControl(err) {
				t.Errorf("inside: %#v", err)
			}
		default: // the sibling failed before the handler was called
		}
	})
}

// An empty outcome is a failure of the handler, not a crash of the run.
func TestEmptyOutcome(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	_, err := enginetest.RunNode(t, main, engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { return engine.Outcome{} }), "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindBadResponse || e.Path != "main/agent:a#0" {
		t.Errorf("got %#v", err)
	}
}

// Tool calls of a truncated answer are truncated, too: they are not made.
func TestTruncatedToolCallsAreNotMade(t *testing.T) {
	c := enginetest.Compose()
	made := 0
	rm := &agent.Tool{Name: "rm", Params: enginetest.Schema(t, "rm", generable.Field{Name: "path", Type: generable.StrT}), Class: engine.ClassIdempotent,
		Run: engine.GoFunc("rm", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			made++
			return generable.StrOf("ok"), nil
		})}
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Go.", Tools: []*agent.Tool{rm}})
	c.Sound(t)
	r := enginetest.Calls("rm", `{"path": "/home/u`)
	r.Finish = model.FinishLength
	_, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: []model.Response{r, enginetest.Says("done")}}, "x")
	if made != 0 || !errors.Is(err, &engine.Error{Kind: engine.KindTruncated}) {
		t.Errorf("%d calls made, %v", made, err)
	}
}

// A failure that a model cannot fix is not returned to it as text: the run ends.
func TestToolFailuresThatEndTheRun(t *testing.T) {
	for kind, ends := range map[engine.ErrKind]bool{engine.KindStore: true, engine.KindReplay: true, engine.KindConfig: true,
		engine.KindTool: false, engine.KindTimeout: false, engine.KindCancelled: false, engine.KindBudget: false, engine.KindNetwork: false} {
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Go.", Tools: []*agent.Tool{{Name: "get", Params: enginetest.Schema(t, "get"), Class: engine.ClassRead}}})
		c.Sound(t)
		h := engine.Handlers{
			engine.EffectModel: &enginetest.Answers{Next: []model.Response{enginetest.Calls("get", "{}"), enginetest.Says("done")}},
			engine.EffectTool: engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
				return engine.Failed(engine.Errorf(kind, diag.ToolFailed, "no luck"))
			}),
		}
		var told []engine.Event
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h,
			Listener: engine.Listener{Kinds: engine.EventTool, Emit: func(e engine.Event) { told = append(told, e) }}})
		if (err != nil) != ends {
			t.Errorf("%s: the run gives %v", kind, err)
		}
		if n := len(told); n != 2 || told[1].Err() == nil || told[1].Err().Kind != kind || told[1].Err().Path != "main/agent:a#0/tool:get#0" {
			t.Errorf("%s: the events of the call are %+v", kind, told)
		}
	}
}

// A host tool's error is a failure of the tool, whatever it wraps: if a run inside the tool used up its budget, that
// was not the budget of this run.
func TestHostToolErrorsAreToolFailures(t *testing.T) {
	for _, cause := range []error{errHost, context.DeadlineExceeded, engine.ErrBudget, engine.Errorf(engine.KindCancelled, diag.Cancelled, "stopped")} {
		tools := agent.HostTools{"get": {Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
			return generable.Value{}, fmt.Errorf("getting: %w", cause)
		}}}
		out := tools.Do(t.Context(), &engine.Effect{Kind: engine.EffectTool, Name: "get", At: &engine.Frame{}, Req: &engine.ToolRequest{}}, nil)
		if out.Err == nil || out.Err.Kind != engine.KindTool || !errors.Is(out.Err, cause) || !strings.Contains(out.Err.Message, "getting") {
			t.Errorf("%v: %#v", cause, out.Err)
		}
	}
}
