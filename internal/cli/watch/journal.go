package watch

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Memory holds the effects of the runs of a script that is being edited: an effect that an edit does not change is
// answered from it. An effect that must not run twice runs in the first run, and in a later one only if a person
// agrees.
type Memory struct {
	journal journal
	edited  atomic.Bool
	asks    engine.Handler
	seed    uint64 // seeds the numbers and ids of all runs
}

// NewMemory returns an empty memory. asks passes approvals to a person; it is engine.Handlers(nil) if nobody is there.
// With prepared, the answers of models come from a file or are generated, and are not remembered.
func NewMemory(prepared bool, asks engine.Handler) *Memory {
	return &Memory{journal: journal{prepared: prepared}, asks: asks, seed: rand.Uint64()}
}

// Journal answers the effects of all runs.
func (m *Memory) Journal() engine.Journal { return &m.journal }

// Edited marks what follows as caused by an edit.
func (m *Memory) Edited() { m.edited.Store(true) }

// Around is the [engine.Middleware] that holds back effects that must not run twice.
func (m *Memory) Around(next engine.Handler) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if m.edited.Load() && e.Class == engine.ClassOnce && e.Kind != engine.EffectModel && e.Kind != engine.EffectApproval {
			if err := m.agreed(ctx, e); err != nil {
				return engine.Failed(err)
			}
		}
		return next.Do(ctx, e, sink)
	})
}

// agreed asks a person whether an effect may run because of an edit.
func (m *Memory) agreed(ctx context.Context, e *engine.Effect) *engine.Error {
	if none, ok := m.asks.(engine.Handlers); ok && len(none) == 0 {
		return engine.Errorf(engine.KindApproval, diag.NeedsApproval, "%s must not run twice, and an edit alone does not run it", e.Name).
			WithHelp("watch at a terminal, where you are asked, or start the command again")
	}
	r := &engine.ApprovalRequest{Question: "The script was edited. Run " + e.Name + ", which must not run twice?"}
	if args, err := json.Marshal(e.Req); err == nil {
		r.Data = lenient.Decode(generable.AnyT, string(args), generable.Options{Level: generable.Strict}).Value
	}
	out := m.asks.Do(ctx, &engine.Effect{Kind: engine.EffectApproval, Name: e.Name, Agent: e.Agent, Run: e.Run, At: e.At, Req: r}, nil)
	if out.Err == nil && edited(out) {
		return engine.Errorf(engine.KindApproval, diag.NeedsApproval, "%s runs as the script has it, or not at all", e.Name).WithHelp("answer y or n, and edit the script")
	}
	if out.Err == nil && !approved(out) {
		return engine.Errorf(engine.KindApproval, diag.NeedsApproval, "%s must not run twice, and you said no", e.Name)
	}
	return out.Err
}

// approved reports whether the outcome of an approval is an approval.
func approved(out engine.Outcome) bool { return decided(out, "approved") }

// edited reports whether the outcome approves something else.
func edited(out engine.Outcome) bool { return decided(out, "edited") }

func decided(out engine.Outcome, field string) bool {
	rec, ok := out.Value.AsRecord()
	if !ok {
		return false
	}
	v, _ := rec.Get(field)
	yes, _ := v.AsBool()
	return yes
}

// journal remembers what succeeded, and everything that must not run twice. What a script reads from its own machine is
// read again.
type journal struct {
	store.Memory
	prepared bool
}

// Commit implements [engine.Journal].
func (j *journal) Commit(ctx context.Context, id string, e *engine.Effect, out engine.Outcome) error {
	keep := false
	switch {
	case e == nil:
	case e.Kind == engine.EffectModel:
		keep = out.Err == nil && !j.prepared
	case e.Kind == engine.EffectApproval:
		keep = out.Err == nil && approved(out)
	case e.Class == engine.ClassOnce:
		keep = out.Err == nil || out.Err.Code != diag.NeedsApproval
	case e.Kind == engine.EffectTool, e.Kind == engine.EffectHTTP, e.Kind == engine.EffectExec:
		keep = out.Err == nil
	}
	if !keep {
		return nil
	}
	return j.Memory.Commit(ctx, id, e, out)
}
