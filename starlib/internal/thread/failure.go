package thread

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/prompt"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// TraceOf returns the calls of the script that led to an error, outermost first. It omits builtins, which have no
// position, and the function around an entry of a prompt.
func TraceOf(err error) []diag.Frame {
	var eval *starlark.EvalError
	if !errors.As(err, &eval) {
		return nil
	}
	frames := slices.DeleteFunc(slices.Clone(eval.CallStack), func(f starlark.CallFrame) bool { return f.Pos.Line == 0 || f.Name == prompt.Run })
	var trace []diag.Frame
	for i, f := range frames {
		switch left := len(frames) - firstCalls - lastCalls; {
		case left <= 0 || len(frames) <= mostTraced || i < firstCalls || i >= firstCalls+left:
			trace = append(trace, diag.Frame{Name: f.Name, Pos: script.Position(f.Pos)})
		case i == firstCalls:
			trace = append(trace, diag.Frame{Name: fmt.Sprintf("… %d more calls …", left)})
		}
	}
	return trace
}

// A trace longer than mostTraced, as from infinite recursion, keeps its first and last calls.
const (
	mostTraced = 100
	firstCalls = 7
	lastCalls  = 8
)

// ScriptMessage returns the message of an error without what the interpreter adds to it.
func ScriptMessage(err error) string {
	var eval *starlark.EvalError
	if !errors.As(err, &eval) {
		return err.Error()
	}
	if name, later := strings.CutPrefix(eval.Msg, "internal error: predeclared variable "); later { // in an entry of a workspace
		return "global variable " + strings.TrimSuffix(name, " is uninitialized") + " referenced before assignment"
	}
	return eval.Msg
}

func isFrozenError(err error) bool {
	msg := ScriptMessage(err)
	return strings.Contains(msg, "frozen list") || strings.Contains(msg, "frozen hash table") ||
		strings.Contains(msg, "frozen dict") || strings.Contains(msg, "frozen set")
}

// HelpFor returns the remedy for common errors of the interpreter.
func HelpFor(c *script.State, err error, msg string) string {
	if key, ok := strings.CutPrefix(msg, "key "); ok && strings.HasSuffix(key, " not in dict") {
		return keyHelp(c, err, strings.TrimSuffix(key, " not in dict"))
	}
	own := ownOf(c, err)
	if typ, name, ok := strings.Cut(msg, " has no ."); ok {
		name, _, _ = strings.Cut(name, " ")
		if help := Instead(strings.Replace(strings.TrimPrefix(typ, "a "), "string", "str", 1), name, own); help != "" {
			return help
		}
	}
	return SlipHelp(msg, own)
}

// ownOf finds the expression in which an error occurred.
func ownOf(c *script.State, err error) Own {
	return func(part string) string {
		var eval *starlark.EvalError
		if c == nil || !errors.As(err, &eval) {
			return ""
		}
		for _, f := range slices.Backward(eval.CallStack) {
			if file := c.SourceAt(f.Pos); file != nil && f.Pos.Line > 0 {
				return file.ExprAt(f.Pos, part)
			}
		}
		return ""
	}
}

// keyHelp suggests what a missing key may have meant. The interpreter does not say which dict it was, so the candidates
// are all keys of dict literals in the files of the trace.
func keyHelp(c *script.State, err error, key string) string {
	missing := "d.get(" + key + ", default) returns something else if it is missing"
	name, unquoting := strconv.Unquote(key)
	var eval *starlark.EvalError
	if unquoting != nil || !errors.As(err, &eval) {
		return missing
	}
	var keys []string
	for _, f := range eval.CallStack {
		if file := c.SourceAt(f.Pos); file != nil {
			keys = append(keys, file.Keys()...)
		}
	}
	if hint := script.DidYouMean(name, keys); hint != "" {
		return hint
	}
	return missing
}

// unwrapped returns a failure that is already the engine's own unchanged.
func unwrapped(err error) error {
	var eval *starlark.EvalError
	if errors.As(err, &eval) {
		if cause := eval.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}
