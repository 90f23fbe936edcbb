package starlib_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
	"go.starlark.net/starlark"
)

// failing returns a handler whose first calls fail.
func failing(times int32, err *engine.Error) engine.Handler {
	var calls atomic.Int32
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if calls.Add(1) <= times {
			return engine.Failed(err)
		}
		return answers(nil).Do(ctx, e, sink)
	})
}

// TestAttemptIsRecorded checks that a failed effect is recorded unchanged, and that the replay catches the same failure
// under the same ids, without a handler.
func TestAttemptIsRecorded(t *testing.T) {
	m := sound(t, `
writer = agent(prompt = "Write.")
sure = agent(run = lambda s: "sure " + s)

def main(x = str):
    first = attempt(writer, x)
    text = first.error.message if not first.ok else first.value
    second = attempt(writer, text)
    return [first, second.value, sure(second.value or ""), attempt(sure, x).value]
`)
	ru := spec(t, m, value(t, `{"x": "hello"}`))
	ru.Model = "test/model"
	failed := engine.Errorf(engine.KindRefused, diag.ProviderError, "the model refused")
	failed.Raw = "I cannot"
	execute := func(sched engine.Sched, j engine.Journal, h engine.Handler) (string, string) {
		t.Helper()
		seen, r := &log{}, ru
		r.Journal, r.Handler, r.Listener = j, h, seen.listener()
		out, err := run.Exec(sched, &r)
		if err != nil {
			t.Fatal(err)
		}
		return generable.JSON(out, nil), sorted(seen.ids)
	}
	record := &store.Memory{}
	want, ids := execute(sched.NewGoSched(context.Background()), record, failing(1, failed))
	if !strings.Contains(want, `{"kind":"refused","code":"AS710","message":"the model refused","path":"main/agent:writer#0","raw":"I cannot"}`) ||
		!strings.Contains(want, `"writer(the model refused)","sure writer(the model refused)","sure hello"`) {
		t.Errorf("got %s", want)
	}
	if n := strings.Count(ids, "\n") + 1; n != 2 {
		t.Errorf("%d effects, want 2:\n%s", n, ids)
	}
	for seed := range uint64(5) {
		if got, again := execute(sched.NewCoopSched(seed), &store.Memory{}, failing(1, failed)); got != want || again != ids {
			t.Errorf("seed %d: %s\n%s", seed, got, again)
		}
	}
	for _, sched := range []engine.Sched{sched.NewGoSched(context.Background()), sched.NewCoopSched(7)} {
		if got, again := execute(sched, record, refuse); got != want || again != ids {
			t.Errorf("replay: %s\n%s", got, again)
		}
	}
}

// TestAttemptLetsThrough checks that an error which ends the run is not caught.
func TestAttemptLetsThrough(t *testing.T) {
	wild := starlib.Builtin{Name: "wild", Doc: "Panics.", Returns: "str", Effect: starlib.Pure,
		Func: func(*starlib.Call) (starlark.Value, error) { panic("boom") }}
	m, found := loadWith(starlib.Options{Builtins: []starlib.Builtin{wild}}, `
writer = agent(prompt = "Write.")
broken = agent(run = lambda s: wild())

def spin():
    while True:
        pass

def keep(f, *args):
    r = attempt(f, *args)
    return "caught " + str(r.error)

def main(what = str):
    if what == "model":
        return keep(lambda: [writer(what) for _ in range(3)])
    if what == "panic":
        return keep(broken, what)
    return keep(keep, spin)
`)
	if found != nil {
		t.Fatal(render(m, found))
	}
	mismatch := failing(9, engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "not recorded"))
	for _, tt := range []struct {
		name, what string
		change     func(*run.Spec)
		code       diag.Code
	}{
		{"the run's calls", "model", func(r *run.Spec) { r.Limits.ModelCalls = engine.AtMost(2) }, diag.BudgetExceeded},
		{"the run's steps", "spin", func(r *run.Spec) { r.Limits.Steps = engine.AtMost(100_000) }, diag.StepLimit},
		{"the run's time", "spin", func(r *run.Spec) { r.Limits.Wall = 20 * time.Millisecond }, diag.Timeout},
		{"panic", "panic", func(*run.Spec) {}, diag.Panic},
		{"another record", "model", func(r *run.Spec) { r.Handler = mismatch }, diag.ReplayMismatch},
	} {
		out, err := exec(t, m, `{"what": "`+tt.what+`"}`, tt.change)
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != tt.code {
			t.Errorf("%s: got %s, %v, want %s", tt.name, generable.JSON(out, nil), err, tt.code)
		}
	}
	why := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	ru := spec(t, m, value(t, `{"what": "spin"}`))
	if _, err := run.Exec(sched.NewGoSched(ctx), &ru); !errors.Is(err, why) {
		t.Errorf("cancelled: got %v", err)
	}
}

