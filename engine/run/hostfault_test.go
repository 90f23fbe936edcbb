package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// forgetful is a journal that panics after a number of calls.
type forgetful struct {
	engine.Journal
	left int
}

func (f *forgetful) Answer(id string) (engine.Outcome, bool) {
	if f.left--; f.left < 0 {
		panic(errHost)
	}
	return f.Journal.Answer(id)
}

// Whichever call of a journal panics, in a run or in a replay: the run ends with an error that says so.
func TestAJournalThatPanics(t *testing.T) {
	c := enginetest.Compose()
	pay := &agent.Tool{Name: "pay", Params: enginetest.Schema(t, "pay"), Class: engine.ClassOnce}
	count := &agent.Tool{Name: "count", Params: enginetest.Schema(t, "count"), Returns: generable.StrT,
		Run: engine.GoFunc("count", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
			_, err := run.Remaining(b)
			_, late := run.Now(b)
			return generable.StrOf("1"), errors.Join(err, late, run.Sleep(b, time.Second))
		})}
	slow := *count
	slow.Name, slow.Timeout = "slow", time.Hour
	main := c.Then(c.Site("then", ""), c.Race(c.Site("race", ""), flow.FirstOptions{}, c.Prompted("a", generable.StrT, generable.StrT), c.Prompted("b", generable.StrT, generable.StrT)),
		c.Bounded(c.Site("bounded", ""), c.Agent(c.Site("agent", "c"), &agent.Spec{Name: "c", Prompt: "Go.", Tools: []*agent.Tool{pay, count, &slow}}), engine.Limits{ToolCalls: engine.AtMost(9)}))
	c.Sound(t)
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		req, _ := e.Req.(*model.Request)
		switch {
		case e.Kind == engine.EffectApproval:
			return engine.Outcome{Value: engine.Approve().Value(), Attempt: 1}
		case req == nil:
			return engine.Outcome{Value: generable.StrOf("paid"), Attempt: 1}
		case e.Agent == "c" && len(req.Messages) == 1:
			r := enginetest.Calls("pay", "{}", "count", "{}", "slow", "{}")
			return engine.Outcome{Response: &r, Attempt: 1}
		}
		return enginetest.Echo(ctx, e, k)
	})
	spec := run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Policies: []*policy.Policy{enginetest.Policy(t, policy.Rules{Ask: []string{"pay"}})},
		Session: &session.Ref{Store: &session.Memory{}, ID: "s"}, Limits: engine.Limits{ModelCalls: engine.AtMost(9)},
		OnBudget: func(context.Context, engine.BudgetLimit) engine.Cap { return engine.Cap{} }}
	for _, journal := range []*store.Memory{{}, {}} {
		asked := 0
		for ; ; asked++ {
			own := spec
			own.Journal = &forgetful{journal, asked}
			if asked%2 == 0 { // otherwise what the run before committed is there
				own.Journal = &forgetful{&store.Memory{}, asked}
			}
			_, err := run.Exec(sched.NewCoopSched(1), &own)
			if err == nil {
				break
			}
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindStore || e.Code != diag.JournalFailed || !errors.Is(err, errHost) || !strings.Contains(err.Error(), "the journal panicked") {
				t.Fatalf("after %d questions: %#v", asked, err)
			}
		}
		if asked < 10 {
			t.Errorf("the journal was asked %d times", asked)
		}
	}
}

