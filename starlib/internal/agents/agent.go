package agents

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/data"
	"github.com/agentscript/agentscript/starlib/internal/lint"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Rows returns the builtins that make agents and their parts.
func Rows() []table.Builtin {
	return slices.Concat(agentRows(), routerRows(), asToolRows(), serverRows(), verifyRows(), imageRows(), budgetRows(), recoveryRows(), policyRows(), hookRows(), memoryRows())
}

func agentRows() []table.Builtin {
	sampling := samplingParams()
	return []table.Builtin{
		{Name: "agent", Group: table.GroupAgents, Aside: "name model budget policy hooks on_bad_output repairs tool_choice structured on_token on_partial memory history enough on_tool_error tools_at_once reasoning_every " +
			samplingNames, Returns: "node", Effect: table.Compose, Func: agentFunc,
			Params: append([]table.Param{
				{Name: "name", Kind: table.NameKind, Default: "None", Doc: "its name; by default that of the variable it is assigned to, else that of the enclosing function"},
				table.Opt("input", table.TypeKind, "str", "what it takes"),
				table.Opt("output", table.TypeKind, "str", "what it returns"),
				table.Opt("model", modelsKind, "None", modelDoc),
				table.Opt("prompt", table.AnyOf(table.StrKind, promptKind), "None", "the system text, dedented and literal, or template(...)"),
				table.Opt("task", table.AnyOf(table.StrKind, promptKind), "None", "what to do with the input: a user message after it, dedented and literal, or template(...)"),
				table.Opt("run", table.CallKind, "None", "a function of the input that returns the output: no model is called"),
				table.Opt("skills", table.ListOf(skillKind), "[]", "what it can do; one of them must return the output type"),
				table.Opt("tools", table.ListOf(toolKind), "[]", "what the model may call: tool(...), functions that declare their parameters, mcp(...) for the tools of a server, escalate, give_up"),
				offerParam(),
				table.Opt("select", selectKind, "None", "chooses among skills that take the same input: a function of the input that returns the name of one, or router(...), which asks a model"),
				table.Opt("budget", BudgetKind, "None", "bounds of one call of the agent"),
				table.Opt("policy", policyKind, "None", "which tool calls its model may make, see policy(...)"),
				table.Opt("hooks", table.AnyOf(hooksKind, table.ListOf(hooksKind)), "None", "functions that run around its model and tool calls, see hooks(...)"),
				table.Opt("on_bad_output", table.CallKind, "None", "called with the raw text if it does not fit the output; returns the output"),
				table.Opt("repairs", table.CountKind, "1", "how often the model is asked again for an answer that fits"),
				toolChoiceParam(),
				structuredParam(),
				table.Opt("on_token", functionKind, "None", "called with each piece of an answer as it arrives: .kind (\"text\", \"reasoning\", \"call\"), .text, .tool, .attempt; it may only compute and print"),
				table.Opt("on_partial", functionKind, "None", "called as a typed answer arrives, with a partial value that holds what is known of it"),
				table.Opt("memory", memoryKind, "None", "notes that the model can read, write, append to and search"),
				table.Opt("history", historyKind, `"fresh"`, historyDoc),
				table.Opt("enough", table.PredicateKind, "None", "a condition on fields of the output that ends the answer early, as soon as it holds: has(\"score\"), eq(\"spam\", True); for a union eq(\"type\", \"Spam\")"),
				table.Opt("on_tool_error", recoveryKind, "None", "how to handle failed tool calls, before their failures are passed to the model: "+remediesDoc+". A tool's own on_error takes precedence"),
				table.Opt("tools_at_once", table.BoundKind, "8", "how many tool calls of one answer run at once"),
				table.Opt("reasoning_every", intervalKind, "None", "asks the model for its reasoning before its first answer, and again each time this many rounds of tool results have passed, in turns without tools"),
			}, sampling...),
			Doc: "Makes an agent: a typed function that a model carries out or, with run, code."},
		{Name: "skill", Group: table.GroupAgents, Aside: "policy llm_description", Returns: "skill", Effect: table.Compose, Func: skillFunc,
			Params: []table.Param{
				{Name: "name", Kind: table.NameKind, Doc: "its name"},
				{Name: "doc", Kind: table.StrKind, Doc: "what it does"},
				table.Opt("input", table.TypeKind, "None", "what it takes; by default the agent's input"),
				table.Opt("output", table.TypeKind, "None", "what it returns; by default the agent's output"),
				table.Opt("run", table.CallKind, "None", "a function that carries it out: no model is called"),
				table.Opt("tools", table.ListOf(toolKind), "[]", "what the model may call: tool(...), functions, mcp(...)"),
				table.Opt("knowledge", knowledgeDict, "{}", "texts that the model can ask for: {key: knowledge(doc, text)}"),
				table.Opt("policy", policyKind, "None", "which tool calls the model may make for it, in addition to the agent's policy"),
				table.Opt("llm_description", table.StrKind, "None", "replaces the generated description, verbatim"),
			},
			Doc: "Describes one thing that an agent can do. run and tools are mutually exclusive."},
		{Name: "llm_description", Of: "skill", Group: table.GroupAgents, Returns: "str", Effect: table.Pure, Func: skillDescription,
			Doc: "Returns the description of the skill for a model: its own text, or one made from its name, doc, types and knowledge. Types that the skill leaves to its agent are those of the first agent that has the skill, and str before that."},
		{Name: "tool", Group: table.GroupAgents, Aside: "effect returns " + guardAside, Returns: "tool", Effect: table.Compose, Whole: true, Func: toolFunc,
			Params: append([]table.Param{
				{Name: "f", Kind: toolFunctionKind, Doc: "the function, described by its docstring; or a tool, to set another on_error, on_unknown, timeout or max_result"},
				{Name: "params", Kind: table.DictKind, Default: "{}", Doc: "types of its parameters: {\"path\": str}; a parameter whose default is a type declares itself"},
				table.Opt("effect", toolEffectKind, `"read"`, effectDoc+". Policy rules such as \"@idempotent\" refer to it. It is never weaker than the effects that the function itself may have. A function of the script cannot be \"once\": it runs again on a replay, while its requests and commands are recorded"),
				table.Opt("returns", table.TypeKind, "any", "what it returns"),
				table.Opt("name", table.NameKind, "None", "its name; by default the function's"),
				table.Opt("on_error", recoveryKind, "None", "how to handle failed calls, before their failures are passed to the model: "+remediesDoc),
				table.Opt("timeout", table.TimeKind, "None", `the time limit of one execution: "5s", "2m", or seconds; an execution that takes longer fails`),
				table.Opt("max_result", table.BoundKind, "262144", "how many bytes of a result's text are sent to the model"),
				unknownParam(),
			}, ruleParams()...),
			Doc: "Turns a function into a tool that a model may call."},
		{Name: "knowledge", Group: table.GroupAgents, Returns: "knowledge", Effect: table.Compose, Func: knowledgeFunc,
			Params: []table.Param{
				{Name: "doc", Kind: table.StrKind, Doc: "what the text is about, for the model to decide whether it needs it"},
				{Name: "content", Kind: table.AnyOf(table.StrKind, table.CallKind), Doc: "the text, or a function that returns it on request; a function with a parameter receives what the model is looking for"},
			},
			Doc: "Describes a text that a model can ask for. It is not part of the prompt."},
		{Name: "budget", Group: table.GroupAgents, Aside: "name turns tool_calls model_calls tokens usd steps wall depth same_call arg_bytes on_limit warn_at", Returns: "budget", Effect: table.Compose, Func: budgetFunc,
			Make:   func(_ *script.State, t *table.Table) starlark.Value { return table.Maker(t, "budget") },
			Params: budgetParams(),
			Doc:    "Bounds what one call of an agent may use. All agents and bounded nodes that have a budget with the same name share it. The run's own budget applies as well."},
		{Name: "model", Group: table.GroupAgents, Aside: "structured " + samplingNames, Returns: "model", Effect: table.Compose, Func: modelFunc,
			Params: append([]table.Param{{Name: "name", Kind: table.AnyOf(modelName, modelNames), Doc: `"provider/model", or a list of them, where each is asked if the one before it cannot answer`}, structuredParam()}, sampling...),
			Doc:    "Describes a model with its parameters, for use by several agents. An agent's own settings take precedence."},
	}
}

