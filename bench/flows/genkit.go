package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/firebase/genkit/go/genkit"
)

// genkit's flows are Go functions whose steps are traced. Sequences, conditions, loops and goroutines are those of Go.
// Nothing is built, and nothing can be checked beforehand.

// newGenkit returns a registry for one program, so that names do not collide. It undoes what genkit does to signals:
// this program must end when a signal asks it to.
func newGenkit() *genkit.Genkit {
	defer signal.Reset(os.Interrupt, syscall.SIGTERM)
	return genkit.Init(context.Background())
}

// genkitFlow makes a flow of a function that is run with an input.
func genkitFlow[I, O any](input I, f func(context.Context, I) (O, error)) (once, error) {
	flow := genkit.DefineFlow(newGenkit(), "flow", f)
	return func() (any, error) { return flow.Run(context.Background(), input) }, nil
}

func genkitStep(ctx context.Context, i int, s step, x string) (string, error) {
	return genkit.Run(ctx, "step", func() (string, error) { return s.do(i, x), nil })
}

func genkitChain(size int, s step) (once, error) {
	return genkitFlow(input, func(ctx context.Context, x string) (_ string, err error) {
		for i := range size {
			if x, err = genkitStep(ctx, i, s, x); err != nil {
				return "", err
			}
		}
		return x, nil
	})
}

func genkitFanout(size int, s step) (once, error) {
	return genkitFlow(input, func(ctx context.Context, x string) ([]string, error) {
		out, errs := make([]string, size), make([]error, size)
		var all sync.WaitGroup
		for i := range size {
			all.Go(func() { out[i], errs[i] = genkitStep(ctx, i, s, x) })
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

func genkitBranch(size int, s step) (once, error) {
	return genkitFlow(input, func(ctx context.Context, x string) (_ string, err error) {
		for i := range size {
			if x, err = genkitStep(ctx, asks(i), s, x); err != nil {
				return "", err
			}
			next := ifEven(i)
			if odd(x) {
				next = ifOdd(i)
			}
			if x, err = genkitStep(ctx, next, s, x); err != nil {
				return "", err
			}
		}
		return x, nil
	})
}

func genkitLoop(size int, _ step) (once, error) {
	return genkitFlow(0, func(ctx context.Context, i int) (_ int, err error) {
		for i < size {
			if i, err = genkit.Run(ctx, "count", func() (int, error) { return i + 1, nil }); err != nil {
				return 0, err
			}
		}
		return i, nil
	})
}
