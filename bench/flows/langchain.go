package main

import (
	"context"

	"github.com/tmc/langchaingo/chains"
)

// langchaingo composes chains in sequence, and applies one chain to many inputs at once. It has no operators for
// decisions and repetition: there, Go code calls its chains.

// The keys under which a simple sequence passes values on.
const (
	keyIn  = "input"
	keyOut = "output"
)

func langchainStep(i int, s step) chains.Chain {
	return chains.NewTransform(func(_ context.Context, in map[string]any, _ ...chains.ChainCallOption) (map[string]any, error) {
		x, _ := in[keyIn].(string)
		return map[string]any{keyOut: s.do(i, x)}, nil
	}, []string{keyIn}, []string{keyOut})
}

func langchainChain(size int, s step) (once, error) {
	all := make([]chains.Chain, size)
	for i := range all {
		all[i] = langchainStep(i, s)
	}
	c, err := chains.NewSimpleSequentialChain(all)
	if err != nil {
		return nil, err
	}
	return func() (any, error) { return chains.Run(context.Background(), c, input) }, nil
}

// langchainApply applies one chain to many inputs, each of which includes the index of its node. It uses the library's
// default number of workers, or as many workers as inputs.
func langchainApply(perInput int) func(int, step) (once, error) {
	return func(size int, s step) (once, error) {
		c := chains.NewTransform(func(_ context.Context, in map[string]any, _ ...chains.ChainCallOption) (map[string]any, error) {
			x, _ := in[keyIn].(string)
			i, _ := in["node"].(int)
			return map[string]any{keyOut: s.do(i, x)}, nil
		}, []string{keyIn, "node"}, []string{keyOut})
		inputs := make([]map[string]any, size)
		for i := range inputs {
			inputs[i] = map[string]any{keyIn: input, "node": i}
		}
		return func() (any, error) { return chains.Apply(context.Background(), c, inputs, perInput*size) }, nil
	}
}

func langchainBranch(size int, s step) (once, error) {
	all := make([]chains.Chain, 3*size)
	for i := range all {
		all[i] = langchainStep(i, s)
	}
	return func() (_ any, err error) {
		x := input
		for i := range size {
			if x, err = chains.Run(context.Background(), all[asks(i)], x); err != nil {
				return nil, err
			}
			next := ifEven(i)
			if odd(x) {
				next = ifOdd(i)
			}
			if x, err = chains.Run(context.Background(), all[next], x); err != nil {
				return nil, err
			}
		}
		return x, nil
	}, nil
}

func langchainLoop(size int, _ step) (once, error) {
	c := chains.NewTransform(func(_ context.Context, in map[string]any, _ ...chains.ChainCallOption) (map[string]any, error) {
		i, _ := in[keyIn].(int)
		return map[string]any{keyOut: i + 1}, nil
	}, []string{keyIn}, []string{keyOut})
	return func() (any, error) {
		i := 0
		for i < size {
			out, err := chains.Call(context.Background(), c, map[string]any{keyIn: i})
			if err != nil {
				return nil, err
			}
			i, _ = out[keyOut].(int)
		}
		return i, nil
	}, nil
}
