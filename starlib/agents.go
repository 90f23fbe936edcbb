package starlib

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// agentsRows are the builtins that make agents and their parts.
func agentsRows() []Builtin {
	return slices.Concat(agentRows(), routerRows(), asToolRows(), serverRows(), verifyRows(), imageRows(), budgetRows(), recoveryRows(), policyRows(), hookRows(), memoryRows())
}

func agentRows() []Builtin {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	sampling := samplingParams()
	structured := opt("structured", oneOf("auto", "constrained", "guided"), `"auto"`, "how firmly the model is held to the output type")
	return []Builtin{
		{Name: "agent", Group: GroupAgents, Aside: "name model budget policy hooks on_bad_output repairs tool_choice structured on_token on_partial memory history enough on_tool_error tools_at_once " +
			"temperature top_p max_tokens seed stop effort reasoning_tokens cache parallel_tool_calls extra", Returns: "node", Effect: Compose, Func: agentFunc,
			Params: append([]Param{
				opt("input", TypeKind, "str", "what it takes"),
				opt("output", TypeKind, "str", "what it gives"),
				opt("name", nameKind, "None", "its name; else the variable it is assigned to, else the function around it"),
				opt("model", modelsKind, "None", modelDoc),
				opt("prompt", anyOf(StrKind, promptKind), "None", "the system text, dedented and literal, or template(...)"),
				opt("run", CallKind, "None", "a function of the input that gives the output: no model is called"),
				opt("skills", listOf(skillKind), "[]", "what it can do; one of them must give the output type"),
				opt("tools", listOf(toolKind), "[]", "what the model may call: tool(...), functions that declare their parameters, the tools of a server: mcp(...), escalate, give_up"),
				opt("select", selectKind, "None", "chooses among skills that take the same input: a function of the input that gives the name of one, or router(...), which asks a model"),
				opt("budget", budgetKind, "None", "bounds of one call of the agent"),
				opt("policy", policyKind, "None", "which calls of tools its model may have made, see policy(...)"),
				opt("hooks", anyOf(hooksKind, listOf(hooksKind)), "None", "functions around its calls of models and tools, see hooks(...)"),
				opt("on_bad_output", CallKind, "None", "gets the raw text when it does not fit the output, and gives the output"),
				opt("repairs", countKind, "1", "how often the model is asked again for an answer that fits"),
				opt("tool_choice", toolNameKind, `"auto"`, `"auto", "required", "none" or the name of a tool: what the model's first answer must do`),
				structured,
				opt("on_token", functionKind, "None", "called with each piece of an answer while it arrives: .kind (\"text\", \"reasoning\", \"call\"), .text, .tool, .attempt; it may compute and print"),
				opt("on_partial", functionKind, "None", "called with what is known of a typed answer while it arrives, a partial value"),
				opt("memory", memoryKind, "None", "notes that the model can read, write, add to and search"),
				opt("history", historyKind, `"fresh"`, historyDoc),
				opt("enough", predicateKind, "None", "a condition on fields of the output that ends the answer early, once it holds: has(\"score\"), eq(\"spam\", True); of a union eq(\"type\", \"Spam\")"),
				opt("on_tool_error", recoveryKind, "None", "what is done about calls of tools that fail, before the model hears of it: fix(...), again(...), escalate(...), give_up(...), a function of the ToolFailure, a list of them, or recover(...); a tool's own on_error goes before it"),
				opt("tools_at_once", boundKind, "8", "how many calls of one answer run at once"),
			}, sampling...),
			Doc: "Makes an agent: a typed function that a model carries out, or code when run is given."},
		{Name: "skill", Group: GroupAgents, Aside: "policy llm_description", Returns: "skill", Effect: Compose, Func: skillFunc,
			Params: []Param{
				{Name: "name", Kind: nameKind, Doc: "its name"},
				{Name: "doc", Kind: StrKind, Doc: "what it does"},
				opt("input", TypeKind, "None", "what it takes; the agent's input when not given"),
				opt("output", TypeKind, "None", "what it gives; the agent's output when not given"),
				opt("run", CallKind, "None", "a function that carries it out: no model is called"),
				opt("tools", listOf(toolKind), "[]", "what the model may call: tool(...), functions, mcp(...)"),
				opt("knowledge", knowledgeDict, "{}", "texts that the model can ask for: {key: knowledge(doc, text)}"),
				opt("policy", policyKind, "None", "which calls of tools the model may have made for it, beside the agent's"),
				opt("llm_description", StrKind, "None", "replaces the generated description, verbatim"),
			},
			Doc: "Describes one thing that an agent can do. run and tools exclude each other."},
		{Name: "tool", Group: GroupAgents, Aside: "effect returns " + guardAside, Returns: "tool", Effect: Compose, Func: toolFunc,
			Params: append([]Param{
				{Name: "f", Kind: toolFunctionKind, Doc: "the function; its docstring describes it. Or a tool, to give it another on_error, timeout or max_result"},
				{Name: "params", Kind: DictKind, Default: "{}", Doc: "types of its parameters: {\"path\": str}; a parameter whose default is a type declares itself"},
				opt("effect", oneOf("read", "idempotent", "once"), `"read"`, "what may be done again; no less than what the function may do to the world, by which rules go. It is not said to be once: a function of the script runs again on a replay, while its requests and commands are recorded"),
				opt("returns", TypeKind, "any", "what it gives"),
				opt("name", nameKind, "None", "its name; else the function's"),
				opt("on_error", recoveryKind, "None", "what is done about calls that fail, before the model hears of it: fix(...), again(...), escalate(...), give_up(...), a function of the ToolFailure, a list of them, or recover(...)"),
				opt("timeout", timeKind, "None", `time of one execution: "5s", "2m", or seconds; what takes longer fails`),
				opt("max_result", boundKind, "262144", "how many bytes of a result's text the model is told"),
			}, ruleParams()...),
			Doc: "Makes a function a tool that a model may call."},
		{Name: "knowledge", Group: GroupAgents, Returns: "knowledge", Effect: Compose, Func: knowledgeFunc,
			Params: []Param{
				{Name: "doc", Kind: StrKind, Doc: "what the text is about: the model decides by it"},
				{Name: "content", Kind: anyOf(StrKind, CallKind), Doc: "the text, or a function that gives it when it is asked for; one with a parameter gets what the model looks for"},
			},
			Doc: "Describes a text that a model can ask for. It is not part of the prompt."},
		{Name: "budget", Group: GroupAgents, Aside: "name turns tool_calls model_calls tokens usd steps wall depth same_call arg_bytes on_limit warn_at", Returns: "budget", Effect: Compose, Func: budgetFunc,
			made:   func(_ *state, t *Table) starlark.Value { return maker(t, "budget") },
			Params: budgetParams(),
			Doc:    "Bounds what one call of an agent may use, or what all calls of agents that are given a budget of one name use together, and of nodes that bounded gives it to. The run's own budget holds as well."},
		{Name: "model", Group: GroupAgents, Aside: "structured temperature top_p max_tokens seed stop effort reasoning_tokens cache parallel_tool_calls extra", Returns: "model", Effect: Compose, Func: modelFunc,
			Params: append([]Param{{Name: "name", Kind: anyOf(StrKind, modelNames), Doc: `"provider/model", or a list of them: each is asked when the one before cannot answer`}, structured}, sampling...),
			Doc:    "Describes a model with its parameters, for several agents. What the agent says itself goes first."},
	}
}

