package interp

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/generable"
)

// gather runs n steps concurrently and handles failures as the node says.
func gather(b *exec.Branch, s *step, n int, kid func(i int) (*step, generable.Value)) (generable.Value, error) {
	node := s.node
	if node.Kind() == flow.EachNode {
		took(b, node, min(n, ways.EachSome))
	}
	if node.OnError() == flow.OnErrorRaise {
		out, err := fan(b, "", 0, n, node.Spec().Limit, nil, kid)
		if err == nil && s.kids[0].group {
			out = append(outputsOf(out[0]), out[1:]...)
		}
		return listed(out, err)
	}
	failed := make([]*engine.Error, n)
	out, err := fan(b, "", 0, n, node.Spec().Limit, failed, kid)
	if err != nil {
		return generable.Value{}, err
	}
	if slices.ContainsFunc(failed, func(e *engine.Error) bool { return e != nil }) {
		took(b, node, ways.Failure(node))
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
			b.Emit(engine.Event{Kind: engine.EventDropped, Data: &event.Dropped{Name: k.node.Label(), Text: fmt.Sprintf("number %d of %d failed: %s", i+1, n, e.Message), Err: e}})
		}
	}
	return listed(kept, nil)
}

// fan runs n steps concurrently, each on its own branch, and returns their outputs in order. The branches are indices
// of the current position, or of a segment below it. Failures that may be handled are stored in failed, unless it is
// nil.
func fan(b *exec.Branch, segment string, ordinal, n, limit int, failed []*engine.Error, kid func(i int) (*step, generable.Value)) ([]generable.Value, error) {
	at := b.At
	if segment != "" {
		at = at.Child(segment, "", ordinal)
	}
	out := make([]generable.Value, n)
	for i := range out {
		out[i] = unrun
	}
	err := b.Par(n, limit, func(i int, sched engine.Sched) error {
		br := b.Fork(sched, at.Index(i))
		if failed != nil {
			br.Apart()
		}
		return br.Guard(func() (err error) {
			k, in := kid(i)
			out[i], err = Run(br, k, in)
			br.CutOff(err, []*flow.Node{k.node})
			if err == nil || failed == nil {
				return err
			}
			failed[i], err = br.Catch(err)
			return err
		})
	})
	if err == nil && slices.Contains(out, unrun) {
		err = exec.Unrun()
	}
	return out, err
}

// unrun marks the output of a step that has not begun. No step returns it.
var unrun = generable.NewMap(0).Value()

// outputsOf returns the outputs of the members of a group, whose value is a list.
func outputsOf(v generable.Value) []generable.Value {
	list, _ := v.AsList()
	return slices.Clone(list.Items())
}

func listed(out []generable.Value, err error) (generable.Value, error) {
	if err != nil {
		return generable.Value{}, err
	}
	return generable.NewList(out).Value(), nil
}

func noList(v generable.Value) error {
	return engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "each takes a list, got %s", v.TypeName())
}
