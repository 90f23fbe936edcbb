package temporal

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine"
)

// The search attributes of runs that are listed.
var (
	byFlow   = temporal.NewSearchAttributeKeyKeyword("AgentscriptFlow")
	byBundle = temporal.NewSearchAttributeKeyKeyword("AgentscriptBundle")
	byTenant = temporal.NewSearchAttributeKeyKeyword("AgentscriptTenant")
	byStatus = temporal.NewSearchAttributeKeyKeyword("AgentscriptStatus")
	byCost   = temporal.NewSearchAttributeKeyFloat64("AgentscriptCostUSD")
)

// Attributes are the search attributes that a namespace needs for runs that are listed, see [Options].
func Attributes() map[string]enumspb.IndexedValueType {
	all := map[string]enumspb.IndexedValueType{}
	for _, key := range []temporal.SearchAttributeKey{byFlow, byBundle, byTenant, byStatus, byCost} {
		all[key.GetName()] = key.GetValueType()
	}
	return all
}

// listedAt are those that a run begins with.
func (o Options) listedAt(h engine.RunHead) temporal.SearchAttributes {
	if !o.Listed {
		return temporal.SearchAttributes{}
	}
	return temporal.NewSearchAttributes(byFlow.ValueSet(h.Script), byBundle.ValueSet(h.Bundle), byTenant.ValueSet(o.Tenant), byStatus.ValueSet(string(engine.RunRunning)), byCost.ValueSet(0))
}

// saysStatus has a run that is listed say when it waits for answers, and when it goes on.
func (g *generation) saysStatus() {
	if !g.in.Listed {
		return
	}
	was := engine.RunRunning
	if g.record.Waits() {
		was = ""
	}
	g.world.OnRest(func() {
		is := engine.RunRunning
		if g.record.Waits() && g.world.Idle() {
			is = engine.RunParked
		}
		if is != was {
			was = is
			_ = workflow.UpsertTypedSearchAttributes(g.ctx, byStatus.ValueSet(string(is))) // it is for lists alone
		}
	})
}

// saysEnd has a run that is listed say how it ended, and what it cost.
func (g *generation) saysEnd(failed error) {
	if !g.in.Listed {
		return
	}
	g.world.OnRest(nil)
	status, cost := engine.RunDone, 0.0
	switch {
	case failed == nil:
	case engine.AsError(failed).Kind == engine.KindCancelled:
		status = engine.RunCancelled
	default:
		status = engine.RunFailed
	}
	if info, err := g.record.Run(context.Background(), g.record.ID()); err == nil {
		cost = info.Usage.CostUSD
	}
	_ = workflow.UpsertTypedSearchAttributes(g.ctx, byStatus.ValueSet(string(status)), byCost.ValueSet(cost)) // it is for lists alone
}
