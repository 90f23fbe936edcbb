package engine

import (
	"fmt"
	"github.com/agentscript/agentscript/internal/text"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
)

// What holds of tools unless they or their agents say otherwise.
const (
	DefaultToolsAtOnce = 8          // calls of one answer that run at once
	DefaultMaxResult   = 256 * 1024 // bytes of a result's text that a model is told
)

// toldResult is what a model is told of a call that succeeded.
func toldResult(t *Tool, out generable.Value) string {
	return capped(inputText(out, t.Returns), t.MaxResult)
}

// toldFailure is what a model is told of a call that failed.
func toldFailure(e *Error) string { return capped("error: "+e.Message, 0) }

// capped cuts a text that is longer than a model is to be told, and says so behind it.
func capped(text string, most int) string {
	if most <= 0 {
		most = DefaultMaxResult
	}
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + fmt.Sprintf("\n\n[cut off: these are the first %d of %d bytes; ask for less at once]", cut, len(text))
}

// blame says of a failed call which it is and what can be done, for whoever reads the error.
func (b *branch) blame(e *Error, sk *skillPlan, tool string, runs int) *Error {
	own := *asError(b.locate(e, nil))
	if own.Tool == nil {
		own.Tool = &FailedCall{Agent: sk.agent.Name, Skill: sk.Name, Name: text.Clip(tool, maxToolName), Attempt: runs}
	}
	if own.Help == "" {
		own.Help = "mend such calls before the model hears of them: tool(f, on_error = fix(...))"
	}
	return &own
}
