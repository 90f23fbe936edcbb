package flow_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// typed composes random nodes of random types. Every step checks its input, and returns a random value of its declared
// type.
type typed struct {
	*world
	*rand.Rand
	t     *testing.T
	types []*generable.Type
	vague bool // some types are any
}

func newTyped(t *testing.T, seed uint64, vague bool) *typed {
	w := newWorld(t)
	flat := []*generable.Type{intT, strT, boolT, noneT, w.severity, w.draft, w.approved, w.rejected, w.decision}
	if vague {
		flat = append(flat, anyT)
	}
	g := &typed{world: w, Rand: rand.New(rand.NewPCG(seed, 17)), t: t, types: flat, vague: vague}
	for range 6 {
		g.types = append(g.types, oneOf(flat[g.IntN(9)], flat[g.IntN(9)]), list(flat[g.IntN(len(flat))]), generable.DictOfType(flat[g.IntN(len(flat))]))
	}
	return g
}

// unsaid returns any, or a random type if nothing may be any.
func (g *typed) unsaid() *generable.Type {
	if g.vague {
		return anyT
	}
	return g.anyType()
}

func (g *typed) anyType() *generable.Type { return g.types[g.IntN(len(g.types))] }

// value returns a random value of a type.
func (g *typed) value(typ *generable.Type) generable.Value {
	switch typ = typ.Deref(); typ.Kind {
	case generable.IntType:
		return generable.IntOf(int64(g.IntN(5)))
	case generable.FloatType:
		v, _ := generable.FloatOf(0.5)
		return v
	case generable.StrType:
		return generable.StrOf([]string{"low", "x", ""}[g.IntN(3)])
	case generable.BoolType:
		return generable.BoolOf(g.IntN(2) == 0)
	case generable.EnumType:
		return generable.StrOf(typ.Values[g.IntN(len(typ.Values))])
	case generable.ListType:
		items := make([]generable.Value, g.IntN(3))
		for i := range items {
			items[i] = g.value(typ.Elem)
		}
		return generable.ListOf(items...)
	case generable.DictType:
		m := generable.NewMap(2)
		for _, key := range []string{"code", "by"}[:g.IntN(3)] {
			m.Set(key, g.value(typ.Elem))
		}
		return m.Value()
	case generable.RecordType:
		vals := make([]generable.Value, len(typ.Fields))
		for i := range vals {
			vals[i] = g.value(typ.Fields[i].Type)
		}
		return generable.NewRecord(typ, vals).Value()
	case generable.UnionType, generable.OneOfType:
		return g.value(typ.Variants[g.IntN(len(typ.Variants))])
	case generable.AnyType:
		return g.value(g.types[g.IntN(9)])
	}
	return generable.Value{}
}

// leaf returns a step from one type to another.
func (g *typed) leaf(in, out *generable.Type) *flow.Node {
	f := func(v generable.Value) generable.Value {
		if errs := in.Conforms(v); errs != nil {
			g.t.Errorf("a step that takes %s got %s: %v", in, generable.JSON(v, nil), errs)
		}
		return g.value(out)
	}
	if g.IntN(2) == 0 {
		return g.Step(g.Fresh(), in, out, f)
	}
	return g.CodeAgent(g.Fresh(), in, out, f)
}

// after returns a node that may follow one that returns typ; often it takes exactly that type.
func (g *typed) after(typ *generable.Type, depth int) *flow.Node {
	switch g.IntN(8) {
	case 0:
		return g.pick([]string{"code", "by", "lines"}[g.IntN(3)])
	case 1:
		return g.any(depth)
	case 2:
		return g.leaf(anyT, g.anyType())
	case 3:
		if typ.Kind == generable.ListType {
			return g.Each(g.Site("each", ""), flow.EachOptions{Limit: 0}, g.after(typ.Elem, depth))
		}
	case 4:
		return g.par(g.after(typ, 0), g.leaf(typ, g.anyType()))
	}
	return g.leaf(typ, g.anyType())
}

