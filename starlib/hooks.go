package starlib

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
)

// hookDocs say what each hook is called with.
var hookDocs = map[string]string{
	"before_tool":       "before a call of a tool: (name, args); gives proceed(), proceed(args), deny(reason), substitute(result) or None",
	"after_tool":        "after a call that succeeded: (name, args, result); gives proceed(), deny(reason), substitute(result) or None",
	"before_model":      "before a model call: (call), of agent, model, system, messages and turn; gives proceed(), proceed({\"system\": ...}), deny(reason), substitute(answer) or None",
	"after_model":       "after a model call: (call, answer), of text and calls; gives proceed(), deny(reason), substitute(answer) or None",
	"on_tool_use":       "looks on after a call of a tool succeeded: (name, args, result)",
	"on_knowledge_used": "looks on after a text that a skill knows was read: (key, text)",
	"on_skill_chosen":   "looks on when a skill begins: (name)",
	"on_model_call":     "looks on after a model call: (call, answer)",
	"on_error":          "looks on when a call of a tool or of the agent failed: (failure), a Failure",
}

func hookRows() []Builtin {
	var params []Param
	for _, name := range engine.HookNames() {
		params = append(params, Param{Name: name, Kind: hookFuncs, Shape: KeywordOnly, Default: "None", Doc: hookDocs[name]})
	}
	row := func(name, doc string, f func(*Call) (starlark.Value, error), params ...Param) Builtin {
		return Builtin{Name: name, Group: GroupAgents, Returns: "Intercept", Effect: Pure, May: true, Doc: doc, Func: f, Params: params}
	}
	return []Builtin{
		{Name: "hooks", Group: GroupAgents, Aside: strings.Join(engine.HookNames(), " "), Returns: "hooks", Effect: Compose, May: true, Func: hooksFunc, Params: params,
			Doc: "Functions around what an agent does, each one or a list. Interceptors (before, after) decide: all run, and the first that does not just proceed decides; one that fails denies. Observers (on) look on: one that fails is logged."},
		row("proceed", "What an interceptor gives to let a call go on: as it is, or with something else.", proceedFunc,
			Param{Name: "value", Kind: AnyKind, Default: "None", Doc: "other arguments of the tool, or of a model call a dict of system and model"}),
		row("deny", "What an interceptor gives to have a call not made, or its result not used. The model of a denied tool is told the reason; an agent whose model call is denied fails.", denyFunc,
			Param{Name: "reason", Kind: StrKind, Doc: "why"}),
		row("substitute", "What an interceptor gives to have a result taken in place of the call's own.", substituteFunc,
			Param{Name: "value", Kind: AnyKind, Doc: "the result of the tool, or the answer of the model"}),
	}
}

// hookFuncs takes a function, or a list of them.
var hookFuncs = anyOf(CallKind, listOf(CallKind))

type hooksValue struct {
	part
	h *engine.Hooks
}

func (v *hooksValue) String() string { return "hooks(...)" }
func (v *hooksValue) Type() string   { return "hooks" }

var hooksKind = Kind{Word: "hooks(...)", Stub: "Hooks", accept: as[*hooksValue], hint: callHint("hooks", engine.HookNames()...)}

func hooksFunc(c *Call) (starlark.Value, error) {
	h := &engine.Hooks{}
	for _, name := range engine.HookNames() {
		if f := c.callback(name); f != nil {
			h.Add(name, f)
			continue
		}
		for item := range c.items(name) {
			if f := c.state.funcOf(item); f != nil {
				h.Add(name, f)
			}
		}
	}
	if c.stood {
		return c.standIn(), nil
	}
	return &hooksValue{h: h}, nil
}

// hookList reads hooks = hooks(...), or a list of them.
func (c *Call) hookList() []*engine.Hooks {
	if v, ok := c.Arg("hooks").(*hooksValue); ok {
		return []*engine.Hooks{v.h}
	}
	var all []*engine.Hooks
	for item := range c.items("hooks") {
		if v, ok := item.(*hooksValue); ok {
			all = append(all, v.h)
		}
	}
	return all
}

func proceedFunc(c *Call) (starlark.Value, error) {
	if !c.Has("value") {
		return fromValue(engine.Proceed().Value()), nil
	}
	v, err := c.Value("value")
	if err != nil {
		return nil, prefixed("what proceed takes", err)
	}
	return fromValue(engine.ProceedWith(v).Value()), nil
}

func denyFunc(c *Call) (starlark.Value, error) {
	return fromValue(engine.Refuse(c.Str("reason")).Value()), nil
}

func substituteFunc(c *Call) (starlark.Value, error) {
	v, err := c.Value("value")
	if err != nil {
		return nil, prefixed("what substitute takes", err)
	}
	return fromValue(engine.Substitute(v).Value()), nil
}

// guardAside are the parameters of a tool that say when and how it is called.
const guardAside = "on_error timeout max_result untrusted max only_after forbidden"

// ruleParams are what tool(...) says about when a tool may be called, and what its results are.
func ruleParams() []Param {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	return []Param{
		opt("untrusted", BoolKind, "False", "its results are text from outside, which the model is told to take for information alone"),
		opt("max", boundKind, "None", "how often it may be called in one call of the agent"),
		opt("only_after", anyOf(toolNameKind, listOf(toolNameKind)), "None", "the name of a tool, or of several, that must have succeeded before"),
		opt("forbidden", reasonKind, "None", "why it may not be called: the model sees the tool, and is told when it calls it"),
	}
}

// toolNameKind takes the name of a tool.
var toolNameKind = hinted(StrKind, func(v starlark.Value) string {
	if f, ok := v.(*starlark.Function); ok {
		return fmt.Sprintf("give its name: %q", f.Name())
	}
	return ""
})

// reasonKind takes a reason that a model is told.
var reasonKind = vetted(StrKind, func(_ *Param, v starlark.Value) []fault {
	if s, _ := v.(starlark.String); strings.TrimSpace(string(s)) == "" {
		return wrong("say why: the model is told; or leave it out", "the reason is empty")
	}
	return nil
})

// ruled reads them. A tool that is given may have rules, of the host say: more of them make it stricter, and
// none takes one away.
func (c *Call) ruled(t *engine.Tool) {
	t.Untrusted = t.Untrusted || c.Bool("untrusted", false)
	var rules engine.ToolRules
	if t.Rules != nil {
		rules = *t.Rules
	}
	if c.Has("max") {
		if most := c.Int("max", 1); rules.Max == 0 || most < rules.Max {
			rules.Max = most
		}
	}
	if c.Has("only_after") {
		rules.OnlyAfter, rules.OnlyAfterSpan = slices.Clone(rules.OnlyAfter), c.spanOf("only_after")
		after := func(name string) {
			if !slices.Contains(rules.OnlyAfter, name) {
				rules.OnlyAfter = append(rules.OnlyAfter, name)
			}
		}
		if one, ok := c.Arg("only_after").(starlark.String); ok {
			after(string(one))
		}
		for item := range c.items("only_after") {
			if s, ok := item.(starlark.String); ok {
				after(string(s))
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
