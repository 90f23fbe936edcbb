package exec

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/node"
)

// Nest counts an agent that begins, inside those that called it, and refuses one too many: before
// anything of it runs. A bound of its own counts from here.
func (b *Branch) Nest(a *agent.AgentSpec) error {
	outer := b.Deepest
	if own, set := a.Budget.Depth.Value(); set {
		if most := NestBound(b.Agents, own); b.Deepest == 0 || most < b.Deepest {
			b.Deepest = most
		}
	}
	most := b.Deepest
	if most == 0 {
		most = engine.DefaultDepth + 1
	}
	if b.Agents+1 >= most {
		err := tooNested(a.Name, int(most-1))
		err.Scope = b.At.Root().Path() // none of those around calls one either
		b.Deepest = outer
		err.Scope = b.At.Root().Path() // no model on the way could do better: it is not told
		return err
	}
	b.Agents++
	return nil
}

// NestBound is how many agents there may be inside each other, and one, since 0 is no bound.
func NestBound(agents int32, most int64) int32 {
	return agents + int32(min(max(most, 0), node.MaxNesting)) + 1
}

func tooNested(agent string, most int) *engine.Error {
	return engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "agent %q is not called: agents call each other %d deep already", agent, most).
		WithHelp("see which agent calls itself, or raise it with budget(depth = ...) on the outermost agent")
}
