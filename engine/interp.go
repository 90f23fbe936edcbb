package engine

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// exec runs one step of a plan. It is the only interpreter.
func (b *Branch) exec(s *step, v generable.Value) (generable.Value, error) {
	if err := b.sched.Err(); err != nil {
		return generable.Value{}, b.locate(err, s.node)
	}
	if s.check {
		if errs := s.node.in.Conforms(v); errs != nil {
			e := Errorf(KindType, diag.WrongTypeAtBoundary, "%s takes %s: %w", s.node.Label(), s.node.in, errs)
			b.at = b.at.child(s.word, s.name, s.n)
			defer b.up()
			return generable.Value{}, b.locate(e, s.node)
		}
	}
	switch s.op {
	case opPar:
		return b.par(s, len(s.kids), func(i int) (*step, generable.Value) { return s.kids[i], v })
	case opEach:
		list, ok := v.AsList()
		if !ok { // a host broke the contract of Start
			return generable.Value{}, b.locate(Errorf(KindType, diag.WrongTypeAtBoundary, "each takes a list, got %s", v.TypeName()), s.node)
		}
		return b.par(s, list.Len(), func(i int) (*step, generable.Value) { return s.kids[0], list.At(i) })
	case opRound:
		return b.round(s, v)
	}
	b.at = b.at.child(s.word, s.name, s.n)
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
	b.up()
	return out, err
}

// up leaves the current position segment.
func (b *Branch) up() { b.at = b.at.up }

// watched is enter with events around it.
func (b *Branch) watched(s *step, v generable.Value) (generable.Value, error) {
	b.emit(Event{Kind: EventNode, Phase: PhaseStart, Name: s.node.Label()})
	out, err := b.enter(s, v)
	end := Event{Kind: EventNode, Phase: PhaseEnd, Name: s.node.Label()}
	if err != nil && !IsControl(err) {
		end.Err = asError(err)
	}
	b.emit(end)
	return out, err
}

// enter runs a step at its own position.
func (b *Branch) enter(s *step, v generable.Value) (generable.Value, error) {
	switch s.op {
	case opSeq:
		outer := b.transcript
		var err error
		for _, k := range s.kids {
			if v, err = b.exec(k, v); err != nil {
				return v, err
			}
		}
		if s.node.kind == ForumNode {
			b.transcript = outer
		}
		return v, nil
	case opSwitch:
		return b.route(s, v)
	case opLoop:
		return b.loop(s, v)
	}
	switch n := s.node; n.kind {
	case AgentNode:
		return b.agent(s, v)
	case PickNode:
		out, ok := field(v, n.field)
		if !ok {
			return out, Errorf(KindType, diag.UnknownPick, "%s has no field %q", v.TypeName(), n.field)
		}
		return out, nil
	case TemplateNode:
		text, err := n.text.Render(v, n.in)
		if err != nil {
			return generable.Value{}, Errorf(KindType, diag.UnknownPlaceholder, "%w", err)
		}
		return generable.StrOf(text), nil
	default:
		out, err := b.invoke(n.fn, v)
		if err != nil {
			return out, err
		}
		return converted(out, n.out, n.Label())
	}
}

// converted checks a callback's result against its declared type; like a constructor it
// widens int to float and makes instances of dicts.
func converted(v generable.Value, t *generable.Type, who string) (generable.Value, error) {
	if t.Kind == generable.AnyType || t.Conforms(v) == nil {
		return v, nil
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return v, Errorf(KindType, diag.WrongTypeAtBoundary, "%s is to give %s: %w", who, t, errs)
	}
	return out, nil
}

// par runs n steps at once, each on a branch of its own, and gives their outputs in order.
func (b *Branch) par(s *step, n int, kid func(i int) (*step, generable.Value)) (generable.Value, error) {
	out, err := b.fan(s, n, kid)
	if err != nil {
		return generable.Value{}, err
	}
	return generable.NewList(out).Value(), nil
}

func (b *Branch) fan(s *step, n int, kid func(i int) (*step, generable.Value)) ([]generable.Value, error) {
	out := make([]generable.Value, n)
	up := b.at
	err := b.sched.Par(n, s.node.limit, func(i int, sched Sched) error {
		br := b.fork(sched, up.index(s.word, s.name, s.n, i))
		return br.guard(func() (err error) {
			k, in := kid(i)
			out[i], err = br.exec(k, in)
			return err
		})
	})
	return out, err
}

