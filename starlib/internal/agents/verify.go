package agents

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func verifyRows() []table.Builtin {
	return []table.Builtin{
		{Name: "verify", Group: table.GroupAgents, Aside: "model name budget repairs tool_choice structured " + samplingNames, Returns: "node", Effect: table.Compose, AtTop: true, Func: verifyFunc, May: true,
			Params: append([]table.Param{
				table.Opt("model", modelsKind, "None", modelDoc),
				table.Opt("prompt", table.AnyOf(table.StrKind, promptKind), "None", "the system text, or template(...)"),
				table.Opt("task", table.AnyOf(table.StrKind, promptKind), "None", "what was asked for, by which the model judges; a template(...) is a user message after the input"),
				table.Opt("input", table.TypeKind, "str", "what it takes"),
				table.Opt("name", table.NameKind, "None", "its name; by default that of the variable it is assigned to, else that of the enclosing function"),
				table.Opt("tools", table.ListOf(toolKind), "[]", "functions that the model may call"),
				offerParam(),
				table.Opt("budget", BudgetKind, "None", "bounds of one call"),
				table.Opt("repairs", table.CountKind, "1", "how often the model is asked again for an answer that fits"),
				toolChoiceParam(),
				structuredParam(),
			}, samplingParams()...),
			Doc: `Makes an agent that judges work: X→Critique[X], which has success (bool), feedback (str) and the input. Edges of graph and routes of branch test it with eq("success", True).`},
		table.TypeRow("Critique", "The type that verify returns: success (bool), feedback (str) and input. Critique[str] is the type for a str input; in Critique by itself, the input may be anything.", table.GroupAgents, flow.CritiqueOf(generable.AnyT), flow.CritiqueOf),
	}
}

// offerParam chooses among the tools of an agent's servers.
func offerParam() table.Param {
	return table.Opt("offer", table.ListOf(table.StrKind), "None", "the names of the servers' tools that the model may call; a name that no server has is an error; by default all")
}

func verifyFunc(c *table.Call) (starlark.Value, error) {
	name := agentName(c)
	spec := &agent.Spec{Name: name, In: c.Type("input"), Out: flow.VerdictType, Repairs: c.Int("repairs", 1), Prompt: flow.Judging}
	settingsGiven(c).over(modelNamed(c)).into(spec)
	spec.Choice = model.ToolChoiceOf(c.Str("tool_choice"))
	instructed(c, spec)
	tasked(c, spec)
	task := spec.Task
	spec.Task = "" // a str is part of the system text
	switch c.Arg("prompt").(type) {
	case nil:
		if task == "" && spec.TaskText == nil {
			c.Problemf(diag.MissingArgument, c.FuncSpan(), "verify needs to know what to judge by").Help = []string{"verify(task = \"...\") says what was asked for, prompt = \"...\" how to judge"}
		}
	case *value.Node:
		if task != "" {
			c.Problemf(diag.WrongArgument, c.ArgSpan("task"), "task goes into the template").Help = []string{"write it there: prompt = template(\"... \\n\\n## Task\\n\\n...\")"}
		}
	}
	if task != "" {
		spec.Prompt = flow.JudgeText(spec.Prompt, task)
	}
	if !hasServers(spec) { // otherwise only a run knows the tools
		chosen(c, spec.Choice, toolNames(spec))
	}
	if len(c.Problems) > 0 || c.Incomplete {
		return c.Placeholder(), nil
	}
	s, site := c.State.Session, c.Site()
	judge := s.Agent(site, spec)
	return value.NewNode(c.State, s.Verify(site, judge)), nil
}
