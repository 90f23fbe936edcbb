package compose

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func approvalRows() []table.Builtin {
	return []table.Builtin{
		{Name: "approve", Group: table.GroupScript, Returns: engine.ApprovalType.Name, Effect: table.Recorded, RunOnly: `if approve("Ship it?", draft).approved:`, Func: approveFunc, May: true,
			Params: []table.Param{
				{Name: "question", Kind: table.StrKind, Doc: "what a person is asked"},
				{Name: "data", Kind: table.AnyKind, Default: "None", Doc: "what it is about: the person sees it, and may change it"},
			},
			Doc: "Asks a person in a function that runs, and gives what was decided: approved (bool), reason, edited (bool) and data. The answer is recorded: a replay asks nobody."},
		{Name: "approval", Group: table.GroupCompose, Returns: "node", Effect: table.Compose, Whole: true, Func: approvalFunc, May: true,
			Params: []table.Param{
				{Name: "question", Kind: table.StrKind, Doc: "what a person is asked about the value that arrives"},
				{Name: "input", Kind: table.TypeKind, Default: "any", Doc: "what it takes and gives"},
			},
			Doc: "A step that a person has to approve: it gives on what arrives, or what the person puts in its place. Denied, it fails."},
	}
}

func approveFunc(c *table.Call) (starlark.Value, error) {
	data, err := c.Value("data")
	if err != nil {
		return nil, value.Prefixed("the data of approve", err)
	}
	v, err := c.Env.Branch.Approve(c.Str("question"), data, nil)
	if err != nil {
		return nil, err
	}
	return value.FromData(v), nil
}

func approvalFunc(c *table.Call) (starlark.Value, error) {
	t, question := c.Type("input"), c.Str("question")
	return c.NodeMade(func(s *flow.Session, site flow.Site) *flow.Node {
		return s.Fn(site, engine.GoFunc("approval", 1, func(b engine.Branch, args []generable.Value) (generable.Value, error) {
			return b.Approved(question, args[0], t)
		}), t, t)
	})
}
