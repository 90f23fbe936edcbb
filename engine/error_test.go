package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

var errHost = errors.New("the host's own error")

// failing makes a callback that fails with an error that the host made and wrapped.
func failing(name string, params int) engine.Func {
	return engine.GoFunc(name, params, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.Value{}, fmt.Errorf("while %s: %w", name, errHost)
	})
}

func panicking(name string, params int) engine.Func {
	return engine.GoFunc(name, params, func(engine.Branch, []generable.Value) (generable.Value, error) { panic(errHost) })
}

// Every failure tells the path of its node, a position and its chain of causes, wherever the
// callback stands and however it fails.
func TestEveryFailureIsLocated(t *testing.T) {
	badAnswer := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		r := says("no json")
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	places := map[string]struct {
		path  string
		model engine.Handler
		build func(c *composer, f func(string, int) engine.Func) *flow.Node
	}{
		"fn": {"main/fn:f#0", nil, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Fn(c.site("fn", "f"), f("fn", 1), strT, strT)
		}},
		"run": {"main/agent:a#0", nil, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Run: f("run", 1)})
		}},
		"on_bad_output": {"main/agent:a#0", badAnswer, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Out: intT, Prompt: "Go.", OnBadOutput: f("bad", 1)})
		}},
		"next": {"main/loop:l#0[0]", nil, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Loop(c.site("loop", "l"), c.str(), flow.LoopOptions{Next: f("next", 1)})
		}},
		"until": {"main/loop:l#0[0]", nil, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Loop(c.site("loop", "l"), c.str(), flow.LoopOptions{UntilFunc: f("until", 1), Repair: c.str()})
		}},
		"when": {"main/branch:b#0", nil, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Branch(c.site("branch", "b"), c.str(), []flow.Route{{When: f("when", 1), Handler: c.str()}}, flow.BranchOptions{Otherwise: c.str()})
		}},
		"captain": {"main/forum:f#0/agent:cap#0", nil, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Forum(c.site("forum", "f"), flow.ForumOptions{}, c.str(), c.Agent(c.site("agent", "cap"), &agent.AgentSpec{Name: "cap", Run: f("cap", 2)}))
		}},
		"in a parallel": {"main/par:p#0[1]/fn:f#0", nil, func(c *composer, f func(string, int) engine.Func) *flow.Node {
			return c.Par(c.site("par", "p"), flow.ParOptions{}, c.str(), c.Fn(c.site("fn", "f"), f("fn", 1), strT, strT))
		}},
	}
	for name, p := range places {
		for how, f := range map[string]func(string, int) engine.Func{"error": failing, "panic": panicking} {
			t.Run(name+" "+how, func(t *testing.T) {
				c := compose()
				main := p.build(c, f)
				c.sound(t)
				schedulers(t, func(t *testing.T, s engine.Sched) {
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
	c := compose()
	main := c.step("n", intT, intT, identity)
	broken := c.Then(c.site("then", "bad"), c.step("a", intT, strT, identity), c.step("b", intT, intT, identity))
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

// What a callback puts around a failure stays.
func TestWrappedFailuresKeepTheirText(t *testing.T) {
	c := compose()
	inner := c.Fn(c.site("fn", "inner"), failing("digging", 1), strT, strT)
	outer := c.Fn(c.site("fn", "outer"), engine.GoFunc("outer", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		out, err := run.Call(b, inner, a[0])
		return out, fmt.Errorf("while planning: %w", err)
	}), strT, strT)
	c.sound(t)
	_, err := runNode(t, outer, nil, "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Message != "while planning: while digging: the host's own error" || e.Path != "main/fn:outer#0/fn:inner#0" || !errors.Is(err, errHost) {
		t.Errorf("got %#v", err)
	}
}

// A host's *Error is recognised by errors.Is after it was located, and after it was recorded.
func TestErrorsAreRecognised(t *testing.T) {
	quota := &engine.Error{Kind: engine.KindQuota, Code: diag.RateLimited, Message: "no credits left"}
	c := compose()
	main := c.Fn(c.site("fn", "f"), engine.GoFunc("f", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.Value{}, fmt.Errorf("asking: %w", quota)
	}), strT, strT)
	c.sound(t)
	_, err := runNode(t, main, nil, "x")
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

// A cancelled caller is told so whatever failed because of it.
func TestCancelledIsReported(t *testing.T) {
	for name, fails := range map[string]engine.ErrKind{"network": engine.KindNetwork, "tool": engine.KindTool, "timeout": engine.KindTimeout, "budget": engine.KindBudget} {
		c := compose()
		main := c.Par(c.site("par", "p"), flow.ParOptions{}, c.prompted("a", strT, strT), c.prompted("b", strT, strT))
		c.sound(t)
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

// A run inside a handler of another run is stopped by what stops that one. It reports no
// control outcome: those belong to the run that they arose in.
func TestARunInsideAHandler(t *testing.T) {
	c := compose()
	slow := c.prompted("slow", strT, strT)
	outer := c.Par(c.site("par", ""), flow.ParOptions{}, c.prompted("host", strT, strT), c.Fn(c.site("fn", "boom"), failing("boom", 1), strT, strT))
	c.sound(t)
	inside := make(chan error, 1)
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		_, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Node: slow, Input: generable.StrOf("x"), Handler: engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			<-ctx.Done()
			return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
		})})
		inside <- err
		return engine.Failed(engine.Errorf(engine.KindTool, diag.ToolFailed, "inside: %w", err))
	})
	_, err := runNode(t, outer, h, "x")
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
}

// An answer that is none is a failure of the handler, not a crash of the run.
func TestEmptyOutcome(t *testing.T) {
	c := compose()
	main := c.prompted("a", strT, strT)
	c.sound(t)
	_, err := runNode(t, main, engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { return engine.Outcome{} }), "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindBadResponse || e.Path != "main/agent:a#0" {
		t.Errorf("got %#v", err)
	}
}

