package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// interp is the interpreter of plans, as branches know it.
type interp struct{}

func (interp) call(b *branch, n *Node, input generable.Value) (generable.Value, error) {
	if n.Failed() {
		return generable.Value{}, b.locate(uncomposed(n), n)
	}
	v, errs := n.In().Convert(input)
	if errs != nil {
		return generable.Value{}, b.misfit(n, input, errs)
	}
	s := n.compiled().root
	if i := b.ordinal(callKey{s.word, n.Name()}); i != s.n { // most are called once, and a call that waits holds it
		again := *s
		again.n = i
		s = &again
	}
	outer, at, said, words := b.callback, b.at, b.heard, b.brief
	if outer.scope != "" {
		b.at = at.child(outer.scope, "", outer.n)
	}
	b.callback, b.heard, b.brief = callback{}, hearing{}, nil
	out, err := b.exec(s, v)
	b.callback, b.at, b.heard, b.brief = outer, at, said, words
	return out, err
}

func uncomposed(n *Node) *Error {
	return Errorf(KindScript, diag.CannotJoin, "%s was not composed: see the errors of loading", n.Label()).
		WithHelp("a script with errors does not run; mend what loading reported")
}

// exec runs one step of a plan. It is the only interpreter.
func (b *branch) exec(s *step, v generable.Value) (generable.Value, error) {
	if err := b.sched.Err(); err != nil {
		return generable.Value{}, b.locate(err, s.node)
	}
	b.at = b.at.child(s.word, s.name, s.n)
	b.depth++
	var out generable.Value
	var err error
	if b.run.events.wants(EventNode) {
		out, err = b.watched(s, v)
	} else {
		out, err = b.enter(s, v)
	}
	if err != nil {
		err = b.locate(err, s.node)
	}
	b.depth--
	b.at = b.at.parent()
	return out, err
}

// watched is enter with events around it.
func (b *branch) watched(s *step, v generable.Value) (generable.Value, error) {
	b.emit(Event{Kind: EventNode, Data: &NodeData{Phase: PhaseStart, Name: s.node.Label()}})
	out, err := b.enter(s, v)
	end := &NodeData{Phase: PhaseEnd, Name: s.node.Label(), Status: StatusOK}
	switch {
	case IsControl(err):
		end.Status = StatusCancelled
	case err != nil:
		if end.Status = StatusFailed; b.sched.Err() != nil {
			end.Status = StatusCancelled
		}
		end.Err = asError(b.locate(err, s.node))
	}
	b.emit(Event{Kind: EventNode, Data: end})
	return out, err
}

// enter runs a step at its own position, between the checks that its types need.
func (b *branch) enter(s *step, v generable.Value) (generable.Value, error) {
	if s.check {
		if errs := s.node.In().Conforms(v); errs != nil {
			return v, s.misfit(v, errs)
		}
	}
	if b.depth > MaxNesting {
		return v, tooDeep()
	}
	out, err := b.perform(s, v)
	if err != nil || s.gives == nil {
		return out, err
	}
	return s.given(out)
}

// perform does what a step's operation says.
func (b *branch) perform(s *step, v generable.Value) (generable.Value, error) {
	switch s.op {
	case opSeq:
		var err error
		for _, k := range s.kids {
			if v, err = b.exec(k, v); err != nil {
				return v, err
			}
		}
		return v, nil
	case opPar:
		out, err := b.gather(s, len(s.kids), func(i int) (*step, generable.Value) { return s.kids[i], v })
		if err != nil || s.merge == nil {
			return out, err
		}
		return b.exec(s.merge, out)
	case opEach:
		list, ok := v.AsList()
		if !ok { // a host broke the contract of Start
			return v, noList(v)
		}
		return b.gather(s, list.Len(), func(i int) (*step, generable.Value) { return s.kids[0], list.At(i) })
	case opForum:
		return b.forum(s, v)
	case opSwitch:
		return b.route(s, v)
	case opLoop:
		return b.loop(s, v)
	case opJump:
		return b.jump(s, v)
	case opFirst:
		if s.node.Kind() == RaceNode {
			return b.race(s, v)
		}
		return b.fallback(s, v)
	case opRetry:
		return b.retry(s, v)
	case opAttempt:
		return b.attempt(s, v)
	case opVote:
		return b.elect(s, v)
	case opWrap:
		return b.wrap(s, v)
	case opVerify:
		return b.verify(s, v)
	case opBounded:
		return b.confined(s, v)
	}
	switch n := s.node; n.Kind() {
	case AgentNode:
		return b.agent(s.agent, v)
	case PickNode:
		return n.pick(v)
	case TemplateNode:
		return n.render(v)
	default:
		out, err := b.invoke(n.Spec().Func, v)
		if err != nil {
			return out, err
		}
		return converted(out, n.Out(), n.Label())
	}
}

// What fails is made in functions of its own: the frames of exec and perform are on the stack of
// every run that is parked, once for each node around the one that waits.

func noList(v generable.Value) error {
	return Errorf(KindType, diag.WrongTypeAtBoundary, "each takes a list, got %s", v.TypeName())
}

func (n *Node) pick(v generable.Value) (generable.Value, error) {
	out, ok := typing.Field(v, n.Field())
	if !ok {
		return out, Errorf(KindType, diag.UnknownPick, "%s has no field %q", v.TypeName(), n.Field()).
			WithHelp("see what came before: the value is not of the form that pick expects")
	}
	return out, nil
}

