package starlib_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// TestWrongCalls checks that mistakes found in a run say what to write instead. Functions called by their own names are
// found earlier: testdata/errors/orchestration_inside.star.
func TestWrongCalls(t *testing.T) {
	for body, want := range map[string]string{
		`parallel(a)`:                         `parallel needs the items to call a with | parallel(a, items), or a list of calls: parallel([(a, x)])`,
		`parallel([a, b])`:                    `call 0 is the agent a without its input | write (a, x); to run all on one input compose them: par(...)`,
		`parallel([a("x"), b("y")])`:          `call 0 is str "a", want (function or node, arguments...) or a function | write (f, x) or lambda: f(x); f(x) is called before parallel begins`,
		`parallel([(a, "x")], ["y"])`:         `parallel takes only a list of calls | each call brings its own arguments: [(f, x), (g, x)]`,
		`parallel(lambda: 1, lambda: 2)`:      `items: want list, got a lambda | put the calls into a list: parallel([(f, x), (g, y)])`,
		`parallel(a, {"x": 1})`:               `items: want list, got dict | write d.items(), d.keys() or d.values()`,
		`parallel(a, "abc")`:                  `items: want list, got str "abc" | a list of one is [text]`,
		`parallel(a, ["x"], limit = 0)`:       `limit: want at least 1, got 0`,
		`stream(["x"])`:                       `stream needs stages for its items | stream(items, f, g): functions or nodes`,
		`stream(["x"], a("x"))`:               `stages: want function or node, got str "a" | pass the function itself: stream(items, f, g) calls f and g`,
		`stream(["x"], a, b, limit = [1])`:    `limit: one number for 2 stages | pass one number for all stages, or a list with one for each`,
		`stream(["x"], a, b, limit = [1, 0])`: `limit[1]: want at least 1, got 0`,
		`sum(json.decode("[[1]]"))`:           `sum adds numbers, or with start = [] lists; item 0 is list | write sum(items, [])`,
		`sum(json.decode("[\"a\"]"))`:         `item 0 is str "a" | texts are joined: "".join(items)`,
		"parallel(len, [L]); L.append(1)":     `append: cannot append to frozen list | the last one entered`,
	} {
		m := sound(t, "a = agent(run = lambda s: \"a\")\nb = agent(run = lambda s: \"b\")\ndef run(parallel, stream, sum, a, b, L):\n    "+body+"\n\ndef main(x = str):\n    run(parallel, stream, sum, a, b, [])\n")
		_, err := exec(t, m, `{"x": "x"}`, nil)
		var e *engine.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", body, err)
			continue
		}
		message, help, _ := strings.Cut(want, " | ")
		if !strings.Contains(e.Message, message) || !strings.Contains(e.Help, help) {
			t.Errorf("%s: got %s | %s", body, e.Message, e.Help)
		}
	}
}

// TestFrozenByABranch checks that the error says where the value entered a branch.
func TestFrozenByABranch(t *testing.T) {
	m := sound(t, `
def main(x = str):
    rows = [[1], [2]]
    parallel(len, rows)
    rows[1].append(3)
`)
	_, err := exec(t, m, `{"x": "x"}`, nil)
	if e := failure(t, err); !strings.Contains(e.Help, "the last one entered parallel at main.star:4:13") || !strings.Contains(e.Help, "list(x)") || e.Pos.Line != 5 {
		t.Errorf("%s: %s", e.Pos, e.Help)
	}
}

// TestBranchesAreBounded checks their limit, and the budgets of the run.
func TestBranchesAreBounded(t *testing.T) {
	m := sound(t, `
writer = agent(prompt = "Write.")
critic = agent(prompt = "Judge.")

def main(how = str, n = 3):
    if how == "parallel":
        return len(parallel(writer, [str(i) for i in range(40)], limit = n))
    return len(stream([str(i) for i in range(40)], writer, critic, limit = [n, 1]))
`)
	synctest.Test(t, func(t *testing.T) { // in which a model answers when nothing else runs
		for _, how := range []string{"parallel", "stream"} {
			var now, most, critics, mostCritics atomic.Int32
			slow := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
				count, top := &now, &most
				if e.Agent == "critic" {
					count, top = &critics, &mostCritics
				}
				n := count.Add(1)
				for old := top.Load(); n > old && !top.CompareAndSwap(old, n); old = top.Load() {
				}
				time.Sleep(time.Millisecond)
				count.Add(-1)
				return answers(nil).Do(ctx, e, sink)
			})
			out, err := exec(t, m, fmt.Sprintf(`{"how": %q}`, how), func(r *run.Spec) { r.Handler = slow })
			if err != nil || generable.JSON(out, nil) != "40" || most.Load() != 3 || mostCritics.Load() > 1 {
				t.Errorf("%s: %s, %v, %d writers and %d critics at once", how, generable.JSON(out, nil), err, most.Load(), mostCritics.Load())
			}
			_, err = exec(t, m, fmt.Sprintf(`{"how": %q}`, how), func(r *run.Spec) { r.Limits.ModelCalls = engine.AtMost(10) })
			if !errors.Is(err, engine.ErrBudget) {
				t.Errorf("%s: got %v", how, err)
			}
		}
	})
}