// agentName returns the agent's name: the given name, the name of its variable or of the enclosing function, or a
// description of the agent.
func agentName(c *table.Call) string {
	if c.Has("name") {
		return c.Str("name")
	}
	name := c.Variable()
	if name == "" && c.File != nil {
		name = c.File.FuncAt(c.Pos)
	}
	return cmp.Or(name, "agent")
}

func agentFunc(c *table.Call) (starlark.Value, error) {
	name := agentName(c)
	idle(c)
	spec := &agent.Spec{Name: name, In: c.Type("input"), Out: c.Type("output"), Run: c.FuncArg("run"),
		Select: selection(c), OnBadOutput: c.FuncArg("on_bad_output"), Repairs: c.Int("repairs", 1),
		OnToolError: recovery(c, "on_tool_error"), ToolsAtOnce: c.Int("tools_at_once", agent.DefaultToolsAtOnce), ReasoningEvery: c.Int("reasoning_every", 0)}
	settingsGiven(c).over(modelNamed(c)).into(spec)
	if c.Has("name") && !c.Has("prompt") && !c.Has("task") && !c.Has("run") && !c.Has("skills") && c.Refs[c.ParamIndex("name")].Name == "" {
		c.Problemf(diag.NoSkill, c.ArgSpan("name"), "agent %q has nothing to do", name).Help =
			[]string{"the first argument is its name; the system text is prompt = \"...\", a function run = f"}
	}
	spec.Choice = model.ToolChoiceOf(c.Str("tool_choice"))
	spec.Policy, spec.Hooks = policyArg(c), hookList(c)
	if p, ok := c.Arg("enough").(*value.Predicate); ok {
		spec.Enough, spec.EnoughSpan = p.Pred, c.ArgSpan("enough")
	}
	spec.Observer = onlooker(c, spec.Out)
	instructed(c, spec)
	tasked(c, spec)
	if m, ok := c.Arg("memory").(*value.Memory); ok {
		spec.Memory, spec.MemorySpan = m.Bank, c.ArgSpan("memory")
	}
	spec.History = history(c)
	for _, item := range c.List("skills") {
		switch sk := item.(type) {
		case *value.Skill:
			own := *sk.Skill // a copy, since the engine sets the skill's types from the agent
			spec.Skills = append(spec.Skills, &own)
		case *value.Failed:
			c.Incomplete = true
		}
	}
	if !hasServers(spec) { // otherwise only a run knows the tools
		chosen(c, spec.Choice, toolNames(spec))
	}
	if len(c.Problems) > 0 || c.Incomplete {
		return c.Placeholder(), nil
	}
	if err := c.State.Spend(pairs(spec)); err != nil {
		return nil, err
	}
	v, err := c.NodeMade(func(session *flow.Session, site flow.Site) *flow.Node { return session.Agent(site, spec) })
	calledBy(c, spec) // flow.Agent has set the types
	return v, err
}

