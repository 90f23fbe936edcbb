// Package run starts flows. It also holds what a callback does on its branch beside the methods of
// [engine.Branch]: calls of nodes, parallel calls, memory, and operations that touch the world.
package run

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
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

// Memory does one operation on a slot of a bank, and gives the text that was read, the lines that
// were found, or the text that a write has left. It is an effect: a replay gives what was recorded.
// The slot is an agent's name, or "" for the script's own; a shared bank has the slot "" alone.
func Memory(b engine.Branch, m *agent.MemoryBank, op agent.MemoryOp, slot, text string) (string, error) {
	return b.(*exec.Branch).Memory(m, op, slot, text)
}

// Remaining tells what the budgets around the branch leave at this moment, a record of
// [agent.RemainingType]. What that is depends on how far other branches have come and on the clock; so
// it is an effect, and a replay gives what was recorded. No handler sees it.
func Remaining(b engine.Branch) (generable.Value, error) { return b.(*exec.Branch).Remaining() }
