package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Handlers finds the handler of an effect by its kind.
type Handlers map[EffectKind]Handler

// Do implements [Handler].
func (h Handlers) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
	if to := h[e.byServer()]; to != nil {
		return to.Do(ctx, e, sink)
	}
	return unhandled(e)
}

// unhandled is what an effect comes to that nothing carries out.
func unhandled(e *Effect) Outcome {
	if e.Kind == EffectModel {
		return Failed(noModel(e.Agent))
	}
	if r, ok := e.Req.(*ApprovalRequest); ok {
		return Failed(r.waits("there is nobody to ask"))
	}
	if e.byServer() == EffectMCP {
		return Failed(noServers(e))
	}
	if req, ok := e.Req.(*TouchRequest); ok {
		return Ungranted(req.Use(e.Kind))
	}
	return Failed(Errorf(KindConfig, diag.UnknownTool, "nothing here runs %s %q", e.Kind, e.Name))
}

// HostTool is a tool written in Go: the function that runs it, and what a script and a model
// know of it.
type HostTool struct {
	Tool
	// Do runs one call. The args are a record of Tool.Params; the result is converted to
	// Tool.Returns. It may block, must end when ctx does, and may run in several runs at once.
	Do func(ctx context.Context, call ToolCallInfo, args generable.Value) (generable.Value, error)
}

// ToolCallInfo identifies one call of a tool.
type ToolCallInfo struct {
	Run   string // the run's id
	ID    string // the effect's id; Run + "/" + ID is the idempotency key
	Agent string
}

// HostTools handles tool effects by the tool's name.
type HostTools map[string]*HostTool

// Do implements [Handler].
func (t HostTools) Do(ctx context.Context, e *Effect, _ Sink) Outcome {
	tool := t[e.Name]
	if tool == nil {
		names := make([]string, 0, len(t))
		for n := range t {
			names = append(names, n)
		}
		slices.Sort(names)
		return Failed(Errorf(KindConfig, diag.UnknownTool, "the host has no tool %q", e.Name).
			WithHelp("its tools are: %s", strings.Join(names, ", ")))
	}
	if tool.Do == nil {
		return Failed(Errorf(KindConfig, diag.UnknownTool, "the host's tool %q has no function", e.Name).WithHelp("set HostTool.Do"))
	}
	req, ok := e.Req.(*ToolRequest)
	if !ok {
		return Failed(Errorf(KindConfig, diag.UnknownTool, "the request of tool %q is %T, want *engine.ToolRequest", e.Name, e.Req))
	}
	out, err := tool.Do(ctx, ToolCallInfo{Run: e.Run, ID: e.ID(), Agent: e.Agent}, req.Args)
	if err == nil {
		return Outcome{Value: out, Attempt: 1}
	}
	// Whatever went wrong inside went wrong with the tool: a run that it started may have
	// used up its own budget, or met its own time limit.
	failed, ok := err.(*Error)
	if !ok || failed.Kind != KindTool {
		failed = &Error{Kind: KindTool, Code: diag.ToolFailed, Message: err.Error(), Cause: err}
	}
	return Failed(failed)
}
