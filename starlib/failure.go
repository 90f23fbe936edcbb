package starlib

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
)

// traceOf gives the calls of the script that led to an error, outermost first. Builtins have
// no place and are left out.
func traceOf(err error) []diag.Frame {
	var eval *starlark.EvalError
	if !errors.As(err, &eval) {
		return nil
	}
	frames := slices.DeleteFunc(slices.Clone(eval.CallStack), func(f starlark.CallFrame) bool { return f.Pos.Line == 0 })
	var trace []diag.Frame
	for i, f := range frames {
		switch left := len(frames) - firstCalls - lastCalls; {
		case left <= 0 || len(frames) <= mostTraced || i < firstCalls || i >= firstCalls+left:
			trace = append(trace, diag.Frame{Name: f.Name, Pos: position(f.Pos)})
		case i == firstCalls:
			trace = append(trace, diag.Frame{Name: fmt.Sprintf("… %d more calls …", left)})
		}
	}
	return trace
}

// A trace longer than mostTraced, which is that of a recursion without end, keeps its ends.
const (
	mostTraced = 100
	firstCalls = 7
	lastCalls  = 8
)

// scriptMessage is the message of a raised error without what the interpreter puts around it.
func scriptMessage(err error) string {
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		return eval.Msg
	}
	return err.Error()
}

func isFrozenError(err error) bool {
	msg := scriptMessage(err)
	return strings.Contains(msg, "frozen list") || strings.Contains(msg, "frozen hash table") ||
		strings.Contains(msg, "frozen dict") || strings.Contains(msg, "frozen set")
}

// raisedDiagnostic tells of an error that ended the execution of a file.
func (c *loader) raisedDiagnostic(err error) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: diag.ScriptError, Message: scriptMessage(err), Cause: err}
	var x *crossingError
	if e := engineError(err); e != nil {
		d.Code, d.Message = e.Code, e.Message
		if e.Help != "" {
			d.Help = []string{e.Help}
		}
	} else if errors.As(err, &x) {
		d.Code, d.Message = diag.WrongValue, x.Error()
		if x.help != "" {
			d.Help = []string{x.help}
		}
	}
	if strings.Contains(d.Message, failedType) {
		return nil
	}
	if m := missingAttribute().FindStringSubmatch(d.Message); m != nil && d.Code == diag.ScriptError {
		d.Code, d.Message = diag.UnknownAttribute, strings.Replace(m[1], "string", "str", 1)+" has no ."+m[2]
		if typ := strings.Replace(m[1], "string", "str", 1); m[3] != "" && foreignMethods[typ][m[2]] == "" {
			d.Help = []string{"did you mean \"" + m[3] + "\"?"}
		}
	}
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		d.Span = c.spanOfError(eval)
		if d.Code == diag.UnknownAttribute {
			d.Span = c.spanOfAttribute(d)
			if c.reportedAt(d) {
				return nil // the look at the syntax saw it
			}
		}
		if trace := traceOf(err); len(trace) > 1 {
			d.Trace = trace
		}
	}
	if help := c.helpFor(err, d.Message); help != "" && len(d.Help) == 0 {
		d.Help = []string{help}
	}
	switch {
	case strings.Contains(d.Message, "got node, want int"):
		d.Code, d.Message = diag.NotANode, "a number is on the left of an operator that composes nodes"
	case strings.HasPrefix(d.Message, "format spec features not supported"), strings.HasPrefix(d.Message, "unknown conversion %"):
		d.Code = diag.FormatSpec
	case strings.HasPrefix(d.Message, "duplicate key: "):
	case strings.HasSuffix(d.Message, " not implemented") && strings.Contains(d.Message, "predicate"):
		d.Code, d.Message = diag.BadCondition, "a condition is compared with nothing: it tests a value by itself"
	default:
		return d
	}
	if c.reportedAt(d) {
		return nil // the check of the syntax saw it, and knows more
	}
	return d
}

