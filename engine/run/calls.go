// Package run starts flows. It also provides what a callback can do on its branch in addition to the methods of
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

// Touch carries out an operation as an effect, at the next position of its kind in the running callback, such as
// main/fs:read#0. The name describes the effect to people, for example the command or the HTTP method. Touch does not
// count as a tool call; the time limits of the run and of the operation bound it. The result is recorded, and a
// replay touches nothing.
func Touch(b engine.Branch, op *capability.Operation, name string, class engine.Class, args *generable.Map) (generable.Value, error) {
	return b.(*exec.Branch).Touch(op, name, class, args)
}

// Memory performs one operation on a slot of a bank. It returns the text that was read, the lines that were found, or
// the text that a write has left. It is an effect: a replay returns what was recorded. The slot is an agent's name,
// or "" for the script's own; a shared bank has only the slot "".
func Memory(b engine.Branch, m *agent.MemoryBank, op agent.MemoryOp, slot, text string) (string, error) {
	return b.(*exec.Branch).Memory(m, op, slot, text)
}

// Remaining returns what the budgets around the branch currently leave, as a record of [agent.RemainingType]. The
// result depends on the progress of other branches and on the clock. Therefore it is an effect, and a replay returns
// what was recorded. No handler sees it.
func Remaining(b engine.Branch) (generable.Value, error) { return b.(*exec.Branch).Remaining() }

// Fallback runs bodies one after the other until one succeeds. If all fail, it returns the last error, with notes of
// the others. An error that may not be caught ends it at once.
func (c Calls) Fallback(n int, body func(i int, br engine.Branch) error) error {
	return c.b.InTurn(n, func(i int) error {
		return c.one(i, func(br engine.Branch) error { return body(i, br) })
	})
}

// Retry runs a body up to most times, until it succeeds and reports that its result is good enough. It returns the
// index of that attempt. If the last attempt succeeded without a result that is good enough, it returns -1 and no
// error; if the last attempt failed, it returns -1 and its error, with notes of the others.
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
			e, ends := c.b.Catchable(err)
			if ends != nil {
				return -1, ends
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

// Race runs n bodies at once until one succeeds, and returns its index. The winner is recorded, so that a replay does
// not depend on which body is faster then.
func (c Calls) Race(n int, body func(i int, br engine.Branch) error) (int, error) {
	e := c.b.Choosing(c.word, c.at.Child(c.word, "", c.n).Child("won", "", 0), n, generable.Value{})
	return c.b.Compete(e, n, c.branch, func(i int, br *exec.Branch) error { return c.run(i, br, body) })
}

// Calls is a place in a callback at which it does several things, at once or one after the other, each on its own
// branch. The positions of the branches read like those of structures: main/parallel0[3] is the fourth branch of the
// first parallel call that main made.
type Calls struct {
	b    *exec.Branch
	at   *engine.Frame // the position of the callback
	word string
	n    int
	of   func(i int) []*flow.Node // nil: not known
}

// Of returns calls for which it is known which nodes body i may call. If another branch ends the body, answers
// prepared for the agents of those nodes, and no others, may be left over. nil nodes for a body mean any node.
func (c Calls) Of(nodes func(i int) []*flow.Node) Calls {
	c.of = nodes
	return c
}

// calls returns the nodes that body i may call, or nil if they are not known.
func (c Calls) calls(i int) []*flow.Node {
	if c.of == nil {
		return nil
	}
	return c.of(i)
}

// CallsAt opens the next place for a word in the callback that runs on a branch. Places are counted per word, in the
// order in which the callback opens them.
func CallsAt(b engine.Branch, word string) Calls {
	own := b.(*exec.Branch)
	return Calls{b: own, at: own.InCallback(), word: word, n: own.Ordinal(exec.CallKey{Word: word, Name: ""})}
}

// All runs body for 0 ≤ i < n, at most limit at once (0: all), and returns when all have ended. A body that fails
// cancels the others. All returns the error with the lowest index.
func (c Calls) All(n, limit int, body func(i int, br engine.Branch) error) error {
	return c.b.Par(n, limit, func(i int, s engine.Sched) error { return c.run(i, c.branch(i, s), body) })
}

// one runs the body with index i and returns when it has ended.
func (c Calls) one(i int, body func(br engine.Branch) error) error {
	br := c.branch(i, c.b.Sched)
	err := c.run(i, br, func(_ int, br engine.Branch) error { return body(br) })
	if err == nil { // the next step continues with what was said
		c.b.Thread = br.Thread
	}
	return err
}

// branch returns the branch of body i.
func (c Calls) branch(i int, s engine.Sched) *exec.Branch {
	br := c.b.Fork(s, c.at.Child(c.word, "", c.n).Index(i))
	br.Transcript = exec.Transcript{} // only the members of a forum hear what was said
	br.Depth++
	br.Apart()
	return br
}

// run runs one body on its branch. A panic becomes its error.
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
