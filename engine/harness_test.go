package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// line numbers the sites of a test, so that diagnostics have distinct positions.
type composer struct {
	*flow.Session
	line int
}

func compose() *composer { return &composer{Session: flow.NewSession()} }

func (c *composer) site(what, name string) flow.Site {
	c.line++
	return flow.Site{What: what, Name: name, Span: diag.Span{Pos: diag.Pos{File: "t.star", Line: c.line, Col: 1}, Len: 2}}
}

func (c *composer) op(what string) flow.Site {
	s := c.site(what, "")
	s.ByOp = true
	return s
}

// step makes a typed pure step of a Go function.
func (c *composer) step(name string, in, out *generable.Type, f func(generable.Value) generable.Value) *flow.Node {
	return c.Fn(c.site("fn", name), engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		return f(args[0]), nil
	}), in, out)
}

// agent makes a deterministic agent.
func (c *composer) agent(name string, in, out *generable.Type, f func(generable.Value) generable.Value) *flow.Node {
	return c.Agent(c.site("agent", name), &agent.AgentSpec{Name: name, In: in, Out: out,
		Run: engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) { return f(args[0]), nil })})
}

func (c *composer) prompted(name string, in, out *generable.Type) *flow.Node {
	return c.Agent(c.site("agent", name), &agent.AgentSpec{Name: name, In: in, Out: out, Prompt: "You are " + name + "."})
}

func (c *composer) sound(t *testing.T) {
	t.Helper()
	if l := c.Diagnostics(); l.HasErrors() {
		t.Fatalf("composing failed:\n%v", l.Error())
	}
	c.Seal()
}

// codes lists what was reported.
func (c *composer) codes() []string {
	var out []string
	for _, d := range c.Diagnostics() {
		out = append(out, string(d.Code))
	}
	return out
}

func integer(v generable.Value) int64 { i, _ := v.AsInt(); return i }

func str(v generable.Value) string { s, _ := v.AsStr(); return s }

func add(n int64) func(generable.Value) generable.Value {
	return func(v generable.Value) generable.Value { return generable.IntOf(integer(v) + n) }
}

// echo answers every model call with the agent's name and the last message.
var echo = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	last := req.Messages[len(req.Messages)-1].Parts[0].Text
	return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop,
		Parts: []model.Part{{Kind: model.PartText, Text: e.Agent + "(" + last + ")"}}}}
})

// refuse is a handler for replays: nothing may reach it.
var refuse = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s was not recorded", e.ID()))
})

// ids collects the effect ids of a run.
type ids struct {
	mu  sync.Mutex
	all []string
}

func (i *ids) listener() engine.Listener {
	return engine.Listener{Kinds: engine.EventEffect, Emit: func(ev engine.Event) {
		if ev.Phase() == engine.PhaseEnd {
			i.mu.Lock()
			i.all = append(i.all, ev.ID)
			i.mu.Unlock()
		}
	}}
}

func (i *ids) set() string {
	slices.Sort(i.all)
	return strings.Join(i.all, "\n")
}

// everywhere runs a spec on goroutines, on the cooperative scheduler with several seeds and
// on replay, and demands equal results and equal effect ids. It returns the result.
func everywhere(t *testing.T, spec run.Spec) (generable.Value, error) {
	t.Helper()
	if spec.Handler == nil {
		spec.Handler = echo
	}
	record := &store.Memory{}
	var first ids
	spec.Journal, spec.Listener = record, first.listener()
	want, wantErr := run.Exec(sched.NewGoSched(context.Background()), &spec)
	check := func(how string, s engine.Sched, j engine.Journal, h engine.Handler) {
		t.Helper()
		var seen ids
		again := spec
		again.Journal, again.Handler, again.Listener = j, h, seen.listener()
		got, err := run.Exec(s, &again)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: error %v, on goroutines %v", how, err, wantErr)
		}
		if err == nil && !generable.Equal(got, want) {
			t.Errorf("%s: %s, on goroutines %s", how, generable.JSON(got, nil), generable.JSON(want, nil))
		}
		if wantErr == nil && seen.set() != first.set() {
			t.Errorf("%s: effect ids\n%s\non goroutines\n%s", how, seen.set(), first.set())
		}
	}
	for seed := range uint64(5) {
		check(fmt.Sprintf("cooperative, seed %d", seed), sched.NewCoopSched(seed), &store.Memory{}, spec.Handler)
	}
	if wantErr == nil {
		check("replay", sched.NewGoSched(context.Background()), record, refuse)
		check("cooperative replay", sched.NewCoopSched(99), record, refuse)
	}
	return want, wantErr
}
