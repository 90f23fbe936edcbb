package llm

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
)

// errEnough ends a request of which enough has arrived.
var errEnough = errors.New("enough of the answer has arrived")

// until has the plan's request end once there is enough of the answer. The returned function
// gives that answer, nil when there never was: then the call came to what it came to.
func (c *call) until(ctx context.Context, plan *wire.Plan) (context.Context, func(whole *engine.Response) *engine.Response) {
	w := c.req.Output.Watch()
	if w == nil {
		return ctx, func(*engine.Response) *engine.Response { return nil }
	}
	ctx, stop := context.WithCancelCause(ctx)
	told := plan.Sink
	plan.Stream = true
	plan.Sink = func(t engine.Token) {
		if told != nil {
			told(t)
		}
		if t.Call == nil && !t.Reasoning && t.Text != "" && !w.Feed(t.Text) && w.Met() {
			stop(errEnough)
		}
	}
	return ctx, func(whole *engine.Response) *engine.Response {
		stop(nil)
		if !w.Met() || whole != nil && len(whole.Calls()) > 0 {
			return nil
		}
		r := &engine.Response{Parts: []engine.Part{{Kind: engine.PartText, Text: w.Answer()}}, Finish: engine.FinishStop, RawFinish: "enough", Model: c.model}
		if whole != nil { // it had ended before the request could
			r.Usage, r.RequestID, r.Model = whole.Usage, whole.RequestID, whole.Model
		}
		return r
	}
}
