// Package run starts flows. It also holds what a callback does on its branch beside the methods of
// [engine.Branch]: calls of nodes, parallel calls, memory, and operations that touch the world.
package run

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// Call runs a node from a callback on its branch, as in `plan = planner(spec)`. The input is
// converted like a constructor's argument. The same node may be called any number of times.
func Call(b engine.Branch, n *flow.Node, input generable.Value) (generable.Value, error) {
	return b.(*exec.Branch).Call(n, input)
}

// Touch carries out an operation as an effect, at the next place of its kind in the callback
// that runs: main/fs:read#0. The name is what the effect is called by, for people: the command,
// the method of HTTP. It counts as no tool call; what bounds it is the time of the run and its
// own. What it gave is recorded, and a replay touches nothing.
func Touch(b engine.Branch, op *capability.Operation, name string, class engine.Class, args *generable.Map) (generable.Value, error) {
	return b.(*exec.Branch).Touch(op, name, class, args)
}

// Memory does one operation on a slot of a bank, and returns the text that was read, the lines that
// were found, or the text that a write has left. It is an effect: a replay returns what was recorded.
// The slot is an agent's name, or "" for the script's own; a shared bank has the slot "" alone.
func Memory(b engine.Branch, m *agent.MemoryBank, op agent.MemoryOp, slot, text string) (string, error) {
	return b.(*exec.Branch).Memory(m, op, slot, text)
}

// Remaining returns what the budgets around the branch leave at this moment, a record of
// [agent.RemainingType]. What that is depends on how far other branches have come and on the clock; so
// it is an effect, and a replay returns what was recorded. No handler sees it.
func Remaining(b engine.Branch) (generable.Value, error) { return b.(*exec.Branch).Remaining() }

// Fallback runs bodies one after the other until one succeeds. When all fail, the last error is
// given, with notes of the others; what may not be caught ends it at once.
func (c Calls) Fallback(n int, body func(i int, br engine.Branch) error) error {
	return c.b.InTurn(n, func(i int) error {
		return c.one(i, func(br engine.Branch) error { return body(i, br) })
	})
}

// Retry runs a body at most so many times until it succeeds and says that what it gave will do.
// It returns the index of that time; -1 without an error when the last one gave what will not
// do, and with the last error, and notes of the others, when it failed.
func (c Calls) Retry(most int, body func(i int, br engine.Branch) (bool, error)) (int, error) {
	var failed []*engine.Error
	for i := range most {
		done := false
		err := c.one(i, func(br engine.Branch) (err error) {
			done, err = body(i, br)
			return err
		})
		switch {
		case err == nil && done:
			return i, nil
		case err != nil:
			e := c.b.Catchable(err)
			if e == nil {
				return -1, err
			}
			if i == most-1 {
				return -1, exec.WithNotes(e, failed)
			}
			c.b.WentOn(e)
			failed = append(failed, e)
		}
	}
	return -1, nil
}

// Race runs n bodies at once until one succeeds, and returns its index. Which one won is recorded,
// so that a replay does not depend on who is faster then.
func (c Calls) Race(n int, body func(i int, br engine.Branch) error) (int, error) {
	e := c.b.Choosing(c.word, c.at.Child(c.word, "", c.n).Child("won", "", 0), n, generable.Value{})
	return c.b.Compete(e, n, c.branch, func(i int, br *exec.Branch) error { return c.run(i, br, body) })
}

// Calls is what a callback does at its own place in the run: several things at once, or
// one after the other, each on a branch. Their positions read like those of the structures:
// main/parallel0[3] is the fourth branch of the first one that main made.
type Calls struct {
	b    *exec.Branch
	at   *engine.Frame // of the callback
	word string
	n    int
	of   func(i int) []*flow.Node // nil: not known
}

// Of returns calls of which it is known which nodes body i may call: when another branch ends it, answers that were
// prepared for their agents may be left over, and no others. nil of a body stands for any.
func (c Calls) Of(nodes func(i int) []*flow.Node) Calls {
	c.of = nodes
	return c
}

// calls are the nodes that body i may call, nil where they are not known.
func (c Calls) calls(i int) []*flow.Node {
	if c.of == nil {
		return nil
	}
	return c.of(i)
}

// CallsAt opens the next place of a word in the callback that runs on a branch. Places are counted
// per word, in the order in which the callback opens them.
func CallsAt(b engine.Branch, word string) Calls {
	own := b.(*exec.Branch)
	return Calls{b: own, at: own.InCallback(), word: word, n: own.Ordinal(exec.CallKey{Word: word, Name: ""})}
}

// All runs body for 0 ≤ i < n, at most limit at once (0: all), and returns when all have ended. A
// body that fails cancels the others, and the error of the lowest index is returned.
func (c Calls) All(n, limit int, body func(i int, br engine.Branch) error) error {
	return c.b.Par(n, limit, func(i int, s engine.Sched) error { return c.run(i, c.branch(i, s), body) })
}

// one runs one body, at index i, before it returns.
func (c Calls) one(i int, body func(br engine.Branch) error) error {
	br := c.branch(i, c.b.Sched)
	err := c.run(i, br, func(_ int, br engine.Branch) error { return body(br) })
	if err == nil { // what comes next goes on with what was said
		c.b.Thread = br.Thread
	}
	return err
}

// branch is the branch of body i.
func (c Calls) branch(i int, s engine.Sched) *exec.Branch {
	br := c.b.Fork(s, c.at.Child(c.word, "", c.n).Index(i))
	br.Transcript = exec.Transcript{} // a forum's members alone hear what was said
	br.Depth++
	br.Apart()
	return br
}

// run is one body on its branch. A panic is its error.
func (c Calls) run(i int, br *exec.Branch, body func(i int, br engine.Branch) error) error {
	return br.Guard(func() error {
		if br.Depth > node.MaxNesting {
			return br.Locate(exec.TooDeep(), nil)
		}
		err := br.Sched.Err()
		if err == nil {
			err = body(i, br)
		}
		if err != nil {
			br.CutOff(err, c.calls(i))
		}
		return br.Locate(err, nil)
	})
}