// agentName is the agent's name: given, its variable's, the enclosing function's, or what it is.
func (c *Call) agentName() string {
	if c.Has("name") {
		return c.Str("name")
	}
	if name := c.name(); name != "" {
		return name
	}
	if c.file != nil {
		if name := c.file.FuncAt(c.pos); name != "" {
			return name
		}
	}
	return "agent"
}

func agentFunc(c *Call) (starlark.Value, error) {
	name := c.agentName()
	c.idle()
	spec := &engine.AgentSpec{Name: name, In: c.typ("input"), Out: c.typ("output"), Run: c.callback("run"),
		Select: c.selection(), OnBadOutput: c.callback("on_bad_output"), Repairs: c.Int("repairs", 1),
		OnToolError: c.recovery("on_tool_error"), ToolsAtOnce: c.Int("tools_at_once", engine.DefaultToolsAtOnce)}
	c.settingsGiven().over(c.modelNamed()).into(spec)
	spec.Choice = c.toolChoice()
	spec.Policy, spec.Hooks = c.policy(), c.hookList()
	if p, ok := c.Arg("enough").(*predicateValue); ok {
		spec.Enough, spec.EnoughSpan = p.p, c.spanOf("enough")
	}
	spec.Onlooker = c.onlooker(spec.Out)
	spec.PromptSpan, spec.ModelSpan = c.spanOf("prompt"), c.spanOf("model")
	switch p := c.Arg("prompt").(type) {
	case starlark.String:
		spec.Prompt = dedent(string(p))
	case *nodeValue:
		spec.Template = p.text
		c.stood = c.stood || p.n.Failed()
	}
	if b, ok := c.Arg("budget").(*budgetValue); ok {
		spec.Budget = b.limits
	}
	if m, ok := c.Arg("memory").(*memoryValue); ok {
		spec.Memory, spec.MemorySpan = m.m, c.spanOf("memory")
	}
	spec.History = c.history()
	spec.Tools, spec.Servers = c.toolList("tools"), c.serverList("tools")
	for item := range c.items("skills") {
		switch sk := item.(type) {
		case *skillValue:
			own := *sk.sk // the engine settles its types by the agent
			spec.Skills = append(spec.Skills, &own)
		case *failedValue:
			c.stood = true
		}
	}
	if !hasServers(spec) { // else a run alone knows
		c.chosen(spec.Choice, toolNames(spec))
	}
	if len(c.wrong) > 0 || c.stood {
		return c.standIn(), nil
	}
	v, err := c.made(func(session *engine.Session, site engine.Site) *engine.Node { return session.Agent(site, spec) })
	c.state.checkFields(c.Arg("run"), spec.In) // Agent has settled the types
	c.state.checkFields(c.Arg("select"), spec.In)
	for item := range c.items("skills") {
		if sk, ok := item.(*skillValue); ok && sk.run != nil {
			in := sk.sk.In
			if in == nil {
				in = spec.In
			}
			c.state.checkFields(sk.run, in)
		}
	}
	return v, err
}

