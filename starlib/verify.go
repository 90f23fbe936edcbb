package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

func verifyRows() []Builtin {
	opt := func(name string, kind Kind, def, doc string) Param {
		return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: def, Doc: doc}
	}
	return []Builtin{
		{Name: "verify", Group: GroupAgents, Aside: "model name budget repairs", Returns: "node", Effect: Compose, Func: verifyFunc, May: true,
			Params: []Param{
				opt("model", modelsKind, "None", modelDoc),
				opt("prompt", anyOf(StrKind, promptKind), "None", "the system text, or template(...)"),
				opt("task", StrKind, "None", "what was asked for: the model judges by it"),
				opt("input", TypeKind, "str", "what it takes"),
				opt("name", nameKind, "None", "its name; else the variable it is assigned to, else the function around it"),
				opt("tools", listOf(toolKind), "[]", "functions that the model may call"),
				opt("budget", budgetKind, "None", "bounds of one call"),
				opt("repairs", countKind, "1", "how often the model is asked again for an answer that fits"),
			},
			Doc: `Makes an agent that judges work: X→Critique[X], which is success (bool), feedback (str) and the input. Edges of graph and routes of branch ask it as eq("success", True).`},
		generic("Critique", "The type of what verify gives: success (bool), feedback (str) and input. Critique[str] is that of a str; by itself, the input may be anything.", GroupAgents, engine.CritiqueOf),
	}
}

// judging is what a verifying agent is told when the script does not say it.
const judging = "Verify the work that you are given. Judge it by the task alone, and be precise about what must change."

func verifyFunc(c *Call) (starlark.Value, error) {
	if err := c.composing(); err != nil {
		return nil, err
	}
	name := c.agentName()
	spec := &engine.AgentSpec{Name: name, In: c.typ("input"), Out: engine.VerdictType, Repairs: c.Int("repairs", 1), Tools: c.toolList("tools"), Servers: c.serverList("tools"), Prompt: judging}
	c.modelNamed().into(spec)
	spec.PromptSpan, spec.ModelSpan = c.spanOf("prompt"), c.spanOf("model")
	task := dedent(c.Str("task"))
	switch p := c.Arg("prompt").(type) {
	case nil:
		if task == "" {
			c.complain(diag.MissingArgument, c.fnSpan(), "verify needs to know what to judge by").Help = []string{"verify(task = \"...\") says what was asked for, prompt = \"...\" how to judge"}
		}
	case starlark.String:
		spec.Prompt = dedent(string(p))
	case *nodeValue:
		spec.Prompt, spec.Template = "", p.text
		c.stood = c.stood || p.n.Failed()
		if task != "" {
			c.complain(diag.WrongArgument, c.spanOf("task"), "task goes into the template").Help = []string{"write it there: prompt = template(\"... \\n\\n## Task\\n\\n...\")"}
		}
	}
	if task != "" {
		spec.Prompt += "\n\n## Task\n\n" + task
	}
	if b, ok := c.Arg("budget").(*budgetValue); ok {
		spec.Budget = b.limits
	}
	if len(c.wrong) > 0 || c.stood {
		return c.standIn(), nil
	}
	s, site := c.state.session, c.nodeSite()
	judge := s.Agent(site, spec)
	return c.state.node(s.Verify(site, judge)), nil
}
