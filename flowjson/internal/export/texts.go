package export

import (
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/internal/text"
)

// literal returns how a text is written so that it is read as it is: readers take the common indentation of its lines
// away, all but that of the first, and blanks at both ends. It reports whether it can be written.
func literal(s string) (written string, ok bool) {
	if text.Written(s) == s {
		return s, true
	}
	behind := "\n" + s // then the first line counts as well
	return behind, text.Written(behind) == s
}

// taskHead stands in the system text of one that verifies, between how to judge and what was asked for.
var taskHead = strings.TrimSuffix(strings.TrimPrefix(flow.JudgeText("-", "-"), "-"), "-")

// judging parts the system text of one that verifies as [flow.JudgeText] joins it. What cannot be parted is all system.
func judging(a *agent.Spec) (system, task string) {
	system, task, _ = strings.Cut(a.Prompt, taskHead)
	_, one := literal(system)
	_, two := literal(task)
	if a.Task != "" || !one || !two || flow.JudgeText(system, task) != a.Prompt {
		return a.Prompt, a.Task
	}
	if system == flow.Judging && task != "" {
		system = "" // readers have it, too
	}
	return system, task
}

// speculation returns the text that an answer is likely to repeat, where that is all that an agent adds to its requests.
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
