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

// The steps of the interpreter that a probe takes.
const (
	probeSteps = 3 // push, call, and the instruction that drops the result or jumps by it
	falseSteps = 3 // the conditional jump, push, call
	trueSteps  = 4 // and a jump to the code after it
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

// hidden implements the methods of values that no script sees.
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

// binder makes the probe of a place in a loop for the thread that is about to enter the loop. The bound probe counts in
// a third of the time of a call, but must know its thread, since the interpreter passes none to an operator.
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

// chunk holds probes of a file until they are stored in globals, which the interpreter finds by number. Calling it
// afterwards subtracts the steps of storing them.
type chunk struct {
	starlark.Tuple
}

// chunkSize keeps the storing of a chunk shorter than the steps between two checks of the budget.
const chunkSize = 4096

func (c chunk) Name() string { return "probes" }

func (c chunk) CallInternal(thread *starlark.Thread, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	thread.Steps -= uint64(len(c.Tuple)) + 5 // push, unpack; push, call, drop
	return starlark.None, nil
}
