package model_test

import (
	"context"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// The digest of the common part of an agent's requests is kept between runs. A handler that changes a copy of a request
// gets the digest of the copy, and does not change the agent's.
func TestKeptDigestIsOfTheRequest(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	digest := func(change func(r *model.Request)) (own, sent [32]byte) {
		h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			req := e.Req.(*model.Request)
			changed := *req
			change(&changed)
			own = changed.Digest()
			sent = req.Digest()
			return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}}
		})
		if _, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h}); err != nil {
			t.Fatal(err)
		}
		return own, sent
	}
	same, first := digest(func(*model.Request) {})
	if same != first {
		t.Error("a copy has another digest")
	}
	for name, change := range map[string]func(r *model.Request){
		"model":       func(r *model.Request) { r.Model = "b/c" },
		"system":      func(r *model.Request) { r.System += "!" },
		"tools":       func(r *model.Request) { r.Tools = []model.ToolDef{{Name: "t"}} },
		"output":      func(r *model.Request) { r.Output = &model.Output{Type: generable.IntT} },
		"temperature": func(r *model.Request) { r.Params.Temperature = new(0.0) },
		"stop":        func(r *model.Request) { r.Params.Stop = []string{"."} },
		"seed":        func(r *model.Request) { r.Params.Seed = new(1) },
	} {
		own, sent := digest(change)
		if own == first || sent != first {
			t.Errorf("%s: the changed copy has the old digest: %v, the request another: %v", name, own == first, sent != first)
		}
	}
}
