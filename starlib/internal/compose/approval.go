package compose

import (
	"cmp"

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
				{Name: "question", Kind: table.StrKind, Doc: "the question for the person"},
				{Name: "data", Kind: table.AnyKind, Default: "None", Doc: "what the question is about; the person sees it and may change it"},
			},
			Doc: "Asks a person, in a running function, and returns the decision: approved (bool), reason, edited (bool) and data. The answer is recorded: a replay asks nobody."},
		{Name: "approval", Group: table.GroupCompose, Returns: "node", Effect: table.Compose, Whole: true, Func: approvalFunc, May: true,
			Params: []table.Param{
				{Name: "question", Kind: table.StrKind, Doc: "the question for the person about the input"},
				{Name: "input", Kind: approvedKind, Default: "any", Doc: "what it takes and returns, if no node before it determines that"},
			},
			Doc: "A step that a person must approve. It returns its input, or the value that the person replaces it with. If denied, it fails."},
		{Name: "wait", Group: table.GroupScript, Returns: "any", Effect: table.Recorded, RunOnly: `order = wait("order", Order)`, Func: waitFunc, May: true,
			Params: []table.Param{
				{Name: "name", Kind: table.StrKind, Doc: "the name under which the value is sent"},
				{Name: "type", Kind: table.TypeKind, Default: "str", Doc: "the type that the value must have"},
			},
			Doc: "Waits, in a running function, for a value that is sent to the run under a name, by agentscript runs answer RUN NAME --result JSON or by a host's Engine.Signal. Meanwhile the run is parked, and its process may end. The value is recorded."},
	}
}

// approvedKind takes the type of an approval. A node precedes it.
var approvedKind = table.Hinted(table.TypeKind, func(v starlark.Value) string {
	if n, ok := v.(*value.Node); ok {
		return "an approval is a step after the node: " + n.Label() + " >> approval(\"...\")"
	}
	return ""
})

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

func waitFunc(c *table.Call) (starlark.Value, error) {
	v, err := c.Env.Branch.WaitFor(c.Str("name"), cmp.Or(c.Type("type"), generable.StrT))
	if err != nil {
		return nil, err
	}
	return value.FromData(v), nil
}

func approvalFunc(c *table.Call) (starlark.Value, error) {
	return c.NodeMade(func(s *flow.Session, site flow.Site) *flow.Node {
		return s.Approval(site, c.Str("question"), c.Type("input"))
	})
}
