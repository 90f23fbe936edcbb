//lint:file-ignore SA1019 servers of older protocols ask for roots and samples, and are answered

package mcp

import (
	"context"
	"encoding/base64"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine"
)

// WithSampling lets servers ask a model: the handler of model calls that the host's runs use, say.
// What that uses is counted as usage of the call during which the server asked. Without it servers
// are told that no model can be asked.
func WithSampling(models engine.Handler, model string) Option {
	return func(c *config) { c.models, c.model = models, model }
}

// maxSampled bounds the tokens that a server may ask for at once.
const maxSampled = 4096

// sample has a model answer a server.
func (x *session) sample(ctx context.Context, req *sdk.CreateMessageRequest) (*sdk.CreateMessageResult, error) {
	f := x.flights.oldest()
	if f == nil {
		return nil, errors.New("a model can be asked during a call of a tool alone")
	}
	p := req.Params
	most := int(min(max(p.MaxTokens, 1), maxSampled))
	ask := &engine.Request{Model: x.server.client.cfg.model, System: x.hidden.text(p.SystemPrompt), Params: engine.Params{MaxTokens: &most, Stop: p.StopSequences}}
	if p.Temperature > 0 {
		ask.Params.Temperature = &p.Temperature
	}
	for _, m := range p.Messages {
		part := engine.Part{Kind: engine.PartText}
		switch c := m.Content.(type) {
		case *sdk.TextContent:
			part.Text = x.hidden.text(c.Text)
		case *sdk.ImageContent:
			if !isPicture(c.MIMEType) {
				return nil, errors.New("a picture of an unknown kind")
			}
			part = engine.Part{Kind: engine.PartImage, Image: &engine.Image{URL: "data:" + c.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(c.Data)}}
		default:
			return nil, errors.New("only texts and pictures can be shown to the model")
		}
		role := engine.RoleUser
		if m.Role == "assistant" {
			role = engine.RoleAssistant
		}
		ask.Messages = append(ask.Messages, engine.Message{Role: role, Parts: []engine.Part{part}})
	}
	ctx, free := x.within(ctx)
	defer free()
	out := x.server.client.cfg.models.Do(ctx, &engine.Effect{Kind: engine.EffectModel, Name: ask.Model, Agent: f.agent, Run: f.run, At: f.at, Req: ask, Class: engine.ClassIdempotent}, nil)
	f.spend(out.Usage)
	if out.Err != nil {
		return nil, errors.New("the model gave no answer: " + brief(out.Err.Message))
	}
	stop := "endTurn"
	if out.Response.Finish == engine.FinishLength {
		stop = "maxTokens"
	}
	return &sdk.CreateMessageResult{Content: &sdk.TextContent{Text: out.Response.Text()}, Model: out.Response.Model, Role: "assistant", StopReason: stop}, nil
}
