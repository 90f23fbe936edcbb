package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

func approvalRows() []Builtin {
	return []Builtin{
		{Name: "approve", Group: GroupScript, Returns: engine.ApprovalType.Name, Effect: Recorded, Func: approveFunc, May: true,
			Params: []Param{
				{Name: "question", Kind: StrKind, Doc: "what a person is asked"},
				{Name: "data", Kind: AnyKind, Default: "None", Doc: "what it is about: the person sees it, and may change it"},
			},
			Doc: "Asks a person in a function that runs, and gives what was decided: approved (bool), reason, edited (bool) and data. The answer is recorded: a replay asks nobody."},
		{Name: "approval", Group: GroupCompose, Returns: "node", Effect: Compose, Func: approvalFunc, May: true,
			Params: []Param{
				{Name: "question", Kind: StrKind, Doc: "what a person is asked about the value that arrives"},
				{Name: "input", Kind: TypeKind, Default: "any", Doc: "what it takes and gives"},
			},
			Doc: "A step that a person has to approve: it gives on what arrives, or what the person puts in its place. Denied, it fails."},
	}
}

func approveFunc(c *Call) (starlark.Value, error) {
	if !c.inRun(`if approve("Ship it?", draft).approved:`) {
		return nil, nil
	}
	data, err := c.Value("data")
	if err != nil {
		return nil, prefixed("the data of approve", err)
	}
	v, err := c.env.branch.Approve(c.Str("question"), data, nil)
	if err != nil {
		return nil, err
	}
	return fromValue(v), nil
}

func approvalFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return c.standIn(), nil
	}
	t, question := c.typ("input"), c.Str("question")
	return c.made(func(s *engine.Session, site engine.Site) *engine.Node {
		return s.Fn(site, engine.GoFunc("approval", 1, func(b engine.Branch, args []generable.Value) (generable.Value, error) {
			return b.Approved(question, args[0], t)
		}), t, t)
	})
}