// pairs returns the number of loading steps charged for checking an agent's skills against its tools, and its rules
// against both: each may be a list that many agents share.
func pairs(a *agent.Spec) int {
	const each = 32 // rules are checked even without tools, and skills even without rules
	n, tools := 0, len(a.Tools)
	for _, sk := range a.Skills {
		n += (1 + sk.Policy.Len()) * (each + len(a.Tools) + len(sk.Tools))
		tools += len(sk.Tools)
	}
	return (n + a.Policy.Len()*(each+tools)) / 4
}

// calledBy records how an agent calls its functions.
func calledBy(c *table.Call, spec *agent.Spec) {
	if run := c.Arg("run"); run != nil {
		lint.Called(c.State, run, script.Contract{Params: []*generable.Type{spec.In}, Result: spec.Out, Role: "run of ", Who: spec.Name})
	}
	if choose := c.Arg("select"); choose != nil {
		lint.Called(c.State, choose, script.Contract{Params: []*generable.Type{spec.In}})
	}
	if mend := c.Arg("on_bad_output"); mend != nil {
		lint.Called(c.State, mend, script.Contract{Params: []*generable.Type{generable.StrT}, Result: spec.Out, Role: "on_bad_output of ", Who: spec.Name})
	}
	for _, item := range c.List("skills") {
		sk, ok := item.(*value.Skill)
		if ok && sk.Of == nil && !c.Running() {
			sk.Of = spec
		}
		if ok && sk.Run != nil {
			lint.Called(c.State, sk.Run, script.Contract{Params: []*generable.Type{cmp.Or(sk.Skill.In, spec.In)},
				Result: cmp.Or(sk.Skill.Out, spec.Out), Role: "run of skill ", Who: sk.Skill.Name})
		}
	}
}

// instructed reads the parameters that agent and verify share: prompt, tools and budget.
func instructed(c *table.Call, spec *agent.Spec) {
	spec.PromptSpan, spec.ModelSpan = c.ArgSpan("prompt"), c.ArgSpan("model")
	switch p := c.Arg("prompt").(type) {
	case starlark.String:
		spec.Prompt = script.Dedent(string(p))
	case *value.Node:
		spec.Prompt, spec.Template = "", p.Template
		c.Incomplete = c.Incomplete || p.Node.Failed()
	}
	if b, ok := c.Arg("budget").(*value.Budget); ok {
		spec.Budget = GivenBudget(c, b)
	}
	spec.Tools, spec.Servers = toolList(c), serverList(c)
	if c.Has("offer") {
		spec.Offer = append([]string{}, c.Texts("offer")...)
		if len(spec.Servers) == 0 && !c.Incomplete {
			c.Problemf(diag.WrongArgument, c.ArgSpan("offer"), "offer: the agent has no MCP server").Help = []string{"it chooses among the tools of servers: tools = [mcp(...)]"}
		}
	}
}

