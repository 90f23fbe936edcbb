package main

import "sync"

// This file defines the shapes in plain Go without an engine. Every other program must return the same results.

func plainChain(size int, s step) (once, error) {
	return func() (any, error) {
		x := input
		for i := range size {
			x = s.do(i, x)
		}
		return x, nil
	}, nil
}

func plainFanout(size int, s step) (once, error) {
	return func() (any, error) {
		out := make([]string, size)
		var all sync.WaitGroup
		for i := range size {
			all.Go(func() { out[i] = s.do(i, input) })
		}
		all.Wait()
		return out, nil
	}, nil
}

// odd is the condition of branches.
func odd(s string) bool { return len(s)%2 == 1 }

// The nodes of the i-th decision of a branch.
func asks(i int) int   { return 3 * i }
func ifOdd(i int) int  { return 3*i + 1 }
func ifEven(i int) int { return 3*i + 2 }

func plainBranch(size int, s step) (once, error) {
	return func() (any, error) {
		x := input
		for i := range size {
			if x = s.do(asks(i), x); odd(x) {
				x = s.do(ifOdd(i), x)
			} else {
				x = s.do(ifEven(i), x)
			}
		}
		return x, nil
	}, nil
}

// plainLoop counts to size.
func plainLoop(size int, _ step) (once, error) {
	return func() (any, error) {
		i := 0
		for i < size {
			i++
		}
		return i, nil
	}, nil
}
