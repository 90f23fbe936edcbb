package interp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// slow answers agents in the order of their names: a call waits until earlier ones have ended.
type slow struct {
	mu    sync.Mutex
	calls []string
}

func (s *slow) Do(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
	s.mu.Lock()
	s.calls = append(s.calls, e.Agent)
	s.mu.Unlock()
	if strings.HasPrefix(e.Agent, "never") {
		<-ctx.Done()
		return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
	}
	return enginetest.Echo(ctx, e, k)
}

// The first success of a race cancels the calls of the others. A replay knows the winner without making calls, with any
// seed.
func TestARaceIsRecorded(t *testing.T) {
	c := enginetest.Compose()
	main := c.Race(c.Site("race", ""), flow.FirstOptions{}, c.Prompted("never1", generable.StrT, generable.StrT), c.Prompted("quick", generable.StrT, generable.StrT), c.Prompted("never2", generable.StrT, generable.StrT))
	c.Sound(t)
	j := &store.Memory{}
	out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: &slow{}, Journal: j})
	if err != nil || enginetest.Str(out) != "quick(x)" {
		t.Fatalf("got %q, %v", enginetest.Str(out), err)
	}
	ids := strings.Join(j.IDs(), "\n")
	if len(j.IDs()) != 2 || !strings.Contains(ids, "main/race0[1]/agent:quick#0/llm0@") || !strings.Contains(ids, "main/race0/won0@") {
		t.Errorf("recorded\n%s", ids)
	}
	for seed := range uint64(8) {
		out, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: enginetest.Refuse, Journal: j})
		if err != nil || enginetest.Str(out) != "quick(x)" {
			t.Errorf("replay with seed %d: %q, %v", seed, enginetest.Str(out), err)
		}
	}
	// The record does not apply to another input.
	if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("y"), Handler: enginetest.Refuse, Journal: j}); err == nil {
		t.Error("the record of x answered y")
	}
}

// Control outcomes pass through every structure that handles failures.
func TestControlIsNotHandled(t *testing.T) {
	builds := map[string]func(c *enginetest.Composer, n *flow.Node) *flow.Node{
		"fallback": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Fallback(c.Site("fallback", ""), flow.FirstOptions{}, n, c.Text())
		},
		"race": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Race(c.Site("race", ""), flow.FirstOptions{}, n, stringFailing(c))
		},
		"retry": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Retry(c.Site("retry", ""), n, flow.RetryOptions{})
		},
		"attempt": func(c *enginetest.Composer, n *flow.Node) *flow.Node { return c.Attempt(c.Site("attempt", ""), n) },
		"keep": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Par(c.Site("par", ""), flow.ParOptions{OnError: flow.OnErrorKeep}, n, c.Text())
		},
		"drop": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Par(c.Site("par", ""), flow.ParOptions{OnError: flow.OnErrorDrop}, n, c.Text())
		},
		"vote": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Vote(c.Site("vote", ""), flow.VoteOptions{Quorum: 1}, n, c.Text())
		},
	}
	for name, build := range builds {
		for _, how := range []string{"budget", "panic", "cancelled"} {
			c := enginetest.Compose()
			asked := 0
			main := build(c, c.Then(c.Site("then", ""), c.Step("", generable.StrT, generable.StrT, func(v generable.Value) generable.Value {
				if how == "panic" {
					panic("a bug")
				}
				return v
			}), c.Prompted("a", generable.StrT, generable.StrT)))
			c.Sound(t)
			ctx, cancel := context.WithCancel(t.Context())
			h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
				asked++
				cancel()
				<-ctx.Done()
				return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))
			})
			spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model"}
			want := engine.KindCancelled
			switch how {
			case "budget":
				spec.Limits.ModelCalls, want = engine.AtMost(0), engine.KindBudget
			case "panic":
				want = engine.KindPanic
			}
			out, err := run.Exec(sched.NewGoSched(ctx), spec)
			cancel()
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != want || asked > 1 {
				t.Errorf("%s, %s: got %s, %v after %d calls", name, how, generable.JSON(out, nil), err, asked)
			}
		}
	}
}

func stringFailing(c *enginetest.Composer) *flow.Node {
	return c.Fn(c.Site("fn", ""), engine.GoFunc("failing", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.Value{}, errPlanned
	}), generable.StrT, generable.StrT)
}

// A failure that ends a fallback or a race contains notes about the other attempts.
func TestNotesOfTheOthers(t *testing.T) {
	for name, want := range map[string]string{"fallback": "third, notes [main/fallback0/fn0: first main/fallback0/fn1: second]", "race": "first, notes [main/race0[1]/fn1: second main/race0[2]/fn2: third]"} {
		c := enginetest.Compose()
		var nodes []*flow.Node
		for _, word := range []string{"first", "second", "third"} {
			nodes = append(nodes, c.Fn(c.Site("fn", ""), engine.GoFunc(word, 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
				return generable.Value{}, engine.Errorf(engine.KindScript, diag.CallbackFailed, "%s", word)
			}), generable.StrT, generable.StrT))
		}
		make := c.Fallback
		if name == "race" {
			make = c.Race
		}
		main := make(c.Site(name, ""), flow.FirstOptions{}, nodes...)
		c.Sound(t)
		for seed := range uint64(6) {
			_, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.StrOf("x")})
			var e *engine.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s, notes %v", e.Message, e.Notes); got != want {
				t.Errorf("%s, seed %d: %s, want %s", name, seed, got, want)
			}
		}
	}
}

