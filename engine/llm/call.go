package llm

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/redact"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/generable/dialect"
)

// call is one request to one target.
type call struct {
	*target
	req     *engine.Request
	sink    engine.Sink
	limits  Timeouts
	refused func(*engine.Error) // of a request that was refused and is made again otherwise; may be nil
	keys    *redact.Set
	forms   *dialect.Compiler
	rung    rung                     // how firmly the model is held to its types
	held    bool                     // the answer is, by schema or JSON mode
	form    *dialect.Wire            // of the answer, when a schema holds the model to it
	tools   map[string]*dialect.Wire // of the arguments, when schemas hold calls to them
}

// do makes the call and prices it, also where it failed after all.
func (c *call) do(ctx context.Context) (*engine.Response, *engine.Error) {
	resp, err := c.made(ctx)
	if err != nil {
		own := *err // a host's model may keep its errors
		if own.Usage == (engine.Usage{}) {
			own.Usage = c.unfinished(err)
		}
		c.cost(&own.Usage)
		return nil, &own
	}
	c.cost(&resp.Usage)
	return resp, nil
}

// unfinished is what a call is reckoned to have used that came to no answer and does not say: what was sent of
// it, where a part of an answer was made, and where nobody waited for one any more. Providers bill that.
func (c *call) unfinished(err *engine.Error) engine.Usage {
	var op *net.OpError
	switch {
	case err.Kind == engine.KindPanic, errors.As(err, &op) && op.Op == "dial":
	case err.Raw != "":
		return engine.EstimateUsage(c.req, &engine.Response{Parts: []engine.Part{{Kind: engine.PartText, Text: err.Raw}}})
	case err.Kind == engine.KindCancelled, err.Kind == engine.KindTimeout:
		return engine.EstimateUsage(c.req, nil)
	}
	return engine.Usage{}
}

// made makes the call, and again on a lower rung where the provider turns out not to take what
// holds the model to its types.
func (c *call) made(ctx context.Context) (*engine.Response, *engine.Error) {
	if c.host != nil {
		return c.hosted(ctx)
	}
	req := c.req
	c.rung = c.ladder.at(c.rungKey())
	for {
		resp, err := c.send(ctx)
		c.req = req
		if err == nil || !c.lowered(err) {
			return resp, err
		}
	}
}

// send makes one request of the call.
func (c *call) send(ctx context.Context) (*engine.Response, *engine.Error) {
	c.form, c.tools = nil, nil
	plan := c.plan(c.req, c.limits, c.keys)
	var err *engine.Error
	if plan.Output, err = c.output(&plan); err != nil {
		return nil, err
	}
	c.held = plan.Output != nil
	if c.rung == rungStrict {
		c.strictTools()
	}
	c.req = c.explained()
	plan.Request = c.req
	if c.row.writes {
		plan.Tools = c.told()
	}
	if c.sink != nil {
		p := newPieces(c.sink, c.keys, 1)
		defer p.end()
		plan.Stream, plan.Sink = true, p.add
	}
	ctx, enough := c.until(ctx, &plan)
	x := &wire.Exchange{Plan: plan}
	_, clientErr := c.client.GenerateContent(wire.With(ctx, x), c.conversation(), c.options()...)
	if r := enough(x.Response); r != nil {
		return plan.Settle(r)
	}
	switch {
	case x.Err != nil:
		// The client's own text hides what happened: a cancelled call, a status, a header.
		return nil, x.Err
	case x.Response != nil:
		c.inForm(x.Response)
		return x.Response, nil
	}
	if err := wire.Interrupted(ctx); err != nil {
		return nil, x.Fail(err.Kind, err.Cause, err.Help, "%s", err.Message)
	}
	return nil, x.Fail(engine.KindBadRequest, clientErr, "", "the request could not be made: %v", clientErr)
}

// conversation is what the client is given. Reasoning is not part of it: the dialects that
// send it back write it themselves.
func (c *call) conversation() []llms.MessageContent {
	if c.row != nil && c.row.writes {
		return standIn()
	}
	flat := false // the client knows no calls, and the dialect writes them itself
	callID := func(id string) string { return id }
	if c.row != nil {
		_, flat = c.row.dialect.(*wire.Ollama)
		callID = c.row.dialect.CallID
	}
	var out []llms.MessageContent
	add := func(role llms.ChatMessageType, parts ...llms.ContentPart) {
		out = append(out, llms.MessageContent{Role: role, Parts: parts})
	}
	if c.req.System != "" {
		add(llms.ChatMessageTypeSystem, llms.TextContent{Text: c.req.System})
	}
	for i := range c.req.Messages {
		m := &c.req.Messages[i]
		switch m.Role {
		case engine.RoleTool:
			for j := range m.Parts {
				if r := m.Parts[j].Result; r != nil && flat {
					add(llms.ChatMessageTypeTool, llms.TextContent{Text: r.Text})
				} else if r != nil {
					add(llms.ChatMessageTypeTool, llms.ToolCallResponse{ToolCallID: callID(r.CallID), Name: r.Name, Content: r.Text})
				}
			}
		case engine.RoleAssistant:
			var parts []llms.ContentPart
			if text := joinText(m.Parts, ""); text != "" {
				parts = append(parts, llms.TextContent{Text: text})
			}
			for j := range m.Parts {
				if t := m.Parts[j].Call; t != nil && !flat {
					parts = append(parts, llms.ToolCall{ID: callID(t.ID), Type: "function", FunctionCall: &llms.FunctionCall{Name: t.Name, Arguments: t.Args}})
				}
			}
			add(llms.ChatMessageTypeAI, parts...)
		default:
			add(llms.ChatMessageTypeHuman, said(m.Parts, flat)...)
		}
	}
	return out
}

// said is what a user's message says: its text, and pictures where the client knows them.
func said(parts []engine.Part, flat bool) []llms.ContentPart {
	text := llms.TextContent{Text: joinText(parts, "\n\n")}
	var out []llms.ContentPart
	for i := range parts {
		if img := parts[i].Image; img != nil && !flat {
			out = append(out, llms.ImageURLContent{URL: img.URL})
		}
	}
	if len(out) == 0 || text.Text != "" {
		out = append([]llms.ContentPart{text}, out...)
	}
	return out
}

func joinText(parts []engine.Part, sep string) string {
	var texts []string
	for i := range parts {
		if parts[i].Kind == engine.PartText {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, sep)
}

func (c *call) options() []llms.CallOption {
	p := &c.req.Params
	var opts []llms.CallOption
	if c.model != "" {
		opts = append(opts, llms.WithModel(c.model))
	}
	if p.Temperature != nil {
		opts = append(opts, llms.WithTemperature(*p.Temperature))
	}
	if p.TopP != nil {
		opts = append(opts, llms.WithTopP(*p.TopP))
	}
	if p.MaxTokens != nil {
		opts = append(opts, llms.WithMaxTokens(*p.MaxTokens))
	}
	if p.Seed != nil {
		opts = append(opts, llms.WithSeed(*p.Seed))
	}
	if len(p.Stop) > 0 {
		opts = append(opts, llms.WithStopWords(p.Stop))
	}
	if len(c.req.Tools) > 0 && (c.row == nil || !c.row.writes) {
		tools := make([]llms.Tool, len(c.req.Tools))
		for i := range c.req.Tools {
			tools[i] = llms.Tool{Type: "function", Function: c.definition(&c.req.Tools[i])}
		}
		opts = append(opts, llms.WithTools(tools))
	}
	return opts
}
