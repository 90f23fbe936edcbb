package starlib

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
)

// mostCalls is how many calls are told of a mistake that functions inside functions found.
const mostCalls = 3

// traceCalls remembers which calls led to what is reported, the innermost first. What is wrong
// with a node that a factory makes is often an argument of the factory.
func (c *composer) traceCalls(d *diag.Diagnostic) {
	if c.thread == nil || len(d.Trace) > 0 {
		return
	}
	frames := slices.DeleteFunc(c.thread.CallStack(), func(f starlark.CallFrame) bool { return f.Pos.Line == 0 })
	var notes []diag.Note
	for i := len(frames) - 1; i > 0; i-- {
		if len(notes) == mostCalls && i > 1 {
			notes = append(notes, diag.Note{Message: fmt.Sprintf("… and %d calls around these", i)})
			break
		}
		at := position(frames[i-1].Pos)
		if file := c.source(frames[i-1].Pos); file != nil {
			if call, ok := file.CallAt(frames[i-1].Pos); ok {
				at = call.Fn.Pos
			}
		}
		name := frames[i].Name
		if name == "lambda" {
			name = "the lambda"
		}
		notes = append(notes, diag.Note{Message: "in " + name + ", called", Pos: at})
	}
	if notes != nil {
		c.calls[d] = notes
	}
}
