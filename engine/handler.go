package engine

import (
	"context"

	"github.com/agentscript/agentscript/diag"
)

// Handlers finds the handler of an effect by its kind.
type Handlers map[EffectKind]Handler

// Do implements [Handler].
func (h Handlers) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
	if to := h[e.ByServer()]; to != nil {
		return to.Do(ctx, e, sink)
	}
	return unhandled(e)
}

// unhandled is what an effect comes to that nothing carries out.
func unhandled(e *Effect) Outcome {
	if e.Kind == EffectModel {
		return Failed(NoModel(e.Agent))
	}
	if r, ok := e.Req.(*ApprovalRequest); ok {
		return Failed(r.waits("there is nobody to ask"))
	}
	if e.ByServer() == EffectMCP {
		return Failed(noServers(e))
	}
	if req, ok := e.Req.(*TouchRequest); ok {
		return Ungranted(req.Use(e.Kind))
	}
	return Failed(Errorf(KindConfig, diag.UnknownTool, "nothing here runs %s %q", e.Kind, e.Name))
}

// ToolCallInfo identifies one call of a tool.
type ToolCallInfo struct {
	Run   string // the run's id
	ID    string // the effect's id; Run + "/" + ID is the idempotency key
	Agent string
}

// NoModel is the error of an agent that has no model to ask.
func NoModel(agent string) *Error {
	return Errorf(KindConfig, diag.NoModel, "agent %q needs a model, and the run has none", agent).
		WithHelp("name one with model = \"openai/...\" or --model; answer from a file with --scripted FILE")
}

func noServers(e *Effect) *Error {
	return Errorf(KindConfig, diag.NoServers, "agent %q has tools of an MCP server, and nothing here reaches one (%s)", e.Agent, e.Name).
		WithHelp("a host gives what reaches servers: agentscript.WithMCP(mcp.New(...))")
}
