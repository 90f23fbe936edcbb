package wire

import (
	"cmp"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// The least tokens of an answer besides its thoughts, and of thoughts that nobody sets a number for: with less a
// model that thinks is paid for nothing.
const (
	leastAnswer  = 16
	leastThought = 128
)

// longest are the most tokens of an answer, thoughts included, by how the ids of models begin. Those whose names
// begin like another's come first. Sources: the providers' tables of models, November 2026.
var longest = []struct {
	prefix string
	tokens int
	thinks bool
}{
	{"gpt-5-chat", 16_384, false}, {"gpt-5", 128_000, true}, {"gpt-4.1", 32_768, false}, {"gpt-4.5", 16_384, false},
	{"gpt-4o-2024-05-13", 4096, false}, {"gpt-4o", 16_384, false}, {"chatgpt-4o", 16_384, false},
	{"gpt-4-turbo", 4096, false}, {"gpt-4-1106", 4096, false}, {"gpt-4-0125", 4096, false}, {"gpt-4-vision", 4096, false},
	{"gpt-4-32k", 32_768, false}, {"gpt-4", 8192, false}, {"gpt-3.5", 4096, false},
	{"o1-mini", 65_536, true}, {"o1-preview", 32_768, true}, {"o1", 100_000, true}, {"o3", 100_000, true}, {"o4", 100_000, true},
	{"gemini-1", 8192, false}, {"gemini-2.0", 8192, false}, {"gemini-2.5-pro", 65_536, true}, {"gemini-2.5-flash-lite", 65_536, false},
	{"gemini-2.5", 65_536, true}, {"gemini-3", 65_536, true},
	{"deepseek-chat", 8192, false}, {"deepseek-reasoner", 65_536, true},
}

// answerMost looks up whether a model thinks by default, and the most tokens of its answers, 0 when
// that is not known.
func answerMost(id string) (thinks bool, most int) {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	if strings.Contains(id, "claude") {
		return false, ClaudeOf(id).MaxTokens
	}
	for _, m := range longest {
		if strings.HasPrefix(id, m.prefix) {
			return m.thinks, m.tokens
		}
	}
	return false, 0
}

// thoughts are the least tokens that a degree of thinking is worth being paid for.
var thoughts = map[string]int{"none": 0, "minimal": 0, "low": leastThought, "": leastThought, "medium": 2 * leastThought, "high": 4 * leastThought, "xhigh": 8 * leastThought, "max": 8 * leastThought}

// AnswerSize returns the least that the limit of an answer must be for the provider to take it, and for the model to
// come to an answer after its thoughts, and the most that the answer can have; 0 is not known.
func AnswerSize(d Dialect, id string, r *model.Request) (least, most int) {
	thinks, most := answerMost(id)
	switch d := d.(type) {
	case *Anthropic:
		c, err := claudeCallOf(&Plan{Model: id, Request: r})
		switch {
		case err != nil: // the call fails by that
			return 1, most
		case c.thinking != nil && c.thinking.Budget > 0:
			return c.thinking.Budget + leastAnswer, c.maxTokens
		case c.thinking != nil && c.thinking.Type == "adaptive":
			return thoughts[r.Params.Effort] + leastAnswer, c.maxTokens
		}
		return leastAnswer, c.maxTokens
	case *Gemini:
		t := geminiThinking(id, &r.Params)
		switch {
		case t != nil && t.Budget != nil && *t.Budget >= 0:
			return *t.Budget + leastAnswer, most
		case thinks:
			return cmp.Or(thoughts[r.Params.Effort], 1) + leastAnswer, most
		}
		return leastAnswer, most
	case *OpenAI:
		switch n := r.Params.ReasoningTokens; {
		case n != nil && *n == 0:
			return leastAnswer, most
		case n != nil && d.Thinking == ThinkReasoning:
			return max(*n, leastBudget) + leastAnswer, most
		case d.Thinking == ThinkReasoning && strings.Contains(id, "claude") && thoughts[r.Params.Effort] > 0 && r.Params.Effort != "":
			return leastBudget + leastAnswer, most // what is made of a degree there
		case thinks || r.Params.Effort != "":
			return thoughts[r.Params.Effort] + leastAnswer, most
		}
		return leastAnswer, most
	}
	return 1, most
}