// A nil handler is an error that says what is missing.
func TestHandlersThatAreNil(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	for name, h := range map[string]engine.Handler{"a function": engine.HandlerFunc(nil), "of its kind": engine.Handlers{engine.EffectModel: engine.HandlerFunc(nil)},
		"none of its kind": engine.Handlers{engine.EffectModel: nil}, "none": nil} {
		_, err := enginetest.RunNode(t, main, h, "x")
		if !errors.Is(err, &engine.Error{Kind: engine.KindConfig, Code: diag.NoModel}) {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

// faultySched is a scheduler with one fault.
type faultySched struct {
	engine.Sched
	fault string
}

func (s faultySched) has(fault string) bool {
	if s.fault == fault+" panics" {
		panic(errHost)
	}
	return s.fault == fault
}

func (s faultySched) Par(n, limit int, body func(i int, s engine.Sched) error) error {
	if s.has("Par") || n > 1 && s.has("inner Par") {
		return nil
	}
	return s.Sched.Par(n, limit, func(i int, in engine.Sched) error { return body(i, faultySched{in, s.fault}) })
}

func (s faultySched) First(n int, body func(i int, s engine.Sched) (bool, error)) (int, error) {
	if s.has("First") {
		return -1, nil
	}
	if s.has("First out of range") {
		return n, nil
	}
	return s.Sched.First(n, func(i int, in engine.Sched) (bool, error) { return body(i, faultySched{in, s.fault}) })
}

func (s faultySched) Within(d time.Duration, late error, body func(s engine.Sched) error) error {
	s.has("Within")
	return s.Sched.Within(d, late, func(in engine.Sched) error { return body(faultySched{in, s.fault}) })
}

func (s faultySched) Do(h engine.Handler, e *engine.Effect, k engine.Sink) engine.Outcome {
	s.has("Do")
	return s.Sched.Do(h, e, k)
}

func (s faultySched) Now() time.Time { s.has("Now"); return s.Sched.Now() }

func (s faultySched) Err() error { s.has("Err"); return s.Sched.Err() }

func (s faultySched) Wake() { s.has("Wake"); s.Sched.Wake() }

// A host's scheduler that panics, or that does not run what it was given, makes the run fail: nothing escapes,
// nothing hangs, and the session is given back.
func TestASchedulerWithAFault(t *testing.T) {
	c := enginetest.Compose()
	branches := func() []*flow.Node { return c.TextAgents(2) }
	main := c.Then(c.Site("then", ""), c.Race(c.Site("race", ""), flow.FirstOptions{}, branches()...), c.Par(c.Site("par", ""), flow.ParOptions{}, branches()...))
	c.Sound(t)
	for _, fault := range []string{"Par", "Par panics", "inner Par", "inner Par panics", "First", "First out of range", "First panics", "Within panics", "Do panics", "Now panics", "Err panics", "Wake panics", ""} {
		enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
			kept := &session.Memory{}
			ended := 0
			_, err := run.Exec(faultySched{s, fault}, &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: enginetest.Echo, Session: &session.Ref{Store: kept, ID: "s"},
				Limits:   engine.Limits{Wall: time.Hour},
				Listener: engine.Listener{Kinds: engine.EventRun, Emit: func(e engine.Event) { ended++ }}})
			var e *engine.Error
			if bad := errors.As(err, &e) && e.Kind == engine.KindPanic && e.Path != "" && e.Help != ""; bad != (fault != "") || ended > 2 {
				t.Errorf("%q: %#v, %d events", fault, err, ended)
			}
			if open, err := kept.OpenSession(t.Context(), "s", ""); err != nil {
				t.Errorf("%q: the session stays taken: %v", fault, err)
			} else {
				open.Close()
			}
		})
	}
}

// Text of a model is valid UTF-8 in the answer and in its stream, whatever the model's implementation returns.
func TestModelsThatSpeakNoUTF8(t *testing.T) {
	c := enginetest.Compose()
	count := &agent.Tool{Name: "count", Params: enginetest.Schema(t, "count", generable.Field{Name: "of", Type: generable.StrT}), Returns: generable.StrT,
		Run: engine.GoFunc("count", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			r, _ := args[0].AsRecord()
			return r.At(0), nil
		})}
	main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Go.", Tools: []*agent.Tool{count}})
	c.Sound(t)
	answers := []model.Response{enginetest.Calls("count", "{\"of\": \"\xff\"}"), enginetest.Says("a\xff\xfeb \xe2\x82")}
	given := &enginetest.Answers{Next: answers}
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		out := given.Do(ctx, e, k)
		for _, p := range out.Response.Parts {
			t := engine.Token{Attempt: 1, Text: p.Text}
			if p.Call != nil {
				t.Call = &engine.CallDelta{Name: p.Call.Name, Args: p.Call.Args}
			}
			k(t)
		}
		return out
	})
	streamed, j := "", &store.Memory{}
	spec := run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Journal: j, Model: "test/model",
		Listener: engine.Listener{Kinds: engine.EventToken, Emit: func(e engine.Event) {
			f := e.Data.Fields()
			if streamed += f.Text; f.Call != nil {
				streamed += f.Call.Args
			}
		}}}
	out, err := run.Exec(sched.NewGoSched(t.Context()), &spec)
	const bad = "\uFFFD"
	if want := "a" + bad + bad + "b " + bad + bad; err != nil || enginetest.Str(out) != want || streamed != `{"of": "`+bad+`"}`+want {
		t.Errorf("%q, %v; streamed %q", enginetest.Str(out), err, streamed)
	}
	if said := given.Seen[1].Messages[2].Parts[0].Result.Text; said != bad {
		t.Errorf("the tool was given %q", said)
	}
	if answers[0].Parts[0].Call.Args != "{\"of\": \"\xff\"}" || answers[1].Text() != "a\xff\xfeb \xe2\x82" {
		t.Error("the answers of the host were changed")
	}
	spec.Handler = enginetest.Refuse
	if again, err := run.Exec(sched.NewCoopSched(1), &spec); err != nil || !generable.Equal(out, again) {
		t.Errorf("the replay gives %s, %v", generable.JSON(again, nil), err)
	}
}
