package temporal

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// The search attributes of runs that are listed.
var (
	byFlow   = temporal.NewSearchAttributeKeyKeyword("AgentscriptFlow")
	byBundle = temporal.NewSearchAttributeKeyKeyword("AgentscriptBundle")
	byTenant = temporal.NewSearchAttributeKeyKeyword("AgentscriptTenant")
	byStatus = temporal.NewSearchAttributeKeyKeyword("AgentscriptStatus")
	byCost   = temporal.NewSearchAttributeKeyFloat64("AgentscriptCostUSD")
)

// Attributes returns the search attributes that a namespace needs for runs that are listed, see [Options].
func Attributes() map[string]enumspb.IndexedValueType {
	all := map[string]enumspb.IndexedValueType{}
	for _, key := range []temporal.SearchAttributeKey{byFlow, byBundle, byTenant, byStatus, byCost} {
		all[key.GetName()] = key.GetValueType()
	}
	return all
}

// searchAttributes returns the search attributes that a run begins with.
func (o Options) searchAttributes(h engine.RunHead) temporal.SearchAttributes {
	if !o.Listed {
		return temporal.SearchAttributes{}
	}
	return temporal.NewSearchAttributes(byFlow.ValueSet(h.Script), byBundle.ValueSet(h.Bundle), byTenant.ValueSet(o.Tenant), byStatus.ValueSet(string(engine.RunRunning)), byCost.ValueSet(0))
}

// startMemo is what lists show about how a run began, without querying it.
type startMemo struct {
	Script string    `json:"script"`
	Bundle string    `json:"bundle"`
	Entry  string    `json:"entry"`
	ABI    int       `json:"abi"`
	Seed   uint64    `json:"seed,string"`
	Parent string    `json:"parent,omitempty"`
	Begun  time.Time `json:"begun"`
}

// statusMemo is what lists show about how far a run is: its state when it last parked, resumed, continued as new or
// ended. Each of these adds one event to the history.
type statusMemo struct {
	Status  engine.RunStatus `json:"status"`
	Steps   int              `json:"steps"`
	Waiting int              `json:"waiting,omitempty"`
	Usage   model.Usage      `json:"usage"`
}

const (
	memoKey   = "agentscript"
	statusKey = "agentscript.standing"
)

// readMemo reads one of the memos of a workflow, and reports whether it exists.
func readMemo(m *commonpb.Memo, key string, to any) bool {
	p := m.GetFields()[key]
	return p != nil && converter.GetDefaultDataConverter().FromPayload(p, to) == nil
}

// parked reports whether the run cannot continue without an answer from outside.
func (x *execution) parked() bool { return x.record.Waiting() && x.world.Idle() }

// publishStatusChanges publishes when the run waits for answers, and when it resumes.
func (x *execution) publishStatusChanges() {
	was, asked := engine.RunRunning, 0
	x.world.OnRest(func() {
		is := engine.RunRunning
		if x.parked() {
			is = engine.RunParked
		}
		if is != was || is == engine.RunParked && asked != x.record.WaitCount() {
			was, asked = is, x.record.WaitCount()
			x.publishStatus(is)
		}
	})
}

// publishEnd publishes how the run ended.
func (x *execution) publishEnd(failed error) {
	x.world.OnRest(nil)
	switch {
	case failed == nil:
		x.publishStatus(engine.RunDone)
	case engine.AsError(failed).Kind == engine.KindCancelled:
		x.publishStatus(engine.RunCancelled)
	default:
		x.publishStatus(engine.RunFailed)
	}
}

// publishStatus publishes the status of the run: in its memo, and in search attributes if the run has them. A failure
// to write either of them is ignored: they are only for lists.
func (x *execution) publishStatus(status engine.RunStatus) {
	is := statusMemo{Status: status}
	if info, err := x.record.Run(context.Background(), x.record.ID()); err == nil {
		is.Steps, is.Waiting, is.Usage = info.Steps, info.Waiting, info.Usage
	}
	_ = workflow.UpsertMemo(x.ctx, map[string]any{statusKey: is})
	if x.in.Listed {
		_ = workflow.UpsertTypedSearchAttributes(x.ctx, byStatus.ValueSet(string(status)), byCost.ValueSet(is.Usage.CostUSD))
	}
}