// idle reports what an agent that is a function does nothing with.
func (c *Call) idle() {
	if !c.Has("run") {
		return
	}
	var names []string
	at := c.fnSpan()
	add := func(param, shown string) {
		if len(names) == 0 {
			at = c.spanOf(param)
		}
		names = append(names, shown)
	}
	for _, p := range c.row.Params {
		switch p.Name {
		case "input", "output", "name", "run": // all else is of a model
		case "budget":
			b, ok := c.Arg(p.Name).(*budgetValue)
			if !ok {
				continue
			}
			if _, set := b.limits.Turns.Value(); set {
				add(p.Name, "budget(turns = ...)")
			}
			if _, set := b.limits.ToolCalls.Value(); set {
				add(p.Name, "budget(tool_calls = ...)")
			}
			for _, r := range []struct {
				word string
				set  bool
			}{{"same_call", b.limits.SameCall != engine.Cap{}}, {"arg_bytes", b.limits.ArgBytes != engine.Cap{}}, {"on_limit", b.limits.OnLimit != engine.OnLimitFail}} {
				if r.set && b.limits.Name == "" {
					add(p.Name, "budget("+r.word+" = ...)")
				}
			}
		default:
			if c.Has(p.Name) {
				add(p.Name, p.Name)
			}
		}
	}
	if len(names) > 0 {
		d := c.complain(diag.SkillConflict, at, "an agent with run = calls no model: %s would do nothing", joined(names))
		d.Help = []string{"leave out run =, or these; a deterministic part of an agent is skill(name, doc, run = f)"}
	}
}

func skillFunc(c *Call) (starlark.Value, error) {
	sk := &engine.Skill{Name: c.Str("name"), Doc: dedent(c.Str("doc")), In: c.typ("input"), Out: c.typ("output"), Run: c.callback("run"),
		Tools: c.toolList("tools"), Servers: c.serverList("tools"), Knowledge: c.knowledge(), Description: c.Str("llm_description"), Policy: c.policy(), Span: c.fnSpan()}
	if c.stood {
		return c.standIn(), nil
	}
	return &skillValue{sk: sk, run: c.Arg("run")}, nil
}