// TestStreamHasNoBarrier checks that the first item ends its last stage while the last item is in its first.
func TestStreamHasNoBarrier(t *testing.T) {
	m := sound(t, `
writer = agent(prompt = "Write.")
critic = agent(prompt = "Judge.")

def main(x = str):
    return stream(["first", "last"], writer, critic)
`)
	judged := make(chan struct{})
	handler := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		text := e.Req.(*model.Request).Messages[0].Parts[0].Text
		switch {
		case text == "last":
			select {
			case <-judged:
			case <-ctx.Done():
			}
		case e.Agent == "critic" && strings.Contains(text, "first"):
			close(judged)
		}
		return answers(nil).Do(ctx, e, sink)
	})
	out, err := exec(t, m, `{"x": "x"}`, func(r *run.Spec) { r.Handler, r.Limits.Wall = handler, 10*time.Second })
	if err != nil || generable.JSON(out, nil) != `["critic(writer(first))","critic(writer(last))"]` {
		t.Errorf("got %s, %v", generable.JSON(out, nil), err)
	}
}

// TestFailingBranchEndsTheOthers checks that for branches in every kind of operation.
func TestFailingBranchEndsTheOthers(t *testing.T) {
	m := sound(t, `
def work(n):
    if n == 1:
        fail("no", n)
    while True:
        pass

def main(how = str):
    if how == "parallel":
        return parallel(work, range(3))
    return stream(range(3), lambda n: n, work)
`)
	for _, how := range []string{"parallel", "stream"} {
		for _, sched := range []engine.Sched{sched.NewGoSched(context.Background()), sched.NewCoopSched(3)} {
			r := spec(t, m, value(t, fmt.Sprintf(`{"how": %q}`, how)))
			if _, err := run.Exec(sched, &r); err == nil || failure(t, err).Message != "no 1" || failure(t, err).Path != "main/"+how+"0[1]" {
				t.Errorf("%s: %v", how, err)
			}
		}
	}
}

// TestRemainingIsRecorded checks that a replay returns the recorded remainder, which depends on the time of the
// question, and takes the same path.
func TestRemainingIsRecorded(t *testing.T) {
	m := sound(t, `
writer = agent(prompt = "Write.")
frugal = agent(output = any, budget = budget(model_calls = 1, wall = "1h"), run = lambda s: budget.remaining())

def main(x = str):
    out = [budget.remaining()]
    while budget.remaining().model_calls > 1:
        writer(x)
    return out + [budget.remaining(), frugal(x)]
`)
	r := spec(t, m, value(t, `{"x": "x"}`))
	r.Handler, r.Model = answers(nil), "test/model"
	r.Limits = engine.Limits{ModelCalls: engine.AtMost(4), ToolCalls: engine.AtMost(7), Tokens: engine.AtMost(1000), Steps: engine.AtMost(100000), Wall: time.Minute}
	record, seen := &store.Memory{}, &log{}
	r.Journal, r.Listener = record, seen.listener()
	want, err := run.Exec(sched.NewGoSched(context.Background()), &r)
	if err != nil {
		t.Fatal(err)
	}
	text := generable.JSON(want, nil)
	if !strings.HasPrefix(text, `[{"model_calls":4,"tool_calls":7,"tokens":1000,"steps":99`) || strings.Count(text, `"model_calls":1,"tool_calls":7`) != 2 ||
		!strings.Contains(text, `"wall_seconds":59.`) && !strings.Contains(text, `"wall_seconds":60`) {
		t.Errorf("got %s", text)
	}
	if ids := sorted(seen.ids); !strings.Contains(ids, "main/budget0@") || !strings.Contains(ids, "main/agent:frugal#0/budget0@") {
		t.Errorf("effects\n%s", ids)
	}
	for _, sched := range []engine.Sched{sched.NewGoSched(context.Background()), sched.NewCoopSched(7)} {
		again := &log{}
		replay := r
		replay.Handler, replay.Listener = refuse, again.listener()
		got, err := run.Exec(sched, &replay)
		if err != nil || !generable.Equal(got, want) || sorted(again.ids) != sorted(seen.ids) {
			t.Errorf("replay: %s, %v", generable.JSON(got, nil), err)
		}
	}
}

// TestPhases checks that phases are events with the position of their caller, and that other positions do not change.
func TestPhases(t *testing.T) {
	m := sound(t, `
writer = agent(prompt = "Write.")

def chapter(x):
    phase("chapter " + x)
    return writer(x)

def main(x = str):
    phase("collect")
    writer(x)
    phase("write")
    return parallel(chapter, ["1", "2"])
`)
	var phases, effects []string
	_, err := exec(t, m, `{"x": "x"}`, func(r *run.Spec) {
		r.Listener = engine.Listener{Kinds: engine.EventPhase | engine.EventEffect, Emit: func(ev engine.Event) {
			switch {
			case ev.Kind == engine.EventPhase:
				phases = append(phases, ev.Path+" "+ev.Name())
			case ev.Phase() == engine.PhaseStart:
				effects = append(effects, ev.Path)
			}
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := sorted(phases); got != "main collect\nmain write\nmain/parallel0[0] chapter 1\nmain/parallel0[1] chapter 2" {
		t.Errorf("phases\n%s", got)
	}
	if got := sorted(effects); got != "main/agent:writer#0/llm0\nmain/parallel0[0]/agent:writer#0/llm0\nmain/parallel0[1]/agent:writer#0/llm0" {
		t.Errorf("effects\n%s", got)
	}
}
