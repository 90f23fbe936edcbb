package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// asToolRows make nodes tools: as a function, and as a method of the node.
func asToolRows() []Builtin {
	params := []Param{
		{Name: "name", Kind: nameKind, Default: "None", Doc: "the tool's name; else the node's"},
		{Name: "doc", Kind: StrKind, Default: "None", Doc: "what it does: the model decides by it; of an agent with one skill, else the skill's"},
		{Name: "on_error", Kind: recoveryKind, Shape: KeywordOnly, Default: "None", Doc: "what is done about calls that fail, before the model hears of it, as of tool"},
		{Name: "timeout", Kind: timeKind, Shape: KeywordOnly, Default: "None", Doc: `time of one call: "5s", "2m", or seconds; what takes longer fails`},
		{Name: "max_result", Kind: boundKind, Shape: KeywordOnly, Default: "262144", Doc: "how many bytes of a result's text the model is told"},
	}
	params = append(params, ruleParams()...)
	const doc = "Makes a node, an agent or any flow, a tool of an agent. The fields of a schema that it takes are the parameters; what takes anything else has one, input. It runs inside the call, within the budgets around it, and its one place is in that agent."
	return []Builtin{
		{Name: "as_tool", Group: GroupAgents, Aside: guardAside, Returns: "tool", Effect: Compose, Func: asToolFunc, May: true, Doc: doc,
			Params: append([]Param{{Name: "node", Kind: NodeKind, Doc: "an agent or a composition"}}, params...)},
		{Name: "as_tool", Of: "node", Aside: guardAside, Group: GroupCompose, Returns: "tool", Effect: Compose, Func: asToolFunc, Doc: "a.as_tool(name, doc) is as_tool(a, name, doc).",
			Params: params},
	}
}

func asToolFunc(c *Call) (starlark.Value, error) {
	n := c.nodeArg("node")
	if c.stood || n.Failed() {
		return c.standIn(), nil
	}
	name := n.Name()
	if c.Has("name") {
		name = c.Str("name")
	}
	if name == "" {
		c.complain(diag.MissingArgument, c.fnSpan(), "the %s has no name for its tool", n.Kind()).Help =
			[]string{"name the tool, as_tool(name = \"...\"), or assign the node to a variable first"}
	}
	doc := dedent(c.Str("doc"))
	if a := n.Agent(); doc == "" && a != nil && len(a.Skills) == 1 {
		doc = a.Skills[0].Doc
	}
	if doc == "" && name != "" && c.state.session.Strict && !c.running() {
		c.noDescription(name, c.fnSpan(), `say what it does, and when to use it: as_tool(name, "...")`)
	}
	t := engine.AsTool(n, name, doc)
	t.Span = c.fnSpan()
	c.guarded(t)
	if c.stood || len(c.wrong) > 0 {
		return c.standIn(), nil
	}
	return &toolValue{t: t}, nil
}