// TestAttemptOfASibling checks that a branch that is stopped because another failed does not continue.
func TestAttemptOfASibling(t *testing.T) {
	m := sound(t, `
def spin(s):
    while True:
        pass

def keep(s):
    attempt(spin, s)
    print("went on")
    return s

a = fn(keep, input = str, output = str)
b = fn(lambda s: fail("b failed"), input = str, output = str)
both = a / b

def main(x = str):
    failure = attempt(both, x).error
    return failure.message if failure else ""
`)
	seen := &log{}
	out, err := exec(t, m, `{"x": "x"}`, func(r *run.Spec) { r.Listener = seen.listener() })
	if err != nil || generable.JSON(out, nil) != `"b failed"` || len(seen.lines) > 0 {
		t.Errorf("got %s, %v, log %v", generable.JSON(out, nil), err, seen.lines)
	}
}

// TestThreadAfterCaughtLimits checks that the caller can continue on its thread after an agent's own step budget or a
// call that is too deep has cancelled the thread.
func TestThreadAfterCaughtLimits(t *testing.T) {
	m := sound(t, `
def spin(x = str):
    while True:
        pass

def deep(n):
    return deep(n + 1)

asked = agent(prompt = "Call the tool.", tools = [spin], budget = budget(steps = 50000))

def main(x = str):
    a = attempt(asked, x).error
    b = attempt(deep, 1).error
    total = 0
    for i in range(30000):
        total += 1
    return [a.kind, a.code, b.message, total] if a and b else []
`)
	calling := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishCalls,
			Parts: []model.Part{{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "spin", Args: `{"x": "y"}`}}}}}
	})
	run := spec(t, m, value(t, `{"x": "hello"}`))
	run.Handler = calling
	out, _, err := everywhere(t, run)
	if err != nil {
		t.Fatal(err)
	}
	if got := generable.JSON(out, nil); got != `["budget","AS717","functions call each other more than 10000 deep",30000]` {
		t.Errorf("got %s", got)
	}
}

// TestShortCallbacksCount checks that many short callbacks use up a step budget like one long one, on one branch and on
// many.
func TestShortCallbacksCount(t *testing.T) {
	m := sound(t, `
def work(n):
    for _ in range(20):
        n += 0
    return n

again = fn(work, input = int, output = int).loop(lambda n: n + 1 if n < 10000 else None, max = 20000)
many = fn(lambda n: list(range(10000)), input = int, output = list[int]) >> each(fn(work, input = int, output = int))
`)
	for _, name := range []string{"again", "many"} {
		run := func(steps int64) error {
			spec := run.Spec{Node: m.Node(name), Input: generable.IntOf(0)}
			spec.Limits.Steps = engine.AtMost(steps)
			_, err := run.Exec(sched.NewGoSched(context.Background()), &spec)
			return err
		}
		if err := run(100_000); !errors.Is(err, engine.ErrBudget) {
			t.Errorf("%s: 10,000 callbacks of 100 steps end with %v within 100,000 steps", name, err)
		}
		if err := run(10_000_000); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
