// Package diagnose turns errors of runs into diagnostics, as for errors of loading.
package diagnose

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/text"
)

// longestRaw is the maximum length, in runes, of a model's text in a diagnostic.
const longestRaw = 600

// Error turns an error of a run into a diagnostic: its code, its position in the script and in the run, what the model
// said, the cause, and what to do.
func Error(err error) *diag.Diagnostic {
	e, ok := errors.AsType[*engine.Error](err)
	if !ok {
		return &diag.Diagnostic{Message: err.Error()}
	}
	d := &diag.Diagnostic{Code: e.Code, Message: e.Message, Span: diag.Span{Pos: e.Pos}, Cause: err}
	if d.Message == "" {
		d.Message = string(e.Kind)
	}
	note := func(text string) { d.Notes = append(d.Notes, diag.Note{Message: text}) }
	if e.Path != "" && e.Path != "main" {
		note("in " + e.Path)
	}
	inner, ok := errors.AsType[*diag.Diagnostic](e.Cause)
	if ok {
		adopt(d, inner)
	}
	said := d.Message
	for cause := e.Cause; cause != nil; cause = errors.Unwrap(cause) {
		if text := cause.Error(); text != "" && !strings.Contains(said, text) && !strings.Contains(text, d.Message) && cause != error(inner) && !internal(text) {
			if of, ok := cause.(*engine.Error); ok && of.Pos.IsValid() && of.Pos != d.Span.Pos { // such as where a tool failed
				d.Notes = append(d.Notes, diag.Note{Message: "cause at " + of.Pos.String() + ": " + text, Pos: of.Pos})
			} else {
				note("cause: " + text)
			}
			said += text
		}
	}
	tried := "also tried: "
	if e.Kind == engine.KindReplay { // its notes say how a call differs
		tried = ""
	}
	if e.Kind == engine.KindTest && len(e.Notes) > 0 { // its notes show a difference
		note(strings.Join(e.Notes, "\n"))
	} else {
		for _, text := range e.Notes {
			note(tried + text)
		}
	}
	if e.Model != nil && e.Model.RequestID != "" {
		note("request " + e.Model.RequestID + " of " + e.Model.Name)
	}
	if e.Raw != "" {
		note(speaker(e) + text.ClipMiddle(e.Raw, longestRaw))
	}
	if len(e.Trace) > 1 || len(e.Trace) == 1 && e.Trace[0].Pos != d.Span.Pos { // else it repeats the position
		d.Trace = append(d.Trace, e.Trace...)
	}
	switch flag := raisedBy(e); {
	case flag != "":
		d.Help = append(d.Help, flag)
	case e.Kind == engine.KindCancelled: // the caller who cancelled knows the reason
	case e.Help != "":
		d.Help = append(d.Help, e.Help)
	}
	return d
}

// speaker introduces the raw text of an error with its author.
func speaker(e *engine.Error) string {
	switch {
	case e.Kind == engine.KindPanic:
		return ""
	case e.Model == nil && (e.Kind == engine.KindTimeout || e.Kind == engine.KindCancelled): // for a call to a model, Model is set
		return "it wrote:\n"
	}
	return "the model said:\n"
}

// internal reports whether a text describes an interruption in the words of Go or of the interpreter. The message
// already says the same for people.
func internal(text string) bool {
	words := []string{context.Canceled.Error(), context.DeadlineExceeded.Error(), "Starlark computation cancelled"}
	return slices.ContainsFunc(words, func(words string) bool { return strings.Contains(text, words) })
}

// adopt copies to d what a deeper diagnostic knows and d does not.
func adopt(d, inner *diag.Diagnostic) {
	if !d.Span.IsValid() || d.Span.Pos == inner.Span.Pos {
		d.Span, d.Label = inner.Span, inner.Label
	}
	d.Notes = append(d.Notes, inner.Notes...)
	d.Help = append(d.Help, inner.Help...)
	d.Trace = append(d.Trace, inner.Trace...)
}

// raisedBy returns the help for a limit of the whole run, with the flag that changes it.
func raisedBy(e *engine.Error) string {
	flag := LimitFlag(e)
	switch {
	case flag == "":
		return ""
	case e.Code == diag.StepLimit:
		return "raise it with --max-steps, or find the loop that does not end"
	}
	before, after, found := strings.Cut(e.Help, "budget("+ofBudget(flag)+" = ...)")
	if !found {
		return ""
	}
	return before + flag + after
}

// LimitFlag returns the flag that changes the limit of the whole run that caused an error, or "" if no such limit did.
func LimitFlag(e *engine.Error) string {
	switch {
	case !e.OfRun:
		return ""
	case e.Code == diag.StepLimit:
		return "--max-steps"
	case e.Kind != engine.KindBudget:
		return ""
	}
	for _, flag := range []string{"--max-model-calls", "--max-tool-calls", "--max-tokens", "--max-usd", "--max-depth", "--max-steps"} {
		if strings.Contains(e.Help, "budget("+ofBudget(flag)+" = ...)") {
			return flag
		}
	}
	_, limit, _ := strings.Cut(e.Message, "the limit of ") // Help may be about what used up the limit
	limit, _, _ = strings.Cut(limit, " is reached")
	for _, is := range [...]struct{ unit, flag string }{{"model call", "--max-model-calls"}, {"tool call", "--max-tool-calls"}, {"token", "--max-tokens"}, {"$", "--max-usd"}} {
		if strings.Contains(limit, is.unit) {
			return is.flag
		}
	}
	return ""
}

// ofBudget returns the name of a limit in budget(...): model_calls for --max-model-calls.
func ofBudget(flag string) string {
	return strings.ReplaceAll(strings.TrimPrefix(flag, "--max-"), "-", "_")
}
