package engine

import "time"

// CompileNode lowers a node, for the benchmark of building and checking.
func CompileNode(n *Node) { compile(n) }

// LeaveAfter sets how long effects may go on after their branch is to stop.
func LeaveAfter(s Sched, d time.Duration) Sched {
	s.(*goSched).grace = d
	return s
}

// Begin returns an effect as a run dispatches it.
func Begin(e Effect) *Effect { return (&inFlight{effect: e}).begin() }
