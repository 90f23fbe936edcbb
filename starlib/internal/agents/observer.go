package agents

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"go.starlark.net/starlark"
)

// onlooker reads the functions that observe the agent's answers. It returns nil if there are none.
func onlooker(c *table.Call, out *generable.Type) agent.Observer {
	o := &thread.Observer{State: c.State, Token: beside(c, "on_token"), Partial: beside(c, "on_partial")}
	if o.Partial != nil && (out == nil || !out.HasSchema()) {
		c.Problemf(diag.WrongArgument, c.ArgSpan("on_partial"), "the agent answers with a text, no part of which is a value").Help =
			[]string{"use on_token, or give the agent an output with fields"}
	}
	if o.Token == nil && o.Partial == nil {
		return nil
	}
	return o
}

// beside reads a function of one argument that uses only what the module holds.
func beside(c *table.Call, param string) *starlark.Function {
	fn, ok := c.Arg(param).(*starlark.Function)
	if !ok {
		return nil
	}
	thread.FuncOf(c.State, fn) // frozen with the module
	info := thread.FuncInfoOf(fn)
	switch {
	case info.Needs > 1 || info.Params < 1:
		d := c.Problemf(diag.CallbackArity, c.ArgSpan(param), "%s is called with one argument", param)
		d.Label = "it takes " + text.CountInWords(info.Params, "argument")
		d.Help = []string{"let it take one parameter; others need a default"}
	case fn.NumFreeVars() > 0:
		v, _ := fn.FreeVar(0)
		c.Problemf(diag.WrongArgument, c.ArgSpan(param), "%s: the function uses %s of the function around it", param, v.Name).Help =
			[]string{"it is called alongside the flow: define it at the top level, where it can use what the module defines"}
	}
	return fn
}
