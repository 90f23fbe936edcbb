package interp

import (
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
)

// attempt runs a node and makes what it came to a value.
func attempt(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	defer b.Apart()()
	before := b.Thread
	out, err := Run(b, s.kids[0], v)
	if err == nil {
		return flow.Attempted(s.node.Out(), out, nil), nil
	}
	b.Thread = before // what failed leaves nothing
	failed := b.Catch(err)
	if failed == nil {
		return out, err
	}
	return flow.Attempted(s.node.Out(), out, failed), nil
}

// gather runs n steps at once and does with the failures what the node says.
func gather(b *exec.Branch, s *step, n int, kid func(i int) (*step, generable.Value)) (generable.Value, error) {
	node := s.node
	if node.OnError() == flow.OnErrorRaise {
		return listed(fan(b, "", 0, n, node.Spec().Limit, nil, kid))
	}
	failed := make([]*engine.Error, n)
	out, err := fan(b, "", 0, n, node.Spec().Limit, failed, kid)
	if err != nil {
		return generable.Value{}, err
	}
	if node.OnError() == flow.OnErrorKeep {
		for i := range out {
			out[i] = flow.Attempted(node.Spec().Item, out[i], failed[i])
		}
		return listed(out, nil)
	}
	kept := out[:0]
	for i, e := range failed {
		if e == nil {
			kept = append(kept, out[i])
			continue
		}
		if b.Wants(engine.EventDropped) {
			k, _ := kid(i)
			b.Emit(engine.Event{Kind: engine.EventDropped, Data: &engine.DroppedData{Name: k.node.Label(), Text: fmt.Sprintf("number %d of %d failed: %s", i+1, n, e.Message), Err: e}})
		}
	}
	return listed(kept, nil)
}
