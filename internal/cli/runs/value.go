package runs

import (
	"cmp"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// brief is how many characters of a value are shown on the line of its step.
const brief = 72

// valueLine returns the result of a step, to be appended to the step's line: the beginning of it or, with whole, all
// of it on indented lines.
func valueLine(s *engine.Step, whole bool, indent string) string {
	said := valueOf(s)
	switch {
	case said == "":
		return ""
	case !whole:
		return ": " + text.Clip(text.Visible(text.Clip(said, brief)), brief)
	}
	return ":\n" + indent + strings.Join(strings.Split(text.Terminal(strings.TrimRight(said, "\n")), "\n"), "\n"+indent)
}

// valueOf returns the result of a step: an answer, a value, a decision or a failure. It returns "" if there is none
// yet.
func valueOf(s *engine.Step) string {
	switch s.State {
	case engine.StepIntent, engine.StepWaiting, engine.StepLeft:
		return ""
	}
	out, err := engine.DecodeOutcome(s.Outcome, engine.TypesOf().OrMaps())
	switch {
	case err != nil:
		return ""
	case out.Err != nil:
		return strings.TrimPrefix(string(out.Err.Code)+": "+out.Err.Message, ": ")
	case out.Response != nil:
		return answerOf(out.Response)
	case s.Kind == engine.EffectApproval:
		return decisionOf(out.Value)
	case out.Value.IsNull():
		return ""
	}
	return plain(out.Value)
}

// answerOf returns what a model answered: its text, and the calls that it wants.
func answerOf(r *model.Response) string {
	var said []string
	if words := r.Text(); words != "" {
		said = append(said, words)
	}
	for _, call := range r.Calls() {
		said = append(said, "calls "+call.Name+" "+call.Args)
	}
	return strings.Join(said, "\n")
}

// decisionOf returns what was decided about a call or a question.
func decisionOf(v generable.Value) string {
	v, errs := engine.ApprovalType.Convert(v)
	d, ok := v.AsRecord()
	if errs != nil || !ok {
		return plain(v)
	}
	approved, _ := d.At(0).AsBool()
	reason, _ := d.At(1).AsStr()
	edited, _ := d.At(2).AsBool()
	switch {
	case !approved:
		return "denied: " + cmp.Or(reason, "no reason was given")
	case edited:
		return "approved with " + plain(d.At(3))
	}
	return "approved"
}

// plain returns a value for people: a text verbatim, anything else as JSON.
func plain(v generable.Value) string {
	if s, ok := v.AsStr(); ok {
		return s
	}
	return generable.JSON(v, nil)
}
