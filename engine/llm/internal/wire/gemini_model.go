package wire

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/lazy"
)

var geminiNumber = lazy.Regexp(`gemini-(\d+)(?:[.-](\d))?(?:\D|$)`)

// latestGemini is what the names without a number, as gemini-flash-latest, stand for at least.
const latestGemini = 3.0

// GeminiVersion is the generation of a model, as 2.5; 0 for any other model.
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

// geminiThinking is what a request says of thinking: a level from Gemini 3 on, a budget in
// tokens before, and a budget that the request names everywhere. Thoughts are asked for
// wherever some are wanted. Nothing is sent when the request says nothing.
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
			budget = 128 // this one always thinks, and no less
		case p.Effort == "max":
			budget = 32768
		}
	}
	return &geminiThought{Include: p.Effort != "none", Budget: &budget}
}

// geminiLevels are the efforts that have no level of the same name. There is no level without
// thinking: the least comes nearest.
var geminiLevels = map[string]string{"none": "MINIMAL", "xhigh": "HIGH", "max": "HIGH"}

// geminiBudgets are what Google's own interface in OpenAI's form makes of the efforts.
var geminiBudgets = map[string]int{
	"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576, "max": 24576,
}
