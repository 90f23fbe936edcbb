package main

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/compose"
)

// eino compiles a graph once and invokes it any number of times. A chain is its short form for a sequence.

func einoStep(i int, s step) *compose.Lambda {
	return compose.InvokableLambda(func(_ context.Context, x string) (string, error) { return s.do(i, x), nil })
}

func invoke[I, O any](r compose.Runnable[I, O], err error, input I) (once, error) {
	if err != nil {
		return nil, err
	}
	return func() (any, error) { return r.Invoke(context.Background(), input) }, nil
}

func einoChain(size int, s step) (once, error) {
	c := compose.NewChain[string, string]()
	for i := range size {
		c.AppendLambda(einoStep(i, s))
	}
	r, err := c.Compile(context.Background())
	return invoke(r, err, input)
}

// einoFanout returns a map by the names of the branches.
func einoFanout(size int, s step) (once, error) {
	p := compose.NewParallel()
	for i := range size {
		p.AddLambda(fmt.Sprintf("%06d", i), einoStep(i, s))
	}
	c := compose.NewChain[string, map[string]any]()
	c.AppendParallel(p)
	r, err := c.Compile(context.Background())
	return invoke(r, err, input)
}

// einoGraph keeps the first error of several calls.
type einoGraph[I, O any] struct {
	*compose.Graph[I, O]
	err error
}

func newEinoGraph[I, O any]() *einoGraph[I, O] {
	return &einoGraph[I, O]{Graph: compose.NewGraph[I, O]()}
}

func (g *einoGraph[I, O]) do(err error) {
	if g.err == nil {
		g.err = err
	}
}

func (g *einoGraph[I, O]) compiled(input I, opts ...compose.GraphCompileOption) (once, error) {
	if g.err != nil {
		return nil, g.err
	}
	r, err := g.Compile(context.Background(), opts...)
	return invoke(r, err, input)
}

func einoName(i int) string { return fmt.Sprintf("step%d", i) }

// einoLine is a chain written as a graph.
func einoLine(size int, s step) (once, error) {
	g := newEinoGraph[string, string]()
	last := compose.START
	for i := range size {
		g.do(g.AddLambdaNode(einoName(i), einoStep(i, s)))
		g.do(g.AddEdge(last, einoName(i)))
		last = einoName(i)
	}
	g.do(g.AddEdge(last, compose.END))
	return g.compiled(input)
}

func einoBranch(size int, s step) (once, error) {
	g := newEinoGraph[string, string]()
	for i := range 3 * size {
		g.do(g.AddLambdaNode(einoName(i), einoStep(i, s)))
	}
	g.do(g.AddEdge(compose.START, einoName(0)))
	for i := range size {
		left, right, next := einoName(ifOdd(i)), einoName(ifEven(i)), compose.END
		if i+1 < size {
			next = einoName(asks(i + 1))
		}
		decide := func(_ context.Context, x string) (string, error) {
			if odd(x) {
				return left, nil
			}
			return right, nil
		}
		g.do(g.AddBranch(einoName(asks(i)), compose.NewGraphBranch(decide, map[string]bool{left: true, right: true})))
		g.do(g.AddEdge(left, next))
		g.do(g.AddEdge(right, next))
	}
	return g.compiled(input)
}

func einoLoop(size int, _ step) (once, error) {
	g := newEinoGraph[int, int]()
	g.do(g.AddLambdaNode("count", compose.InvokableLambda(func(_ context.Context, i int) (int, error) { return i + 1, nil })))
	g.do(g.AddEdge(compose.START, "count"))
	decide := func(_ context.Context, i int) (string, error) {
		if i < size {
			return "count", nil
		}
		return compose.END, nil
	}
	g.do(g.AddBranch("count", compose.NewGraphBranch(decide, map[string]bool{"count": true, compose.END: true})))
	return g.compiled(0, compose.WithMaxRunSteps(size+2))
}
