package agentscript_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// faulty is a store of sessions in memory whose functions do something first.
type faulty struct {
	session.Memory
	save, shut func()
}

type faultyOpen struct {
	engine.OpenSession
	of *faulty
}

func (f *faulty) OpenSession(ctx context.Context, id, script string) (engine.OpenSession, error) {
	open, err := f.Memory.OpenSession(ctx, id, script)
	if err != nil {
		return nil, err
	}
	return &faultyOpen{open, f}, nil
}

func (o *faultyOpen) Save(ctx context.Context, key, op, text string) (engine.Entry, error) {
	o.of.save()
	return o.OpenSession.Save(ctx, key, op, text)
}

func (o *faultyOpen) Close() error {
	err := o.OpenSession.Close()
	o.of.shut()
	return err
}

type priced func() float64

func (p priced) PriceCall(*model.Request, model.Usage) (float64, string) { return p(), "" }

// faultyRun runs an agent that calls the tool pay twice at once and then answers. One part of its host calls bad.
func faultyRun(t *testing.T, part string, bad func(), more ...agentscript.RunOption) (store *faulty, err error) {
	t.Helper()
	at := func(name string) func() {
		if name == part {
			return bad
		}
		return func() {}
	}
	var asked atomic.Int64
	models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		at("model")()
		if sink != nil {
			sink(engine.Token{Attempt: 1, Text: "x"})
		}
		if asked.Add(1) > 1 {
			return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "end"}}}}
		}
		call := model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "pay", Args: "{}"}}
		return engine.Outcome{Response: &model.Response{Finish: model.FinishCalls, Parts: []model.Part{call, call}}}
	})
	pay := agent.HostTool{Tool: agent.Tool{Name: "pay", Doc: "Pays.", Returns: generable.StrT},
		Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
			at("tool")()
			return generable.StrOf("paid"), nil
		}}
	ask, err := policy.New("the host", policy.Rules{Ask: []string{"pay"}})
	if err != nil {
		t.Fatal(err)
	}
	hook := &agent.Hooks{}
	hook.Add("before_tool", engine.GoFunc("hook", 0, func(engine.Branch, []generable.Value) (generable.Value, error) {
		at("hook")()
		return generable.Value{}, nil
	}))
	eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x"), agentscript.WithTool(pay), agentscript.WithPolicy(ask),
		agentscript.WithHooks(hook), agentscript.WithPricer(priced(func() float64 { at("pricer")(); return 0.001 })),
		agentscript.WithApproval(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
			at("approval")()
			return engine.Approve(), nil
		}))
	mod, err := eng.Load(t.Context(), script(`main = agent(prompt = "A.", tools = [pay], history = "shared", budget = budget(usd = 1.0))`+"\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	store = &faulty{save: at("save"), shut: at("close")}
	limits := engine.Limits{}
	if part == "budget" {
		limits.ModelCalls = engine.AtMost(1)
	}
	before := runtime.NumGoroutine()
	_, err = mod.Start(t.Context(), append([]agentscript.RunOption{agentscript.InputText("go"), agentscript.Session(store, "s"), agentscript.RunLimits(limits),
		agentscript.KeepSession(func() bool { at("keep")(); return true }),
		agentscript.OnBudget(func(context.Context, engine.BudgetLimit) engine.Cap { at("budget")(); return engine.Cap{} }),
		agentscript.OnEvent(engine.EventToken, func(engine.Event) { at("token")() }),
		agentscript.OnEvent(engine.EventTool, func(engine.Event) { at("listener")() }),
		agentscript.OnEvent(engine.EventRun, func(e engine.Event) {
			if e.Phase() == engine.PhaseEnd {
				at("end")()
			}
		})}, more...)...).Wait()
	for range 1000 { // lets goroutines that have ended exit
		if runtime.NumGoroutine() <= before {
			break
		}
		runtime.Gosched()
	}
	return store, err
}

// If any part of the host panics or ends its goroutine when a run calls it, no panic escapes, the run fails, the next
// run can take its session, and the session's conversation is unchanged.
func TestFaultsOfTheHost(t *testing.T) {
	boom := func() { panic("boom") }
	told := map[string]bool{"tool": true} // the model is told of the tool's panic, and continues
	for _, part := range []string{"model", "tool", "approval", "hook", "pricer", "save", "close", "budget", "keep", "token", "listener", "end"} {
		for how, bad := range map[string]func(){"panics": boom, "leaves": runtime.Goexit} {
			for sched, opts := range map[string][]agentscript.RunOption{"goroutines": nil, "cooperative": {agentscript.Cooperative(3)}} {
				t.Run(part+" "+how+" on "+sched, func(t *testing.T) {
					store, err := faultyRun(t, part, bad, opts...)
					var e *engine.Error
					if !errors.As(err, &e) && !(told[part] && how == "panics") {
						t.Errorf("the run comes to %v", err)
					}
					open, err := store.Memory.OpenSession(t.Context(), "s", "flow.star")
					if err != nil {
						t.Fatalf("the session stays taken: %v", err)
					}
					defer open.Close()
					kept, err := store.ReadSession(t.Context(), "s")
					if late := part == "close" || part == "end"; err != nil || !told[part] && !late && len(kept) != 0 {
						t.Errorf("a run that failed kept %v, %v", kept, err)
					}
				})
			}
		}
	}
}

// An approval that panics decides nothing: the call is not made, no model learns of it, and a resumed run asks again.
func TestApprovalPanics(t *testing.T) {
	record := &store.Memory{}
	_, err := faultyRun(t, "approval", func() { panic("boom") }, agentscript.RunJournal(record))
	if !errors.Is(err, engine.ErrApproval) || !strings.Contains(err.Error(), "boom") {
		t.Fatalf("the run comes to %v", err)
	}
	for _, id := range record.IDs() {
		if strings.Contains(id, "approval") || strings.Contains(id, "tool:pay") {
			t.Errorf("%s is recorded", id)
		}
	}
	if _, err := faultyRun(t, "", nil, agentscript.RunJournal(record)); err != nil {
		t.Errorf("resumed: %v", err)
	}
}

// remembers is a journal that has an outcome for the first effect only.
type remembers struct{ has *engine.Outcome }

func (j *remembers) Answer(string) (out engine.Outcome, known bool) {
	if j.has != nil {
		out, known, j.has = *j.has, true, nil
	}
	return out, known
}

func (j *remembers) Commit(context.Context, string, *engine.Effect, engine.Outcome) error { return nil }

// An outcome that no model returns makes the call fail with what is wrong with it, both from a journal and from a
// handler.
func TestFlawedOutcomesOfTheHost(t *testing.T) {
	parts := func(kind model.PartKind) engine.Outcome {
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishCalls, Parts: []model.Part{{Kind: kind}}}}
	}
	lifts := engine.Outcome{Attempt: 1, Usage: model.Usage{In: -5}, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}}
	for name, tt := range map[string]struct {
		out         engine.Outcome
		want        string
		journalOnly bool // the handler's outcome is corrected
	}{
		"nothing":        {engine.Outcome{}, "neither an answer nor an error", false},
		"a call":         {parts(model.PartCall), "a part of kind call that holds none", false},
		"a result":       {parts(model.PartResult), "a part of kind result that holds none", false},
		"a picture":      {parts(model.PartImage), "a part of kind image that holds none", false},
		"negative usage": {lifts, "a usage below 0", true},
	} {
		run := func(handler engine.Outcome, more ...agentscript.RunOption) error {
			models := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { return handler })
			mod, err := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x")).Load(t.Context(), script("main = agent(prompt = \"A.\")\n"), "flow.star")
			if err != nil {
				t.Fatal(err)
			}
			_, err = mod.Start(t.Context(), append(more, agentscript.InputText("go"))...).Wait()
			return err
		}
		check := func(from string, err error) {
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindBadResponse || !strings.Contains(e.Message, from) || !strings.Contains(e.Message, tt.want) {
				t.Errorf("%s of %s: %v", name, from, err)
			}
		}
		check("journal", run(lifts, agentscript.RunJournal(&remembers{&tt.out})))
		if !tt.journalOnly {
			check("handler", run(tt.out))
		}
	}
}

// A nil approval is none: the run waits for a decision, and there is no one to ask.
func TestNilApproval(t *testing.T) {
	mod, err := agentscript.New(agentscript.WithApproval(nil)).Load(t.Context(), script("def main():\n    return approve(\"go on?\")\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.Start(t.Context()).Wait()
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindApproval || !strings.Contains(e.Message, "there is no one to ask") {
		t.Errorf("%v", err)
	}
}