// any returns a node of random types. It may have failed.
func (g *typed) any(depth int) *flow.Node {
	if depth == 0 {
		return g.leaf(g.anyType(), g.anyType())
	}
	first := g.any(depth - 1)
	if first.Failed() {
		return first
	}
	switch g.IntN(12) {
	case 0, 1:
		return g.then(first, g.after(first.Out(), depth-1))
	case 2:
		o := flow.ParOptions{}
		if g.IntN(2) == 0 {
			o.Output = g.anyType()
		}
		return g.Par(g.Site("par", ""), o, first, g.leaf(first.In(), g.anyType()))
	case 3:
		return g.Forum(g.Site("forum", ""), flow.ForumOptions{Rounds: 1 + g.IntN(2)}, first, g.leaf(first.In(), g.anyType()))
	case 4:
		back := g.leaf(first.Out(), []*generable.Type{first.In(), g.unsaid(), oneOf(first.In(), noneT)}[g.IntN(3)])
		return g.Loop(g.Site("loop", ""), first, flow.LoopOptions{NextNode: back, Max: 3, LastWins: true})
	case 5: // a callback's result is checked: it may return something else
		out, skill := first.Out(), first.Out()
		if g.vague {
			out, skill = g.anyType(), g.anyType()
		}
		return g.Agent(g.Site("agent", "a"), &agent.Spec{Name: "a", In: first.In(), Out: out, Skills: []*agent.Skill{{
			Name: "s", Out: skill, Run: engine.GoFunc("s", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
				return run.Call(b, first, a[0])
			})}}})
	}
	switch other := g.leaf(first.In(), first.Out()); g.IntN(6) {
	case 0:
		return g.Fallback(g.Site("fallback", ""), flow.FirstOptions{}, first, g.leaf(first.In(), g.anyType()))
	case 1:
		return g.Race(g.Site("race", ""), flow.FirstOptions{}, first, other)
	case 2:
		return g.Attempt(g.Site("attempt", ""), first)
	case 3:
		return g.Vote(g.Site("vote", ""), flow.VoteOptions{Quorum: g.IntN(2)}, first, other)
	case 4:
		o := flow.ParOptions{OnError: flow.OnError(g.IntN(3))}
		if merge := g.leaf([]*generable.Type{list(first.Out()), list(flow.AttemptOf(first.Out())), anyT}[g.IntN(3)], g.anyType()); g.IntN(2) == 0 {
			o.Merge = merge
		}
		return g.Par(g.Site("par", ""), o, first, other)
	}
	return g.routed(first)
}

// routed returns a branch with random keys, mostly cases of the source.
func (g *typed) routed(source *flow.Node) *flow.Node {
	var routes []flow.Route
	sometimes := engine.GoFunc("sometimes", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.BoolOf(g.IntN(2) == 0), nil
	})
	cases := []*generable.Type{source.Out()}
	if typ := source.Out().Deref(); len(typ.Variants) > 0 {
		cases = typ.Variants
	}
	for _, typ := range cases {
		takes := []*generable.Type{typ, typ, source.Out(), anyT, g.anyType()}[g.IntN(5)]
		h := g.leaf(takes, []*generable.Type{strT, g.unsaid(), intT}[g.IntN(3)])
		switch {
		case g.IntN(5) == 0:
			routes = append(routes, enginetest.On(engine.Func(sometimes), h))
		case typ.Kind == generable.BoolType && g.IntN(2) == 0:
			routes = append(routes, enginetest.On(g.IntN(2) == 0, h))
		case typ.Kind == generable.EnumType && g.IntN(2) == 0:
			routes = append(routes, enginetest.On("low", h))
		case typ.Kind == generable.NoneType:
			routes = append(routes, enginetest.On(nil, h))
		case typ.Kind == generable.AnyType:
			routes = append(routes, enginetest.On(g.anyType(), h))
		default:
			routes = append(routes, enginetest.On(typ, h))
		}
	}
	o := flow.BranchOptions{Output: []*generable.Type{nil, nil, strT, oneOf(strT, intT)}[g.IntN(4)]}
	if g.IntN(2) == 0 {
		o.Otherwise = g.leaf([]*generable.Type{source.Out(), anyT, cases[len(cases)-1]}[g.IntN(3)], strT)
	}
	return g.Branch(g.Site("branch", ""), source, routes, o)
}

// What composing accepts is sound: in a run no step gets a value that it does not take, and the output has the declared
// type. The run may only fail if an any hid the mistake.
func TestAcceptedGraphsAreSound(t *testing.T) {
	accepted, ran, failed := 0, 0, 0
	for seed := range uint64(8000) {
		vague := seed%2 == 0
		g := newTyped(t, seed, vague)
		n := g.any(1 + g.IntN(4))
		if n.Failed() {
			if !g.Diagnostics().HasErrors() {
				t.Fatalf("seed %d: failed without a word", seed)
			}
			continue
		}
		accepted++
		for range 3 {
			out, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: n, Input: g.value(n.In())})
			var e *engine.Error
			switch {
			case err == nil:
				ran++
				if errs := n.Out().Conforms(out); errs != nil {
					t.Fatalf("seed %d: %s → %s gave %s: %v", seed, n.In(), n.Out(), generable.JSON(out, nil), errs)
				}
			case errors.As(err, &e) && e.Code == diag.NoQuorum && vague: // the voters got an input that they do not take
				failed++
			case !errors.As(err, &e) || e.Kind != engine.KindType || e.Code != diag.WrongTypeAtBoundary && e.Code != diag.NoRoute && e.Code != diag.UnknownPick:
				t.Fatalf("seed %d: %#v", seed, err)
			case !vague && e.Code != diag.UnknownPick: // a dict may lack a key
				t.Fatalf("seed %d: nothing is any, and a value is of the wrong type: %v", seed, err)
			default:
				failed++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	if accepted < 500 || ran < 1000 || failed < 50 {
		t.Errorf("%d graphs accepted, %d runs ended well, %d failed", accepted, ran, failed)
	}
}