// tasked reads the task, which follows the input.
func tasked(c *table.Call, spec *agent.Spec) {
	spec.TaskSpan = c.ArgSpan("task")
	switch task := c.Arg("task").(type) {
	case starlark.String:
		spec.Task = script.Dedent(string(task))
	case *value.Node:
		spec.TaskText = task.Template
		c.Incomplete = c.Incomplete || task.Node.Failed()
	}
}

// OfOneAgent returns the names of the bounds of a budget that concern the conversation of one agent. A named budget is
// for several agents, and has none.
func OfOneAgent(l engine.Limits) []string {
	var names []string
	for _, r := range []struct {
		word string
		set  bool
	}{{"same_call", l.SameCall != engine.Cap{}}, {"arg_bytes", l.ArgBytes != engine.Cap{}}, {"on_limit", l.OnLimit != engine.OnLimitFail}} {
		if r.set && l.Name == "" {
			names = append(names, r.word)
		}
	}
	return names
}

// idle reports parameters that have no effect on an agent that is a function.
func idle(c *table.Call) {
	if !c.Has("run") {
		return
	}
	var names []string
	at := c.FuncSpan()
	add := func(param, shown string) {
		if len(names) == 0 {
			at = c.ArgSpan(param)
		}
		names = append(names, shown)
	}
	for _, p := range c.Row.Params {
		switch p.Name {
		case "input", "output", "name", "run": // everything else configures a model
		case "budget":
			b, ok := c.Arg(p.Name).(*value.Budget)
			if !ok {
				continue
			}
			if _, set := b.Limits.Turns.Value(); set {
				add(p.Name, "budget(turns = ...)")
			}
			if _, set := b.Limits.ToolCalls.Value(); set {
				add(p.Name, "budget(tool_calls = ...)")
			}
			for _, word := range OfOneAgent(b.Limits) {
				add(p.Name, "budget("+word+" = ...)")
			}
		default:
			if c.Has(p.Name) {
				add(p.Name, p.Name)
			}
		}
	}
	if len(names) > 0 {
		d := c.Problemf(diag.SkillConflict, at, "an agent with run = calls no model: %s would do nothing", script.Joined(names))
		d.Help = []string{"leave out run =, or these; a deterministic part of an agent is skill(name, doc, run = f)"}
	}
}

func skillFunc(c *table.Call) (starlark.Value, error) {
	sk := &agent.Skill{Name: c.Str("name"), Doc: script.Dedent(c.Str("doc")), In: c.Type("input"), Out: c.Type("output"), Run: c.FuncArg("run"),
		Tools: toolList(c), Servers: serverList(c), Knowledge: knowledge(c), Description: c.Str("llm_description"), Policy: policyArg(c), Span: c.FuncSpan()}
	return c.Made(&value.Skill{Skill: sk, Run: c.Arg("run"), State: c.State})
}

func skillDescription(c *table.Call) (starlark.Value, error) {
	return starlark.String(c.Receiver.(*value.Skill).Describe()), nil
}

type modelValue = value.Opaque[settings]

