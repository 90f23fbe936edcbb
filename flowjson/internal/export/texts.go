package export

import (
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/internal/text"
)

// literal returns how to write a text so that readers get it unchanged: they remove the common indentation of all lines
// but the first, and blanks at both ends. It reports whether the text can be written.
func literal(s string) (written string, ok bool) {
	if text.Written(s) == s {
		return s, true
	}
	behind := "\n" + s // then the first line counts too
	return behind, text.Written(behind) == s
}

// taskHead is the part between the criteria and the task in the system text of an agent that verifies.
var taskHead = strings.TrimSuffix(strings.TrimPrefix(flow.JudgeText("-", "-"), "-"), "-")

// judging splits the system text of an agent that verifies, which [flow.JudgeText] joins. If it cannot be split, all of
// it is the system text.
func judging(a *agent.Spec) (system, task string) {
	system, task, _ = strings.Cut(a.Prompt, taskHead)
	_, one := literal(system)
	_, two := literal(task)
	if a.Task != "" || !one || !two || flow.JudgeText(system, task) != a.Prompt {
		return a.Prompt, a.Task
	}
	if system == flow.Judging && task != "" {
		system = "" // readers add it too
	}
	return system, task
}

// speculation returns the text that an answer is likely to repeat, if that is all that an agent adds to its requests.
func speculation(a *agent.Spec) string {
	var extra struct {
		Prediction struct{ Type, Content string }
	}
	d := json.NewDecoder(strings.NewReader(string(a.Params.Extra)))
	d.DisallowUnknownFields()
	if err := d.Decode(&extra); err != nil || extra.Prediction.Type != "content" {
		return ""
	}
	return extra.Prediction.Content
}
