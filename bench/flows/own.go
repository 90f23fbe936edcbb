package main

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// composer composes flows in Go, as a host does that embeds the engine without its language.
type composer struct {
	*flow.Session
	input generable.Value
}

func newFlow(input generable.Value) *composer { return &composer{flow.NewSession(), input} }

func (f *composer) site(what string) flow.Site { return flow.Site{What: what} }

// node returns a step as a node.
func (f *composer) node(i int, s step) *flow.Node {
	name := fmt.Sprintf("step%d", i)
	return f.Fn(flow.Site{What: "fn", Name: name}, engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		text, _ := args[0].AsStr()
		return generable.StrOf(s.do(i, text)), nil
	}), generable.StrT, generable.StrT)
}

// nodes returns the first size steps as nodes.
func (f *composer) nodes(size int, s step) []*flow.Node {
	all := make([]*flow.Node, size)
	for i := range all {
		all[i] = f.node(i, s)
	}
	return all
}

// checked ends the composition and returns the flow as a program.
func (f *composer) checked(main *flow.Node) (once, error) {
	if found := f.Diagnostics(); found.HasErrors() {
		return nil, fmt.Errorf("the flow is not sound: %w", found)
	}
	f.Seal()
	return exec(main, f.input), nil
}

// exec runs a node without listeners.
func exec(main *flow.Node, input generable.Value) once {
	spec := &run.Spec{Node: main, Input: input}
	return func() (any, error) { return run.Exec(sched.NewGoSched(context.Background()), spec) }
}

func ownChain(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	return f.checked(f.Then(f.site("then"), f.nodes(size, s)...))
}

func ownFanout(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	return f.checked(f.Par(f.site("par"), flow.ParOptions{}, f.nodes(size, s)...))
}

// whether returns a condition on a text as a callback.
func whether(c func(string) bool) engine.Func {
	return engine.GoFunc("when", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		text, _ := args[0].AsStr()
		return generable.BoolOf(c(text)), nil
	})
}

func ownBranch(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	decisions := make([]*flow.Node, size)
	for i := range decisions {
		decisions[i] = f.Branch(f.site("branch"), f.node(asks(i), s),
			[]flow.Route{{When: whether(odd), Handler: f.node(ifOdd(i), s)}},
			flow.BranchOptions{Otherwise: f.node(ifEven(i), s)})
	}
	return f.checked(f.Then(f.site("then"), decisions...))
}

func ownGraph(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	all := f.nodes(3*size, s)
	var edges []flow.Edge
	for i := range size {
		var next *flow.Node
		if i+1 < size {
			next = all[asks(i+1)]
		}
		a, b, c := all[asks(i)], all[ifOdd(i)], all[ifEven(i)]
		edges = append(edges, flow.Edge{From: a, To: b, Guard: flow.Route{When: whether(odd)}},
			flow.Edge{From: a, To: c}, flow.Edge{From: b, To: next}, flow.Edge{From: c, To: next})
	}
	return f.checked(f.Graph(f.site("graph"), all[0], edges, flow.GraphOptions{}))
}

// count returns a step that adds one.
func (f *composer) count() *flow.Node {
	return f.Fn(flow.Site{What: "fn", Name: "count"}, engine.GoFunc("count", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		i, _ := args[0].AsInt()
		return generable.IntOf(i + 1), nil
	}), generable.IntT, generable.IntT)
}

func ownLoop(size int, _ step) (once, error) {
	f := newFlow(generable.IntOf(0))
	next := engine.GoFunc("next", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		if i, _ := args[0].AsInt(); i >= int64(size) {
			return generable.Value{}, nil
		}
		return args[0], nil
	})
	return f.checked(f.Loop(f.site("loop"), f.count(), flow.LoopOptions{Next: next, Max: size}))
}

func ownCycle(size int, _ step) (once, error) {
	f := newFlow(generable.IntOf(0))
	n := f.count()
	most := generable.IntOf(int64(size))
	less, err := predicate.New(predicate.Lt, "", &most)
	if err != nil {
		return nil, err
	}
	return f.checked(f.Graph(f.site("graph"), n, []flow.Edge{{From: n, To: n, Guard: flow.Route{Pred: less}}, {From: n}},
		flow.GraphOptions{MaxSteps: size}))
}
