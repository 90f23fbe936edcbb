package starlib

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/thread"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// raisedDiagnostic returns the diagnostic of an error that ended the execution of a file. It returns nil if the error
// was reported already.
func (c *loader) raisedDiagnostic(err error) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: diag.ScriptError, Message: thread.ScriptMessage(err), Cause: err}
	var x *value.ConvertError
	if e := script.EngineError(err); e != nil {
		d = script.Problem(e, diag.Span{})
		d.Cause = err
	} else if errors.As(err, &x) {
		d.Code, d.Message = diag.WrongValue, x.Error()
		if x.Help != "" {
			d.Help = []string{x.Help}
		}
	}
	if strings.Contains(d.Message, value.FailedType) {
		return nil
	}
	if m := missingAttribute().FindStringSubmatch(d.Message); m != nil && d.Code == diag.ScriptError {
		d.Code, d.Message = diag.UnknownAttribute, strings.Replace(m[1], "string", "str", 1)+" has no ."+m[2]
		if typ := strings.Replace(m[1], "string", "str", 1); m[3] != "" && thread.Foreign()[typ][m[2]] == "" {
			d.Help = []string{"did you mean \"" + m[3] + "\"?"}
		}
	}
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		d.Span = c.spanOfError(eval)
		if d.Code == diag.UnknownAttribute {
			d.Span = c.spanOfAttribute(d)
			if c.reportedAt(d) {
				return nil // the syntax check reported it
			}
		}
		if trace := thread.TraceOf(err); len(trace) > 1 {
			d.Trace = trace
		}
	}
	if help := thread.HelpFor(c.State, err, d.Message); help != "" && (len(d.Help) == 0 || d.Code == diag.UnknownAttribute) {
		d.Help = []string{help}
	}
	switch {
	case strings.Contains(d.Message, "got node, want int"):
		d.Code, d.Message = diag.NotANode, "a number is on the left of an operator that composes nodes"
	case strings.HasPrefix(d.Message, "format spec features not supported"), strings.HasPrefix(d.Message, "unknown conversion %"):
		d.Code = diag.FormatSpec
	case strings.HasPrefix(d.Message, "duplicate key: "):
	case strings.HasSuffix(d.Message, " not implemented") && strings.Contains(d.Message, "predicate"):
		d.Code, d.Message = diag.BadCondition, "a condition cannot be compared: it tests a value itself"
	default:
		return d
	}
	if c.reportedAt(d) {
		return nil // the syntax check reported it, and knows more
	}
	return d
}

// missingAttribute matches the interpreter's message that one of its values has no such attribute.
var missingAttribute = lazy.Regexp(`^(\w+) has no \.(\w+) (?:field or method|attribute)(?: \(did you mean \.(\w+)\?\))?$`)

// reportedAt reports whether a line already has a diagnostic with the same code.
func (c *loader) reportedAt(d *diag.Diagnostic) bool {
	return slices.ContainsFunc(c.Session.Diagnostics(), func(o *diag.Diagnostic) bool {
		return o.Code == d.Code && o.Span.File == d.Span.File && o.Span.Line == d.Span.Line
	})
}

// spanOfAttribute moves the span from the dot to the name after it.
func (c *loader) spanOfAttribute(d *diag.Diagnostic) diag.Span {
	at := d.Span
	i := strings.LastIndex(d.Message, "has no .")
	u := c.ByName[at.File]
	if i < 0 || u == nil {
		return at
	}
	name := d.Message[i+len("has no ."):]
	lines := strings.Split(string(u.Text), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return at
	}
	line := []rune(lines[at.Line-1])
	if at.Col >= 1 && at.Col <= len(line) && strings.HasPrefix(string(line[at.Col-1:]), "."+name) {
		at.Col, at.Len = at.Col+1, utf8.RuneCountInString(name)
	}
	return at
}

// spanOfError returns the place of the innermost call in a file: the called function if a builtin failed, otherwise the
// operation itself.
func (c *loader) spanOfError(eval *starlark.EvalError) diag.Span {
	stack := eval.CallStack
	for i := len(stack) - 1; i >= 0; i-- {
		f := stack[i]
		if f.Pos.Line == 0 {
			continue
		}
		at := diag.Span{Pos: script.Position(f.Pos)}
		if file := c.SourceAt(f.Pos); file != nil {
			if call, ok := file.CallAt(f.Pos); ok && i < len(stack)-1 {
				return call.Fn
			}
			if op, ok := file.OperatorAt(f.Pos); ok {
				return op.Span
			}
		}
		return at
	}
	return diag.Span{}
}

// mostCalls bounds the calls that the notes of one mistake list.
const mostCalls = 3

// traceCalls remembers the calls that led to a diagnostic, innermost first. A mistake in a node that a factory makes is
// often in an argument of the factory.
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

// alike identifies mistakes that several calls of one function cause: a mistake in a factory is reported once, however
// often the factory is called.
type alike struct {
	at            diag.Pos
	code          diag.Code
	message, help string
}

// withCalls adds notes with the calls that led to each diagnostic of a sorted list.
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
