// Package mcptest provides what tests of MCP servers share: a client that is closed when its test ends, and the effects
// that list the tools of a server and call one.
package mcptest

import (
	"context"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Client returns a client that may reach everything. It is closed when the test ends.
func Client(t testing.TB, opts ...mcp.Option) *mcp.Client {
	t.Helper()
	c := mcp.New(append([]mcp.Option{mcp.WithAllow(func(capability.Use) error { return nil })}, opts...)...)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// List lists the tools of a server.
func List(ctx context.Context, c *mcp.Client, spec *remote.Server) engine.Outcome {
	return c.Do(ctx, &engine.Effect{Kind: engine.EffectMCP, Name: spec.Name, Run: "run", Req: &remote.ListRequest{Server: spec}}, nil)
}

// Call calls a tool with arguments in JSON.
func Call(ctx context.Context, c *mcp.Client, spec *remote.Server, tool, args string, sink engine.Sink) engine.Outcome {
	v := lenient.Decode(generable.AnyT, args, generable.Options{}).Value
	return c.Do(ctx, &engine.Effect{Kind: engine.EffectTool, Name: spec.Name + "." + tool, Run: "run", Agent: "agent",
		Req: &engine.ToolRequest{Args: v, Server: spec, Tool: tool}}, sink)
}

// Text returns a text value unchanged, and everything else as JSON.
func Text(v generable.Value) string {
	if s, ok := v.AsStr(); ok {
		return s
	}
	return generable.JSON(v, nil)
}
