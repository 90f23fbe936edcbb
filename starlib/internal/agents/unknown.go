package agents

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
)

// unknownKind takes what to do about a call whose outcome is unknown.
var unknownKind = table.AnyOf(table.OneOf("ask", "fail", "retry"), table.CallKind)

// unknownParam is the parameter on_unknown of a tool or a server.
func unknownParam() table.Param {
	return table.Opt("on_unknown", unknownKind, "None", `what a resumed run does about a call of effect "once" whose process ended before its outcome was known: "ask" a person, "fail", "retry", `+
		"or a function of the ToolFailure that returns fixed(result), again(), give_up(why), or None to ask a person; by default the run's setting applies, which is to ask unless changed")
}

// unknown reads on_unknown.
func unknown(c *table.Call) (engine.OnUnknown, agent.Judge) {
	switch v := c.Arg("on_unknown").(type) {
	case starlark.String:
		word, _ := engine.ParseOnUnknown(string(v)) // the kind accepts no other word
		return word, nil
	case *starlark.Function:
		lint.Called(c.State, v, script.Contract{Params: []*generable.Type{agent.ToolFailureType}, Remedy: true, Who: "on_unknown"})
		return engine.UnknownAsk, &judge{Callback: thread.NewCallback(c.State, v)}
	}
	return engine.UnknownUnset, nil
}

// ownUnknown reports on_unknown on a tool that is a function of the script.
func ownUnknown(c *table.Call) {
	if c.Has("on_unknown") {
		c.Problemf(diag.WrongArgument, c.ArgSpan("on_unknown"), "a function of the script is run again when its run is resumed: on_unknown is for tools of the host and of servers").Help =
			[]string{"its requests and commands are separate effects; the run decides what is done about them: agentscript run --on-unknown fail"}
	}
}
