package engine

import "github.com/agentscript/agentscript/diag"

// nest counts an agent that begins, inside those that called it, and refuses one too many: before
// anything of it runs. A bound of its own counts from here.
func (b *branch) nest(a *AgentSpec) error {
	outer := b.deepest
	if own, set := a.Budget.Depth.Value(); set {
		if most := nestBound(b.agents, own); b.deepest == 0 || most < b.deepest {
			b.deepest = most
		}
	}
	most := b.deepest
	if most == 0 {
		most = DefaultDepth + 1
	}
	if b.agents+1 >= most {
		err := tooNested(a.Name, int(most-1))
		err.Scope = b.at.root().Path() // none of those around calls one either
		b.deepest = outer
		err.Scope = b.at.root().Path() // no model on the way could do better: it is not told
		return err
	}
	b.agents++
	return nil
}

// nestBound is how many agents there may be inside each other, and one, since 0 is no bound.
func nestBound(agents int32, most int64) int32 {
	return agents + int32(min(max(most, 0), MaxNesting)) + 1
}

func tooNested(agent string, most int) *Error {
	return Errorf(KindBudget, diag.BudgetExceeded, "agent %q is not called: agents call each other %d deep already", agent, most).
		WithHelp("see which agent calls itself, or raise it with budget(depth = ...) on the outermost agent")
}
