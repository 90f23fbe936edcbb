package script

import (
	"errors"
	"strings"
	"unicode/utf8"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Raised combines diagnostics into one error.
func Raised(found ...*diag.Diagnostic) error {
	d := found[0]
	e := engine.Errorf(engine.KindScript, d.Code, "%s", d.Message)
	for _, more := range found[1:] {
		e.Message += "\n" + more.Message
	}
	if d.Label != "" {
		e.Message += ": " + d.Label
	}
	if len(d.Help) > 0 {
		e.Help = d.Help[0]
	}
	return e
}

// Errorf returns an error with a code, with which a script fails.
//
//go:noinline
func Errorf(code diag.Code, format string, args ...any) *engine.Error {
	return engine.Errorf(engine.KindScript, code, format, args...)
}

// Position converts a position of the interpreter.
func Position(p syntax.Position) diag.Pos {
	if !p.IsValid() && p.Filename() == "<invalid>" {
		return diag.Pos{}
	}
	return diag.Pos{File: p.Filename(), Line: int(p.Line), Col: int(p.Col)}
}

// NameSpan returns the span of a name.
//
//go:noinline
func NameSpan(id *syntax.Ident) diag.Span {
	return diag.Span{Pos: Position(id.NamePos), Len: utf8.RuneCountInString(id.Name)}
}

// Problem returns a diagnostic for an error of the engine.
func Problem(e *engine.Error, at diag.Span) *diag.Diagnostic {
	d := &diag.Diagnostic{Code: e.Code, Span: at, Message: e.Message}
	if e.Help != "" {
		d.Help = []string{e.Help}
	}
	return d
}

// FieldProblem returns a diagnostic for an error about a field, whose hint becomes the help.
func FieldProblem(code diag.Code, at diag.Span, e *generable.FieldError) *diag.Diagnostic {
	plain := *e
	plain.Hint = ""
	d := &diag.Diagnostic{Code: code, Span: at, Message: plain.Error()}
	if near, ok := strings.CutPrefix(e.Hint, "did you mean "); ok {
		// Models get the hint without quotes, in requests that runs have recorded.
		d.Help = []string{"did you mean \"" + strings.TrimSuffix(near, "?") + "\"?"}
	} else if e.Hint != "" {
		d.Help = []string{e.Hint}
	}
	return d
}

// EngineError finds the engine's error in a chain, or nil.
func EngineError(err error) *engine.Error {
	var e *engine.Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// NotConcurrent is the error for a call of something that only the flow may use.
func NotConcurrent(what string) error {
	return Errorf(diag.ScriptError, "%s belongs to the flow: a function that looks at an answer is called alongside it", what).
		WithHelp("it may compute and print; what the flow is to do with the answer belongs after the agent")
}