// A retry with feedback continues the conversation: what was said before, including tools, the answer, and what is
// wrong with it. A call without an answer is repeated unchanged.
func TestRetryGoesOnWithTheConversation(t *testing.T) {
	c := enginetest.Compose()
	point := enginetest.Schema(t, "Point", generable.Field{Name: "x", Type: generable.IntT})
	locate := c.Agent(c.Site("agent", "locate"), &agent.Spec{Name: "locate", Out: point, Prompt: "Locate it."})
	min, err := predicate.New(predicate.Ge, "x", new(generable.IntOf(5)))
	if err != nil {
		t.Fatal(err)
	}
	main := c.Retry(c.Site("retry", ""), locate, flow.RetryOptions{Max: 5, Until: min,
		Feedback: engine.GoFunc("feedback", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			r, _ := a[0].AsRecord()
			if r.Type() == engine.FailureType {
				return generable.StrOf("failed: " + enginetest.Str(r.At(1))), nil
			}
			return generable.StrOf(fmt.Sprintf("%d is too small", enginetest.Int(r.At(0)))), nil
		})})
	c.Sound(t)
	cut := enginetest.Says(`{"x"`)
	cut.Finish = model.FinishLength
	a := &enginetest.Answers{Next: []model.Response{enginetest.Says(`{"x": 1}`), cut, enginetest.Says("somewhere"), enginetest.Says(`{"x": 7}`)}}
	out, err := enginetest.RunNode(t, main, a, "the hall")
	if err != nil || generable.JSON(out, nil) != `{"x":7}` {
		t.Fatalf("got %s, %v", generable.JSON(out, nil), err)
	}
	var said []string
	for _, m := range a.Seen[len(a.Seen)-1].Messages {
		said = append(said, string(m.Role)+": "+m.Parts[0].Text)
	}
	if got := strings.Join(said, " | "); got != `user: the hall | assistant: {"x": 1} | user: 1 is too small | assistant: somewhere | user: failed: AS706` {
		t.Errorf("the last request says %s", got)
	}
	if n := len(a.Seen[2].Messages); n != 3 {
		t.Errorf("after an answer that was cut off, %d messages are sent, want the same 3", n)
	}
}

// The teacher's text is the student's system text, followed by the format of the answer, and applies to this call only.
func TestWrapWritesTheSystemText(t *testing.T) {
	c := enginetest.Compose()
	point := enginetest.Schema(t, "Point", generable.Field{Name: "x", Type: generable.IntT})
	student := c.Agent(c.Site("agent", "student"), &agent.Spec{Name: "student", Out: point, Prompt: "Own words."})
	main := c.Wrap(c.Site("wrap", ""), c.Prompted("teacher", generable.StrT, generable.StrT), student)
	c.Sound(t)
	a := &enginetest.Answers{Next: []model.Response{enginetest.Says("Count the lamps."), enginetest.Says(`{"x": 3}`), enginetest.Says(`{"x": 4}`)}}
	if _, err := enginetest.RunNode(t, main, a, "hall"); err != nil {
		t.Fatal(err)
	}
	if _, err := enginetest.RunNode(t, student, a, "hall"); err != nil {
		t.Fatal(err)
	}
	taught, alone := a.Seen[1].System, a.Seen[2].System
	if !strings.HasPrefix(taught, "Count the lamps.\n\n") || !strings.HasSuffix(alone, strings.TrimPrefix(taught, "Count the lamps.\n\n")) || !strings.HasPrefix(alone, "Own words.") {
		t.Errorf("taught:\n%s\nalone:\n%s", taught, alone)
	}
	if a.Seen[1].Messages[0].Parts[0].Text != "hall" {
		t.Error("the student did not get the input")
	}
}

// Handoffs and dropped branches are reported by events.
func TestHandoffsAndDropsAreTold(t *testing.T) {
	c := enginetest.Compose()
	source := c.Step("source", generable.StrT, generable.BoolT, func(v generable.Value) generable.Value { return generable.BoolOf(enginetest.Str(v) == "yes") })
	main := c.Handoff(c.Site("handoff", ""), source, []flow.Route{enginetest.On(true, c.Step("happy", generable.BoolT, generable.IntT, func(generable.Value) generable.Value { return generable.IntOf(1) })), enginetest.On(false, c.Step("sad", generable.BoolT, generable.IntT, func(generable.Value) generable.Value { return generable.IntOf(2) }))}, flow.BranchOptions{})
	all := c.Then(c.Site("then", ""), main, c.Par(c.Site("par", ""), flow.ParOptions{OnError: flow.OnErrorDrop}, failing(c), c.Step("fine", generable.IntT, generable.IntT, enginetest.Identity)))
	c.Sound(t)
	var told []string
	_, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: all, Input: generable.StrOf("no"), Listener: engine.Listener{Kinds: engine.EventHandoff | engine.EventDropped, Emit: func(e engine.Event) {
		from := ""
		if d, ok := e.Data.(*event.Handoff); ok {
			from = d.From
		}
		told = append(told, fmt.Sprintf("%s %s %s>%s %s", e.Kind, e.Path, from, e.Name(), e.Text()))
	}}})
	if got := strings.Join(told, "; "); err != nil || got != "handoff main/then0/handoff0 source>sad bool; dropped main/then0/par0 >fn number 1 of 2 failed: planned failure" {
		t.Errorf("%v, told: %s", err, got)
	}
}

// A recorded failure keeps its notes.
func TestNotesCrossJSON(t *testing.T) {
	e := engine.Errorf(engine.KindScript, diag.CallbackFailed, "last")
	e.Notes = []string{"first", "second"}
	text, err := e.MarshalJSON()
	var back engine.Error
	if err != nil || back.UnmarshalJSON(text) != nil || strings.Join(back.Notes, " ") != "first second" {
		t.Errorf("%s, %v: %v", text, err, back.Notes)
	}
}
