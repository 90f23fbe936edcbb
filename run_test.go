package agentscript_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/sched"
)

// A host's handler that leaves its goroutine does not make a run look successful.
func TestHandlerThatLeavesItsGoroutine(t *testing.T) {
	leaves := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		runtime.Goexit()
		return engine.Outcome{}
	})
	mod, err := agentscript.New(agentscript.WithModels(leaves)).Load(t.Context(), script(`main = agent(prompt = "x")`), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Start(t.Context(), agentscript.Input("x")).Wait(); err == nil {
		t.Error("the run succeeded")
	}
}

// hosts is a scheduler of the host: it counts the effects that it was asked to run.
type hosts struct {
	engine.Sched
	effects *int
}

func (h hosts) Par(n, limit int, body func(int, engine.Sched) error) error {
	return h.Sched.Par(n, limit, func(i int, s engine.Sched) error { return body(i, hosts{s, h.effects}) })
}

func (h hosts) Do(to engine.Handler, e *engine.Effect, sink engine.Sink) engine.Outcome {
	*h.effects++
	return h.Sched.Do(to, e, sink)
}

// A run on a scheduler of the host has ended when Start returns, and used no goroutine of ours.
func TestRunOnTheCallersGoroutine(t *testing.T) {
	ok := "ok"
	mod := flow(t, "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nmain = a / b\n",
		agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "*", Text: &ok, Delay: time.Hour, Repeat: true}})))
	effects := 0
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.Scheduler(hosts{sched.NewCoopSched(1), &effects}))
	select {
	case <-run.Done():
	default:
		t.Fatal("the run goes on")
	}
	if res, err := run.Wait(); err != nil || res.JSON() != `["ok","ok"]` || effects != 2 {
		t.Errorf("%s, %v, %d effects", res.JSON(), err, effects)
	}
}