var (
	skillKind = &table.Kind{Word: "skill(...)", Stub: "Skill", Accept: value.As[*value.Skill], Hint: func(v starlark.Value) string {
		switch v := v.(type) {
		case starlark.String:
			return fmt.Sprintf("write skill(%q, \"what it does\")", string(v))
		case *value.Tool, *starlark.Function:
			return "what a model may call belongs in tools = [...]; a skill is skill(name, doc, tools = [...])"
		}
		return ""
	}}
	BudgetKind = &table.Kind{Word: "budget(...)", Stub: "Budget", Accept: value.As[*value.Budget], Hint: hintBudget}
	modelKind  = &table.Kind{Word: "model(...)", Stub: "Model", Accept: value.As[*modelValue]}
	// promptKind takes a template, which would be a node otherwise.
	promptKind = &table.Kind{Word: "template(...)", Stub: "Node", Accept: func(v starlark.Value) (starlark.Value, bool) {
		n, ok := v.(*value.Node)
		return v, ok && (n.Template != nil || n.Node.Failed())
	}}
	functionKind = &table.Kind{Word: "function", Stub: "Callable", Accept: value.As[*starlark.Function], Hint: func(v starlark.Value) string {
		if b, ok := v.(*starlark.Builtin); ok {
			return "write a function of the script around it: lambda x: " + b.Name() + "(x)"
		}
		return table.HintFunction(v)
	}}
	// toolFunctionKind takes what tool can turn into a tool or change.
	toolFunctionKind = table.AnyOf(table.Hinted(functionKind, func(v starlark.Value) string {
		if b, ok := v.(*starlark.Builtin); ok {
			return "a tool declares its parameters and their types: def f(x = str): return " + b.Name() + "(x)"
		}
		return ""
	}), &table.Kind{Word: "tool(...)", Stub: "Tool", Accept: value.As[*value.Tool]})
	toolKind = &table.Kind{Word: "tool(...), mcp(...) or function", Stub: "Tool | MCP | Callable", Accept: func(v starlark.Value) (starlark.Value, bool) {
		switch v := v.(type) {
		case *value.Tool, *value.Server, *starlark.Function:
			return v, true
		case *starlark.Builtin:
			return v, asks(v) != nil
		}
		return v, false
	}, Hint: hintTool}
	knowledgeDict = table.Hinted(table.Worded("dict of knowledge(...)", table.DictOf(&table.Kind{Word: "knowledge(...), str or function", Stub: "Knowledge | str", Accept: value.Either(value.As[*value.Knowledge], value.As[starlark.String], value.As[*starlark.Function])})), func(v starlark.Value) string { return `write {"key": knowledge("what it is about", text)}` })
)

// hintTool says how a value that is not a tool can reach a model.
func hintTool(v starlark.Value) string {
	switch v := v.(type) {
	case *value.Node:
		return "write " + v.Label() + `.as_tool(name, doc)`
	case *starlark.Builtin:
		return data.HintCapability(v)
	case *remedyValue:
		if name := remedyWord[v.r.Do]; askingTools()[name] != nil {
			return "as a tool of a model it is not called: tools = [" + name + "]"
		}
	case starlark.String:
		if name := string(v); strings.IndexFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) < 0 {
			return "list a function of the script, without quotes: tools = [" + name + "]"
		}
		return "list functions of the script, which declare their parameters, tool(f, ...) or mcp(...)"
	case *value.Memory:
		return "pass it separately, as memory = ...: it adds its own tools"
	case *value.Skill:
		return "write skills = [...]"
	case *value.Knowledge:
		return `it belongs to a skill: skill("name", "what it does", knowledge = {"key": ...})`
	case *value.Type, starlark.NoneType, starlark.Int, starlark.Float, starlark.Bool:
		return "list the function itself: look, not look()"
	case *starlark.Dict:
		return "write a function that declares its parameters: def look(query = str)"
	case *table.ModuleValue:
		return "wrap what the model may do in functions that declare their parameters"
	}
	return ""
}

func knowledgeFunc(c *table.Call) (starlark.Value, error) {
	k := agent.Knowledge{Doc: c.Str("doc"), Text: c.Str("content")}
	if k.Text == "" {
		k.Load = c.FuncArg("content")
	}
	if k.Load != nil && k.Load.Info().Needs > 1 {
		d := c.Problemf(diag.CallbackArity, c.ArgSpan("content"), "the function that returns a knowledge text is called with what the model looks for, or without arguments")
		d.Label = "it needs " + text.CountInWords(k.Load.Info().Needs, "argument")
		d.Help = []string{"write lambda query: ..., lambda: text, or pass the text itself"}
		return nil, nil
	}
	return &value.Knowledge{Kind: "knowledge", Text: fmt.Sprintf("knowledge(%q)", k.Doc), Of: k}, nil
}

// knowledge reads {key: knowledge(...)}; a plain str or function has no description.
func knowledge(c *table.Call) []agent.Knowledge {
	d, ok := c.Arg("knowledge").(*starlark.Dict)
	if !ok {
		return nil
	}
	var out []agent.Knowledge
	for key, item := range d.Entries() {
		k := agent.Knowledge{}
		switch item := item.(type) {
		case *value.Knowledge:
			k = item.Of
		case starlark.String:
			k.Text = string(item)
		case *starlark.Function:
			k.Load = thread.FuncOf(c.State, item)
		case *value.Failed:
			c.Incomplete = true
		}
		k.Key = string(key.(starlark.String))
		out = append(out, k)
	}
	return out
}