func (n *Node) render(v generable.Value) (generable.Value, error) {
	text, err := n.Spec().Text.Render(v, n.In())
	if err != nil {
		return generable.Value{}, Errorf(KindType, diag.UnknownPlaceholder, "%w", err)
	}
	return generable.StrOf(text), nil
}

func tooDeep() error {
	return Errorf(KindScript, diag.ScriptError, "nodes call each other more than %d deep", MaxNesting).
		WithHelp("a node that calls itself never ends; use loop(node, next)")
}

// fan runs n steps at once, each on a branch of its own, and gives their outputs in order. The
// branches are indices of the current position, or of a segment below it. Failures that may be
// handled go to failed, unless that is nil.
func (b *branch) fan(segment string, ordinal, n, limit int, failed []*Error, kid func(i int) (*step, generable.Value)) ([]generable.Value, error) {
	at := b.at
	if segment != "" {
		at = at.child(segment, "", ordinal)
	}
	out := make([]generable.Value, n)
	err := b.sched.Par(n, limit, func(i int, sched Sched) error {
		br := b.fork(sched, at.index(i))
		if failed != nil {
			br.Apart()
		}
		return br.guard(func() (err error) {
			k, in := kid(i)
			if out[i], err = br.exec(k, in); err == nil || failed == nil {
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
func (b *branch) route(s *step, v generable.Value) (generable.Value, error) {
	v, err := b.exec(s.kids[0], v)
	if err != nil {
		return v, err
	}
	n := s.node
	routes, other := n.Routes()
	for i := range routes {
		takes, err := b.takes(&routes[i], i, v)
		if err != nil {
			return v, err
		}
		if takes {
			return b.into(s, s.kids[i+1], v)
		}
	}
	if other != nil {
		return b.into(s, s.kids[len(s.kids)-1], v)
	}
	return v, Errorf(KindType, diag.NoRoute, "no branch handles %s", v.TypeName()).
		WithHelp("add a route for it, or otherwise = handler")
}

// into runs the handler of a route. A handoff is told, and its target knows its input alone.
func (b *branch) into(s, handler *step, v generable.Value) (generable.Value, error) {
	if s.node.Kind() == HandoffNode {
		b.heard = hearing{}
		if b.Wants(EventHandoff) {
			b.emit(Event{Kind: EventHandoff, Data: &HandoffData{s.kids[0].node.Label(), handler.node.Label(), v.TypeName()}})
		}
	}
	return b.exec(handler, v)
}

// takes reports whether route i takes a value.
func (b *branch) takes(r *Route, i int, v generable.Value) (bool, error) {
	switch {
	case r.Type != nil:
		return isOf(v, r.Type), nil
	case r.Value != nil:
		return generable.Equal(*r.Value, v), nil
	case r.Pred != nil:
		return r.Pred.Holds(v), nil
	}
	out, err := b.invokeAs("when", i, r.When, v)
	return truth(out, err, "the predicate of when")
}

// isOf reports whether v is of type t. A record, the common case, is told without listing what
// speaks against it.
func isOf(v generable.Value, t *generable.Type) bool {
	if r, ok := v.AsRecord(); ok {
		if t = t.Deref(); t.Kind == generable.RecordType {
			return generable.Same(r.Type(), t)
		}
	}
	return t.Conforms(v) == nil
}

func truth(v generable.Value, err error, what string) (bool, error) {
	if err != nil {
		return false, err
	}
	yes, ok := v.AsBool()
	if !ok {
		return false, Errorf(KindType, diag.WrongTypeAtBoundary, "%s gives %s, want bool", what, v.TypeName()).
			WithHelp("compare explicitly: lambda x: len(x) > 0, lambda x: x != None")
	}
	return yes, nil
}

// loop runs a body until there is no next input. Its space does not grow with the turns.
func (b *branch) loop(s *step, v generable.Value) (generable.Value, error) {
	o, at := s.node.Loop(), b.at
	defer func() { b.at = at }()
	args := make([]generable.Value, 1) // of the callback, the same for all turns
	var out generable.Value
	for turn := range o.Max {
		b.at = at.index(turn)
		var err error
		if out, err = b.exec(s.kids[0], v); err != nil {
			return out, err
		}
		args[0] = out
		again, next, err := b.next(s, o, args)
		if err != nil {
			return out, b.locate(err, s.node) // in this turn
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
	return out, Errorf(KindScript, diag.LoopLimit, "the loop did not end within %s", text.CountInWords(o.Max, "turn")).
		WithHelp("%s, raise max, or take the last output with on_limit = \"last\"", end)
}

// next gives the input of the following turn, or false to stop.
func (b *branch) next(s *step, o *LoopOptions, args []generable.Value) (bool, generable.Value, error) {
	out := args[0]
	if o.Next == nil && o.NextNode == nil {
		if done, err := b.holds(o.UntilData, o.Until, out); err != nil || done {
			return false, out, err
		}
	}
	if o.Next == nil {
		v, err := b.exec(s.kids[1], out)
		return !(o.NextNode != nil && v.IsNull()), v, err
	}
	v, err := b.invokeAs("next", 0, o.Next, args...)
	if err != nil || v.IsNull() {
		return false, v, err
	}
	v, err = converted(v, s.node.In(), "next")
	return true, v, err
}
