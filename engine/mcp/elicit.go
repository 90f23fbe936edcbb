package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/generable"
)

// Question is what a server wants to know from a person while it carries out a call.
type Question struct {
	Server  string
	Run     string // on whose behalf, as far as is known
	Agent   string
	ID      string // of the effect
	Message string // the server's own words: not to be trusted
	Schema  string // of the answer, a JSON Schema of a flat object; "" when only consent is asked for
	URL     string // the person is to go there instead of answering
}

// Reply answers a [Question]. The zero Reply declines.
type Reply struct {
	Accept bool
	Values *generable.Map // as the schema says; nil when nothing was asked for
}

// WithElicitation sets what answers servers that ask a person. It may wait as long as its context
// lets it. Without it servers are told that nobody can be asked.
func WithElicitation(answer func(context.Context, Question) Reply) Option {
	return func(c *config) { c.elicit = answer }
}

// elicit passes a server's question on.
func (x *session) elicit(ctx context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	q := Question{Server: x.server.spec.Name, Message: x.hidden.brief(req.Params.Message), URL: x.hidden.text(req.Params.URL)}
	if req.Params.RequestedSchema != nil {
		schema, err := json.Marshal(req.Params.RequestedSchema)
		if err != nil || len(schema) > 64<<10 {
			return &sdk.ElicitResult{Action: "decline"}, nil
		}
		q.Schema = x.hidden.text(string(schema))
	}
	if f := x.flights.oldest(); f != nil {
		q.Run, q.Agent, q.ID = f.run, f.agent, f.id
	}
	ctx, free := x.within(ctx)
	defer free()
	r := x.server.client.cfg.elicit(ctx, q)
	if ctx.Err() != nil {
		return &sdk.ElicitResult{Action: "cancel"}, nil
	}
	if !r.Accept {
		return &sdk.ElicitResult{Action: "decline"}, nil
	}
	out := &sdk.ElicitResult{Action: "accept"}
	if r.Values != nil {
		if err := json.Unmarshal(generable.AppendJSON(nil, r.Values.Value(), nil), &out.Content); err != nil {
			return nil, err
		}
	}
	return out, nil
}
