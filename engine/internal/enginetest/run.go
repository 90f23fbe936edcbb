package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// IDs collects the effect ids of a run.
type IDs struct {
	mu  sync.Mutex
	All []string
}

// Listener returns the listener that collects the ids.
func (i *IDs) Listener() engine.Listener {
	return engine.Listener{Kinds: engine.EventEffect, Emit: func(ev engine.Event) {
		if ev.Phase() == engine.PhaseEnd {
			i.mu.Lock()
			i.All = append(i.All, ev.ID)
			i.mu.Unlock()
		}
	}}
}

// Set returns the ids in order, one a line.
func (i *IDs) Set() string {
	slices.Sort(i.All)
	return strings.Join(i.All, "\n")
}

// Everywhere runs a spec on goroutines, in virtual time, on the cooperative scheduler with several seeds and on replay,
// and requires equal results and equal effect ids. It returns the result.
func Everywhere(t *testing.T, spec run.Spec) (generable.Value, error) {
	t.Helper()
	if spec.Handler == nil {
		spec.Handler = Echo
	}
	record := &store.Memory{}
	var first IDs
	spec.Journal, spec.Listener = record, first.Listener()
	want, wantErr := run.Exec(sched.NewGoSched(t.Context()), &spec)
	check := func(how string, s engine.Sched, j engine.Journal, h engine.Handler) {
		t.Helper()
		var seen IDs
		again := spec
		again.Journal, again.Handler, again.Listener = j, h, seen.Listener()
		got, err := run.Exec(s, &again)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: error %v, on goroutines %v", how, err, wantErr)
		}
		if err == nil && !generable.Equal(got, want) {
			t.Errorf("%s: %s, on goroutines %s", how, generable.JSON(got, nil), generable.JSON(want, nil))
		}
		if wantErr == nil && seen.Set() != first.Set() {
			t.Errorf("%s: effect ids\n%s\non goroutines\n%s", how, seen.Set(), first.Set())
		}
	}
	for seed := range uint64(5) {
		check(fmt.Sprintf("cooperative, seed %d", seed), sched.NewCoopSched(seed), &store.Memory{}, spec.Handler)
	}
	check("virtual time", sched.NewVirtual(t.Context()), &store.Memory{}, spec.Handler)
	if wantErr == nil {
		check("replay", sched.NewGoSched(t.Context()), record, Refuse)
		check("cooperative replay", sched.NewCoopSched(99), record, Refuse)
	}
	return want, wantErr
}

// RunNode runs a node on goroutines with a text as its input.
func RunNode(t *testing.T, main *flow.Node, h engine.Handler, in string) (generable.Value, error) {
	t.Helper()
	return run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf(in), Handler: h, Model: "test/model"})
}

// Schedulers runs a test on goroutines and in virtual time, where a hang or leak fails the test at once, and on the
// cooperative scheduler with several seeds.
func Schedulers(t *testing.T, f func(t *testing.T, s engine.Sched)) {
	t.Run("goroutines", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, sched.NewGoSched(t.Context())) })
	})
	t.Run("virtual time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, sched.NewVirtual(t.Context())) })
	})
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { f(t, sched.NewCoopSched(seed)) })
	}
}

// Policy makes a policy of rules.
func Policy(t testing.TB, r policy.Rules) *policy.Policy {
	t.Helper()
	p, err := policy.New("the test", r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Echo answers every model call with the agent's name and the last message.
var Echo = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	last := req.Messages[len(req.Messages)-1].Parts[0].Text
	return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop,
		Parts: []model.Part{{Kind: model.PartText, Text: e.Agent + "(" + last + ")"}}}}
})

// Refuse is a handler for replays: nothing may reach it.
var Refuse = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s was not recorded", e.ID()))
})

// Answers replies with one response after the other and keeps the requests.
type Answers struct {
	mu   sync.Mutex
	Next []model.Response
	Seen []*model.Request
}

// Do returns the next response, or an error if none is left.
func (a *Answers) Do(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Seen = append(a.Seen, e.Req.(*model.Request))
	if len(a.Next) == 0 {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.ScriptedModel, "no answer left"))
	}
	r := a.Next[0]
	a.Next = a.Next[1:]
	return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
}

// Says returns an answer in text.
func Says(text string) model.Response {
	return model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}, Usage: model.Usage{In: 10, Out: 5}}
}

// Calls returns an answer that calls tools: name, arguments, name, arguments, …
func Calls(parts ...string) model.Response {
	r := model.Response{Finish: model.FinishCalls}
	for i := 0; i < len(parts); i += 2 {
		r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: parts[i] + string(rune('0'+i)), Name: parts[i], Args: parts[i+1]}})
	}
	return r
}

// Answer returns the outcome of a call that is answered in text.
func Answer(text string) engine.Outcome {
	return engine.Outcome{Response: &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: text}}, Finish: model.FinishStop}}
}

// CallCounter counts the calls that reach the handler.
type CallCounter struct {
	engine.Handler
	Calls atomic.Int64
}

// Do counts the call and passes it on.
func (c *CallCounter) Do(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
	c.Calls.Add(1)
	return c.Handler.Do(ctx, e, k)
}
