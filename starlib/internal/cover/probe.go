package cover

import (
	"fmt"
	"strings"
	"sync/atomic"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The names of probes, which no script can write.
const (
	global = "probe "       // of a global variable that holds a probe
	local  = "local probe " // of a local variable that holds a probe of one thread
	chunks = "probes "      // of a predeclared value that holds some of the probes of a file
)

// Forget removes the probes of a file from its globals.
func Forget(globals starlark.StringDict) {
	for name := range globals {
		if strings.HasPrefix(name, global) {
			delete(globals, name)
		}
	}
}

// Steps of the interpreter that a probe takes.
const (
	probeSteps = 3 // push, call, and what drops the result or jumps by it
	falseSteps = 3 // the jump by the condition, push, call
	trueSteps  = 4 // and a jump to the code behind
)

// chain lists the places that one event counts.
type chain struct {
	count *atomic.Int64
	next  *chain
}

func (c *chain) add() {
	for ; c != nil; c = c.next {
		c.count.Add(1)
	}
}

// hidden implements what all values need, for those that no script sees.
type hidden struct{}

func (hidden) String() string        { return "probe" }
func (hidden) Type() string          { return "probe" }
func (hidden) Freeze()               {}
func (hidden) Truth() starlark.Bool  { return false }
func (hidden) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: probe") }
func (hidden) Name() string          { return "probe" }

// probe counts its places when it is called.
type probe struct {
	hidden
	places *chain
	steps  uint64
	result starlark.Bool
}

func (p *probe) CallInternal(thread *starlark.Thread, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	p.places.add()
	thread.Steps -= p.steps
	return p.result, nil
}

// binder makes the probe of a place in a loop for the thread that is about to enter the loop. It counts at a third of
// the time of a call: the interpreter passes no thread to an operator, so the probe must know it.
type binder struct {
	hidden
	places *chain
}

func (b *binder) CallInternal(thread *starlark.Thread, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	thread.Steps -= probeSteps
	return &bound{places: b.places, thread: thread}, nil
}

// bound is a probe of one thread, which counts when the operator + is applied to it.
type bound struct {
	hidden
	places *chain
	thread *starlark.Thread
}

var _ starlark.HasUnary = (*bound)(nil)

func (b *bound) Unary(syntax.Token) (starlark.Value, error) {
	b.places.add()
	b.thread.Steps -= probeSteps
	return b, nil
}

// chunk holds probes of a file until they are stored in globals, which the interpreter finds by number. Called after
// that, it takes the steps of storing them off.
type chunk struct {
	starlark.Tuple
}

// chunkSize keeps storing a chunk shorter than the steps between two checks of the budget.
const chunkSize = 4096

func (c chunk) Name() string { return "probes" }

func (c chunk) CallInternal(thread *starlark.Thread, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	thread.Steps -= uint64(len(c.Tuple)) + 5 // push, unpack; push, call, drop
	return starlark.None, nil
}
