// Package interp compiles nodes to plans and runs them.
package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/conversation"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Interp is the interpreter of plans, as branches know it.
type Interp struct{}

func (Interp) Call(b *exec.Branch, n *flow.Node, input generable.Value) (generable.Value, error) {
	if n.Failed() {
		return generable.Value{}, b.Locate(Uncomposed(n), n)
	}
	v, errs := n.In().Convert(input)
	if errs != nil {
		return generable.Value{}, callMismatch(b, n, input, errs)
	}
	s := Compiled(n).Root
	if i := b.Ordinal(exec.CallKey{Word: s.word, Name: n.Name()}); i != s.n { // most are called once, and a call that waits holds it
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

// Uncomposed is the error of a node that loading reported.
func Uncomposed(n *flow.Node) *engine.Error {
	return engine.Errorf(engine.KindScript, diag.CannotJoin, "%s was not composed: see the errors of loading", n.Label()).
		WithHelp("a script with errors does not run; mend what loading reported")
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

// watched is enter with events around it.
func watched(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	b.Emit(engine.Event{Kind: engine.EventNode, Data: &engine.NodeData{Phase: engine.PhaseStart, Name: s.node.Label()}})
	out, err := enter(b, s, v)
	end := &engine.NodeData{Phase: engine.PhaseEnd, Name: s.node.Label(), Status: engine.StatusOK}
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

// enter runs a step at its own position, between the checks that its types need.
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

// perform does what a step's operation says.
func perform(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	switch s.op {
	case opSeq:
		var err error
		for _, k := range s.kids {
			if v, err = Run(b, k, v); err != nil {
				return v, err
			}
		}
		return v, nil
	case opPar:
		out, err := gather(b, s, len(s.kids), func(i int) (*step, generable.Value) { return s.kids[i], v })
		if err != nil || s.merge == nil {
			return out, err
		}
		return Run(b, s.merge, out)
	case opEach:
		list, ok := v.AsList()
		if !ok { // a host broke the contract of Start
			return v, noList(v)
		}
		return gather(b, s, list.Len(), func(i int) (*step, generable.Value) { return s.kids[0], list.At(i) })
	case opForum:
		return forum(b, s, v)
	case opSwitch:
		return route(b, s, v)
	case opLoop:
		return loop(b, s, v)
	case opJump:
		return jump(b, s, v)
	case opFirst:
		if s.node.Kind() == flow.RaceNode {
			return race(b, s, v)
		}
		return fallback(b, s, v)
	case opRetry:
		return retry(b, s, v)
	case opAttempt:
		return attempt(b, s, v)
	case opVote:
		return elect(b, s, v)
	case opWrap:
		return wrap(b, s, v)
	case opVerify:
		return verify(b, s, v)
	case opBounded:
		return confined(b, s, v)
	}
	switch n := s.node; n.Kind() {
	case flow.AgentNode:
		return conversation.Agent(b, s.agent, v)
	case flow.PickNode:
		return pick(n, v)
	case flow.TemplateNode:
		return render(n, v)
	default:
		out, err := b.Invoke(n.Spec().Func, v)
		if err != nil {
			return out, err
		}
		return exec.Converted(out, n.Out(), n.Label())
	}
}

// What fails is made in functions of its own: the frames of exec and perform are on the stack of
// every run that is parked, once for each node around the one that waits.

func noList(v generable.Value) error {
	return engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "each takes a list, got %s", v.TypeName())
}

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

// fan runs n steps at once, each on a branch of its own, and gives their outputs in order. The
// branches are indices of the current position, or of a segment below it. Failures that may be
// handled go to failed, unless that is nil.
func fan(b *exec.Branch, segment string, ordinal, n, limit int, failed []*engine.Error, kid func(i int) (*step, generable.Value)) ([]generable.Value, error) {
	at := b.At
	if segment != "" {
		at = at.Child(segment, "", ordinal)
	}
	out := make([]generable.Value, n)
	err := b.Sched.Par(n, limit, func(i int, sched engine.Sched) error {
		br := b.Fork(sched, at.Index(i))
		if failed != nil {
			br.Apart()
		}
		return br.Guard(func() (err error) {
			k, in := kid(i)
			if out[i], err = Run(br, k, in); err == nil || failed == nil {
				return err
			}
			if failed[i] = br.Catch(err); failed[i] != nil {
				return nil
			}
			return err
		})
	})
	return out, err
}

func listed(out []generable.Value, err error) (generable.Value, error) {
	if err != nil {
		return generable.Value{}, err
	}
	return generable.NewList(out).Value(), nil
}

// route sends a value to the first route that takes it.
func route(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	v, err := Run(b, s.kids[0], v)
	if err != nil {
		return v, err
	}
	n := s.node
	routes, other := n.Routes()
	for i := range routes {
		takes, err := takes(b, &routes[i], i, v)
		if err != nil {
			return v, err
		}
		if takes {
			return into(b, s, s.kids[i+1], v)
		}
	}
	if other != nil {
		return into(b, s, s.kids[len(s.kids)-1], v)
	}
	return v, engine.Errorf(engine.KindType, diag.NoRoute, "no branch handles %s", v.TypeName()).
		WithHelp("add a route for it, or otherwise = handler")
}

// into runs the handler of a route. A handoff is told, and its target knows its input alone.
func into(b *exec.Branch, s, handler *step, v generable.Value) (generable.Value, error) {
	if s.node.Kind() == flow.HandoffNode {
		b.Transcript = exec.Transcript{}
		if b.Wants(engine.EventHandoff) {
			b.Emit(engine.Event{Kind: engine.EventHandoff, Data: &engine.HandoffData{From: s.kids[0].node.Label(), To: handler.node.Label(), Type: v.TypeName()}})
		}
	}
	return Run(b, handler, v)
}

// takes reports whether route i takes a value.
func takes(b *exec.Branch, r *flow.Route, i int, v generable.Value) (bool, error) {
	switch {
	case r.Type != nil:
		return exec.IsOf(v, r.Type), nil
	case r.Value != nil:
		return generable.Equal(*r.Value, v), nil
	case r.Pred != nil:
		return r.Pred.Holds(v), nil
	}
	out, err := b.InvokeAs("when", i, r.When, v)
	return truth(out, err, "the predicate of when")
}

func truth(v generable.Value, err error, what string) (bool, error) {
	if err != nil {
		return false, err
	}
	yes, ok := v.AsBool()
	if !ok {
		return false, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s gives %s, want bool", what, v.TypeName()).
			WithHelp("compare explicitly: lambda x: len(x) > 0, lambda x: x != None")
	}
	return yes, nil
}

// loop runs a body until there is no next input. Its space does not grow with the turns.
func loop(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	o, at := s.node.Loop(), b.At
	defer func() { b.At = at }()
	args := make([]generable.Value, 1) // of the callback, the same for all turns
	var out generable.Value
	for turn := range o.Max {
		b.At = at.Index(turn)
		var err error
		if out, err = Run(b, s.kids[0], v); err != nil {
			return out, err
		}
		args[0] = out
		again, next, err := next(b, s, o, args)
		if err != nil {
			return out, b.Locate(err, s.node) // in this turn
		}
		if !again {
			return out, nil
		}
		v = next
	}
	if o.LastWins {
		return out, nil
	}
	end := "let next give None earlier"
	if o.Next == nil && o.NextNode == nil {
		end = "let until give True earlier"
	}
	return out, engine.Errorf(engine.KindScript, diag.LoopLimit, "the loop did not end within %s", text.CountInWords(o.Max, "turn")).
		WithHelp("%s, raise max, or take the last output with on_limit = \"last\"", end)
}

// next gives the input of the following turn, or false to stop.
func next(b *exec.Branch, s *step, o *flow.LoopOptions, args []generable.Value) (bool, generable.Value, error) {
	out := args[0]
	if o.Next == nil && o.NextNode == nil {
		if done, err := holds(b, o.Until, o.UntilFunc, out); err != nil || done {
			return false, out, err
		}
	}
	if o.Next == nil {
		v, err := Run(b, s.kids[1], out)
		return !(o.NextNode != nil && v.IsNull()), v, err
	}
	v, err := b.InvokeAs("next", 0, o.Next, args...)
	if err != nil || v.IsNull() {
		return false, v, err
	}
	v, err = exec.Converted(v, s.node.In(), "next")
	return true, v, err
}