// Tool calls of an answer that was cut off are cut off as well: they are not made.
func TestTruncatedToolCallsAreNotMade(t *testing.T) {
	c := compose()
	made := 0
	rm := &agent.Tool{Name: "rm", Params: schema(t, "rm", generable.Field{Name: "path", Type: strT}), Class: engine.ClassIdempotent,
		Run: engine.GoFunc("rm", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			made++
			return generable.StrOf("ok"), nil
		})}
	main := c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Prompt: "Go.", Tools: []*agent.Tool{rm}})
	c.sound(t)
	r := calls("rm", `{"path": "/home/u`)
	r.Finish = model.FinishLength
	_, err := runNode(t, main, &answers{next: []model.Response{r, says("done")}}, "x")
	if made != 0 || !errors.Is(err, &engine.Error{Kind: engine.KindTruncated}) {
		t.Errorf("%d calls made, %v", made, err)
	}
}

// What a model cannot mend is no text for it: the run ends.
func TestToolFailuresThatEndTheRun(t *testing.T) {
	for kind, ends := range map[engine.ErrKind]bool{engine.KindStore: true, engine.KindReplay: true, engine.KindConfig: true,
		engine.KindTool: false, engine.KindTimeout: false, engine.KindCancelled: false, engine.KindBudget: false, engine.KindNetwork: false} {
		c := compose()
		main := c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Prompt: "Go.", Tools: []*agent.Tool{{Name: "get", Params: schema(t, "get"), Class: engine.ClassRead}}})
		c.sound(t)
		h := engine.Handlers{
			engine.EffectModel: &answers{next: []model.Response{calls("get", "{}"), says("done")}},
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

// A host tool's error is a tool's failure, whatever it wraps: a run inside the tool that used
// up its budget did not use up this one's.
func TestHostToolErrorsAreToolFailures(t *testing.T) {
	for _, cause := range []error{errHost, context.DeadlineExceeded, engine.ErrBudget, engine.Errorf(engine.KindCancelled, diag.Cancelled, "stopped")} {
		tools := agent.HostTools{"get": {Do: func(context.Context, engine.ToolCallInfo, generable.Value) (generable.Value, error) {
			return generable.Value{}, fmt.Errorf("getting: %w", cause)
		}}}
		out := tools.Do(t.Context(), &engine.Effect{Kind: engine.EffectTool, Name: "get", At: &engine.Frame{}, Req: &engine.ToolRequest{}}, nil)
		if out.Err == nil || out.Err.Kind != engine.KindTool || !errors.Is(out.Err, cause) || !strings.Contains(out.Err.Message, "getting") {
			t.Errorf("%v: %#v", cause, out.Err)
		}
	}
}

// An error is data: what is recorded of it decodes to the same errors.Is and says the same.
func TestErrorJSON(t *testing.T) {
	point := schema(t, "Point", generable.Field{Name: "x", Type: intT})
	m := generable.NewMap(1)
	m.Set("x", generable.IntOf(3))
	part, _ := point.Construct(m)
	whole := &engine.Error{
		Kind: engine.KindSchema, Code: diag.BadModelOutput, Message: "no Point", Help: "ask again", Path: "main/agent:a#0",
		Pos: diag.Pos{File: "a.star", Line: 3, Col: 7}, Trace: []diag.Frame{{Name: "main", Pos: diag.Pos{File: "a.star", Line: 1, Col: 1}}, {Name: "f", Pos: diag.Pos{File: "b.star", Line: 2, Col: 2}}},
		Attempt: 2, OfRun: true, Raw: "{x: \u2028<3>", Partial: part.Value(), Usage: model.Usage{In: 3, Out: 4},
		Tool:  &engine.FailedCall{Agent: "a", Skill: "s", Name: "look", Attempt: 2},
		Model: &engine.Provider{Name: "openai", Model: "gpt-5", Status: 500, RetryAfter: time.Second, Retryable: true},
		Cause: fmt.Errorf("outer: %w", &engine.Error{Kind: engine.KindTool, Code: diag.ToolFailed, Message: "inner", Cause: errors.Join(io.ErrUnexpectedEOF, errHost)}),
	}
	for name, e := range map[string]*engine.Error{
		"whole": whole, "bare": {Kind: engine.KindTool, Message: "x"},
		"cancelled": {Kind: engine.KindCancelled, Message: "x", Cause: fmt.Errorf("so: %w", context.Canceled)},
		"late":      {Kind: engine.KindTimeout, Message: "x", Cause: context.DeadlineExceeded},
	} {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var back engine.Error
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		again, err := json.Marshal(&back)
		if err != nil || string(again) != string(text) {
			t.Errorf("%s: %v\n%s\nis again\n%s", name, err, text, again)
		}
		if back.Error() != e.Error() {
			t.Errorf("%s: says %q, said %q", name, back.Error(), e.Error())
		}
		for _, target := range []error{engine.ErrSchema, engine.ErrTool, engine.ErrBudget, engine.ErrCancelled, io.ErrUnexpectedEOF, io.EOF, context.Canceled, context.DeadlineExceeded} {
			if errors.Is(&back, target) != errors.Is(e, target) {
				t.Errorf("%s: errors.Is(%v) is %v, was %v", name, target, errors.Is(&back, target), errors.Is(e, target))
			}
		}
		var was, is []string
		for c := error(e); c != nil; c = errors.Unwrap(c) {
			was = append(was, c.Error())
		}
		for c := error(&back); c != nil; c = errors.Unwrap(c) {
			is = append(is, c.Error())
		}
		if fmt.Sprint(was) != fmt.Sprint(is) {
			t.Errorf("%s: causes %q, were %q", name, is, was)
		}
		if back.Pos != e.Pos || fmt.Sprint(back.Trace) != fmt.Sprint(e.Trace) || back.Help != e.Help || back.Raw != e.Raw || back.Usage != e.Usage || back.Attempt != e.Attempt || back.OfRun != e.OfRun {
			t.Errorf("%s: %#v\nwas %#v", name, back, e)
		}
		if generable.JSON(back.Partial, nil) != generable.JSON(e.Partial, nil) {
			t.Errorf("%s: partial %s", name, generable.JSON(back.Partial, nil))
		}
	}
	if err := json.Unmarshal([]byte(`{"kind": 3}`), &engine.Error{}); err == nil {
		t.Error("an error of the wrong form is decoded")
	}
}

// A nil *Error in an event or outcome is null.
func TestErrorJSONInEvents(t *testing.T) {
	text, err := json.Marshal(engine.Event{Kind: engine.EventRun, Data: &engine.RunData{Err: &engine.Error{Kind: engine.KindTool, Pos: diag.Pos{File: "f", Line: 1}}}})
	if err != nil || !strings.Contains(string(text), `"line":1`) {
		t.Errorf("%s %v", text, err)
	}
}
