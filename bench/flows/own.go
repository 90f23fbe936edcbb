package main

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// flow composes in Go, as a host does that embeds the engine without its language.
type flow struct {
	*engine.Session
	input generable.Value
}

func newFlow(input generable.Value) *flow { return &flow{engine.NewSession(), input} }

func (f *flow) site(what string) engine.Site { return engine.Site{What: what} }

// node is a step as a node.
func (f *flow) node(i int, s step) *engine.Node {
	name := fmt.Sprintf("step%d", i)
	return f.Fn(engine.Site{What: "fn", Name: name}, engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		text, _ := args[0].AsStr()
		return generable.StrOf(s.do(i, text)), nil
	}), generable.StrT, generable.StrT)
}

// nodes are the first steps, as nodes.
func (f *flow) nodes(size int, s step) []*engine.Node {
	all := make([]*engine.Node, size)
	for i := range all {
		all[i] = f.node(i, s)
	}
	return all
}

// checked ends composing.
func (f *flow) checked(main *engine.Node) (once, error) {
	if found := f.Diagnostics(); found.HasErrors() {
		return nil, fmt.Errorf("the flow is not sound: %w", found)
	}
	f.Seal()
	return exec(main, f.input), nil
}

// exec runs a node with nobody listening.
func exec(main *engine.Node, input generable.Value) once {
	spec := &engine.RunSpec{Node: main, Input: input}
	return func() (any, error) { return engine.Exec(engine.NewGoSched(context.Background()), spec) }
}

func ownChain(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	return f.checked(f.Then(f.site("then"), f.nodes(size, s)...))
}

func ownFanout(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	return f.checked(f.Par(f.site("par"), engine.ParOptions{}, f.nodes(size, s)...))
}

// whether is a condition on a text as a callback.
func whether(c func(string) bool) engine.Func {
	return engine.GoFunc("when", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		text, _ := args[0].AsStr()
		return generable.BoolOf(c(text)), nil
	})
}

func ownBranch(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	decisions := make([]*engine.Node, size)
	for i := range decisions {
		decisions[i] = f.Branch(f.site("branch"), f.node(asks(i), s),
			[]engine.Route{{When: whether(odd), Handler: f.node(ifOdd(i), s)}},
			engine.BranchOptions{Otherwise: f.node(ifEven(i), s)})
	}
	return f.checked(f.Then(f.site("then"), decisions...))
}

func ownGraph(size int, s step) (once, error) {
	f := newFlow(generable.StrOf(input))
	all := f.nodes(3*size, s)
	var edges []engine.Edge
	for i := range size {
		var next *engine.Node
		if i+1 < size {
			next = all[asks(i+1)]
		}
		a, b, c := all[asks(i)], all[ifOdd(i)], all[ifEven(i)]
		edges = append(edges, engine.Edge{From: a, To: b, Guard: engine.Route{When: whether(odd)}},
			engine.Edge{From: a, To: c}, engine.Edge{From: b, To: next}, engine.Edge{From: c, To: next})
	}
	return f.checked(f.Graph(f.site("graph"), all[0], edges, engine.GraphOptions{}))
}

// count is a step that adds one.
func (f *flow) count() *engine.Node {
	return f.Fn(engine.Site{What: "fn", Name: "count"}, engine.GoFunc("count", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
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
	return f.checked(f.Loop(f.site("loop"), f.count(), engine.LoopOptions{Next: next, Max: size}))
}

func ownCycle(size int, _ step) (once, error) {
	f := newFlow(generable.IntOf(0))
	n := f.count()
	most := generable.IntOf(int64(size))
	less, err := predicate.New(predicate.Lt, "", &most)
	if err != nil {
		return nil, err
	}
	return f.checked(f.Graph(f.site("graph"), n, []engine.Edge{{From: n, To: n, Guard: engine.Route{Pred: less}}, {From: n}},
		engine.GraphOptions{MaxSteps: size}))
}
