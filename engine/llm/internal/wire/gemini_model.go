package wire

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/lazy"
)

var geminiNumber = lazy.Regexp(`gemini-(\d+)(?:[.-](\d))?(?:\D|$)`)

// latestGemini is the minimum version of names without a number, such as gemini-flash-latest.
const latestGemini = 3.0

// GeminiVersion returns the version of a model, such as 2.5; 0 for any other model.
func GeminiVersion(model string) float64 {
	if m := geminiNumber().FindStringSubmatch(model); m != nil {
		v, _ := strconv.ParseFloat(m[1]+"."+m[2], 64) // digits
		return v
	}
	if strings.Contains(model, "gemini-") {
		return latestGemini
	}
	return 0
}

type geminiThought struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// geminiThinking returns the thinking part of a request: a level since Gemini 3, a budget in tokens before, and always
// a budget if the request sets one. If thinking is on, thoughts are requested. It returns nil if the request does not
// set thinking.
func geminiThinking(model string, p *model.Params) *geminiThought {
	v := GeminiVersion(model)
	switch {
	case p.ReasoningTokens != nil:
		return &geminiThought{Include: *p.ReasoningTokens != 0, Budget: p.ReasoningTokens}
	case p.Effort == "":
		return nil
	case v >= 3 || v == 0:
		return &geminiThought{Include: p.Effort != "none", Level: cmp.Or(geminiLevels[p.Effort], strings.ToUpper(p.Effort))}
	}
	budget, known := geminiBudgets[p.Effort]
	if !known {
		budget = -1 // the model decides
	}
	if strings.Contains(model, "pro") {
		switch {
		case budget == 0:
			budget = 128 // this model always thinks, with at least this budget
		case p.Effort == "max":
			budget = 32768
		}
	}
	return &geminiThought{Include: p.Effort != "none", Budget: &budget}
}

// geminiLevels maps efforts without a level of the same name. There is no level for no thinking: the lowest one is
// closest.
var geminiLevels = map[string]string{"none": "MINIMAL", "xhigh": "HIGH", "max": "HIGH"}

// geminiBudgets are the budgets that Google's OpenAI-compatible API uses for the efforts.
var geminiBudgets = map[string]int{
	"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576, "max": 24576,
}
