package setup

import (
	"errors"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// policyFlags say which calls of tools may be made, and who is asked.
type policyFlags struct {
	allow, ask, deny []string
	yes              bool
}

// options holds the run to the flags, and settles who is asked. Asking is a handler of its own.
func (f *policyFlags) policy(s *Script) ([]agentscript.RunOption, *term.Failure) {
	if len(f.allow)+len(f.ask)+len(f.deny) == 0 {
		return nil, nil
	}
	p, err := policy.New("the command line", policy.Rules{Allow: f.allow, Ask: f.ask, Deny: f.deny})
	if err != nil {
		e, _ := errors.AsType[*engine.Error](err)
		return nil, term.Usagef(e.Help, "%s", e.Message)
	}
	tools, served := toolsOf(s.Module)
	var found diag.List
	for _, u := range p.Unknown(tools) {
		if !served || u.Arg != "" { // a server's tools are known when it is asked
			found.Add(term.Usagef(u.Help(tools), "%s", u.Message("the script")).Found...)
		}
	}
	if len(found) > 0 {
		return nil, &term.Failure{Code: term.ExitUsage, Found: found}
	}
	return []agentscript.RunOption{agentscript.RunPolicy(p)}, nil
}

// toolsOf lists the tools that the agents of a script have, and reports whether servers add more.
func toolsOf(m *agentscript.Module) (tools []policy.Call, served bool) {
	add := func(list []*agent.Tool, servers []*remote.Server) {
		for _, t := range list {
			tools = append(tools, t.Call())
		}
		served = served || len(servers) > 0
	}
	for _, n := range AgentsOf(m) {
		a := n.Agent()
		add(a.Tools, a.Servers)
		for _, sk := range a.Skills {
			add(sk.Tools, sk.Servers)
		}
	}
	return tools, served
}
