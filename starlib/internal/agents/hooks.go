package agents

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// hookDocs describe the arguments of each hook.
var hookDocs = map[string]string{
	"before_tool":       "before a tool call: (name, args); returns proceed(), proceed(args), deny(reason), substitute(result) or None",
	"after_tool":        "after a tool call that succeeded: (name, args, result); returns proceed(), deny(reason), substitute(result) or None",
	"before_model":      "before a model call: (call), with agent, model, system, messages and turn; returns proceed(), proceed({\"system\": ...}), deny(reason), substitute(answer) or None",
	"after_model":       "after a model call: (call, answer), the answer with text, calls and citations (each with url, title, source, quote and text); returns proceed(), deny(reason), substitute(answer) or None",
	"on_tool_use":       "watches tool calls that succeeded: (name, args, result)",
	"on_knowledge_used": "watches the texts of a skill's knowledge that were read: (key, text)",
	"on_skill_chosen":   "watches the skills that begin: (name)",
	"on_model_call":     "watches model calls: (call, answer)",
	"on_error":          "watches failed calls of tools and of the agent: (failure), a Failure",
}

func hookRows() []table.Builtin {
	var params []table.Param
	for _, name := range agent.HookNames() {
		params = append(params, table.Param{Name: name, Kind: hookFuncs, Shape: table.KeywordOnly, Default: "None", Doc: hookDocs[name]})
	}
	row := func(name, doc string, f func(*table.Call) (starlark.Value, error), params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Group: table.GroupAgents, Returns: "Intercept", Effect: table.Pure, May: true, Doc: doc, Func: f, Params: params}
	}
	return []table.Builtin{
		{Name: "hooks", Group: table.GroupAgents, Aside: strings.Join(agent.HookNames(), " "), Returns: "hooks", Effect: table.Compose, May: true, Func: hooksFunc, Params: params,
			Doc: "Declares functions that run around what an agent does; each parameter takes one function or a list. Interceptors (before, after) decide: all of them run, and the first that does not just proceed decides; one that fails denies. Observers (on) only watch: if one fails, the failure is logged."},
		row("proceed", "Returned by an interceptor to let a call proceed, unchanged or with another value.", proceedFunc,
			table.Param{Name: "value", Kind: table.AnyKind, Default: "None", Doc: "other arguments of the tool or, for a model call, a dict of system and model"}),
		row("deny", "Returned by an interceptor to stop a call, or to drop its result. The model receives the reason why its tool call was denied; an agent whose model call is denied fails.", denyFunc,
			table.Param{Name: "reason", Kind: table.StrKind, Doc: "why"}),
		row("substitute", "Returned by an interceptor to use another result instead of the call's own.", substituteFunc,
			table.Param{Name: "value", Kind: table.AnyKind, Doc: "the result of the tool, or the answer of the model"}),
	}
}

// hookFuncs takes a function, or a list of them.
var hookFuncs = table.AnyOf(table.CallKind, table.ListOf(table.CallKind))

type hooksValue = value.Opaque[*agent.Hooks]

var hooksKind = &table.Kind{Word: "hooks(...)", Stub: "Hooks", Accept: value.As[*hooksValue], Hint: table.CallHint("hooks", agent.HookNames()...)}

func hooksFunc(c *table.Call) (starlark.Value, error) {
	h := &agent.Hooks{}
	for _, name := range agent.HookNames() {
		if f := c.FuncArg(name); f != nil {
			h.Add(name, f)
			continue
		}
		for _, item := range c.List(name) {
			if f := thread.FuncOf(c.State, item); f != nil {
				h.Add(name, f)
			}
		}
	}
	return c.Made(&hooksValue{Kind: "hooks", Text: "hooks(...)", Of: h})
}

// hookList reads hooks = hooks(...), or a list of them.
func hookList(c *table.Call) []*agent.Hooks {
	if v, ok := c.Arg("hooks").(*hooksValue); ok {
		return []*agent.Hooks{v.Of}
	}
	var all []*agent.Hooks
	for _, item := range c.List("hooks") {
		if v, ok := item.(*hooksValue); ok {
			all = append(all, v.Of)
		}
	}
	return all
}

func proceedFunc(c *table.Call) (starlark.Value, error) {
	if !c.Has("value") {
		return value.FromData(agent.Proceed().Value()), nil
	}
	v, err := c.Value("value")
	if err != nil {
		return nil, value.Prefixed("what proceed takes", err)
	}
	return value.FromData(agent.ProceedWith(v).Value()), nil
}

func denyFunc(c *table.Call) (starlark.Value, error) {
	return value.FromData(agent.Refuse(c.Str("reason")).Value()), nil
}

func substituteFunc(c *table.Call) (starlark.Value, error) {
	v, err := c.Value("value")
	if err != nil {
		return nil, value.Prefixed("what substitute takes", err)
	}
	return value.FromData(agent.Substitute(v).Value()), nil
}

// guardAside lists the parameters of a tool that set when and how it may be called.
const guardAside = "on_error on_unknown timeout max_result untrusted max only_after forbidden"

// ruleParams are the parameters of tool(...) for when a tool may be called and what its results are.
func ruleParams() []table.Param {
	return []table.Param{
		table.Opt("untrusted", table.BoolKind, "False", "its results are text from outside, which the model is instructed to treat only as information"),
		table.Opt("max", table.BoundKind, "None", "how often it may be called in one call of the agent"),
		table.Opt("only_after", table.AnyOf(toolNameKind, table.ListOf(toolNameKind)), "None", "the name of a tool that must have succeeded before, or several names"),
		table.Opt("forbidden", reasonKind, "None", "why it may not be called: the model sees the tool, and receives this reason if it calls it"),
	}
}

// toolNameKind takes the name of a tool.
var toolNameKind = table.Hinted(table.Naming(table.StrKind, table.ToolName), func(v starlark.Value) string {
	if f, ok := v.(*starlark.Function); ok {
		return fmt.Sprintf("pass its name: %q", f.Name())
	}
	return ""
})

// toolChoiceKind takes what the first answer must call.
var toolChoiceKind = table.Worded("str", table.AnyOf(table.OneOf("auto", "required", "none"), toolNameKind))

// reasonKind takes a reason that is shown to a model.
var reasonKind = table.Texts(func(_ *table.Param, reason string) []table.Fault {
	return table.FaultIf(strings.TrimSpace(reason) == "", "say why, for the model to read, or leave it out", "the reason is empty")
})

// ruled reads the parameters of [ruleParams]. A given tool may have rules already, for example from the host: further
// rules make it stricter, and none removes one.
func ruled(c *table.Call, t *agent.Tool) {
	t.Untrusted = t.Untrusted || c.Bool("untrusted", false)
	var rules agent.ToolRules
	if t.Rules != nil {
		rules = *t.Rules
	}
	if c.Has("max") {
		if most := c.Int("max", 1); rules.Max == 0 || most < rules.Max {
			rules.Max = most
		}
	}
	if c.Has("only_after") {
		rules.OnlyAfter, rules.OnlyAfterSpan = slices.Clone(rules.OnlyAfter), c.ArgSpan("only_after")
		has := map[string]bool{}
		for _, name := range rules.OnlyAfter {
			has[name] = true
		}
		for _, name := range c.Texts("only_after") {
			if !has[name] {
				rules.OnlyAfter, has[name] = append(rules.OnlyAfter, name), true
			}
		}
	}
	if rules.Forbidden == "" && c.Has("forbidden") {
		rules.Forbidden = c.Str("forbidden")
	}
	if rules.Max > 0 || rules.OnlyAfter != nil || rules.Forbidden != "" {
		t.Rules = &rules
	}
}
