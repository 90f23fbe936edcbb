package export

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/remote"
)

// The format declares servers and functions once for the flow, and an agent names those of their tools that it may
// call: all of them without toolNames, none with an empty list.

// toolbox holds the tools that the agents of a flow may call.
type toolbox struct {
	x       *exporter
	servers []*remote.Server
	local   []*agent.Tool
	offers  map[string]string // by named tool: its server, or "" for a function
	clashed map[string]bool
	user    map[*agent.Tool]*flow.Node // the first agent that has a function
}

// tools declares the tools of all agents, and names those of each agent.
func (x *exporter) tools() []fileTool {
	b := &toolbox{x: x, offers: map[string]string{}, clashed: map[string]bool{}, user: map[*agent.Tool]*flow.Node{}}
	for _, s := range x.steps {
		if s.spec == nil {
			continue
		}
		for _, srv := range s.spec.AllServers() {
			b.server(s, srv)
		}
		for _, t := range s.spec.AllTools() {
			b.function(s, t)
		}
	}
	for _, s := range x.steps {
		if s.spec != nil {
			s.file.Params.ToolNames = b.of(s)
			if s.file.Params.empty() {
				s.file.Params = nil
			}
		}
	}
	return b.declared()
}

// server adds a server of an agent.
func (b *toolbox) server(s *step, srv *remote.Server) {
	x, at := b.x, srv.Span.Or(s.node.Site().Span)
	i := slices.IndexFunc(b.servers, func(other *remote.Server) bool { return other.Name == srv.Name })
	if i < 0 {
		b.servers = append(b.servers, srv)
		b.unsaid(s, srv)
	} else if first := b.servers[i]; first != srv && first.Digest() != srv.Digest() {
		x.cannot(s.node, at, srv.Name, "a second server of that name", `name each: mcp(..., name = "...")`)
		x.found[len(x.found)-1].Notef(first.Span.Pos, "the first is declared")
	}
	for _, name := range srv.Tools {
		if strings.ContainsAny(name, `!*?[\`) {
			x.cannot(s.node, at, srv.Name, "the tools "+name, "name each tool: tools = [\"read\", \"write\"]")
			continue
		}
		b.offer(s, name, srv.Name)
	}
}

// unsaid reports what the format cannot express about a server.
func (b *toolbox) unsaid(s *step, srv *remote.Server) {
	cannot := func(what, help string) { b.x.cannot(s.node, srv.Span, srv.Name, what, help) }
	for _, set := range srv.Headers {
		if set.Secret != "" {
			cannot("the header "+set.Name+", which holds a secret", "leave it out, and let whoever runs the flow add it")
		}
	}
	for _, set := range srv.Env {
		if set.Secret != "" {
			cannot("the variable "+set.Name+", which holds a secret", "leave it out: the process has the variables that its host lets through")
		}
	}
	if len(srv.Literals()) > 0 {
		b.x.warn(srv.Span, srv.Name+": a value that looks like a secret is in the file unchanged", "leave it out, and let whoever runs the flow add it")
	}
	if srv.OAuth != nil {
		cannot("auth", leaveOut)
	}
	if srv.Timeout != 0 && srv.Timeout != remote.DefaultTimeout {
		cannot("timeout", leaveOut)
	}
	if srv.Call != 0 && srv.Call != remote.DefaultCallTimeout {
		cannot("call_timeout", leaveOut)
	}
	if srv.Class != "" && srv.Class != engine.ClassOnce {
		cannot("effect", leaveOut)
	}
	if srv.Untrusted {
		cannot("untrusted", leaveOut)
	}
}

// function adds a function that an agent may call.
func (b *toolbox) function(s *step, t *agent.Tool) {
	x, at := b.x, t.Span.Or(s.node.Site().Span)
	switch {
	case t.Node != nil:
		x.cannot(s.node, at, t.Name, "an agent or flow as a tool", "let transitions lead to it")
		return
	case t.Run != nil && (isBuiltin(t, agent.EscalateTool()) || isBuiltin(t, agent.AbandonTool())):
		x.cannot(s.node, at, s.label(), "the tool "+t.Name, leaveOut)
		return
	}
	for _, f := range []feature{{has: t.OnError != nil, what: "on_error"}, {has: t.Timeout != 0, what: "timeout"}, {has: t.Rules != nil, what: "a rule for when it may be called"},
		{has: t.MaxResult != 0 && t.MaxResult != agent.DefaultMaxResult, what: "max_result"}} {
		if f.has {
			x.cannot(s.node, at, t.Name, f.what, "leave it out, and say so where the function is offered")
		}
	}
	b.offer(s, t.Name, "")
	i := slices.IndexFunc(b.local, func(other *agent.Tool) bool { return other.Name == t.Name })
	if i < 0 {
		b.local, b.user[t] = append(b.local, t), s.node
		x.warn(at, t.Name+": the file names the function and does not hold it", "offer a function of this name where the flow runs")
	} else if first := b.local[i]; first != t && !sameFunction(first, t) {
		x.cannot(s.node, at, t.Name, "a second tool of that name", `name each: tool(f, name = "...")`)
		x.found[len(x.found)-1].Notef(first.Span.Pos, "the first is defined")
	}
}

func isBuiltin(t, builtin *agent.Tool) bool { return t.Name == builtin.Name && t.Doc == builtin.Doc }

// sameFunction reports whether two tools with one name have the same function.
func sameFunction(a, b *agent.Tool) bool {
	if a.Run == nil || b.Run == nil {
		return a.Run == nil && b.Run == nil
	}
	return a.Run.Info().Pos == b.Run.Info().Pos
}

// offer records the origin of a tool that an agent names: a name has one meaning in a flow.
func (b *toolbox) offer(s *step, tool, from string) {
	first, known := b.offers[tool]
	if !known {
		b.offers[tool] = from
	} else if first != from && !b.clashed[tool] {
		b.clashed[tool] = true
		b.x.cannot(s.node, s.node.Site().Span, s.label(), "the tool "+tool+", which "+offerer(first)+" and "+offerer(from)+" offer", "let each tool be offered by one")
	}
}

func offerer(server string) string {
	if server == "" {
		return "a function"
	}
	return "server " + server
}

// of returns the names of the tools that an agent may call, or nil for all tools of the flow.
func (b *toolbox) of(s *step) *[]string {
	servers, tools := s.spec.AllServers(), s.spec.AllTools()
	names := []string{}
	open := "" // a server all of whose tools the agent has
	for _, srv := range servers {
		switch {
		case s.spec.Offer != nil:
		case len(srv.Tools) == 0:
			open = srv.Name
		default:
			names = append(names, srv.Tools...)
		}
	}
	names = append(names, s.spec.Offer...)
	for _, t := range tools {
		names = append(names, t.Name)
	}
	if open == "" {
		if len(b.servers)+len(b.local) == 0 {
			return nil
		}
		return &names
	}
	has := func(srv *remote.Server) bool {
		return slices.ContainsFunc(servers, func(own *remote.Server) bool { return own.Name == srv.Name && len(own.Tools) == 0 })
	}
	for _, srv := range b.servers {
		if !has(srv) {
			b.x.cannot(s.node, s.node.Site().Span, s.label(), "all tools of server "+open+" and not those of "+srv.Name, `name the tools: mcp(..., tools = ["read", "write"])`)
			return nil
		}
	}
	for _, t := range b.local {
		if !slices.ContainsFunc(tools, func(own *agent.Tool) bool { return own.Name == t.Name }) {
			b.x.cannot(s.node, s.node.Site().Span, s.label(), "all tools of server "+open+" and not the function "+t.Name, `name the tools: mcp(..., tools = ["read", "write"])`)
			return nil
		}
	}
	return nil
}

// declared lists the servers and functions for the file.
func (b *toolbox) declared() (list []fileTool) {
	for _, srv := range b.servers {
		p := fileParameters{Transport: srv.Transport, Command: srv.Command, Args: srv.Args, Env: srv.Env, URL: srv.URL, Headers: srv.Headers}
		if p.Transport == remote.TransportAuto {
			p.Transport = remote.TransportHTTP
		}
		list = append(list, fileTool{srv.Name, "mcp", p})
	}
	for _, t := range b.local {
		if slices.ContainsFunc(b.servers, func(srv *remote.Server) bool { return srv.Name == t.Name }) {
			b.x.cannot(b.user[t], t.Span, t.Name, "a function of the name of a server", `name the server: mcp(..., name = "...")`)
		}
		list = append(list, fileTool{t.Name, "local", fileParameters{Path: t.Name}})
	}
	return list
}
