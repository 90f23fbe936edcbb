// Package mcp connects to MCP servers: it lists their tools and calls them, over stdio, SSE and streamable HTTP. A
// [Client] is the handler of the effects of kind [engine.EffectMCP], and of calls of tools whose request names a
// server:
//
//	client := mcp.New(mcp.WithGrants(grants))
//	defer client.Close()
//	engine := agentscript.New(agentscript.WithMCP(client))
//
// A request contains everything that is needed to reach its server, so that another process can make the call; it only
// names secrets, which are looked up here. Sessions belong to the Client: all runs of a host share one session per
// identically declared server, and Close ends them all. A Client ends what it starts: its processes are process groups
// that are also killed when the host is killed, see engine/internal/reaper.
//
// Nothing is allowed unless [WithAllow] allows it.
package mcp
