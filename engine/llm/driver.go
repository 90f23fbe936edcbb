package llm

import (
	"cmp"
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// reached makes the call of an attempt, by its provider or by the registry's driver.
func (a *asking) reached(ctx context.Context, c *call) (*engine.Response, *engine.Error) {
	if a.reg.driver == nil {
		return c.do(ctx)
	}
	e := &engine.Effect{Kind: a.e.Kind, Name: a.name, Agent: a.e.Agent, Run: a.e.Run, At: a.e.At, Req: a.e.Req, Class: a.e.Class, Stream: a.e.Stream}
	out := a.reg.driver.Do(ctx, e, c.sink)
	switch {
	case out.Err != nil:
		failed := *out.Err
		failed.Usage = out.Usage
		return nil, &failed
	case out.Response == nil:
		return nil, engine.Errorf(engine.KindBadResponse, diag.ProviderError, "%s: the driver gave neither an answer nor an error", cmp.Or(a.name, "the model")).
			WithHelp("a handler of models returns Outcome.Response or Outcome.Err")
	}
	r := *out.Response
	r.Usage = out.Usage
	return &r, nil
}
