package sched

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// ErrSibling is the control outcome of a branch whose sibling ended it. Schedulers cancel with it.
var ErrSibling = &engine.Control{Why: "stopped because a sibling branch ended"}

// Ended makes the error of a body that did not return: it panicked with p, or left its
// goroutine when p is nil.
func Ended(p any) error {
	if p != nil {
		return engine.Panicked("the engine", p)
	}
	return engine.Errorf(engine.KindPanic, diag.Panic, "a branch left its goroutine, by runtime.Goexit or a test's FailNow").
		WithHelp("a handler or host function returns; it does not end the goroutine that it is called on")
}
