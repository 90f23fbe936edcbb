package term

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/text"
)

// tally counts the calls of a run, or of one agent's call, and what they used.
type tally struct {
	calls, failedCalls int // calls of models; one that a budget refused was not made
	usage              model.Usage
	tools              toolCount
}

// count adds an event to the sums.
func (t *tally) count(e engine.Event) {
	switch d := e.Data.(type) {
	case *event.Effect:
		if d.Phase != engine.PhaseEnd || !isModelCall(e.Path) || e.Attempt == 0 {
			return
		}
		if t.calls++; d.Err != nil && d.Err.Kind != engine.KindCancelled {
			t.failedCalls++
		}
		if d.Usage != nil {
			t.usage = t.usage.Add(*d.Usage)
		}
	case *event.Tool:
		if d.Phase == engine.PhaseEnd {
			t.tools.count(d.Err)
		}
	case *event.Knowledge:
		if d.Phase == engine.PhaseEnd {
			t.tools.count(d.Err)
		}
	}
}

// isModelCall reports whether an effect at a position calls a model.
func isModelCall(at string) bool { return strings.HasPrefix(path.Base(at), "llm") }

// toolCount counts the tool calls that have ended, and among them separately those that failed and those that were
// denied. Reading a skill's knowledge counts as one too.
type toolCount struct{ ended, failed, denied int }

func (c *toolCount) count(err *engine.Error) {
	c.ended++
	switch {
	case err == nil, err.Kind == engine.KindCancelled:
	case err.Kind == engine.KindPolicy:
		c.denied++
	default:
		c.failed++
	}
}

// String says which calls had no result, or returns "" if each had one.
func (c *toolCount) String() string {
	all := text.Count(c.ended, "tool call")
	switch {
	case c.failed > 0 && c.denied > 0:
		return fmt.Sprintf("%d of %s failed, %d denied", c.failed, all, c.denied)
	case c.failed > 0:
		return fmt.Sprintf("%d of %s failed", c.failed, all)
	case c.denied > 0:
		return fmt.Sprintf("%d of %s denied", c.denied, all)
	}
	return ""
}

// summary is the last line of a run's JSON.
type summary struct {
	Kind         string      `json:"kind"`
	Run          string      `json:"run"`
	At           time.Time   `json:"at"`
	Usage        model.Usage `json:"usage"`
	ModelCalls   int         `json:"model_calls"`
	FailedModel  int         `json:"failed_model_calls"`
	ToolCalls    int         `json:"tool_calls"`
	FailedTools  int         `json:"failed_tool_calls"`
	DeniedByRule int         `json:"denied_tool_calls"`
}

// write writes the sums of a run as a line of JSON.
func (t *tally) write(w io.Writer, e engine.Event) error {
	line, err := json.Marshal(summary{Kind: "summary", Run: e.Run, At: e.At, Usage: t.usage, ModelCalls: t.calls, FailedModel: t.failedCalls,
		ToolCalls: t.tools.ended, FailedTools: t.tools.failed, DeniedByRule: t.tools.denied})
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
