package agentscript_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
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
