package setup

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/cli/project"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// PolicyFlags set which tool calls may be made, and who is asked.
type PolicyFlags struct {
	allow, ask, deny []string
	yes              bool
}

// AddTo adds the flags that are rules.
func (f *PolicyFlags) AddTo(set *pflag.FlagSet) {
	set.StringArrayVar(&f.allow, "allow", nil, "let models call only tools that match a `PATTERN`, such as read_file(path=docs/*); repeatable")
	set.StringArrayVar(&f.ask, "ask", nil, "ask before calls of tools that match a `PATTERN`; @once matches all tools that must not run twice; repeatable")
	set.StringArrayVar(&f.deny, "deny", nil, "refuse calls of tools that match a `PATTERN`; --deny takes precedence over --ask, and --ask over --allow; repeatable")
}

// policy returns the policy of the flags, or nil if there is none.
func (f *PolicyFlags) policy() (*policy.Policy, *term.Failure) {
	if len(f.allow)+len(f.ask)+len(f.deny) == 0 {
		return nil, nil
	}
	p, err := policy.New("the command line", policy.Rules{Allow: f.allow, Ask: f.ask, Deny: f.deny})
	if err != nil {
		e, _ := errors.AsType[*engine.Error](err)
		return nil, term.Usagef(e.Help, "%s", e.Message)
	}
	return p, nil
}

// known rejects rules about tools that none of the scripts has.
func known(p *policy.Policy, who string, modules ...*agentscript.Module) *term.Failure {
	var calls []policy.Call
	var served []string
	for _, m := range modules {
		own, servers := callsOf(m)
		calls, served = append(calls, own...), append(served, servers...)
	}
	var found diag.List
	for u := range p.Unknown(calls) {
		if !u.Served(served) {
			found.Add(term.Usagef(u.Help(calls), "%s", u.Message(who)).Found...)
		}
	}
	return term.FailureOf(term.ExitUsage, found, nil)
}

// callsOf lists the tools of a script in the form that rules use, and the names of its servers.
func callsOf(m *agentscript.Module) (calls []policy.Call, served []string) {
	tools, servers := toolsOf(m)
	return text.Each(tools, func(t heldTool) policy.Call { return t.tool.Call() }), text.Each(servers, func(s heldServer) string { return s.server.Name })
}

// UnknownRules finds the rules of a script's project that can never apply. A rule that cannot apply only in this script
// is a warning, which is reported.
func UnknownRules(c *term.Console, s *project.Settings, file string, m *agentscript.Module) *term.Failure {
	if s == nil {
		return nil
	}
	tools, servers := callsOf(m)
	warnings, mistakes := s.Unknown(file, tools, servers)
	c.Report(warnings, s.Sources())
	return mistakes
}

// Held returns the options that hold a run to the rules of the flags.
func (o *RunFlags) Held(s *Script) ([]agentscript.RunOption, *term.Failure) { return o.policy.held(s) }

// held returns the options that hold a run to the flags. Asking is a separate handler.
func (f *PolicyFlags) held(s *Script) ([]agentscript.RunOption, *term.Failure) {
	p, problem := f.policy()
	if p == nil || problem != nil {
		return nil, problem
	}
	if problem := known(p, "the script", s.Module); problem != nil {
		return nil, problem
	}
	return []agentscript.RunOption{agentscript.RunPolicy(p)}, nil
}

// Denied returns a function that finds the tools of a script for which the flags allow no call, each at its position.
// If scripts are all the scripts, a rule about a tool that none of them has is a failure.
func (f *PolicyFlags) Denied(all bool, scripts ...*agentscript.Module) (func(*agentscript.Module) diag.List, *term.Failure) {
	p, problem := f.policy()
	if p == nil || problem != nil {
		return func(*agentscript.Module) diag.List { return nil }, problem
	}
	who := "the script"
	if len(scripts) > 1 {
		who = "the set of scripts"
	}
	if problem := known(p, who, scripts...); all && problem != nil {
		return nil, problem
	}
	return func(m *agentscript.Module) diag.List { return deniedBy(p, diag.Error, m) }, nil
}

// deniedBy finds the tools of a script for which an external policy allows no call, each at its position.
func deniedBy(p *policy.Policy, severity diag.Severity, m *agentscript.Module) (found diag.List) {
	if p == nil {
		return nil
	}
	tools, servers := toolsOf(m)
	for _, t := range tools {
		call := t.tool.Call()
		call.Class = t.tool.Acts()
		report(&found, p, severity, call, t.tool.Span.Or(t.of), "the tool %q", t.tool.Name)
	}
	for _, s := range servers {
		report(&found, p, severity, policy.Call{Server: s.server.Name, Class: s.server.Class}, s.server.Span.Or(s.of), "every tool of the MCP server %q", s.server.Name)
	}
	return found
}

// deniedByItself finds the tools for which the policies of the script itself allow no call.
func deniedByItself(m *agentscript.Module) (found diag.List) {
	for _, n := range AgentsOf(m) {
		held := func(p *policy.Policy, tools []*agent.Tool) {
			if p == nil {
				return
			}
			for _, t := range tools {
				call := t.Call()
				call.Class = t.Acts()
				report(&found, p, diag.Warning, call, t.Span.Or(diag.Span{Pos: n.Pos()}), "the tool %q", t.Name)
			}
		}
		a := n.Agent()
		held(a.Policy, a.AllTools())
		for _, sk := range a.Skills {
			held(sk.Policy, sk.Tools)
		}
	}
	return found
}

// report adds a finding if a policy denies every call.
func report(found *diag.List, p *policy.Policy, severity diag.Severity, call policy.Call, at diag.Span, what, name string) {
	denied, is := p.Forbids(&call)
	if !is {
		return
	}
	found.Add(&diag.Diagnostic{Code: diag.ToolDenied, Severity: severity, Span: at, Message: fmt.Sprintf(what+" is denied for all arguments: %s", name, denied.Why()),
		Help: []string{"take the tool from the agent, or change the rule"}})
}

// heldTool and heldServer are what an agent has, with the position of the agent.
type (
	heldTool struct {
		tool *agent.Tool
		of   diag.Span
	}
	heldServer struct {
		server *remote.Server
		of     diag.Span
	}
)

// toolsOf lists the tools of a script's agents, and the servers that add more.
func toolsOf(m *agentscript.Module) (tools []heldTool, servers []heldServer) {
	for _, n := range AgentsOf(m) {
		at := diag.Span{Pos: n.Pos()}
		add := func(list []*agent.Tool, from []*remote.Server) {
			for _, t := range list {
				tools = append(tools, heldTool{t, at})
			}
			for _, s := range from {
				servers = append(servers, heldServer{s, at})
			}
		}
		a := n.Agent()
		add(a.Tools, a.Servers)
		for _, sk := range a.Skills {
			add(sk.Tools, sk.Servers)
		}
	}
	return tools, servers
}
