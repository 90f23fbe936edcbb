package agent

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// HostTool is a tool written in Go: the function that runs it, and what scripts and models know about it.
type HostTool struct {
	Tool
	// Do runs one call. args is a record of Tool.Params; the result is converted to Tool.Returns. Do may block, must
	// end when ctx does, and may be called by several runs at once.
	Do func(ctx context.Context, call ToolCallInfo, args generable.Value) (generable.Value, error)
}

// HostTools handles tool effects, by the tool's name.
type HostTools map[string]*HostTool

// Do implements [engine.Handler].
func (t HostTools) Do(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	tool := t[e.Name]
	if tool == nil {
		names := slices.Sorted(maps.Keys(t))
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "the host has no tool %q", e.Name).
			WithHelp("its tools are: %s", strings.Join(names, ", ")))
	}
	if tool.Do == nil {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "the host's tool %q has no function", e.Name).WithHelp("set HostTool.Do"))
	}
	req, ok := e.Req.(*engine.ToolRequest)
	if !ok {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.UnknownTool, "the request of tool %q is %T, want *engine.ToolRequest", e.Name, e.Req))
	}
	out, err := tool.Do(ctx, ToolCallInfo{Run: e.Run, ID: e.ID(), Agent: e.Agent}, req.Args)
	if err == nil {
		return engine.Outcome{Value: out, Attempt: 1}
	}
	// Whatever went wrong inside is a failure of the tool: a run that it started may have used up its own budget, or
	// reached its own time limit.
	failed, ok := err.(*engine.Error)
	if !ok || failed.Kind != engine.KindTool {
		failed = &engine.Error{Kind: engine.KindTool, Code: diag.ToolFailed, Message: err.Error(), Cause: err}
	}
	return engine.Failed(failed)
}

// ToolCallInfo identifies one call of a tool.
type ToolCallInfo struct {
	Run   string // the run's id
	ID    string // the effect's id; Run + "/" + ID is the idempotency key
	Agent string
}
