package main

import "sync"

// What the shapes mean, in plain Go without an engine: every other program must come to the same.

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

// odd decides a branch.
func odd(s string) bool { return len(s)%2 == 1 }

// The nodes of decision i of a branch.
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

// A loop counts to its size.
func plainLoop(size int, _ step) (once, error) {
	return func() (any, error) {
		i := 0
		for i < size {
			i++
		}
		return i, nil
	}, nil
}
