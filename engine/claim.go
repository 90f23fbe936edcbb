package engine

import (
	"context"

	"github.com/agentscript/agentscript/engine/internal/abi"
)

// claimRequest is the recorded claim of one call of a script's tool: its position tells it apart.
type claimRequest struct{}

func (claimRequest) Digest() [32]byte { return abi.Hash([]byte("tool call")) }

// claim reserves one call of a tool of the script. Nothing stays held while it runs, as what it
// calls may need the same resource. Several agents may share what is left, so that whether there was
// any is recorded, as it is of effects: the tool itself is run again on a replay.
func (b *branch) claim(agent string) error {
	a := &ask{want: estimate{resToolCalls: 1}}
	j := b.run.spec.Journal
	if j == nil || !b.budget.shares {
		held, err := b.reserve(a, agent, b.at)
		if err == nil {
			held.settle(nil, Usage{})
		}
		return err
	}
	e := (&inFlight{effect: Effect{Kind: EffectBudget, Name: "tool_call", Agent: agent, Run: b.RunID(), At: b.at.child("budget", "", 0), Req: claimRequest{}, Class: ClassRead}}).begin()
	if out, known := j.Answer(e.ID()); known {
		b.extended(e)
		if out.Err != nil {
			return out.Err
		}
		b.charge(a, nil, Usage{})
		return nil
	}
	held, err := b.reserve(a, agent, e.At)
	out := Outcome{Attempt: 1}
	switch {
	case err == nil:
		held.settle(nil, Usage{})
	case b.sched.Err() != nil: // stopped while it waited
		return err
	default:
		out = Outcome{Err: asError(err)}
		if b.Wants(EventBudget) {
			b.emit(Event{Kind: EventBudget, Data: &BudgetData{Name: "tool_calls", Err: out.Err}})
		}
	}
	out = b.sched.Do(HandlerFunc(func(ctx context.Context, e *Effect, _ Sink) Outcome { return commit(ctx, j, e, out) }), e, nil)
	if out.Err != nil {
		return out.Err
	}
	return nil
}
