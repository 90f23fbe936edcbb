package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

func pick(n *flow.Node, v generable.Value) (generable.Value, error) {
	out, ok := typing.Field(v, n.Field())
	if !ok {
		return out, engine.Errorf(engine.KindType, diag.UnknownPick, "%s has no field %q", v.TypeName(), n.Field()).
			WithHelp("see what came before: the value is not of the form that pick expects")
	}
	return out, nil
}

func render(n *flow.Node, v generable.Value) (generable.Value, error) {
	text, err := n.Spec().Text.Render(v, n.In())
	if err != nil {
		return generable.Value{}, engine.Errorf(engine.KindType, diag.UnknownPlaceholder, "%w", err)
	}
	return generable.StrOf(text), nil
}
