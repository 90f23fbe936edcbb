package llm

import (
	"cmp"
	"context"
	"errors"
	"net"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable/dialect"
)

// call is one request to one target.
type call struct {
	*target
	reg     *Registry
	req     *model.Request
	sink    engine.Sink
	e       *engine.Effect      // nil for a call that is only described
	refused func(*engine.Error) // receives the refusal of a request that is then made in another form
	keys    *redact.Set
	maxOut  int                      // limit of the answer set by budgets; 0: none
	short   bool                     // without the budget the answer could be longer
	tier    tier                     // how firmly the model is held to its types
	held    bool                     // the answer is constrained, by schema or JSON mode
	form    *dialect.Wire            // of the answer, if a schema constrains it
	tools   map[string]*dialect.Wire // of the arguments, if schemas constrain calls
}

// do makes the call and prices it, even if it fails.
func (c *call) do(ctx context.Context) (*model.Response, *engine.Error) {
	resp, err := c.made(ctx)
	if err != nil {
		own := *err // a host's model may keep its errors
		if own.Usage == (model.Usage{}) {
			own.Usage = c.unfinished(err)
		}
		c.cost(&own.Usage)
		return nil, &own
	}
	c.cost(&resp.Usage)
	return resp, nil
}

// unfinished returns the estimated usage of a call that ended without an answer and reports none: the input and the part
// of the answer that arrived, or the input alone if nobody waited any longer. Providers bill both.
func (c *call) unfinished(err *engine.Error) model.Usage {
	var op *net.OpError
	switch {
	case err.Kind == engine.KindPanic, errors.As(err, &op) && op.Op == "dial":
	case err.Raw != "":
		return model.EstimateUsage(c.req, &model.Response{Parts: []model.Part{{Kind: model.PartText, Text: err.Raw}}})
	case err.Kind == engine.KindCancelled, err.Kind == engine.KindTimeout:
		return model.EstimateUsage(c.req, nil)
	}
	return model.Usage{}
}

// made makes the call, and repeats it on a lower tier if the provider turns out to reject what holds the model to its
// types.
func (c *call) made(ctx context.Context) (*model.Response, *engine.Error) {
	if c.host != nil {
		return c.hosted(ctx)
	}
	req := c.req
	c.tier = c.reg.tierOf(c.tierKey())
	for {
		resp, err := c.once(ctx)
		c.req = req
		if err == nil || !c.lowered(err) && !c.shortened(err) {
			return resp, err
		}
	}
}

// once makes one request of the call.
func (c *call) once(ctx context.Context) (*model.Response, *engine.Error) {
	c.form, c.tools = nil, nil
	plan := c.plan(c.req, c.reg.timeouts, c.keys)
	plan.MaxOut, plan.Short = c.maxOut, c.short
	if c.e != nil && c.row != nil && c.row.keyed {
		plan.Call = c.e.Run + "/" + c.e.ID()
	}
	if taken := c.reg.takenBy(c.provider, c.model); taken > 0 && c.maxOut > 0 {
		plan.MaxOut = min(plan.MaxOut, taken)
	}
	var err *engine.Error
	if plan.Output, err = c.output(&plan); err != nil {
		return nil, err
	}
	c.held = plan.Output != nil
	if c.tier == tierStrict {
		c.strictTools()
	}
	c.req = c.explained()
	plan.Request = c.req
	plan.Tools = c.definitions()
	if c.sink != nil {
		plan.Stream, plan.Sink = true, c.sink
	}
	ctx, enough := c.until(ctx, &plan)
	x := &wire.Exchange{Plan: plan}
	clientErr := c.send(wire.With(ctx, x), c.model)
	if r := enough(x.Response); r != nil {
		return plan.Settle(r)
	}
	switch {
	case x.Err != nil:
		// The client's own text hides the cause: a cancelled call, a status, a header.
		return nil, x.Err
	case x.Response != nil:
		c.inForm(x.Response)
		return x.Response, nil
	}
	if err := x.Interrupted(ctx); err != nil {
		return nil, err
	}
	return nil, x.Fail(engine.KindBadRequest, clientErr, "", "the request could not be made: %v", clientErr)
}

// reached makes the call of an attempt, by its provider or by the registry's driver.
func (a *modelAttempts) reached(ctx context.Context, c *call) (*model.Response, *engine.Error) {
	if a.reg.driver == nil {
		return c.do(ctx)
	}
	e := &engine.Effect{Kind: a.e.Kind, Name: a.name, Agent: a.e.Agent, Run: a.e.Run, At: a.e.At, Req: a.req, Class: a.e.Class, Stream: a.e.Stream,
		MaxOut: a.maxOut, Short: a.e.Short}
	out := a.reg.driver.Do(ctx, e, c.sink)
	switch {
	case out.Err != nil:
		failed := *out.Err
		failed.Usage = out.Usage
		return nil, &failed
	case out.Response == nil:
		return nil, engine.Errorf(engine.KindBadResponse, diag.ProviderError, "%s: the driver returned neither an answer nor an error", cmp.Or(a.name, "the model")).
			WithHelp("a handler of models returns Outcome.Response or Outcome.Err")
	}
	r := *out.Response
	r.Usage = out.Usage
	return &r, nil
}
