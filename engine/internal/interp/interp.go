// Package interp compiles nodes to plans and runs them.
package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/conversation"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// Interp is the interpreter of plans, in the form that branches use.
type Interp struct{}

func (Interp) Call(b *exec.Branch, n *flow.Node, input generable.Value) (generable.Value, error) {
	if n.Failed() {
		return generable.Value{}, b.Locate(Uncomposed(n), n)
	}
	v, errs := n.In().Convert(input)
	if errs != nil {
		return generable.Value{}, callMismatch(b, n, input, errs)
	}
	s := Compiled(n)
	if i := b.Ordinal(exec.CallKey{Word: s.word, Name: n.Name()}); i != s.n { // most nodes are called once, and a waiting call holds the step
		again := *s
		again.n = i
		s = &again
	}
	outer, at, said, words := b.Callback, b.At, b.Transcript, b.Instructions
	if outer.Scope != "" {
		b.At = at.Child(outer.Scope, "", outer.N)
	}
	b.Callback, b.Transcript, b.Instructions = exec.Callback{}, exec.Transcript{}, nil
	out, err := Run(b, s, v)
	b.Callback, b.At, b.Transcript, b.Instructions = outer, at, said, words
	return out, err
}

// Uncomposed returns the error of a node with mistakes that loading reported.
func Uncomposed(n *flow.Node) *engine.Error {
	return engine.Errorf(engine.KindScript, diag.CannotJoin, "%s was not composed: see the errors of loading", n.Label()).
		WithHelp("a script with errors does not run; fix what loading reported")
}

// Run runs one step of a plan. It is the only interpreter.
func Run(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, s.node)
	}
	b.At = b.At.Child(s.word, s.name, s.n)
	b.Depth++
	var out generable.Value
	var err error
	if b.Run.Events.Wants(engine.EventNode) {
		out, err = watched(b, s, v)
	} else {
		out, err = enter(b, s, v)
	}
	if err != nil {
		err = b.Locate(err, s.node)
	}
	b.Depth--
	b.At = b.At.Parent()
	return out, err
}

// items returns how many items an each processes, 0 for other nodes.
func items(n *flow.Node, v generable.Value) int {
	if list, ok := v.AsList(); ok && n.Kind() == flow.EachNode {
		return list.Len()
	}
	return 0
}

// watched is enter with events before and after it.
func watched(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	b.Emit(engine.Event{Kind: engine.EventNode, Data: &event.Node{Phase: engine.PhaseStart, Name: s.node.Label(), Of: s.node, Items: items(s.node, v)}})
	out, err := enter(b, s, v)
	end := &event.Node{Phase: engine.PhaseEnd, Name: s.node.Label(), Status: engine.StatusOK, Of: s.node}
	switch {
	case engine.IsControl(err):
		end.Status = engine.StatusCancelled
	case err != nil:
		if end.Status = engine.StatusFailed; b.Sched.Err() != nil {
			end.Status = engine.StatusCancelled
		}
		end.Err = engine.AsError(b.Locate(err, s.node))
	}
	b.Emit(engine.Event{Kind: engine.EventNode, Data: end})
	return out, err
}

// enter runs a step at its own position, with the checks that its types need before and after.
func enter(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	if s.check {
		if errs := s.node.In().Conforms(v); errs != nil {
			return v, s.inputMismatch(v, errs)
		}
	}
	if b.Depth > node.MaxNesting {
		return v, exec.TooDeep()
	}
	out, err := perform(b, s, v)
	if err != nil || s.gives == nil {
		return out, err
	}
	return s.given(out)
}

// perform executes a step's operation; each operation is in the file named after it. The frames of Run, enter and
// perform are on the stack of every parked run, once for each node around the waiting one. They therefore call nothing
// indirectly, and separate functions build errors.
func perform(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	switch n := s.node; n.Kind() {
	case flow.PipelineNode:
		var err error
		for _, k := range s.kids {
			if v, err = Run(b, k, v); err != nil {
				return v, err
			}
		}
		return v, nil
	case flow.ParallelNode:
		out, err := gather(b, s, len(s.kids), func(i int) (*step, generable.Value) { return s.kids[i], v })
		if err != nil || s.merge == nil {
			return out, err
		}
		return Run(b, s.merge, out)
	case flow.EachNode:
		list, ok := v.AsList()
		if !ok { // a host broke the contract of Start
			return v, noList(v)
		}
		return gather(b, s, list.Len(), func(i int) (*step, generable.Value) { return s.kids[0], list.At(i) })
	case flow.ForumNode:
		return forum(b, s, v)
	case flow.BranchNode, flow.HandoffNode:
		return route(b, s, v)
	case flow.LoopNode:
		return loop(b, s, v)
	case flow.GraphNode:
		return jump(b, s, v)
	case flow.RaceNode:
		return race(b, s, v)
	case flow.FallbackNode:
		return fallback(b, s, v)
	case flow.RetryNode:
		return retry(b, s, v)
	case flow.AttemptNode:
		return attempt(b, s, v)
	case flow.VoteNode:
		return elect(b, s, v)
	case flow.WrapNode:
		return wrap(b, s, v)
	case flow.VerifyNode:
		return verify(b, s, v)
	case flow.BoundedNode:
		return bounded(b, s, v)
	case flow.AgentNode:
		return conversation.Agent(b, s.agent, v)
	case flow.PickNode:
		return pick(n, v)
	case flow.TemplateNode:
		return render(n, v)
	}
	out, err := b.Invoke(s.node.Spec().Func, v)
	if err != nil {
		return out, err
	}
	return exec.Converted(out, s.node.Out(), s.node.Label())
}
