package starlib

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// mostCalls is how many calls are told of a mistake that functions inside functions found.
const mostCalls = 3

// traceCalls remembers which calls led to what is reported, the innermost first. What is wrong
// with a node that a factory makes is often an argument of the factory.
func (c *loader) traceCalls(d *diag.Diagnostic) {
	if c.Thread == nil || len(d.Trace) > 0 {
		return
	}
	frames := slices.DeleteFunc(c.Thread.CallStack(), func(f starlark.CallFrame) bool { return f.Pos.Line == 0 })
	var notes []diag.Note
	for i := len(frames) - 1; i > 0; i-- {
		if len(notes) == mostCalls && i > 1 {
			notes = append(notes, diag.Note{Message: fmt.Sprintf("… and %d calls around these", i)})
			break
		}
		at := script.Position(frames[i-1].Pos)
		if file := c.SourceAt(frames[i-1].Pos); file != nil {
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

// alike is what mistakes have in common that calls of one function lead to: a factory that is wrong
// is told of once, however often it is called.
type alike struct {
	at            diag.Pos
	code          diag.Code
	message, help string
}

// withCalls adds the calls that led to what was found, in a sorted list.
func (c *loader) withCalls(found diag.List) diag.List {
	first := map[alike]*diag.Diagnostic{}
	more := map[*diag.Diagnostic]int{}
	return slices.DeleteFunc(found, func(d *diag.Diagnostic) bool {
		calls := c.calls[d]
		if calls == nil {
			return false
		}
		k := alike{d.Span.Pos, d.Code, d.Message, strings.Join(d.Help, "\n")}
		if had := first[k]; had != nil {
			if more[had]++; more[had] < mostCalls {
				had.Notes = append(had.Notes, diag.Note{Message: "the same " + calls[0].Message, Pos: calls[0].Pos})
			}
			return true
		}
		first[k] = d
		d.Notes = append(d.Notes, calls...)
		return false
	})
}