// missingAttribute is how the interpreter says that a value of its own has no such attribute.
var missingAttribute = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\w+) has no \.(\w+) (?:field or method|attribute)(?: \(did you mean \.(\w+)\?\))?$`)
})

// reportedAt tells whether a line has a diagnostic of the same code already.
func (c *loader) reportedAt(d *diag.Diagnostic) bool {
	return slices.ContainsFunc(c.session.Diagnostics(), func(o *diag.Diagnostic) bool {
		return o.Code == d.Code && o.Span.File == d.Span.File && o.Span.Line == d.Span.Line
	})
}

// spanOfAttribute moves from the dot to the name behind it.
func (c *loader) spanOfAttribute(d *diag.Diagnostic) diag.Span {
	at := d.Span
	i := strings.LastIndex(d.Message, "has no .")
	u := c.shown[at.File]
	if i < 0 || u == nil {
		return at
	}
	name := d.Message[i+len("has no ."):]
	lines := strings.Split(string(u.text), "\n")
	if at.Line < 1 || at.Line > len(lines) {
		return at
	}
	line := []rune(lines[at.Line-1])
	if at.Col >= 1 && at.Col <= len(line) && strings.HasPrefix(string(line[at.Col-1:]), "."+name) {
		at.Col, at.Len = at.Col+1, utf8.RuneCountInString(name)
	}
	return at
}

// spanOfError is the place of the innermost call in a file: the function called when a
// builtin failed, else the operation itself.
func (c *loader) spanOfError(eval *starlark.EvalError) diag.Span {
	stack := eval.CallStack
	for i := len(stack) - 1; i >= 0; i-- {
		f := stack[i]
		if f.Pos.Line == 0 {
			continue
		}
		at := diag.Span{Pos: position(f.Pos)}
		if file := c.source(f.Pos); file != nil {
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

// helpFor gives the remedy for errors of the interpreter that newcomers meet.
func (c *state) helpFor(err error, msg string) string {
	if ops, ok := strings.CutPrefix(msg, "unknown binary op: "); ok {
		if ops := strings.Fields(ops); len(ops) > 2 {
			return operandHelp(ops[0], strings.Join(ops[1:len(ops)-1], " "), ops[len(ops)-1])
		}
	}
	switch {
	case strings.HasPrefix(msg, "can't assign to ."):
		field, _, _ := strings.Cut(strings.TrimPrefix(msg, "can't assign to ."), " ")
		return "values do not change: make another, y = replace(x, " + field + " = ...); of a dict write d[\"" + field + "\"] = ..."
	case strings.Contains(msg, "index operation NoneType["), msg == "invalid call of non-function (NoneType)":
		return isNone
	case strings.HasPrefix(msg, "key ") && strings.HasSuffix(msg, " not in dict"):
		return c.keyHelp(err, strings.TrimSuffix(strings.TrimPrefix(msg, "key "), " not in dict"))
	case strings.HasPrefix(msg, "unknown conversion %"):
		return `numbers are formatted by fmt(x, ".1f")`
	case strings.HasPrefix(msg, "format spec features not supported"):
		return `format the value first: "{}".format(fmt(x, ".1f"))`
	case strings.Contains(msg, "frozen"):
		return "this value is shared and cannot change; change a copy, list(x) or dict(x)"
	case strings.Contains(msg, "stack overflow"):
		return "a function that calls itself needs a case in which it does not"
	}
	if typ, name, ok := strings.Cut(msg, " has no ."); ok {
		name, _, _ = strings.Cut(name, " ")
		return attributeHelp(strings.Replace(typ, "string", "str", 1), name)
	}
	return slipHelp(msg)
}

// keyHelp says what a missing key may have meant. The interpreter does not tell which dict it
// was, so the keys are those that the files on the way there write anywhere.
func (c *state) keyHelp(err error, key string) string {
	missing := "d.get(" + key + ", default) gives something else where it is missing"
	name, unquoting := strconv.Unquote(key)
	var eval *starlark.EvalError
	if unquoting != nil || !errors.As(err, &eval) {
		return missing
	}
	var keys []string
	for _, f := range eval.CallStack {
		if file := c.source(f.Pos); file != nil {
			keys = append(keys, file.Keys()...)
		}
	}
	if hint := didYouMean(name, keys); hint != "" {
		return hint
	}
	return missing
}