// round lets the participants of a forum speak once; what they say joins the transcript. The
// input goes on unchanged.
func (b *Branch) round(s *step, v generable.Value) (generable.Value, error) {
	out, err := b.fan(s, len(s.kids), func(i int) (*step, generable.Value) { return s.kids[i], v })
	if err != nil {
		return v, err
	}
	t := b.transcript
	for i, said := range out {
		t = t.add(s.kids[i].node.Label(), said, s.kids[i].node.out)
	}
	b.transcript = t
	return v, nil
}

// route sends a value to the first route that takes it.
func (b *Branch) route(s *step, v generable.Value) (generable.Value, error) {
	v, err := b.exec(s.kids[0], v)
	if err != nil {
		return v, err
	}
	n := s.node
	for i := range n.routes {
		takes, err := b.takes(&n.routes[i], v)
		if err != nil {
			return v, err
		}
		if takes {
			return b.exec(s.kids[i+1], v)
		}
	}
	if n.other != nil {
		return b.exec(s.kids[len(s.kids)-1], v)
	}
	return v, Errorf(KindType, diag.NoRoute, "no branch handles %s", v.TypeName()).
		WithHelp("add a route for it, or otherwise = handler")
}

func (b *Branch) takes(r *Route, v generable.Value) (bool, error) {
	switch {
	case r.Type != nil:
		return r.Type.Conforms(v) == nil, nil
	case r.Value != nil:
		return generable.Equal(*r.Value, v), nil
	}
	out, err := b.invoke(r.When, v)
	if err != nil {
		return false, err
	}
	yes, ok := out.AsBool()
	if !ok {
		return false, Errorf(KindType, diag.WrongTypeAtBoundary, "the predicate of when gives %s, want bool", out.TypeName())
	}
	return yes, nil
}

// loop runs a body until there is no next input. Its space does not grow with the turns.
func (b *Branch) loop(s *step, v generable.Value) (generable.Value, error) {
	spec, at := s.node.loop, b.at
	defer func() { b.at = at }()
	var out generable.Value
	for turn := range spec.max {
		b.at = at.up.index(at.kind, at.name, int(at.n), turn)
		var err error
		if out, err = b.exec(s.kids[0], v); err != nil {
			return out, err
		}
		again, next, err := b.next(s, spec, out)
		if err != nil || !again {
			return out, err
		}
		v = next
	}
	if spec.lastWins {
		return out, nil
	}
	return out, Errorf(KindScript, diag.LoopLimit, "the loop did not end within %d turns", spec.max).
		WithHelp("let next give None earlier, raise max, or take the last output with on_limit = \"last\"")
}

// next gives the input of the following turn, or false to stop.
func (b *Branch) next(s *step, spec *loopSpec, out generable.Value) (bool, generable.Value, error) {
	if spec.until != nil {
		done, err := b.takes(&Route{When: spec.until}, out)
		if err != nil || done {
			return false, out, err
		}
	}
	if spec.feedback {
		v, err := b.exec(s.kids[1], out)
		return !(spec.optional && v.IsNull()), v, err
	}
	v, err := b.invoke(spec.next, out)
	if err != nil || v.IsNull() {
		return false, v, err
	}
	v, err = converted(v, s.node.in, "next")
	return true, v, err
}

// transcript is what was said in a forum so far, in order. It grows by linking.
type transcript struct {
	up   *transcript
	name string
	said generable.Value
	typ  *generable.Type
}

func (t *transcript) add(name string, said generable.Value, typ *generable.Type) *transcript {
	return &transcript{t, name, said, typ}
}

// value gives the transcript to a callback: a list of {name, output}.
func (t *transcript) value() generable.Value {
	n := 0
	for at := t; at != nil; at = at.up {
		n++
	}
	items := make([]generable.Value, n)
	for at := t; at != nil; at = at.up {
		n--
		m := generable.NewMap(2)
		m.Set("name", generable.StrOf(at.name))
		m.Set("output", at.said)
		items[n] = m.Value()
	}
	return generable.NewList(items).Value()
}

// text shows the transcript to a model.
func (t *transcript) text() string {
	if t == nil {
		return ""
	}
	return t.up.text() + fmt.Sprintf("### %s\n%s\n\n", t.name, inputText(t.said, t.typ))
}
