// Package mcp reaches MCP servers: it lists their tools and calls them, over stdio, SSE and
// streamable HTTP. A [Client] is the handler of the effects of kind [engine.EffectMCP], and of the
// calls of tools whose request names a server:
//
//	client := mcp.New(mcp.WithGrants(grants))
//	defer client.Close()
//	engine := agentscript.New(agentscript.WithMCP(client))
//
// A request holds all that is needed to reach its server, so that another process can make the
// call; secrets are named in it and looked up here. Sessions belong to the Client: all runs of a
// host share one session for each server that they declare alike, and Close ends them all. What a
// Client starts it ends: its processes are process groups that are also killed when the host dies
// without a word, see engine/internal/reaper.
//
// Nothing is allowed unless [WithAllow] allows it.
package mcp
